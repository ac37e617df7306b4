"""Verification of a release of several tables against its policy, its record and its sources.

Columns are named as the taxonomies of a run are, ``"visits.day"``, in the spelling of the policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import sqrt

from sqlanon.binding import stored_taxonomies
from sqlanon.binding.carried_taxonomies import verified_with
from sqlanon.binding.linked import linked_taxonomies, spelled_like_sources
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.model.labels import NodeRecord
from sqlanon.model.names import speller
from sqlanon.model.policy.linked_checks import ROLES
from sqlanon.model.policy.linked_policy import LinkedPolicy, qualified
from sqlanon.model.release.linked import LinkedVerification
from sqlanon.queries import linked_measures as queries
from sqlanon.queries.linked import qualified_rows
from sqlanon.queries.measures import generalized
from sqlanon.queries.source import fractional_types, spelled_taxonomy
from sqlanon.queries.source_rows import without_unknown
from sqlanon.verification.found_linked import FoundLinked, of_table
from sqlanon.verification.found_release import FoundRelease
from sqlanon.verification.linked import measure_linked, other_rows
from sqlanon.verification.verify import (
    NOT_COVERED,
    OTHER_POLICY,
    PLACES_NOT_COVERED,
    differences,
    labels_not_compared,
    misfits,
    other_levels,
)

WITHOUT_SOURCES = (
    "{} compares shares with those of the source, and was not measured: give the sources (source, --source)"
)


def verify_linked(
    engine: Engine,
    found: FoundLinked,
    policy: LinkedPolicy,
    sources: Mapping[str, ResolvedSource] | None = None,
    *,
    place: str = "the release",
    expected_record: str | None = None,
) -> LinkedVerification:
    """Verify a release of several tables against its policy, its record and, if given, its sources.

    Raises:
        PolicyError: the sources do not fit the policy.
    """
    as_given, read, record = policy.sha256(), dict[str, ResolvedSource](), found.record
    if sources is not None:
        policy, read = spelled_like_sources(engine, sources, policy)
    tables = {name: _Table(engine, found, policy, name) for name in policy.ordered if name in found.tables}
    shortfalls = [*found.shortfalls, *_other_tables(found, policy)]
    shortfalls += [of_table(name, each) for name, table in tables.items() for each in table.misfits()]
    measurement, recorded = None, None if record is None else record.policy_sha256
    notes = [] if recorded in (None, as_given) else [OTHER_POLICY]
    if tables.keys() == policy.tables.keys() and all(table.is_whole for table in tables.values()):
        measurement = measure_linked(engine, found.tables, policy, sources=sources)
        shortfalls += measurement.shortfalls
        shortfalls += [each for table in tables.values() for each in table.other_keys()]
        if sources is None:
            notes += (WITHOUT_SOURCES.format(each.model) for each in measurement.models if each.attained is None)
    if record is not None:
        shortfalls += other_levels(record, policy)
    if record is not None and record.linked is not None and measurement is not None:
        shortfalls += other_rows(measurement, {name: each.rows for name, each in record.linked.tables.items()})
    released = {name: table.found.source for name, table in tables.items()}
    attributes = {each for table in tables.values() for each in verified_with(table.policy, has_source=bool(read))}
    with linked_taxonomies(engine, read or released, policy, attributes):
        unknown: list[str] = []
        for name, table in tables.items():
            more, not_compared = table.differences(read.get(name))
            shortfalls += [of_table(name, each) for each in more]
            unknown += not_compared
    verification = LinkedVerification(
        source=place,
        measurement=measurement,
        shortfalls=tuple(dict.fromkeys(shortfalls)),
        notes=tuple(dict.fromkeys((*notes, *labels_not_compared(unknown)))),
        not_covered=PLACES_NOT_COVERED if read else NOT_COVERED,
        record_sha256=None if record is None else record.sha256,
    )
    return verification.with_record(expected_record)


class _Table:
    """A table of a release as it is found, with its name in all columns."""

    def __init__(self, engine: Engine, found: FoundLinked, policy: LinkedPolicy, name: str) -> None:
        self._engine = engine
        self._name = name
        roles, table, row_key = policy.roles(name), found.tables[name], policy.row_key(name)
        spelled = speller(policy.tables[name].columns)
        columns = {each.name: qualified(name, spelled(each.name)) for each in engine.describe(table.relation)}
        named = ResolvedSource(qualified_rows(table.relation, columns), table.description)
        self.found = FoundRelease(named, tuple(columns.values()), found.record)
        self._row_key = None if row_key is None else qualified(name, row_key)
        self._keys = tuple(each for each in (self._row_key, roles.key) if each is not None)
        self._old = (*roles.keys, *roles.identifiers)
        own = {role: getattr(roles, role) for role in ROLES}
        own["identifiers"] = tuple(each for each in self._old if each not in self._keys)
        self.policy = policy.path_policy(name).model_copy(update=own)

    @property
    def is_whole(self) -> bool:
        """Whether all columns are there that the promise is about."""
        return {*self._keys, *self.policy.quasi_identifiers} <= {*self.found.columns}

    def misfits(self) -> Iterator[str]:
        """Yield columns that are missing, or that the policy does not release."""
        kept = (*self.policy.insensitive, *self._keys)
        return misfits(self.policy.model_copy(update={"insensitive": kept}), self.found.columns)

    def other_keys(self) -> Iterator[str]:
        if self._row_key is not None:
            found = self._engine.fetch(queries.keys(self.found.source.relation, self._row_key), "new keys")[0]
            if found["numbered_keys"] != found["row_count"]:
                yield f'the keys of "{self._name}" are not the numbers 1 to {found["row_count"]:,}, each in one row'

    def differences(self, source: ResolvedSource | None) -> tuple[list[str], list[str]]:
        """Return what differs from the policy, the record and the source, and the columns that are not compared."""
        columns = {
            role: tuple(each for each in getattr(self.policy, role) if each in self.found.columns) for role in ROLES
        }
        there = self.policy.model_copy(update=columns)
        found, unknown = differences(self._engine, self.found, there, None if source is None else source.relation)
        if source is not None and self._row_key is not None and self.is_whole:
            found += self._kept_keys(source, self._row_key)
        return found, unknown

    def _kept_keys(self, source: ResolvedSource, row_key: str) -> Iterator[str]:
        """Yield keys and identifiers of the source that new keys repeat more than by chance, if rows are at a node."""
        record, labels = self.found.record, self.policy.quasi_identifiers
        levels = record.labels.levels if record is not None and isinstance(record.labels, NodeRecord) else {}
        known = stored_taxonomies.unchanged(self._engine, labels, {} if record is None else record.taxonomy_sha256)
        node = {name: levels[name] for name in labels if name in levels and name in known}
        if len(node) < len(labels):
            return
        kept = [each for each in (*self.policy.sensitive, *self.policy.insensitive) if each in self.found.columns]
        types = fractional_types(self._engine.describe(source.relation), node)
        taxonomy = spelled_taxonomy(self._engine.taxonomy, types)
        # Rows with values that the run labels at the top are not compared: the taxonomy does not have them.
        rows = without_unknown(source.relation, [*node], taxonomy) if node else source.relation
        rows = generalized(rows, node, taxonomy, [*self._old, *kept]) if node else rows
        for each in self._old:
            query = queries.kept_keys(self.found.source.relation, row_key, rows, each, [*labels, *kept])
            found = self._engine.fetch(query, "keys of the source")[0]
            expected = found["matched"] * float(found["chance"])
            # Six standard deviations of a count by chance, and a few rows where hardly any would match.
            if found["alike"] > expected + 6 * sqrt(expected) + 3:
                yield (
                    f'its keys are not drawn anew: {found["alike"]:,} are "{each}" of a row of the '
                    f"source that looks alike, where {expected:,.0f} would be by chance"
                )


def _other_tables(found: FoundLinked, policy: LinkedPolicy) -> Iterator[str]:
    yield from (
        f'it has the table "{each}", which the policy lacks' for each in found.tables if each not in policy.tables
    )
    yield from (f'it lacks the table "{each}"' for each in policy.tables if each not in found.tables)
