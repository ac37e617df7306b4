"""Linked tables in a run: rows with numbers in place of keys, joined along the path from the person down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.queries.kit.macros import text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, Step, aliased, called, column, number, select, subquery

SQL = Queries("linked")

ROW, PARENT, PERSON = "anon_row", "anon_parent", "anon_person"
"""The columns with the numbers of a row, of the row that it belongs to, and of its person."""
IS_CUT = "anon_is_cut"  # whether the cap of the policy leaves the row out
NUMBERS = (ROW, PARENT, PERSON)

Cap = tuple[int, Sequence[str]]
"""The number of rows that a person may have, and the columns by which the first ones are found."""


@dataclass(frozen=True)
class LinkedRows:
    """The rows of a table, read once."""

    name: str
    place: int  # among the tables, parents first
    columns: tuple[str, ...]  # that are kept, with the name of the table
    parent: LinkedRows | None = None

    @property
    def relation(self) -> Relation:
        return Relation(f"anon_table_{self.place}", "row")

    @property
    def path(self) -> tuple[LinkedRows, ...]:
        """The tables from that of persons to this one."""
        return (self,) if self.parent is None else (*self.parent.path, self)

    @property
    def alias(self) -> str:
        return f"anon_at_{self.place}"

    def step(
        self, source: exp.Expr, row_key: str | None, key: str | None, cap: tuple[int, Sequence[str]] | None
    ) -> Step:
        """Make the rows, read once."""
        purpose = f'rows of "{self.name}"'
        found = text(column(row_key)) if row_key is not None else exp.cast(exp.null(), "VARCHAR")
        roles = SQL.given(source=source.copy(), columns=self.columns, row_key=found)
        if self.parent is None:
            return Step(self.relation, roles.query("persons"), purpose)
        roles = roles.given(parents=self.parent.relation, key=str(key))
        if cap is None:
            return Step(self.relation, roles.query("all_rows_below"), purpose)
        most, order = cap
        # Ties by the text of the row, so that the same rows are left out whatever their order.
        places = [*map(column, order), *(text(column(name)) for name in self.columns)]
        names = [f"anon_place_{number}" for number in range(len(places))]
        return Step(self.relation, roles.query("rows_below", most=most, places=places, order=names), purpose)

    def rows(self, columns: Iterable[str] | None = None, *, numbers: Iterable[str] = ()) -> exp.Subquery:
        """Return the rows that are neither orphans nor cut, with columns of the path; by default all of its own."""
        wanted = self.columns if columns is None else tuple(columns)
        homes = {name: each.alias for each in self.path for name in each.columns}
        shown: list[exp.Expr] = [column(name, self.alias) for name in numbers]
        shown += [column(name, homes[name]) for name in wanted]
        query = select(shown, called(self.relation.table, self.alias))
        needed = {homes[name] for name in wanted} - {self.alias}
        below = self
        for above in reversed(self.path[:-1]):
            if not needed:
                break
            on = column(ROW, above.alias).eq(column(PARENT, below.alias))
            query = query.join(called(above.relation.table, above.alias), on=on, copy=False)
            needed.discard(above.alias)
            below = above
        kept = exp.and_(exp.not_(column(PERSON, self.alias).is_(exp.null())), exp.not_(column(IS_CUT, self.alias)))
        return subquery(query.where(kept, copy=False), "anon_linked")


def of_path(rows: LinkedRows, columns: Sequence[str], person: str) -> exp.Subquery:
    """Return the rows of a table with columns of its path, and the number of the person under a name."""
    inner = rows.rows(columns, numbers=(PERSON,))
    shown = [*map(column, columns), aliased(column(PERSON), person)]
    return subquery(select(shown, inner), "anon_of_path")


def key_counts(rows: LinkedRows) -> exp.Query:
    """Select one row: ``rows``, ``null_keys``, and rows with a ``repeated`` key."""
    return SQL.query("key_counts", rows=rows.relation)


def link_counts(rows: LinkedRows, most: int | None) -> exp.Query:
    """Select one row: ``rows``, ``cut``, ``orphans``, ``null_keys``, ``persons`` with rows, and ``persons_above``."""
    return SQL.query("link_counts", rows=rows.relation, most=number(most if most is not None else 2**62))


def qualified_rows(relation: exp.Expr, names: dict[str, str]) -> exp.Subquery:
    """Return a relation with the columns under other names."""
    return subquery(select([aliased(column(name), new) for name, new in names.items()], relation.copy()), "anon_named")
