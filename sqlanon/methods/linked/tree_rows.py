"""Persons with signatures of all of their rows, from which each node groups those whose trees look alike.

The key words of a table's rows (:mod:`sqlanon.queries.encoding`) are kept beside the number of the row that they belong
to. A signature is a sum of hashes over rows, from the tables without children up. Its salt is drawn: DuckDB's hash of 0
is 0, and without a salt rows with that key would not count. Sorted lists in place of sums are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sqlglot import exp

from sqlanon.chance.random_source import nonce
from sqlanon.engines.duckdb import Compute
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.model.lattice import Levels
from sqlanon.queries.encoded_rows import key_word, with_leaves
from sqlanon.queries.encoding import row_sum, words_of
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    bits,
    called,
    column,
    count_rows,
    double,
    f,
    grouped,
    left_join,
    number,
    select,
    subquery,
)
from sqlanon.queries.label_losses import LabelLosses
from sqlanon.queries.linked import PARENT, PERSON, ROW

SQL = Queries("trees")

SIGNATURE, ROWS, GAIN = "anon_signature", "anon_rows", "anon_gain"
Below = Callable[[str], exp.Select]
"""Selects the rows of a table by the row that they belong to, ``anon_parent``, with their ``anon_signature``."""


def hashed(values: Sequence[exp.Expr], salt: int) -> exp.Expr:
    return f.hash(*values, salt)


class TreeRows:
    """Makes tables of persons with the signatures of their rows, in the surrounding scratch scope."""

    def __init__(self, engine: Compute, encoded: EncodedLinked) -> None:
        self._engine = engine
        self._encoded = encoded
        self._salt = int(nonce()[:15], 16)
        for name in encoded.tables:
            self._engine.run(Step(self._keyed(name), self._keyed_rows(name), f'keys of "{name}"', is_again=True))

    def persons(self, levels: Levels, *, with_losses: bool) -> exp.Select:
        """Select persons: number, key words, signature, and what is below them by table.

        ``anon_rows_<place>`` are rows, and ``anon_gain_<place>`` is what they lose less than if they were left out, if
        asked. All of it is the same at nodes that differ in the levels of persons only, their :meth:`part`.
        """
        root, carried = self._encoded.policy.root, self.carried(with_losses=with_losses)

        def below(child: str) -> exp.Select:
            return self._signatures(child, levels, with_losses=with_losses)

        rows = self._beside_below(root, below, number(0), carried)
        person = [aliased(column(ROW), PERSON), aliased(self._hash(root, []), SIGNATURE)]
        return select([*person, *map(column, (*self.words(root), *carried))], subquery(rows, "anon_rows"))

    def part(self, levels: Levels) -> Levels:
        return levels[len(self._encoded.own_levels(self._encoded.policy.root, levels)) :]

    def exact(self, levels: Levels) -> Relation:
        """Make the table of persons with a number of what they and their rows show, ``anon_class``, by lists."""
        root = self._encoded.policy.root
        labelled, found = Relation("anon_tree_labels", "row"), Relation("anon_exact_trees", "row")
        rows = self._beside_below(root, lambda child: self._lists(child, levels), exp.Array(expressions=[]))
        shown = [aliased(column(ROW), PERSON), aliased(self._row(root, levels), "anon_label")]
        query = select(shown, subquery(rows, "anon_rows"))
        self._engine.run(Step(labelled, query, "persons with their rows", is_again=True))
        query = SQL.query("exact_classes", persons=self.persons(levels, with_losses=False), labelled=labelled)
        self._engine.run(Step(found, query, "persons with equal trees", is_again=True))
        self._engine.drop(labelled)
        return found

    def own_bits(self, name: str, levels: Levels) -> dict[str, exp.Expr]:
        """Return the bits of the labels of a table's own columns, by word of the key."""
        keys, path = self._encoded.tables[name].encoding.keys, self._encoded.path_levels(name, levels)
        masks: dict[int, int] = {}
        for position in self._positions(name):
            for word, mask in keys.label_masks(position, path[position]).items():
                masks[word] = masks.get(word, 0) | mask
        names = {word: self._encoded.tables[name].encoding.key(word) for word in masks}
        return {names[word]: bits(column(names[word]), number(mask)) for word, mask in masks.items()}

    def with_gain(self, name: str, rows: exp.Query, levels: Levels) -> exp.Select:
        """Add to rows with key words ``anon_gain``: 1 less the weighted loss of their labels, 0 without a weight."""
        encoding, gain = self._encoded.tables[name].encoding, double(0)
        if self._encoded.weights[name]:
            path, own = self._encoded.path_levels(name, levels), self._positions(name)
            # Columns of the rows above have no weight. At their tops all labels lose the same, which needs no key.
            tops = [shape.height for shape in encoding.spec.shapes]
            at = tuple(path[place] if place in own else top for place, top in enumerate(tops))
            losses = LabelLosses(encoding, [at], ("lm",))
            rows, gain = losses.beside(rows, keeps_keys=True), exp.Sub(this=double(1), expression=losses.weighted())
        return select([exp.Star(), aliased(gain, GAIN)], subquery(rows, "anon_losing"))

    def carried(self, name: str | None = None, *, with_losses: bool) -> list[str]:
        """Return the columns about all rows below a table's, by default below persons."""
        found = []
        for child in self._encoded.policy.children(name or self._encoded.policy.root):
            rows, gain = self.columns(child)
            found += [rows, *([gain] if with_losses else []), *self.carried(child, with_losses=with_losses)]
        return found

    def columns(self, name: str) -> tuple[str, str]:
        """Return the columns with the number of rows of a table, and with their gain."""
        place = self._encoded.bound.tables[name].rows.place
        return f"{ROWS}_{place}", f"{GAIN}_{place}"

    def words(self, name: str) -> list[str]:
        encoding = self._encoded.tables[name].encoding
        masks = (encoding.keys.label_masks(position, 0) for position in self._positions(name))
        return [*map(encoding.key, words_of(masks))]

    def _positions(self, name: str) -> list[int]:
        return [
            *map(self._encoded.tables[name].encoding.spec.quasi_identifiers.index, self._encoded.bound.tables[name].own)
        ]

    def _keyed(self, name: str) -> Relation:
        return Relation(f"anon_keyed_{self._encoded.bound.tables[name].rows.place}", "rows")

    def _numbers(self, name: str) -> list[str]:
        is_root, has_rows = name == self._encoded.policy.root, bool(self._encoded.policy.children(name))
        return [ROW] if is_root else [PARENT, ROW] if has_rows else [PARENT]

    def _keyed_rows(self, name: str) -> exp.Select:
        """Select the key words of a table's own columns; equal rows are one if nothing is below them."""
        table, encoding, numbers = (
            self._encoded.bound.tables[name],
            self._encoded.tables[name].encoding,
            self._numbers(name),
        )
        rows = called(table.rows.rows(table.own, numbers=numbers), "anon_source")
        shown = [column(each, "anon_source") for each in numbers]
        query = with_leaves(encoding, select(shown, rows), "anon_source", self._positions(name))
        places = {encoding.key(word): word for word in range(encoding.keys.word_count)}
        words = {each: key_word(encoding, places[each], self._positions(name)) for each in self.words(name)}
        query = query.select(*(aliased(value, each) for each, value in words.items()), copy=False)
        if ROW in numbers:
            return query.select(aliased(number(1), ROWS), copy=False)
        keys = [*(each.copy() for each in shown), *(value.copy() for value in words.values())]
        return grouped(query.select(aliased(count_rows(), ROWS), copy=False), keys)

    def _beside_below(self, name: str, below: Below, nothing: exp.Expr, carried: list[str] | None = None) -> exp.Select:
        """Select the keyed rows of a table beside the signatures of the rows below them."""
        names = (*self._numbers(name), *self.words(name), ROWS)
        query = select([column(each, "anon_keyed") for each in names], called(self._keyed(name).table, "anon_keyed"))
        for child in self._encoded.policy.children(name):
            rows, alias = below(child), f"anon_of_{self._keyed(child).name}"
            shown = {SIGNATURE: self._signature(child)}
            if carried is not None:
                shown |= {each: each for each in carried if each in (*self.columns(child), *self._all_below(child))}
            query = left_join(query, subquery(rows, alias), column(ROW, "anon_keyed").eq(column(PARENT, alias)))
            values = (aliased(f.coalesce(column(own, alias), nothing.copy()), each) for own, each in shown.items())
            query = query.select(*values, copy=False)
        return query

    def _all_below(self, name: str) -> list[str]:
        return self.carried(name, with_losses=True)

    def _signature(self, child: str) -> str:
        return f"{SIGNATURE}_{self._encoded.bound.tables[child].rows.place}"

    def _signatures(self, name: str, levels: Levels, *, with_losses: bool) -> exp.Select:
        below = self.carried(name, with_losses=with_losses)

        def signatures(child: str) -> exp.Select:
            return self._signatures(child, levels, with_losses=with_losses)

        rows: exp.Query = self._beside_below(name, signatures, number(0), below)
        count, gain = self.columns(name)
        carried = [row_sum(ROWS, count)]
        if with_losses:
            rows = self.with_gain(name, rows, levels)
            carried.append(aliased(exp.Sum(this=exp.Mul(this=column(ROWS), expression=column(GAIN))), gain))
        carried += [aliased(exp.Sum(this=column(each)), each) for each in below]
        label = self._hash(name, self.own_bits(name, levels).values())
        return SQL.query("signatures", rows=subquery(rows, "anon_rows"), label=label, carried=carried)

    def _lists(self, name: str, levels: Levels) -> exp.Select:
        nothing = exp.Array(expressions=[])
        rows = self._beside_below(name, lambda child: self._lists(child, levels), nothing)
        return SQL.query("sorted_lists", rows=rows, label=self._row(name, levels))

    def _hash(self, name: str, labels: Iterable[exp.Expr]) -> exp.Expr:
        return hashed([*labels, *self._below(name)], self._salt)

    def _row(self, name: str, levels: Levels) -> exp.Expr:
        return f.row(0, *self.own_bits(name, levels).values(), *self._below(name))

    def _below(self, name: str) -> list[exp.Expr]:
        return [column(self._signature(child)) for child in self._encoded.policy.children(name)]
