"""A suggested policy of linked tables: how they hang together, and the roles of their columns."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.model.policy.table_roles import qualified
from sqlanon.model.release.measurement import Result
from sqlanon.report.document import Part, Table, Text, count, facts
from sqlanon.suggestion.suggestion import Profile, SuggestedColumn, SuggestedPolicy, columns_parts


class SuggestedTable(Result):
    """The place of a table among others, and the roles of its columns.

    Attributes:
        name: the table. row_count: its rows.
        parent, key: the table that its rows belong to, and the column with the keys of that table; None for persons.
        row_key: its own key; None if no other table has it.
        reason: why it hangs there.
        is_undecided: whether a person has to decide.
        columns: the roles of the other columns.
    """

    name: str
    row_count: int
    parent: str | None
    key: str | None
    row_key: str | None
    reason: str
    is_undecided: bool
    columns: tuple[SuggestedColumn, ...]


class LinkedSuggestion(SuggestedPolicy):
    """A suggested policy of linked tables, decided by rules; only its files hold values of the sources.

    Attributes:
        profile: the audience of the release.
        k: the least persons with what somebody may know.
        tables: the table of persons, and those that hang from it.
        left_out: tables that hang from no person, which are not released.
        lattice_nodes: nodes of the lattice of all suggested taxonomies.
        notes: what to know before a run.
    """

    profile: Profile
    k: int
    tables: tuple[SuggestedTable, ...]
    left_out: tuple[str, ...]
    lattice_nodes: int
    notes: tuple[str, ...]

    @property
    def runs(self) -> bool:
        """Whether a run of the policy could succeed."""
        persons = self.tables[0]
        return persons.row_count >= self.k and any(each.role == "quasi-identifier" for each in persons.columns)

    @property
    def undecided(self) -> tuple[str, ...]:
        """Tables and columns that a person has to decide."""
        tables = (table.name for table in self.tables if table.is_undecided)
        return (*tables, *(name for name, each in self._columns if each.is_undecided))

    @property
    def _columns(self) -> list[tuple[str, SuggestedColumn]]:
        return [(qualified(table.name, each.name), each) for table in self.tables for each in table.columns]

    @property
    def heading(self) -> str:
        return f"A policy for {len(self.tables)} linked tables"

    def parts(self) -> Iterator[Part]:
        yield facts([("persons", count(self.tables[0].row_count)), ("to decide", count(len(self.undecided)))])
        places = [
            (
                each.name,
                count(each.row_count),
                each.parent or "",
                each.key or "",
                Text(f"?  {each.reason}", "doubtful") if each.is_undecided else each.reason,
            )
            for each in self.tables
        ]
        yield Table(("table", "rows", "hangs from", "by", "why"), places)
        yield from columns_parts(self._columns, self.notes)
