"""Persons with signatures of all of their rows, from which each node groups those whose trees look alike.

A signature is a sum of hashes over rows, from the tables without children up. Its salt is drawn: DuckDB's hash of 0 is
0, and without a salt rows with that key would not count.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.chance.random_source import nonce
from sqlanon.engines.duckdb import Compute
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.methods.linked.keyed_rows import LOSS, keyed_tables
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
        self._encoded = encoded
        self._salt = int(nonce()[:15], 16)
        self.tables = keyed_tables(engine, encoded)

    def own_bits(self, name: str, levels: Levels) -> dict[str, exp.Expr]:
        """Return the bits of the labels of a table's own columns, by word of the key."""
        masks = self.tables[name].masks(self._encoded.own_levels(name, levels))
        return {key: bits(column(key), number(mask)) for key, mask in masks.items()}

    def with_loss(self, name: str, rows: exp.Query, levels: Levels) -> exp.Select:
        return self.tables[name].with_loss(rows, self._encoded.own_levels(name, levels))

    def of(self, name: str, what: str) -> str:
        """Name the column beside persons with their rows in a table, what these lose, or their signature."""
        return f"{what}_{self.tables[name].bound.rows.place}"

    def persons(self, levels: Levels, *, with_losses: bool) -> exp.Select:
        """Select persons: number, key words, signature, and by table their rows and, if asked, what these lose.

        All of it is the same at nodes that differ in the levels of persons only.
        """
        root = self._encoded.policy.root
        rows = self._beside_below(root, levels, with_losses=with_losses)
        shown = [aliased(column(ROW), PERSON), aliased(self._label(root, []), SIGNATURE)]
        names = [*self.tables[root].keys, *self._carried(rows)]
        return select([*shown, *map(column, names)], subquery(rows, "anon_rows"))

    def _beside_below(self, name: str, levels: Levels, *, with_losses: bool) -> exp.Select:
        """Select the rows of a table beside sums over the rows below them."""
        table = self.tables[name]
        names = (column(each, "anon_own") for each in (*table.numbers, *table.keys))
        query = select(names, called(table.relation.table, "anon_own"))
        for child in self._encoded.policy.children(name):
            below, alias = self._sums(child, levels, with_losses=with_losses), self.of(child, "anon_below")
            query = left_join(query, subquery(below, alias), column(ROW, "anon_own").eq(column(PARENT, alias)))
            sums = (each for each in below.named_selects if each != PARENT)
            query = query.select(*(aliased(f.coalesce(column(each, alias), 0), each) for each in sums), copy=False)
        return query

    def _sums(self, name: str, levels: Levels, *, with_losses: bool) -> exp.Select:
        """Select the rows above those of a table, with the signature of these, how many they are, and their loss."""
        rows: exp.Query = self._beside_below(name, levels, with_losses=with_losses)
        label = cast(self._label(name, [*self.own_bits(name, levels).values()]), "HUGEINT")
        summed: dict[str, exp.Expr] = {each: column(each) for each in self._carried(rows)}
        summed[self.of(name, SIGNATURE)] = label  # sums of 64-bit hashes do not overflow
        if with_losses:
            rows, summed[self.of(name, LOSS)] = self.with_loss(name, rows, levels), column(LOSS)
        sums = [aliased(exp.Sum(this=value), each) for each, value in summed.items()]
        counted = aliased(count_rows(), self.of(name, ROWS))
        return SQL.query("sums", rows=subquery(rows, "anon_rows"), sums=[counted, *sums])

    def _carried(self, rows: exp.Query) -> list[str]:
        return [each for each in rows.named_selects if each.startswith((f"{ROWS}_", f"{LOSS}_"))]

    def _label(self, name: str, labels: Sequence[exp.Expr]) -> exp.Expr:
        below = (column(self.of(child, SIGNATURE)) for child in self._encoded.policy.children(name))
        return hashed([*labels, *below], self._salt)
