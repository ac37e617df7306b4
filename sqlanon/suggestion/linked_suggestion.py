"""A suggested policy of linked tables: how they hang together, the roles of their columns, and the policy file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import PrivateAttr

from sqlanon.model.policy.table_roles import qualified
from sqlanon.model.release.measurement import Result
from sqlanon.model.taxonomy.hierarchies import labels_text
from sqlanon.report.document import Part, Table, Text, count, facts, notes
from sqlanon.suggestion.policy_edits import LIST_OF_ROLE
from sqlanon.suggestion.policy_file import PolicyFile, names_of_files
from sqlanon.suggestion.suggested_taxonomies import SuggestedTaxonomy
from sqlanon.suggestion.suggestion import (
    MAX_SHOWN,
    ROLES,
    Profile,
    SuggestedColumn,
    line_of,
    list_lines,
)
from sqlanon.suggestion.toml_text import toml_comment, toml_key

Settings = Mapping[str, tuple[Any, str]]  # keys, values with comments


@dataclass(frozen=True)
class TableDraft:
    place: Settings  # where it hangs, its keys and its limits
    advice: Sequence[str]  # settings that a person may take, as comments
    columns: Mapping[str, Mapping[str, str]]  # by list, columns with comments
    taxonomies: Mapping[str, SuggestedTaxonomy]


@dataclass(frozen=True)
class LinkedDraft:
    heading: Sequence[str]  # sentences at its start
    settings: Settings
    privacy: Settings
    csv: Mapping[str, Any]
    tables: Mapping[str, TableDraft]


def linked_file_of(draft: LinkedDraft, path: Path) -> PolicyFile:
    """Return the draft as a policy file; names of its taxonomy files begin with the stem of its path."""
    files: dict[tuple[str, str], str] = {}  # by table and column; names differ in any case
    lines = [*map(toml_comment, draft.heading), "", *_lines(draft.settings), "", "[[privacy]]", *_lines(draft.privacy)]
    lines += ["", "[quality]", line_of("model", "lm")]
    if draft.csv:
        lines += ["", "[csv]", *(line_of(name, value) for name, value in draft.csv.items())]
    for table, found in draft.tables.items():
        lines += ["", f"[tables.{toml_key(table)}]", *_lines(found.place), *map(toml_comment, found.advice)]
        for role in ROLES:
            lines += list_lines(LIST_OF_ROLE[role], found.columns.get(LIST_OF_ROLE[role], {}))
        for name, taxonomy in found.taxonomies.items():
            if taxonomy.labels:
                known = {*files.values()}
                names = names_of_files(path.stem, qualified(table, name))
                files[table, name] = next(file for file in names if file not in known)
        rules = {name: files.get((table, name), each.rule) for name, each in found.taxonomies.items() if each.rule}
        if rules:
            lines += ["", f"[tables.{toml_key(table)}.taxonomies]"]
        lines += (line_of(name, rule, found.taxonomies[name].hint) for name, rule in rules.items())
    labels = {file: labels_text(draft.tables[table].taxonomies[name].labels) for (table, name), file in files.items()}
    return PolicyFile("\n".join(lines) + "\n", labels, path)


def _lines(settings: Settings) -> Iterator[str]:
    return (line_of(name, value, why) for name, (value, why) in settings.items())


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


class LinkedSuggestion(Result):
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

    _draft: LinkedDraft = PrivateAttr()

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

    def write(self, path: str | Path, *, replace: bool = False) -> tuple[Path, ...]:
        """Write the policy, with a comment per table and column, and the files of its taxonomies beside it.

        Args:
            path: the policy file; names of other files begin with its stem.
            replace: whether existing files may be replaced.

        Returns:
            all files that were written, the policy first.

        Raises:
            EngineError: one of them exists, or cannot be written.
        """
        return linked_file_of(self._draft, Path(path)).write(replace=replace)

    def to_toml(self, stem: str = "policy") -> str:
        """Return the policy file as a text; names of taxonomy files begin with ``stem``."""
        return linked_file_of(self._draft, Path(f"{stem}.toml")).text

    @property
    def heading(self) -> str:
        return f"A policy for {len(self.tables)} linked tables"

    def parts(self) -> Iterator[Part]:
        yield facts([("persons", count(self.tables[0].row_count)), ("to decide", count(len(self.undecided)))])
        places = (
            (each.name, count(each.row_count), each.parent or "", each.key or "", _marked(each, each.reason))
            for each in self.tables
        )
        yield Table(("table", "rows", "hangs from", "by", "why"), [*places])
        shown = sorted(self._columns, key=lambda item: not item[1].is_undecided)
        rows = (
            (name, _marked(each, "dropped until you decide" if each.is_undecided else each.role), each.reason,
             each.taxonomy or "")
            for name, each in shown[:MAX_SHOWN]
        )  # fmt: skip
        yield Table(("column", "role", "why", "generalized to"), [*rows])
        left = [f"{len(shown) - MAX_SHOWN:,} more columns are in the policy"] if len(shown) > MAX_SHOWN else []
        yield from notes("Notes", [*self.notes, *left])


def _marked(found: SuggestedTable | SuggestedColumn, words: str) -> Text | str:
    return Text(f"?  {words}", "doubtful") if found.is_undecided else words
