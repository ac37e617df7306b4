"""The rows of one of several linked tables with the bits of their own values, apart from those of the rows above."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.model.lattice import Levels
from sqlanon.queries.encoded_rows import key_word, with_leaves
from sqlanon.queries.encoding import words_of
from sqlanon.queries.kit.macros import text
from sqlanon.queries.kit.nodes import Relation, Step, aliased, called, column, double, select, subquery, union_all
from sqlanon.queries.label_losses import LabelLosses
from sqlanon.queries.linked import PARENT, PERSON, ROW
from sqlanon.queries.recodings import AtNode

LOSS = "anon_loss"


class KeyedRows:
    """Rows by number with the key words of a table's own quasi-identifiers, which levels are of."""

    def __init__(self, encoded: EncodedLinked, name: str) -> None:
        self.name = name
        self.bound = encoded.bound.tables[name]
        self.relation = Relation(f"anon_keyed_{self.bound.rows.place}", "row")
        self.numbers = [ROW, PERSON] if self.bound.rows.parent is None else [ROW, PARENT, PERSON]
        self._has_weight = bool(encoded.weights[name])
        self.encoding = encoded.tables[name].encoding
        self.positions = [*map(self.encoding.spec.quasi_identifiers.index, self.bound.own)]
        self._words = words_of(self.encoding.keys.label_masks(position, 0) for position in self.positions)
        self.keys = [*map(self.encoding.key, self._words)]

    def step(self) -> Step:
        rows = called(self.bound.rows.rows(self.bound.own, numbers=self.numbers), "anon_source")
        numbers = (column(each, "anon_source") for each in self.numbers)
        query = with_leaves(self.encoding, select(numbers, rows), "anon_source", self.positions)
        words = (key_word(self.encoding, word, self.positions) for word in self._words)
        query = query.select(*map(aliased, words, self.keys), copy=False)
        return Step(self.relation, query, "rows with their keys", is_again=True)

    def masks(self, levels: Levels) -> dict[str, int]:
        """Return the bits of labels by key word, where there are any."""
        found: dict[str, int] = {}
        for place in zip(self.positions, levels, strict=True):
            for word, mask in self.encoding.keys.label_masks(*place).items():
                key = self.encoding.key(word)
                found[key] = found.get(key, 0) | mask
        return found

    def with_loss(self, rows: exp.Query, levels: Levels) -> exp.Select:
        """Add to rows with key words ``anon_loss``: the weighted loss of their labels, 0 without a weight."""
        loss = double(0)
        if self._has_weight:
            losses = LabelLosses(self.encoding, [self._path_levels(levels)], ("lm",))
            rows, loss = losses.beside(rows, keeps_keys=True), losses.weighted()
        return select([exp.Star(), aliased(loss, LOSS)], subquery(rows, "anon_losing"))

    def labelled(self, rows: Relation, levels: Levels, names: Iterable[str] | None = None) -> exp.Select:
        """Select the numbers of rows with key words, and the labels of own quasi-identifiers, by default of all."""
        recoding = AtNode(self.encoding, self._path_levels(levels))
        query = select([column(ROW, "anon_found")], called(rows.table, "anon_found"))
        shown: list[exp.Expr] = [column(ROW)]
        for position, name in zip(self.positions, self.bound.own, strict=True):
            if names is None or name in names:
                query = recoding.join_label_to_cells(query, "anon_found", position)
                shown.append(aliased(text(column(self.encoding.label(position))), name))
        return select(shown, subquery(query, "anon_labelled"))

    def _path_levels(self, levels: Levels) -> Levels:
        """Return levels of the path: the columns of rows above have no weight, and at their tops need no key."""
        own, shapes = dict(zip(self.positions, levels, strict=True)), self.encoding.spec.shapes
        return tuple(own.get(position, shape.height) for position, shape in enumerate(shapes))


def keyed_tables(engine: Compute, encoded: EncodedLinked) -> dict[str, KeyedRows]:
    """Make the rows of all tables with their keys."""
    tables = {name: KeyedRows(encoded, name) for name in encoded.tables}
    for table in tables.values():
        engine.run(table.step())
    return tables


@dataclass(frozen=True)
class ShownRows:
    """The rows of a table that a release shows: relations with their numbers and key words, and their levels."""

    keyed: KeyedRows
    at_levels: Sequence[tuple[Relation, Levels]]

    def numbers(self) -> exp.Subquery:
        """Return the rows by number alone."""
        return subquery(union_all(select([column(ROW)], rows.table) for rows, _ in self.at_levels), "anon_shown")

    def labelled(self) -> exp.Subquery:
        """Return the rows by number, with the labels of the table's own quasi-identifiers."""
        return subquery(union_all(self.keyed.labelled(*each) for each in self.at_levels), "anon_shown")
