"""Measures of linked tables as they are: steps that join their rows, and the macros over these."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.queries.kit.macros import table_call, text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, Step, column, names, number, string, subquery, union_all

SQL = Queries("linked_measures")


@dataclass(frozen=True)
class LinkedTable:
    """One of the tables: its rows, the columns that join them, and those with labels."""

    relation: exp.Expr
    parent: int | None  # the place of the parent, which is before
    key: str | None
    row_key: str | None
    labels: tuple[str, ...]
    sensitive: tuple[str, ...]  # the columns whose shares of persons are measured


@dataclass(frozen=True)
class JoinedTables:
    """The tables, parents first, with their rows joined in temporary tables."""

    tables: Sequence[LinkedTable]
    prefix: str = "anon_joined"

    def rows(self, place: int) -> Relation:
        return Relation(f"{self.prefix}_{place}", "row")

    def join(self) -> list[Step]:
        """Return the steps that make the rows of each table: their numbers, those of the rows above, and labels."""
        return [self._joined(place, table) for place, table in enumerate(self.tables)]

    def _joined(self, place: int, table: LinkedTable) -> Step:
        given = SQL.given(
            source=table.relation,
            row_key=exp.null() if table.row_key is None else column(table.row_key),
            labels=[*map(column, table.labels)] or [exp.true()],  # a row without fields does not exist
            sensitive=table.sensitive,
            held=[*map(_held, range(len(table.sensitive)))],
            tables=len(self.tables),
            number=place,
        )
        if table.parent is None:
            rows = given.query("persons")
        else:
            *path, own = self._path(place)
            above = self.rows(table.parent)
            rows = given.query("rows_below", rows=above, key=str(table.key), path=path, own=own)
        return given.step(self.rows(place), "labelled", rows=rows)

    def _path(self, place: int) -> list[str]:
        """Name the columns with the numbers of a row and of those above it, from the person down."""
        above = self.tables[place].parent
        path = [] if above is None else self._path(above)
        return [*path, f"at_{len(path)}"]

    def known(self, upto: int, k: int) -> exp.Query:
        """Select the columns of ``anon.known_rows``."""
        everybody = SQL.query("everybody", persons=self.rows(0))
        given = subquery(everybody, "anon_everybody"), subquery(union_all(self._facts()), "anon_listed")
        return table_call("known_patterns", *given, number(upto), number(k))

    def _facts(self) -> Iterator[exp.Select]:
        for place in range(1, len(self.tables)):
            for depth, (above, own) in enumerate(itertools.pairwise(self._path(place))):
                given = SQL.given(rows=self.rows(place), above=above, own=own)
                yield given.query("facts", depth=depth, depths=len(self.tables))

    def counts(self, k: int) -> exp.Query:
        """Select what :meth:`known` does, but ``known_rows``, by the numbers of rows in each table."""
        places = range(1, len(self.tables))
        counts = union_all(SQL.query("row_counts", rows=self.rows(place), number=place) for place in places)
        alike = SQL.query("counted", persons=self.rows(0), counts=counts)
        return SQL.query("classes", alike=alike, labels=["label", "counts"], k=k)

    def grow(self) -> Iterator[Step]:
        """Yield the steps that add to the label of each row those of the rows below it, from the leaves up."""
        for place, table in reversed([*enumerate(self.tables)]):
            if table.parent is not None:
                above, below = self.rows(table.parent), self.rows(place)
                key, labels = string(self._path(place)[-2]), names(["label"])
                trees = table_call("trees", above.table, key, labels, below.table, key.copy(), labels.copy())
                yield replace(SQL.step(above, "grown", trees=trees), is_again=True)

    def trees(self, k: int) -> exp.Query:
        """Select what :meth:`counts` does by all rows of a person, once the trees have grown."""
        return SQL.query("classes", alike=self.rows(0), labels=["label"], k=k)

    def shares(self, place: int, name: str, original: JoinedTables) -> exp.Query:
        """Select one row: the greatest share of a class of trees with one value of a sensitive column, and how much
        greater than among all persons of the ``original`` it is."""
        held = _held(self.tables[place].sensitive.index(name))
        roles = SQL.given(grown=self.rows(0), rows=self.rows(place), held=held)
        return roles.query("shares", original_persons=original.rows(0), original_rows=original.rows(place))


def _held(place: int) -> str:
    """Name the column with the texts of a table's sensitive column."""
    return f"held_{place}"


def kept_keys(table: exp.Expr, row_key: str, source: exp.Expr, old: str, shown: Sequence[str]) -> exp.Query:
    """Select one row: rows whose new key is an ``old`` value of the source (matched), those of them that look like its
    row (alike), and the share of all pairs that look alike (chance)."""
    labels = [text(column(name)) for name in shown]
    return SQL.query("kept_keys", source=table, row_key=row_key, original=source, old=old, shown=labels)


def keys(table: exp.Expr, row_key: str) -> exp.Query:
    """Select one row: row_count, null_keys, repeated_keys, and numbered_keys, those of 1 to the number of rows."""
    return SQL.query("keys", source=table, row_key=row_key)


def broken_keys(parent: exp.Expr, row_key: str, child: exp.Expr, key: str) -> exp.Query:
    """Call ``anon.broken_keys``."""
    return table_call("broken_keys", parent.copy(), string(row_key), child.copy(), string(key))
