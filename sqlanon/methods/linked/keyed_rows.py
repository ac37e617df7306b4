"""The rows of one of several linked tables with the bits of their own labels, apart from those of the rows above."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.model.lattice import Levels
from sqlanon.queries.encoded_rows import key_word, with_leaves
from sqlanon.queries.encoding import ROW_COUNT, words_of
from sqlanon.queries.kit.macros import text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    called,
    column,
    double,
    number,
    select,
    subquery,
    union_all,
)
from sqlanon.queries.label_losses import LabelLosses
from sqlanon.queries.linked import PARENT, PERSON, ROW
from sqlanon.queries.recodings import AtNode

if TYPE_CHECKING:
    from sqlanon.methods.linked.encoded import EncodedLinked

SQL = Queries("keyed_rows")


class KeyedRows:
    """Rows by number with the key words of a table's own quasi-identifiers, which levels are of, and what is kept."""

    def __init__(self, encoded: EncodedLinked, name: str) -> None:
        self.name = name
        self.bound = encoded.bound.tables[name]
        self.relation = Relation(f"anon_keyed_{self.bound.rows.place}", "row")
        roles = self.bound.path.policy
        self._numbers = [ROW, PERSON] if self.bound.rows.parent is None else [ROW, PARENT, PERSON]
        self.columns = [*self._numbers, *roles.sensitive, *roles.insensitive]  # beside the key words
        self._has_weight = bool(encoded.weights[name])
        self.encoding = encoded.tables[name].encoding
        self.positions = [*map(self.encoding.spec.quasi_identifiers.index, self.bound.own)]
        self._words = words_of(self.encoding.keys.label_masks(position, 0) for position in self.positions)
        self.keys = [*map(self.encoding.key, self._words)]

    def step(self) -> Step:
        rows = called(self.bound.rows.rows(numbers=self._numbers), "anon_source")
        columns = (column(each, "anon_source") for each in self.columns)
        query = with_leaves(self.encoding, select(columns, rows), "anon_source", self.positions)
        words = (key_word(self.encoding, word, self.positions) for word in self._words)
        query = query.select(*map(aliased, words, self.keys), copy=False)
        return Step(self.relation, query, "rows with their keys")

    def masks(self, levels: Levels) -> list[exp.Expr]:
        """Return the bits of labels in each key word."""
        found = dict.fromkeys(self.keys, 0)
        for place in zip(self.positions, levels, strict=True):
            for word, mask in self.encoding.keys.label_masks(*place).items():
                key = self.encoding.key(word)
                found[key] |= mask
        return [*map(number, found.values())]

    def label_counts(self, engine: Compute, labels: exp.Expr, levels: Levels) -> dict[str, Any]:
        """Count labels, given as key words with their rows: ``labels``, ``rows``, and what the rows have ``lost``."""
        rows: exp.Query = select(map(column, (ROW_COUNT, *self.keys)), labels)
        loss = double(0)
        if self._has_weight:
            losses = LabelLosses(self.encoding, [self._path_levels(levels)], ("lm",))
            rows, loss = losses.beside(rows, keeps_keys=True), losses.weighted()
        found = SQL.query("label_counts", labels=subquery(rows, "anon_labels"), loss=loss)
        return engine.fetch(found, "labels of rows")[0]

    def counts(self, rows: float, lost: float, certain: int = 0) -> TableCounts:
        """Return what becomes of all rows, given those that are shown, and what these lose."""
        counts = self.bound.counts
        left_out = counts.linked - rows
        return TableCounts(round(left_out) - counts.cut, certain, (lost + left_out) / counts.linked)

    def labelled(self, rows: exp.Expr, levels: Levels, names: Iterable[str] | None = None) -> exp.Select:
        """Select rows with key words: labels, by default of all own columns, and all but key words."""
        recoding = AtNode(self.encoding, self._path_levels(levels))
        shown: list[exp.Expr] = [*map(column, self.columns)]
        query = select([column(each, "anon_found") for each in self.columns], called(rows, "anon_found"))
        for position, name in zip(self.positions, self.bound.own, strict=True):
            if names is None or name in names:
                query = recoding.join_label_to_cells(query, "anon_found", position)
                shown.append(aliased(text(column(self.encoding.label(position))), name))
        return select(shown, subquery(query, "anon_labelled"))

    def _path_levels(self, levels: Levels) -> Levels:
        """Return levels of the path: the columns of rows above have no weight, and at their tops need no key."""
        own, shapes = dict(zip(self.positions, levels, strict=True)), self.encoding.spec.shapes
        return tuple(own.get(position, shape.height) for position, shape in enumerate(shapes))


@dataclass(frozen=True)
class TableCounts:
    """What becomes of the rows of a table at a node.

    ``loss`` is the mean over its rows and own quasi-identifiers by weight, with rows that are left out at 1; None if it
    was not asked, or nothing is left out, so that it follows from the levels.
    """

    left_out: int  # rows that belong to persons and are not released; in the table of persons the suppressed persons
    certain: int  # that every less general node leaves out at least
    loss: float | None = None


@dataclass(frozen=True)
class ShownRows:
    """The rows of a table that a release shows: relations with their numbers, and their levels."""

    keyed: KeyedRows
    at_levels: Sequence[tuple[Relation, Levels]]

    def numbers(self) -> exp.Subquery:
        """Return the rows by number alone."""
        return subquery(union_all(select([column(ROW)], rows.table) for rows, _ in self.at_levels), "anon_shown")

    def labelled(self) -> exp.Subquery:
        """Return the rows with their numbers, labels, and what is kept of them."""
        whole = ((SQL.query("whole_rows", rows=self.keyed.relation, shown=rows), at) for rows, at in self.at_levels)
        labelled = (self.keyed.labelled(subquery(rows, "anon_whole"), levels) for rows, levels in whole)
        return subquery(union_all(labelled), "anon_shown")
