"""From tables of a database to a suggested policy of linked tables: links, and the suggestion of each table alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.methods.stages import Stages
from sqlanon.model.names import listed
from sqlanon.model.policy.table_roles import qualified
from sqlanon.queries.kit.nodes import Relation
from sqlanon.satellites import installed_version
from sqlanon.suggestion.linked_suggestion import LinkedSuggestion, SuggestedTable
from sqlanon.suggestion.links import SQL, Link, Tree, found_links, tree_of
from sqlanon.suggestion.suggest import (
    NO_QUASI_IDENTIFIER,
    PROFILES,
    SUPPRESSION_LIMIT,
    ExaminedTable,
    SuggestionRequest,
)
from sqlanon.suggestion.suggested_taxonomies import MAX_NODES, coarsened, lattice_nodes
from sqlanon.suggestion.suggestion import TO_DECIDE, Draft, Suggestion

LIMIT_OF_ROWS = 0.1
Value = TypeVar("Value")
Settings = dict[str, tuple[Any, str]]  # values with comments


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
    asked = replace(asked, uses_stored=False)  # stored taxonomies are of columns without tables
    with stages.watching(engine), stages.stage("suggest"), engine.scratch(), engine.transaction():
        tables = {
            name: ExaminedTable(engine, source, asked, Relation(f"anon_copied_source_{place}", "row"))
            for place, (name, source) in enumerate(sources.items())
        }
        tree = tree_of(tables, found_links(engine, tables, declared))
        if tree is None:
            raise PolicyError(
                f"no table of {listed(sources)} has a column with the keys of another one, which are unique and never "
                "missing: suggest a policy for one table, or make the key in a view; DOUBLE columns are no keys there, "
                "and need a cast, such as to BIGINT"
            )
        caps = {name: _cap(engine, tables, tree, name) for name in tree.links}
        alone = {name: _alone(engine, tables[name], name, tree) for name in (tree.root, *tree.links)}
    return _suggestion(asked, tree, alone, caps, [name for name in tables if name not in alone])


def _cap(engine: Engine, tables: Mapping[str, ExaminedTable], tree: Tree, name: str) -> list[str]:
    """Return a cap of a table as comments: it would leave out rows, which a person has to want."""
    [rows] = engine.fetch(SQL.query("most_rows", owned=_owned(tables, tree, name)), "rows of persons")
    if not rows["persons_above"]:
        return []
    return [
        f"99 % of the persons with rows have at most {rows['usual_rows']:,}; {rows['persons_above']:,} have more:",
        f'at_most = {rows["usual_rows"]}; above = "first" with an order, such as ["day"], would leave out their rest',
    ]


def _owned(tables: Mapping[str, ExaminedTable], tree: Tree, name: str) -> exp.Query:
    """Select the keys of a table's rows, and the persons whom they belong to."""
    roles = SQL.given(source=tables[name].relation)
    if (link := tree.links.get(name)) is None:
        return roles.query("persons", row_key=tree.row_keys[name])
    above = _owned(tables, tree, link.parent)
    return roles.query("rows_of_persons", owned=above, key=link.key, row_key=tree.row_keys.get(name, link.key))


def _alone(engine: Engine, table: ExaminedTable, name: str, tree: Tree) -> Suggestion:
    found = (tree.row_key(name), tree.links[name].key if name in tree.links else None)
    dropped = {link.key: f"has keys of {link.parent}" for link in tree.others if link.table == name}
    with engine.scratch():
        return table.suggestion({key for key in found if key is not None}, dropped)


def _suggestion(
    asked: SuggestionRequest,
    tree: Tree,
    alone: Mapping[str, Suggestion],
    caps: Mapping[str, Sequence[str]],
    left_out: Sequence[str],
) -> LinkedSuggestion:
    drafts = {name: each._draft for name, each in alone.items()}
    taxonomies = coarsened(_by_column({name: draft.taxonomies for name, draft in drafts.items()}))
    nodes = lattice_nodes(taxonomies)
    found = LinkedSuggestion(
        profile=asked.profile,
        k=asked.k or PROFILES[asked.profile].k,
        tables=tuple(_table(name, each, tree) for name, each in alone.items()),
        left_out=tuple(left_out),
        lattice_nodes=nodes,
        notes=tuple(_notes(asked, tree, alone, left_out, nodes)),
    )
    found._draft = _draft(found, drafts)
    for table in found.tables:
        own = drafts[table.name]
        codings = {name: value for name, value in own.settings.items() if name in ("bottom_coding", "top_coding")}
        found._tables[table.name] = replace(
            own,
            heading=caps.get(table.name, ()),
            settings=_place(table, tree.links.get(table.name)) | codings,
            taxonomies={column: taxonomies[qualified(table.name, column)] for column in own.taxonomies},
        )
    return found


def _table(name: str, alone: Suggestion, tree: Tree) -> SuggestedTable:
    others = "most tables hang from it; if its rows are not persons, name the table of persons"
    persons = "persons, by its name or that of its key" if tree.says_persons else others
    link = tree.links.get(name)
    return SuggestedTable(
        name=name,
        row_count=alone.row_count,
        parent=None if link is None else link.parent,
        key=None if link is None else link.key,
        row_key=tree.row_key(name),
        reason=persons if link is None else link.reason,
        is_undecided=not tree.says_persons if link is None else link.is_doubtful,
        columns=alone.columns,
    )


def _notes(
    asked: SuggestionRequest, tree: Tree, alone: Mapping[str, Suggestion], left_out: Sequence[str], nodes: int
) -> Iterator[str]:
    yield from _notes_on_links(tree, left_out)
    if nodes > MAX_NODES:
        yield f"the lattice has {nodes:,} nodes: fewer quasi-identifiers are searched sooner, and released finer"
    general = PROFILES[asked.profile].notes
    for name, each in alone.items():
        for note in each.notes:
            if note not in general and (note != NO_QUASI_IDENTIFIER or name == tree.root):
                yield f"{name}: {note}"
    yield from general


def _notes_on_links(tree: Tree, left_out: Sequence[str]) -> Iterator[str]:
    if left_out:
        yield f"no row of {listed(left_out)} belongs to a person: join columns that you need in a view"
    for link in tree.others:
        found = f'{link.table}: "{link.key}" has keys of {link.parent}'
        if link.table in left_out:
            yield f'{found}, but those in its "{link.row_key}", not in "{tree.row_keys[link.parent]}"'
        elif link.parent == tree.links[link.table].parent:
            yield f"{found}, too, and is dropped: a row belongs to one row of another"


def _by_column(tables: Mapping[str, Mapping[str, Value]]) -> dict[str, Value]:
    return {qualified(table, column): value for table, own in tables.items() for column, value in own.items()}


def _draft(found: LinkedSuggestion, tables: Mapping[str, Draft]) -> Draft:
    settings: Settings = {
        "suppression_limit": (SUPPRESSION_LIMIT, "5 % of the persons may be left out, with all of their rows")
    }
    levels = {name: draft.settings.get("minimum_levels", ({}, ""))[0] for name, draft in tables.items()}
    if any(levels.values()):
        settings["minimum_levels"] = (_by_column(levels), "by the profile")
    audience, _, _ = PROFILES[found.profile].reason.partition(":")
    return Draft(
        heading=[
            f"A policy for linked tables, by sqlanon init {installed_version()}; {audience}.",
            f"Whoever knows a person and one row below is left with {found.k} persons; m = 2 is for two rows.",
            "How tables hang together, and roles, are guesses by rules. Look at each, first at those with a ?: "
            "columns with one are dropped until you decide.",
            TO_DECIDE,
            *found.notes,
        ],
        columns={},
        settings=settings,
        privacy=[{"model": "known-rows", "k": found.k, "m": 1}],
        taxonomies={},
        compared="each row at the finest levels that enough persons share",
        csv=next((draft.csv for draft in tables.values() if draft.csv), {}),
    )


def _place(table: SuggestedTable, link: Link | None) -> Settings:
    """Return where a table hangs, and which of its rows may be left out; rows of nobody come on top."""
    reason = f"? {table.reason}" if table.is_undecided else table.reason
    if link is None:
        return {"row_key": (table.row_key, reason)}
    settings: Settings = {} if table.row_key is None else {"row_key": (table.row_key, "drawn anew for a release")}
    settings |= {"parent": (link.parent, ""), "key": (link.key, reason)}
    if link.left_out:
        without = f" ({link.null_rows:,} have no key)" if link.null_rows else ""
        belong = "row belongs" if link.left_out == 1 else "rows belong"
        why = f"? {link.left_out:,} {belong} to no row of {link.parent}{without}, and are left out"
        settings["orphans"] = ("drop", why)
    limit = min(1.0, round(LIMIT_OF_ROWS + math.ceil(100 * link.left_out / link.rows) / 100, 2))
    settings["suppression_limit"] = (limit, f"{100 * limit:.0f} % of its rows may be left out, for whatever reason")
    return settings
