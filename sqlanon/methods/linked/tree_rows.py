"""Persons with signatures of all of their rows, from which each node groups those whose trees look alike.

A signature is a sum of hashes over rows, from the tables without children up. Its salt is drawn: DuckDB's hash of 0 is
0, and without a salt rows with that key would not count. Sorted lists in place of sums are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.chance.random_source import nonce
from sqlanon.engines.duckdb import Compute
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.methods.linked.keyed_rows import LOSS, KeyedRows
from sqlanon.model.lattice import Levels
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    aliased,
    bits,
    called,
    column,
    count_rows,
    f,
    left_join,
    number,
    select,
    subquery,
)
from sqlanon.queries.linked import PARENT, PERSON, ROW

SQL = Queries("trees")

SIGNATURE, ROWS = "anon_signature", "anon_rows"


def hashed(values: Sequence[exp.Expr], salt: int) -> exp.Expr:
    return f.hash(*values, salt)


class TreeRows:
    """The rows of all tables by number with their key words, made in the surrounding scratch scope."""

    def __init__(self, engine: Compute, encoded: EncodedLinked) -> None:
        self.encoded = encoded
        self.salt = int(nonce()[:15], 16)
        self.tables = {name: KeyedRows(encoded, name) for name in encoded.tables}
        for table in self.tables.values():
            engine.run(table.step())

    def own_bits(self, name: str, levels: Levels) -> dict[str, exp.Expr]:
        """Return the bits of the labels of a table's own columns, by word of the key."""
        masks = self.tables[name].masks(self.encoded.own_levels(name, levels))
        return {key: bits(column(key), number(mask)) for key, mask in masks.items()}

    def with_loss(self, name: str, rows: exp.Query, levels: Levels) -> exp.Select:
        return self.tables[name].with_loss(rows, self.encoded.own_levels(name, levels))

    def place(self, name: str) -> int:
        return self.tables[name].bound.rows.place


@dataclass(frozen=True)
class TreesAt:
    """The trees of persons at a node, by sums of hashes or by sorted lists, with what is below persons by table.

    ``anon_rows_<place>`` are rows, and ``anon_loss_<place>`` is what their labels lose, if asked. All of it is the same
    at nodes that differ in the levels of persons only.
    """

    rows: TreeRows
    levels: Levels
    with_losses: bool = False
    is_exact: bool = False

    def persons(self) -> exp.Select:
        """Select persons: number, key words, signature, and what is below them by table."""
        root = self.rows.encoded.policy.root
        shown = [aliased(column(ROW), PERSON), aliased(self._label(root, []), SIGNATURE)]
        names = (*self.rows.tables[root].keys, *self.below(root))
        return select([*shown, *map(column, names)], subquery(self._beside_below(root), "anon_rows"))

    def below(self, name: str) -> list[str]:
        """Return the columns about all rows below a table's."""
        found = []
        for child in self.rows.encoded.policy.children(name):
            place = self.rows.place(child)
            found += [f"{ROWS}_{place}", *([f"{LOSS}_{place}"] if self.with_losses else []), *self.below(child)]
        return found

    def _beside_below(self, name: str) -> exp.Select:
        """Select the rows of a table beside the signatures of the rows below them."""
        table = self.rows.tables[name]
        names = (column(each, "anon_own") for each in (*table.numbers, *table.keys))
        query = select(names, called(table.relation.table, "anon_own"))
        for child in self.rows.encoded.policy.children(name):
            below, alias = self._signatures(child), f"anon_below_{self.rows.place(child)}"
            query = left_join(query, subquery(below, alias), column(ROW, "anon_own").eq(column(PARENT, alias)))
            no_rows = exp.Array(expressions=[]) if self.is_exact else number(0)
            signature = aliased(f.coalesce(column(SIGNATURE, alias), no_rows), self._signature(child))
            carried = (each for each in below.named_selects if each not in (PARENT, SIGNATURE))
            counts = (aliased(f.coalesce(column(each, alias), 0), each) for each in carried)
            query = query.select(signature, *counts, copy=False)
        return query

    def _signatures(self, name: str) -> exp.Select:
        """Select the rows above those of a table, with the signature of these and what is carried of them."""
        rows: exp.Query = self._beside_below(name)
        carried = [aliased(count_rows(), f"{ROWS}_{self.rows.place(name)}")]
        if self.with_losses:
            rows = self.rows.with_loss(name, rows, self.levels)
            carried.append(aliased(exp.Sum(this=column(LOSS)), f"{LOSS}_{self.rows.place(name)}"))
        carried += [aliased(exp.Sum(this=column(each)), each) for each in self.below(name)]
        label = self._label(name, self.rows.own_bits(name, self.levels).values())
        query = "sorted_lists" if self.is_exact else "signatures"
        return SQL.query(query, rows=subquery(rows, "anon_rows"), label=label, carried=carried)

    def _label(self, name: str, labels: Iterable[exp.Expr]) -> exp.Expr:
        values = [*labels, *map(column, map(self._signature, self.rows.encoded.policy.children(name)))]
        return f.row(0, *values) if self.is_exact else hashed(values, self.rows.salt)

    def _signature(self, child: str) -> str:
        return f"{SIGNATURE}_{self.rows.place(child)}"
