"""Linked tables in a run: rows with numbers in place of keys, joined along the path from the person down."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.queries.kit.macros import text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, Step, aliased, ascending, called, column, f, select, subquery

SQL = Queries("linked")

ROW, PARENT, PERSON = "anon_row", "anon_parent", "anon_person"
"""The columns with the numbers of a row, of the row that it belongs to, and of its person."""
IS_CUT = "anon_is_cut"  # whether the cap of the policy leaves the row out

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

    def step(self, source: exp.Expr, row_key: str | None, key: str | None, cap: Cap | None) -> Step:
        """Make the rows, read once."""
        found = text(column(row_key)) if row_key is not None else exp.cast(exp.null(), "VARCHAR")
        roles = SQL.given(source=source.copy(), columns=self.columns, row_key=found)
        if self.parent is None:
            query = roles.query("persons")
        else:
            parents = self.parent.relation
            query = roles.query("rows_below", parents=parents, key=str(key), is_above=self._is_above(cap))
        return Step(self.relation, query, f'rows of "{self.name}"')

    def _is_above(self, cap: Cap | None) -> exp.Expr:
        if cap is None:
            return exp.false()
        most, order = cap
        # Ties by the text of the row, so that the same rows are left out whatever their order.
        values = [*map(column, order), *(text(column(name)) for name in self.columns)]
        order_by = ascending(column(IS_CUT, "anon_parents"), *values)
        person = column(PERSON, "anon_parents")
        place = exp.Window(this=f.row_number(), partition_by=[person], order=order_by)
        return exp.and_(exp.not_(person.copy().is_(exp.null())), place > most)  # orphans have no cap

    def rows(self, columns: Iterable[str] | None = None, *, numbers: Iterable[str] = ()) -> exp.Subquery:
        """Return the rows that are neither orphans nor cut, with columns of the path; by default all of its own."""
        wanted = self.columns if columns is None else tuple(columns)
        homes = {name: each for each in self.path for name in each.columns}
        shown: list[exp.Expr] = [column(name, self.alias) for name in numbers]
        shown += [column(name, homes[name].alias) for name in wanted]
        query = select(shown, called(self.relation.table, self.alias))
        highest = min((homes[name].place for name in wanted), default=self.place)
        for below, above in itertools.pairwise(reversed(self.path)):
            if above.place >= highest:
                on = column(ROW, above.alias).eq(column(PARENT, below.alias))
                query = query.join(called(above.relation.table, above.alias), on=on, copy=False)
        kept = exp.and_(exp.not_(column(PERSON, self.alias).is_(exp.null())), exp.not_(column(IS_CUT, self.alias)))
        return subquery(query.where(kept, copy=False), "anon_linked")


def qualified_rows(relation: exp.Expr, names: dict[str, str]) -> exp.Subquery:
    """Return a relation with the columns under other names."""
    return subquery(select([aliased(column(name), new) for name, new in names.items()], relation.copy()), "anon_named")
