"""Bind the policy of linked tables to its sources: read them once, check their keys, and bind each path."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.binding import stored_taxonomies
from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.carried_taxonomies import apart, load_made, made_by_policy
from sqlanon.binding.prepare import as_policy_says, prepare
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.model.lattice import Lattice
from sqlanon.model.names import counted, in_quotes, spelled_like
from sqlanon.model.policy.linked_policy import LinkedPolicy, TableRoles, qualified
from sqlanon.model.policy_value import unknown_names
from sqlanon.queries.kit.nodes import aliased, column, number, select, string, subquery
from sqlanon.queries.linked import PERSON, SQL, LinkedRows, qualified_rows
from sqlanon.queries.source import SourceColumn
from sqlanon.queries.taxonomies import domains_of

MAX_ROWS = 2**62  # of a person, without a cap


@dataclass(frozen=True)
class LinkCounts:
    """The rows of a table, and those that belong to nobody or are above the cap."""

    rows: int
    orphans: int = 0
    cut: int = 0

    @property
    def linked(self) -> int:
        """The rows that belong to persons, whether they are cut or not: losses are means over them."""
        return self.rows - self.orphans


@dataclass(frozen=True)
class BoundTable:
    name: str
    source: ResolvedSource  # with the name of the table in its columns, and values as the policy says
    columns: Sequence[SourceColumn]  # of the source
    rows: LinkedRows
    counts: LinkCounts
    path: BoundPolicy  # of its rows beside the rows above them

    @property
    def own(self) -> tuple[str, ...]:
        """Its quasi-identifiers, with the name of the table."""
        prefix = qualified(self.name, "")
        return tuple(name for name in self.path.policy.taxonomy_columns if name.startswith(prefix))


@dataclass(frozen=True)
class BoundLinked:
    policy: LinkedPolicy
    tables: Mapping[str, BoundTable]  # parents first

    @property
    def root(self) -> BoundTable:
        return self.tables[self.policy.root]

    @property
    def lattice(self) -> Lattice:
        """The lattice of the quasi-identifiers of all tables, table by table."""
        found: list[tuple[str, int, int, int]] = []
        for table in self.tables.values():
            of_path = table.path.lattice
            places = [*zip(of_path.quasi_identifiers, of_path.heights, of_path.bottom, of_path.top, strict=True)]
            found += places[len(places) - len(table.own) :]  # after those of the rows above
        return Lattice(*zip(*found, strict=True))


@contextmanager
def bound_linked(engine: Engine, sources: Mapping[str, ResolvedSource], policy: LinkedPolicy) -> Iterator[BoundLinked]:
    """Read the tables once and bind the policy to them within the block.

    Raises:
        PolicyError: columns and roles do not match, or keys do not link the tables as the policy says.
        TaxonomyError: a quasi-identifier has no taxonomy, or a malformed one.
    """
    policy.check_run()
    policy, sources = spelled_like_sources(engine, sources, policy)
    with engine.scratch():
        with engine.transaction():  # one state of all tables
            tables = read_tables(engine, sources, policy)
        read = {name: ResolvedSource(rows.rows(), f'table "{name}"') for name, (rows, _) in tables.items()}
        with linked_taxonomies(engine, read, policy):
            bound = {name: bound_table(engine, sources[name], policy, *table) for name, table in tables.items()}
            yield BoundLinked(policy, bound)


def spelled_like_sources(
    engine: Engine, sources: Mapping[str, ResolvedSource], policy: LinkedPolicy
) -> tuple[LinkedPolicy, dict[str, ResolvedSource]]:
    """Match tables and columns with their sources.

    Returns:
        the policy in their spelling; and the sources with the names of tables in their columns, and values as the
        policy says.
    """
    problems = [f"table {in_quotes(name)} has no source" for name in policy.tables if name not in sources]
    problems += [
        f"source {in_quotes(name)} is not a table of the policy{meant}"
        for name, meant in unknown_names(sources, policy.tables)
    ]
    if problems:
        raise PolicyError("the sources do not fit the policy:", problems)
    columns = {name: engine.describe(sources[name].relation) for name in policy.ordered}
    tables = {}
    for name, roles in policy.tables.items():
        there = [found.name for found in columns[name]]
        tables[name] = roles.spelled_like(there)
        wanted = tables[name].columns
        table = in_quotes(name)
        problems += [f"{table} has no column {in_quotes(each)}{meant}" for each, meant in unknown_names(wanted, there)]
        problems += [f"column {in_quotes(each)} of {table} has no role" for each in there if each not in wanted]
    if problems:
        raise PolicyError("the policy does not fit the tables:", problems)
    policy = policy.changed({"tables": tables})  # levels, weights and models follow in their spelling
    read = {}
    for name in policy.ordered:
        names = {each.name: qualified(name, each.name) for each in columns[name]}
        named = replace(sources[name], relation=qualified_rows(sources[name].relation, names))
        read[name] = as_policy_says(engine, named, policy.path_policy(name))
    if problems := [*_other_types(engine, read, policy)]:
        raise PolicyError("keys of linked tables are compared, and nothing is cast silently:", problems)
    return policy, read


def _other_types(engine: Engine, read: Mapping[str, ResolvedSource], policy: LinkedPolicy) -> Iterator[str]:
    types = {found.name: found for source in read.values() for found in engine.describe(source.relation)}
    for name, roles in policy.tables.items():
        if roles.parent is None:
            continue
        own = types[str(policy.roles(name).key)]
        above = types[str(policy.roles(roles.parent).row_key)]
        if _spelling(own) != _spelling(above):
            yield (
                f"{in_quotes(own.name)} is {own.type}, and {in_quotes(above.name)} is {above.type}: cast one of them "
                "in a view"
            )


def _spelling(found: SourceColumn) -> str:
    """Return the types that write keys alike: texts, whole numbers of any size, or one type, as 1.0 is not 1."""
    traits = found.traits
    is_whole = traits.is_number and not traits.is_fractional
    return "text" if traits.is_text else "whole" if is_whole else found.type


def read_tables(
    engine: Engine, sources: Mapping[str, ResolvedSource], policy: LinkedPolicy
) -> dict[str, tuple[LinkedRows, LinkCounts]]:
    """Read the rows of all tables with numbers in place of keys; refuse keys that do not link them."""
    made: dict[str, tuple[LinkedRows, LinkCounts]] = {}
    problems: list[str] = []
    for place, name in enumerate(policy.ordered):
        roles = policy.roles(name)
        parent = None if roles.parent is None else made[roles.parent][0]
        dropped = {*roles.keys} | ({*roles.identifiers} - roles.label_columns)
        source = sources[name].relation
        kept = (found.name for found in engine.describe(source) if found.name not in dropped)
        rows = LinkedRows(name, place, tuple(kept), parent)
        cap = None if roles.at_most is None else (roles.at_most, roles.order)
        engine.run(rows.step(source, roles.row_key, roles.key, cap))
        most = number(MAX_ROWS if roles.at_most is None else roles.at_most)
        found = engine.fetch(SQL.query("link_counts", rows=rows.relation, most=most), "links of rows")[0]
        if roles.row_key is not None:
            found |= engine.fetch(SQL.query("key_counts", rows=rows.relation), "keys of rows")[0]
        made[name] = rows, LinkCounts(found["rows"], found["orphans"], found["cut"])
        problems += _link_problems(name, roles, found)
        if problems and policy.children(name):
            break  # rows below would be repeated, or refused for the same reason
    if problems:
        raise PolicyError("the keys do not link the tables:", problems)
    if made[policy.root][1].rows == 0:
        raise PolicyError(f'"{policy.root}" has no rows: there is nothing to anonymize')
    return made


def _link_problems(name: str, roles: TableRoles, found: Mapping[str, int]) -> Iterator[str]:
    row_key, key, parent = (in_quotes(str(each)) for each in (roles.row_key, roles.key, roles.parent))
    for count, fault in (("null_keys", "is NULL"), ("repeated", "repeats keys")):
        if found.get(count):
            yield f"{row_key} {fault} in {counted(found[count], 'row')}: each row needs a key of its own"
    if found["orphans"] and roles.orphans == "refuse":
        yield (
            f"{key}: {found['orphans']:,} rows belong to no row of {parent} "
            f'({found["without_key"]:,} are NULL); orphans = "drop" leaves them out'
        )
    if roles.parent is not None and found["rows"] == found["orphans"]:
        yield f"{in_quotes(name)}: no row belongs to a person: leave the table out of the policy"
    if found["persons_above"] and roles.above == "refuse":
        yield (
            f"{in_quotes(name)}: {found['persons_above']:,} persons have more than {roles.at_most:,} rows (at_most); "
            'above = "first" leaves the others out, in the order that order names'
        )


@contextmanager
def linked_taxonomies(
    engine: Engine,
    sources: Mapping[str, ResolvedSource],
    policy: LinkedPolicy,
    attributes: Collection[str] | None = None,
) -> Iterator[None]:
    """Make the taxonomies of all tables available within the block, by the names of columns with their tables.

    Observed values are read from the sources, whose columns have these names; a table that a release lacks has no
    source. ``attributes`` restricts the columns.
    """
    known, stored = stored_taxonomies.attributes(engine), engine.taxonomy
    with apart(engine, ()):
        for name in (each for each in policy.ordered if each in sources):
            carried = policy.roles(name).taxonomies
            wanted = {each: rule for each, rule in carried.items() if attributes is None or each in attributes}
            load_made(engine, sources[name], made_by_policy(wanted))
            for short in policy.tables[name].quasi_identifiers:
                own = qualified(name, short)
                there = [each for each in (spelled_like(own, known), spelled_like(short, known)) if each in known]
                if there and own not in carried:
                    _copy_stored(engine, stored, there[0], own)
        yield


def _copy_stored(engine: Engine, stored: exp.Table, attribute: str, own: str) -> None:
    """Copy a stored taxonomy under the name of a column with that of its table."""
    for theirs, ours in ((stored, engine.taxonomy), (domains_of(stored), domains_of(engine.taxonomy))):
        rows = SQL.query("copied_taxonomy", taxonomy=theirs, attribute=string(attribute), own=string(own))
        engine.execute(exp.insert(rows, ours.copy()), "copy the taxonomies")


READ: dict[str, dict[str, object]] = {"taxonomies": {}, "bottom_coding": {}, "top_coding": {}}
"""What the rows of a table and the taxonomies of the run say already."""


def bound_table(
    engine: Engine, source: ResolvedSource, policy: LinkedPolicy, rows: LinkedRows, counts: LinkCounts
) -> BoundTable:
    """Bind the path of a table whose rows are read."""
    own = policy.path_policy(rows.name)
    person = str(policy.roles(policy.root).row_key)
    wanted = [name for name in own.columns if name != person]
    shown = [*map(column, wanted), aliased(column(PERSON), person)]
    relation = subquery(select(shown, rows.rows(wanted, numbers=(PERSON,))), "anon_of_path")
    path = prepare(engine, ResolvedSource(relation, f'table "{rows.name}"'), own.changed(READ))
    return BoundTable(rows.name, source, engine.describe(source.relation), rows, counts, path)
