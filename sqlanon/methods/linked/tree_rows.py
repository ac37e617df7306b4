"""Persons with signatures of all of their rows, from which each node groups those whose trees look alike.

A signature is a sum of hashes over rows, from the tables without children up. Its salt is drawn: DuckDB's hash of 0 is
0, and without a salt rows with that key would not count.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.chance.random_source import nonce
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.model.lattice import Levels
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    aliased,
    bits,
    called,
    cast,
    column,
    count_rows,
    f,
    left_join,
    select,
    subquery,
)
from sqlanon.queries.linked import PARENT, PERSON, ROW

SQL = Queries("trees")

SIGNATURE, ROWS = "anon_signature", "anon_rows"


def hashed(values: Sequence[exp.Expr], salt: int) -> exp.Expr:
    return f.hash(*values, salt)


class TreeRows:
    """The rows of all tables by number with their key words."""

    def __init__(self, encoded: EncodedLinked) -> None:
        self._encoded = encoded
        self._salt = int(nonce()[:15], 16)
        self.tables = encoded.keyed

    def own_bits(self, name: str, levels: Levels) -> dict[str, exp.Expr]:
        """Return the bits of the labels of a table's own columns, by word of the key."""
        table = self.tables[name]
        masks = table.masks(self._encoded.own_levels(name, levels))
        return {key: bits(column(key), mask) for key, mask in zip(table.keys, masks, strict=True)}

    def of(self, name: str, what: str) -> str:
        """Name the column beside persons with their rows in a table, or with the signature of these."""
        return f"{what}_{self.tables[name].bound.rows.place}"

    def persons(self, levels: Levels) -> exp.Select:
        """Select persons: number, key words, signature, and their rows by table.

        All of it is the same at nodes that differ in the levels of persons only.
        """
        root = self._encoded.policy.root
        rows = self._beside_below(root, levels)
        shown = [aliased(column(ROW), PERSON), aliased(self._label(root, []), SIGNATURE)]
        names = [*self.tables[root].keys, *self._carried(rows)]
        return select([*shown, *map(column, names)], subquery(rows, "anon_rows"))

    def _beside_below(self, name: str, levels: Levels) -> exp.Select:
        """Select the rows of a table beside sums over the rows below them."""
        table = self.tables[name]
        names = (column(each, "anon_own") for each in (*table.columns, *table.keys))
        query = select(names, called(table.relation.table, "anon_own"))
        for child in self._encoded.policy.children(name):
            below, alias = self._sums(child, levels), self.of(child, "anon_below")
            query = left_join(query, subquery(below, alias), column(ROW, "anon_own").eq(column(PARENT, alias)))
            sums = (each for each in below.named_selects if each != PARENT)
            query = query.select(*(aliased(f.coalesce(column(each, alias), 0), each) for each in sums), copy=False)
        return query

    def _sums(self, name: str, levels: Levels) -> exp.Select:
        """Select the rows above those of a table, with the signature of these, and how many they are."""
        rows = self._beside_below(name, levels)
        label = cast(self._label(name, [*self.own_bits(name, levels).values()]), "HUGEINT")
        sums = [aliased(exp.Sum(this=label), self.of(name, SIGNATURE))]  # of 64-bit hashes: they do not overflow
        sums += [aliased(exp.Sum(this=column(each)), each) for each in self._carried(rows)]
        sums.append(aliased(count_rows(), self.of(name, ROWS)))
        return SQL.query("sums", rows=subquery(rows, "anon_rows"), sums=sums)

    def _carried(self, rows: exp.Query) -> list[str]:
        return [each for each in rows.named_selects if each.startswith(f"{ROWS}_")]

    def _label(self, name: str, labels: Sequence[exp.Expr]) -> exp.Expr:
        below = (column(self.of(child, SIGNATURE)) for child in self._encoded.policy.children(name))
        return hashed([*labels, *below], self._salt)
