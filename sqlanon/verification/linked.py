"""Measures of linked tables against a policy, joined by their keys as whoever has them would join them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.model.criteria import CLASS_SIZE
from sqlanon.model.known_rows import KnownRows
from sqlanon.model.policy.linked_policy import LinkedPolicy, qualified
from sqlanon.model.record import RowsRecord
from sqlanon.model.release import ModelResult
from sqlanon.model.release.linked import BrokenKeys, KnownPatterns, LinkedMeasurement
from sqlanon.model.release.linked_report import LinkedRowCounts
from sqlanon.queries import linked_measures as queries
from sqlanon.queries.kit.nodes import Step
from sqlanon.queries.linked_measures import JoinedTables, LinkedTable

MAX_KNOWN_ROWS = 2
OF_CLASS = "largest_share"  # the only share that is not compared with that of all persons


def measure_linked(
    engine: Engine,
    tables: Mapping[str, ResolvedSource],
    policy: LinkedPolicy,
    *,
    upto: int = MAX_KNOWN_ROWS,
    sources: Mapping[str, ResolvedSource] | None = None,
) -> LinkedMeasurement:
    """Measure linked tables as they are, by their keys.

    Args:
        tables: all tables of the policy, released or not, with columns of their own names.
        upto: the greatest number of known rows, 0 to 2.
        sources: the tables whose shares of values bounds compare with; without them these are not measured.
    """
    rows, broken = _rows_and_keys(engine, tables, policy)
    known_rows = None if policy.known_rows is None else policy.known_rows.m
    found = LinkedMeasurement(k=policy.k, known_rows=known_rows, persons=rows[policy.root], rows=rows, broken=broken)
    shares: dict[str, dict[str, float | None]] = {}
    if all(each.names_every_row for each in broken.values()):
        joined = JoinedTables([_table(name, tables, policy) for name in policy.ordered])
        with engine.scratch():
            _run(engine, joined.join())
            rows_known = engine.fetch(joined.known(upto, policy.k), "known rows")
            known = {row.pop("known_rows"): KnownPatterns(**row) for row in rows_known}
            counts = KnownPatterns(**engine.fetch(joined.counts(policy.k), "numbers of rows")[0])
            _run(engine, joined.grow())
            trees = KnownPatterns(**engine.fetch(joined.trees(policy.k), "trees of persons")[0])
            shares = _shares(engine, joined, policy, sources)
        found = found.model_copy(update={"known": dict(sorted(known.items())), "trees": trees, "counts": counts})
    return found.model_copy(update={"models": tuple(_models(found, policy, shares))})


def _run(engine: Engine, steps: Iterable[Step]) -> None:
    for step in steps:
        engine.run(step)


def _shares(
    engine: Engine, joined: JoinedTables, policy: LinkedPolicy, sources: Mapping[str, ResolvedSource] | None
) -> dict[str, dict[str, float | None]]:
    """Measure the columns whose shares of persons the policy bounds."""
    bounded = [(place, name, own) for place, name in enumerate(policy.ordered) for own in _bounded(policy, name)]
    original = joined
    if sources is not None and bounded:
        tables = [replace(_table(name, sources, policy), labels=()) for name in policy.ordered]
        original = JoinedTables(tables, "anon_original")
        _run(engine, original.join())
    found = {}
    for place, name, own in bounded:
        shares = engine.fetch(joined.shares(place, own, original), "shares of values")[0]
        is_known = {OF_CLASS} if sources is None else shares.keys()
        found[qualified(name, own)] = {each: shares[each] for each in is_known}
    return found


def _bounded(policy: LinkedPolicy, table: str) -> tuple[str, ...]:
    """Return the sensitive columns of a table whose shares of persons the policy bounds."""
    columns = {name for model in policy.privacy for name in model.columns}
    return tuple(own for own in policy.tables[table].sensitive if qualified(table, own) in columns)


def _table(name: str, tables: Mapping[str, ResolvedSource], policy: LinkedPolicy) -> LinkedTable:
    roles = policy.tables[name]
    return LinkedTable(
        relation=tables[name].relation,
        parent=None if roles.parent is None else policy.ordered.index(roles.parent),
        key=roles.key,
        row_key=policy.row_key(name),
        labels=tuple(roles.quasi_identifiers),
        sensitive=_bounded(policy, name),
    )


def _rows_and_keys(
    engine: Engine, tables: Mapping[str, ResolvedSource], policy: LinkedPolicy
) -> tuple[dict[str, int], dict[str, BrokenKeys]]:
    """Count the rows of each table, and its keys that don't join them."""
    rows, broken = {}, {}
    for name in policy.ordered:
        roles, relation = policy.tables[name], tables[name].relation
        keys, orphans = {"null_keys": 0, "repeated_keys": 0}, 0
        if (row_key := policy.row_key(name)) is not None:
            found = engine.fetch(queries.keys(relation, row_key), "keys of rows")[0]
            rows[name], keys = found["row_count"], {key: found[key] for key in keys}
        if roles.parent is not None:
            parent = policy.tables[roles.parent].row_key
            call = queries.broken_keys(tables[roles.parent].relation, str(parent), relation, str(roles.key))
            found = engine.fetch(call, "keys of rows above")[0]
            rows[name], orphans = found["row_count"], found["null_keys"] + found["orphans"]
        broken[name] = BrokenKeys(orphans=orphans, **keys)
    return rows, broken


def _models(
    found: LinkedMeasurement, policy: LinkedPolicy, shares: Mapping[str, Mapping[str, float | None]]
) -> Iterator[ModelResult]:
    """Yield what each model asks for, of persons and of shares, and what is attained; no verdict on the unmeasured."""
    trees = None if found.trees is None else found.trees.k
    for model in policy.privacy:
        persons = trees
        if isinstance(model, KnownRows):
            known = (each.k for number, each in found.known.items() if number <= model.m)
            persons = min(filter(None, known), default=None)
        for bound in model.bounds:
            measured = shares.get(bound.measure.column or "", {})
            attained = persons if bound.measure == CLASS_SIZE else measured.get(bound.measure.name)
            yield ModelResult.of(model, bound, attained, met=None if attained is None else bound.met_by(attained))


def other_rows(found: LinkedMeasurement, counts: Mapping[str, LinkedRowCounts | RowsRecord]) -> Iterator[str]:
    """Compare the numbers of rows with those of the release, by table."""
    for name, rows in counts.items():
        if found.rows[name] != rows.released:
            yield f'"{name}" has {found.rows[name]:,} rows where {rows.released:,} were released'
