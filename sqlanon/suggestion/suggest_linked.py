"""From tables of a database to a suggested policy of linked tables: links, and the suggestion of each table alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.methods.stages import Stages
from sqlanon.model.names import listed
from sqlanon.model.policy.table_roles import qualified
from sqlanon.queries.kit.nodes import Relation, Step, select
from sqlanon.satellites import installed_version
from sqlanon.suggestion.linked_suggestion import LinkedDraft, LinkedSuggestion, SuggestedTable, TableDraft
from sqlanon.suggestion.links import SQL, Link, Table, Tree, found_links, tree_of
from sqlanon.suggestion.policy_edits import LIST_OF_ROLE
from sqlanon.suggestion.suggest import (
    NO_QUASI_IDENTIFIER,
    PROFILES,
    SUPPRESSION_LIMIT,
    ExaminedTable,
    SuggestionRequest,
)
from sqlanon.suggestion.suggested_taxonomies import MAX_NODES, SuggestedTaxonomy, coarsened, lattice_nodes
from sqlanon.suggestion.suggestion import SuggestedColumn, Suggestion

LIMIT_OF_ROWS = 0.1
ROLES_OF_LISTS = {name: role for role, name in LIST_OF_ROLE.items()}


@dataclass(frozen=True)
class MostRows:
    """How many rows of a table 99 % of the persons with rows have at most, how many others have more, and the most."""

    usual_rows: int
    persons_above: int
    most_rows: int
    person_count: int


def suggest_linked(
    engine: Engine,
    sources: Mapping[str, ResolvedSource],
    declared: Iterable[Sequence[str]],
    asked: SuggestionRequest,
    stages: Stages,
) -> LinkedSuggestion:
    """Suggest the policy of linked tables; ``declared`` are foreign keys: table, column, parent, key.

    Raises:
        PolicyError: no table has the keys of another one.
    """
    if far := [source.description for source in sources.values() if engine.is_far(source.relation)]:
        raise PolicyError(f"a policy is suggested from values, which stay on their server: copy some rows of {far[0]}")
    asked = replace(asked, uses_stored=False)  # stored taxonomies are of columns without tables
    with stages.watching(engine), stages.stage("suggest"), engine.scratch(), engine.transaction():
        read = {name: _read(engine, place, source) for place, (name, source) in enumerate(sources.items())}
        alone: dict[str, Suggestion] = {}
        tables: dict[str, Table] = {}
        for name, source in read.items():
            with engine.scratch():
                examined = ExaminedTable(engine, source, asked)
                alone[name], tables[name] = examined.suggestion(), Table(name, source.relation, examined.evidence)
        tree = tree_of(tables, found_links(engine, tables, declared))
        if tree is None:
            raise PolicyError(
                f"no table of {listed(sources)} has a column with the keys of another one, which are unique and never "
                "missing: suggest a policy for one table, or make the key in a view"
            )
        most = _most_rows(engine, tables, tree)
    return _Suggested(asked, tables, alone, tree, most).suggestion()


def _read(engine: Engine, place: int, source: ResolvedSource) -> ResolvedSource:
    """Copy what would be read again and again, such as a file or a view."""
    if isinstance(source.relation, exp.Table) and source.dataset and not source.files:
        return source
    copy = Relation(f"anon_linked_source_{place}", "row")
    engine.run(Step(copy, select([exp.Star()], source.relation.copy()), "read the source"))
    return replace(source, relation=copy.table)


def _most_rows(engine: Engine, tables: Mapping[str, Table], tree: Tree) -> dict[str, MostRows]:
    owned = {tree.root: Relation("anon_owned_0", "row")}
    engine.run(
        SQL.step(owned[tree.root], "persons", source=tables[tree.root].relation, row_key=tree.row_keys[tree.root])
    )
    found = {}
    for place, (name, link) in enumerate(tree.links.items(), 1):
        owned[name] = Relation(f"anon_owned_{place}", "row")
        row_key = tree.row_keys.get(name, link.key)
        roles = SQL.given(source=tables[name].relation, owned=owned[link.parent], key=link.key, row_key=row_key)
        engine.run(roles.step(owned[name], "rows_of_persons"))
        [counts] = engine.fetch(SQL.query("most_rows", owned=owned[name]), "rows of persons")
        found[name] = MostRows(**counts)
    return found


class _Suggested:
    def __init__(
        self,
        asked: SuggestionRequest,
        tables: Mapping[str, Table],
        alone: Mapping[str, Suggestion],
        tree: Tree,
        most: Mapping[str, MostRows],
    ) -> None:
        self._tables, self._alone, self._tree, self._most = tables, alone, tree, most
        self._profile = asked.profile
        self._k = asked.k or PROFILES[asked.profile].k
        self._names = (tree.root, *tree.links)
        self._columns = {name: dict(self._roles(name)) for name in self._names}
        self._taxonomies = self._coarsened()

    def suggestion(self) -> LinkedSuggestion:
        left_out = tuple(name for name in self._tables if name not in self._names)
        suggestion = LinkedSuggestion(
            profile=self._profile,
            k=self._k,
            tables=tuple(map(self._table, self._names)),
            left_out=left_out,
            lattice_nodes=lattice_nodes(self._taxonomies),
            notes=tuple(self._notes(left_out)),
        )
        suggestion._draft = self._draft(suggestion)
        return suggestion

    def _keys(self, name: str) -> set[str]:
        link = self._tree.links.get(name)
        keys = {self._tree.row_keys[name]} if self._has_rows_below(name) else set()
        return keys | ({link.key} if link else set())

    def _has_rows_below(self, name: str) -> bool:
        return name == self._tree.root or any(link.parent == name for link in self._tree.links.values())

    def _roles(self, name: str) -> Iterator[tuple[str, SuggestedColumn]]:
        """Yield the columns with other roles than keys; those with keys of another table are dropped."""
        keys = self._keys(name)
        dropped = {link.key: f"has keys of {link.parent}" for link in self._tree.others if link.table == name}
        for column in self._alone[name].columns:
            if column.name in dropped:
                changes = {"role": "identifier", "is_undecided": False, "taxonomy": None}
                column = column.model_copy(update={**changes, "reason": dropped[column.name]})
            if column.name not in keys:
                yield column.name, column

    def _coarsened(self) -> dict[str, SuggestedTaxonomy]:
        """Return the taxonomies of all tables, for a lattice that is not too large."""
        fine = {
            qualified(name, column): taxonomy
            for name in self._names
            for column, taxonomy in self._alone[name]._draft.taxonomies.items()
            if column in self._columns[name] and self._columns[name][column].role == "quasi-identifier"
        }
        return coarsened(fine)

    def _table(self, name: str) -> SuggestedTable:
        link = self._tree.links.get(name)
        is_undecided = not self._tree.says_persons if link is None else link.is_doubtful
        return SuggestedTable(
            name=name,
            row_count=self._tables[name].rows,
            parent=None if link is None else link.parent,
            key=None if link is None else link.key,
            row_key=self._tree.row_keys[name] if self._has_rows_below(name) else None,
            reason=self._persons if link is None else link.reason,
            is_undecided=is_undecided,
            columns=tuple(self._columns[name].values()),
        )

    @property
    def _persons(self) -> str:
        if self._tree.says_persons:
            return "persons, by its name or that of its key"
        return "most tables hang from it; if its rows are not persons, name the table of persons"

    def _notes(self, left_out: Sequence[str]) -> Iterator[str]:
        if left_out:
            yield f"no row of {listed(left_out)} belongs to a person: join columns that you need in a view"
        yield from self._notes_on_keys(left_out)
        general, nodes = PROFILES[self._profile].notes, lattice_nodes(self._taxonomies)
        if nodes > MAX_NODES:
            yield f"the lattice has {nodes:,} nodes: fewer quasi-identifiers are searched sooner, and released finer"
        for name in self._names:
            for note in self._alone[name].notes:
                if note not in general and (note != NO_QUASI_IDENTIFIER or name == self._tree.root):
                    yield f"{name}: {note}"
        yield from general

    def _notes_on_keys(self, left_out: Sequence[str]) -> Iterator[str]:
        for link in self._tree.others:
            found = f'{link.table}: "{link.key}" has keys of {link.parent}'
            if link.table in left_out:
                yield f'{found}, but those in its "{link.row_key}", not in "{self._tree.row_keys[link.parent]}"'
            elif link.parent == self._tree.links[link.table].parent:
                yield f"{found}, too, and is dropped: a row belongs to one row of another"

    def _draft(self, suggestion: LinkedSuggestion) -> LinkedDraft:
        drafts = {name: self._alone[name]._draft for name in self._names}
        levels = [(qualified(name, column), level) for name, draft in drafts.items()
                  for column, level in draft.settings.get("minimum_levels", ({}, ""))[0].items()
                  if column in self._columns[name]]  # fmt: skip
        settings: dict[str, tuple[Any, str]] = {
            "suppression_limit": (SUPPRESSION_LIMIT, "5 % of the persons may be left out, with all of their rows")
        }
        if levels:
            settings["minimum_levels"] = (dict(levels), "by the profile")
        audience, _, _ = PROFILES[self._profile].reason.partition(":")
        known = f"whoever knows a person and one row below is left with {self._k} persons; m = 2 is for two"
        return LinkedDraft(
            heading=[
                f"A policy for linked tables, by sqlanon init {installed_version()}; {audience}.",
                "How tables hang together, and roles, are guesses by rules. Look at each, first at those with a ?: "
                "columns with one are dropped until you decide.",
                "To decide, move the line of a column to the list of its role; a quasi-identifier needs a taxonomy "
                "(sqlanon guide taxonomies).",
                *suggestion.notes,
            ],
            settings=settings,
            privacy={"model": ("known-rows", ""), "k": (self._k, ""), "m": (1, known)},
            csv=next((draft.csv for draft in drafts.values() if draft.csv), {}),
            tables={table.name: self._table_draft(table) for table in suggestion.tables},
        )

    def _table_draft(self, table: SuggestedTable) -> TableDraft:
        name, link = table.name, self._tree.links.get(table.name)
        mark = "? " if table.is_undecided else ""
        place: dict[str, tuple[Any, str]] = {}
        if table.row_key is not None:
            place["row_key"] = (table.row_key, f"{mark}{table.reason}" if link is None else "drawn anew for a release")
        if link is not None:
            place |= {"parent": (link.parent, ""), "key": (link.key, f"{mark}{link.reason}"), **_orphans(link)}
            place["suppression_limit"] = _limit(link)
        alone = self._alone[name]._draft
        for coding in ("bottom_coding", "top_coding"):
            values, why = alone.settings.get(coding, ({}, ""))
            if kept := {column: bound for column, bound in values.items() if column in self._columns[name]}:
                place[coding] = (kept, why)
        columns: dict[str, dict[str, str]] = {}
        for column in table.columns:
            reason = f"? {column.reason}" if column.is_undecided else column.reason
            columns.setdefault(LIST_OF_ROLE[column.role], {})[column.name] = reason
        own = {column: self._taxonomies.get(qualified(name, column)) for column in self._columns[name]}
        made = {column: taxonomy for column, taxonomy in own.items() if taxonomy is not None}
        advice = [] if link is None else [*_cap(self._most[name])]
        return TableDraft(place, advice, columns, made)


def _limit(link: Link) -> tuple[float, str]:
    """Return the share of rows that may be left out, which rows of nobody are among."""
    whole = min(1.0, round(LIMIT_OF_ROWS + math.ceil(100 * link.left_out / link.rows) / 100, 2))
    beside = f": {100 * LIMIT_OF_ROWS:.0f} %, and those that belong to nobody" if link.left_out else ""
    return whole, f"{100 * whole:.0f} % of its rows may be left out{beside}"


def _orphans(link: Link) -> dict[str, tuple[Any, str]]:
    if not link.left_out:
        return {}
    without = f" ({link.null_rows:,} have no key)" if link.null_rows else ""
    belong = "row belongs" if link.left_out == 1 else "rows belong"
    return {"orphans": ("drop", f"? {link.left_out:,} {belong} to no row of {link.parent}{without}, and are left out")}


def _cap(most: MostRows) -> Iterator[str]:
    """Yield a cap as a comment: it would leave out rows, which a person has to want."""
    if most.persons_above:
        yield f"99 % of the persons with rows have at most {most.usual_rows:,}; {most.persons_above:,} have more:"
        yield f'at_most = {most.usual_rows}; above = "first" with an order, such as ["day"], would leave out their rest'
