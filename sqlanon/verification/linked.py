"""Measures of linked tables against a policy, joined by their keys as whoever has them would join them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from sqlanon.binding.linked import linked_taxonomies, spelled_like_sources
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.model.criteria import CLASS_SIZE, at_least
from sqlanon.model.known_rows import KnownRows
from sqlanon.model.names import counted
from sqlanon.model.policy.linked_policy import LinkedModel, LinkedPolicy, qualified
from sqlanon.model.release import ModelResult
from sqlanon.model.release.linked import (
    ALL_ROWS,
    BrokenKeys,
    KnownPatterns,
    LinkedMeasurement,
    LinkedVerification,
    PersonClasses,
    known_in_words,
)
from sqlanon.queries import linked_measures as queries
from sqlanon.queries.kit.nodes import Step
from sqlanon.queries.linked_measures import JoinedTables, LinkedTable
from sqlanon.verification.found_linked import FoundLinked
from sqlanon.verification.released_tables import ReleasedTables
from sqlanon.verification.verify import (
    NOT_COVERED,
    NOT_SIGNED,
    OTHER_POLICY,
    PLACES_NOT_COVERED,
)

MAX_KNOWN_ROWS = 2


OF_CLASS = "largest_share"  # the only share that is not compared with that of all persons
WITHOUT_SOURCES = (
    "{} compares shares with those of the source, and was not measured: give the sources (source, --source)"
)


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
    found = LinkedMeasurement(k=policy.k, persons=rows[policy.root], rows=rows, broken=broken)
    if not all(each.names_every_row for each in broken.values()):
        return found
    joined = JoinedTables([_table(name, tables, policy) for name in policy.ordered])
    with engine.scratch():
        _run(engine, joined.join())
        known = {
            row.pop("known_rows"): KnownPatterns(patterns=row.pop("pattern_count"), **row)
            for row in engine.fetch(joined.known(upto, policy.k), "known rows")
        }
        counts = PersonClasses(**engine.fetch(joined.counts(policy.k), "numbers of rows")[0])
        _run(engine, joined.grow())
        trees = PersonClasses(**engine.fetch(joined.trees(policy.k), "trees of persons")[0])
        shares = _shares(engine, joined, policy, sources)
    measures = {"known": dict(sorted(known.items())), "trees": trees, "counts": counts, "shares": shares}
    return found.model_copy(update=measures)


def _run(engine: Engine, steps: Iterable[Step]) -> None:
    for step in steps:
        engine.run(step)


def _shares(
    engine: Engine, joined: JoinedTables, policy: LinkedPolicy, sources: Mapping[str, ResolvedSource] | None
) -> dict[str, dict[str, float | None]]:
    """Measure the columns whose shares of persons the policy bounds."""
    original, found = joined, {}
    if sources is not None and _bounded(policy):
        tables = [replace(_table(name, sources, policy), labels=()) for name in policy.ordered]
        original = JoinedTables(tables, "anon_original")
        _run(engine, original.join())
    for place, name in enumerate(policy.ordered):
        for own in _bounded(policy, name):
            shares = engine.fetch(joined.shares(place, own, original), "shares of values")[0]
            if sources is None:
                shares = {each: value if each == OF_CLASS else None for each, value in shares.items()}
            found[qualified(name, own)] = shares
    return found


def _bounded(policy: LinkedPolicy, table: str | None = None) -> list[str]:
    """Return the sensitive columns, of one table, whose shares of persons the policy bounds."""
    bounded = {name for model in policy.privacy if not isinstance(model, KnownRows) for name in model.columns}
    tables = policy.ordered if table is None else (table,)
    return [own for name in tables for own in policy.tables[name].sensitive if qualified(name, own) in bounded]


def _table(name: str, tables: Mapping[str, ResolvedSource], policy: LinkedPolicy) -> LinkedTable:
    roles = policy.tables[name]
    return LinkedTable(
        relation=tables[name].relation,
        parent=None if roles.parent is None else policy.ordered.index(roles.parent),
        key=roles.key,
        row_key=policy.row_key(name),
        labels=roles.quasi_identifiers,
        sensitive=tuple(_bounded(policy, name)),
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


def shortfalls_of_linked(measurement: LinkedMeasurement, policy: LinkedPolicy) -> list[str]:
    """Return a sentence for each part of the promise that tables do not keep."""
    shares = (
        f"{result.model}: attained {result.attained:g}"
        for result in models_of_linked(measurement, policy)
        if result.column is not None and result.met is False
    )
    return [*_broken(measurement), *_unprotected(measurement, policy), *shares]


def _broken(found: LinkedMeasurement) -> Iterator[str]:
    for table, keys in found.broken.items():
        if keys.null_keys:
            yield f'of the table "{table}": {keys.null_keys:,} rows have no key'
        if keys.repeated_keys:
            yield f'of the table "{table}": {keys.repeated_keys:,} rows have the key of another row'
        if keys.orphans:
            yield f'of the table "{table}": {keys.orphans:,} rows belong to no row of its parent'


def _unprotected(found: LinkedMeasurement, policy: LinkedPolicy) -> Iterator[str]:
    model = policy.known_rows
    if found.trees is None:
        yield "what somebody knows of persons cannot be counted: rows lack keys of their own"
    elif model is None:
        yield from _left_with(ALL_ROWS, found.trees, policy.k)
    else:
        for number, patterns in found.known.items():
            if number <= model.m:
                yield from _left_with(known_in_words(number), patterns, policy.k)


def models_of_linked(found: LinkedMeasurement, policy: LinkedPolicy) -> tuple[ModelResult, ...]:
    """Return what each model asks for, of persons and of shares, and what is attained; no verdict on the unmeasured."""
    return tuple(result for model in policy.privacy for result in _results(found, model))


def _results(found: LinkedMeasurement, model: LinkedModel) -> Iterator[ModelResult]:
    for bound in (at_least(CLASS_SIZE, model.k),) if isinstance(model, KnownRows) else model.bounds:
        shares = found.shares.get(bound.measure.column or "", {})
        attained = persons_left(found, model) if bound.measure == CLASS_SIZE else shares.get(bound.measure.name)
        yield ModelResult.of(model, bound, attained, met=None if attained is None else bound.met_by(attained))


def persons_left(found: LinkedMeasurement, model: LinkedModel) -> int | None:
    """Return how many persons the attackers of a model are left with at least; None if they were not counted."""
    if isinstance(model, KnownRows):
        return min((each.k for number, each in found.known.items() if number <= model.m), default=None)
    return None if found.trees is None else found.trees.k


def other_rows(found: LinkedMeasurement, released: Mapping[str, int]) -> Iterator[str]:
    """Compare the numbers of rows with those of the release, by table."""
    for name, rows in released.items():
        if found.rows[name] != rows:
            yield f'"{name}" has {found.rows[name]:,} rows where {rows:,} were released'


def _left_with(known: str, persons: KnownPatterns | PersonClasses, k: int) -> Iterator[str]:
    if persons.k is not None and persons.k < k:
        yield (
            f"who knows {known} is left with at least {counted(persons.k, 'person')}, not {k:,}; fewer than {k:,} are "
            f"left for {counted(persons.persons_below, 'person')}"
        )


def verify_linked(
    engine: Engine,
    found: FoundLinked,
    policy: LinkedPolicy,
    sources: Mapping[str, ResolvedSource] | None = None,
    *,
    place: str = "the release",
) -> LinkedVerification:
    """Verify a release of several tables against its policy, its record and, if given, its sources.

    Raises:
        PolicyError: the sources do not fit the policy.
    """
    as_given, views = policy.sha256(), None
    if sources is not None:
        policy, views = spelled_like_sources(engine, sources, policy)
    release = ReleasedTables(engine, found, policy)
    shortfalls = [*found.shortfalls, *release.misfits()]
    notes, measurement = [*found.notes], None
    if found.record is not None and found.record.policy_sha256 not in (None, as_given):
        notes.append(OTHER_POLICY)
    if release.is_whole:
        measurement = measure_linked(engine, found.tables, policy, sources=sources)
        if sources is None:
            unmeasured = (each.model for each in models_of_linked(measurement, policy) if each.attained is None)
            notes += map(WITHOUT_SOURCES.format, unmeasured)
        shortfalls += [*shortfalls_of_linked(measurement, policy), *release.other_keys()]
        shortfalls += [*other_rows(measurement, release.recorded_rows), *release.other_levels()]
    read = {name: view.source for name, view in views.items()} if views is not None else None
    with linked_taxonomies(engine, read or release.named, policy, release.attributes(has_source=read is not None)):
        foreign, unknown = release.other_labels()
        shortfalls += [*foreign, *release.beyond_bounds()]
        notes += unknown
        if read is not None:
            shortfalls += release.differences(read)
    return LinkedVerification(
        source=place,
        measurement=measurement,
        shortfalls=tuple(dict.fromkeys(shortfalls)),
        notes=tuple(dict.fromkeys(notes)),
        not_covered=(*(NOT_COVERED if read is None else PLACES_NOT_COVERED), *NOT_SIGNED),
        record_sha256=None if found.record is None else found.record.record_sha256,
    )
