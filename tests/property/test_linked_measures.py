"""Linked tables by brute force: attackers who try what they know on every person, row by row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations
from math import inf, log, log2
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

import sqlanon as sa
from sqlanon.engines.relations import ResolvedSource
from sqlanon.model.known_rows import KnownRows
from sqlanon.model.policy.linked_policy import LinkedPolicy, TableRoles
from sqlanon.model.privacy import AlphaKAnonymity, BetaLikeness, DeltaDisclosure
from sqlanon.model.release.linked import LinkedMeasurement
from sqlanon.queries.kit.nodes import identifier
from sqlanon.verification.linked import measure_linked
from tests.effort import examples
from tests.engines import engine_of

NAMES = PERSONS, VISITS, DIAGNOSES, BILLS = 'pers"ons', "label", "a.b", "select"
POLICY = LinkedPolicy(
    tables={
        PERSONS: TableRoles(row_key="id", quasi_identifiers=("tree", 'a"b')),
        DIAGNOSES: TableRoles(parent=VISITS, key="above", quasi_identifiers=("path",)),
        VISITS: TableRoles(parent=PERSONS, key="person", row_key="key", quasi_identifiers=("label",)),
        BILLS: TableRoles(parent=PERSONS, key="class", quasi_identifiers=()),
    },
    privacy=(KnownRows(3, m=2),),
)


@dataclass(frozen=True)
class Row:
    """A row of a table with its label and the rows below it; persons are rows, too."""

    table: str
    label: Any
    below: tuple[Row, ...] = ()


LABELS = st.sampled_from(["a", None])
CODES = st.builds(Row, st.just(DIAGNOSES), LABELS)
STAYS = st.builds(Row, st.just(VISITS), LABELS, st.lists(CODES, max_size=2).map(tuple))
COSTS = st.just(Row(BILLS, None))
TREES = st.builds(Row, st.just(PERSONS), LABELS, st.lists(STAYS | COSTS, max_size=3).map(tuple))


def fits(known: Row, row: Row) -> bool:
    """Whether a row can be the known one: each row known below it is another row there."""
    return (known.table, known.label) == (row.table, row.label) and any(
        all(map(fits, known.below, some)) for some in permutations(row.below, len(known.below))
    )


def same(one: Row, other: Row) -> bool:
    return fits(one, other) and size(one) == size(other)


def size(row: Row) -> int:
    return 1 + sum(map(size, row.below))


def facts(row: Row) -> list[tuple[int, ...]]:
    """The rows below a row, as places on the way to each."""
    found = []
    for place, child in enumerate(row.below):
        found += [(place,), *((place, *below) for below in facts(child))]
    return found


def knowing(row: Row, some: tuple[tuple[int, ...], ...]) -> Row:
    """What is known of a row by some rows below it, each with the rows above it."""
    places = sorted({way[0] for way in some})
    below = [knowing(row.below[at], tuple(way[1:] for way in some if way[0] == at and way[1:])) for at in places]
    return Row(row.table, row.label, tuple(below))


def leaves(known: Row) -> int:
    return sum(leaves(child) if child.below else 1 for child in known.below)


def patterns(person: Row) -> Iterator[tuple[int, Row]]:
    for number in range(3):
        for some in combinations(facts(person), number):
            known = knowing(person, some)
            if leaves(known) == number:  # a visit and its own diagnosis are one fact
                yield number, known


def expected(persons: list[Row], k: int) -> dict[int, tuple[int, ...]]:
    found: dict[int, list[tuple[Row, int]]] = {}
    below: dict[int, set[int]] = {}
    alone: dict[int, set[int]] = {}
    for place, person in enumerate(persons):
        for number, known in patterns(person):
            count = sum(fits(known, other) for other in persons)
            found.setdefault(number, [])
            below.setdefault(number, set())
            alone.setdefault(number, set())
            if not any(same(known, other) for other, _ in found[number]):
                found[number].append((known, count))
            if count < k:
                below[number].add(place)
            if count == 1:
                alone[number].add(place)
    return {
        number: (
            min(count for _, count in some),
            len(some),
            sum(count == 1 for _, count in some),
            len(below[number]),
            len(alone[number]),
        )
        for number, some in found.items()
    }


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with sa.connect() as opened:
        yield opened


def measured(session: sa.Session, persons: list[Row], policy: LinkedPolicy = POLICY) -> LinkedMeasurement:
    rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in NAMES}
    visits = 0
    for number, person in enumerate(persons):
        rows[PERSONS].append((number, person.label, 1))
        for row in person.below:
            if row.table == BILLS:
                rows[BILLS].append((number,))
                continue
            rows[VISITS].append((visits, number, row.label))
            rows[DIAGNOSES] += [(visits, below.label) for below in row.below]
            visits += 1
    rows[BILLS] += [(None,), (99,)]  # they belong to nobody
    columns = ('id INT, tree TEXT, "a""b" INT', "key INT, person INT, label TEXT", "above INT, path TEXT", "class INT")
    for name, of_table in zip(NAMES, columns, strict=True):
        table = '"' + name.replace('"', '""') + '"'
        session.connection.execute(f"CREATE OR REPLACE TABLE {table} ({of_table})")
        for values in rows[name]:
            session.connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", [*values])
    return measured_again(session, policy)


def measured_again(session: sa.Session, policy: LinkedPolicy = POLICY) -> LinkedMeasurement:
    tables = {name: ResolvedSource(exp.Table(this=identifier(name)), name) for name in NAMES}
    return measure_linked(engine_of(session), tables, policy)


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(TREES, max_size=4))
def test_known_rows_and_trees_of_four_tables(session: sa.Session, persons: list[Row]) -> None:
    found = measured(session, persons)
    assert {
        number: (each.k, each.pattern_count, each.unique_patterns, each.persons_below, each.unique_persons)
        for number, each in found.known.items()
    } == expected(persons, 3)
    alike = [sum(same(person, other) for other in persons) for person in persons]
    assert found.trees is not None
    assert found.trees.k == min(alike, default=None)
    assert found.trees.pattern_count == round(sum(1 / size for size in alike))
    assert found.trees.unique_persons == alike.count(1)
    assert found.trees.persons_below == sum(size < 3 for size in alike)
    assert found.broken[BILLS].orphans == 2
    alone = [number for number, (k, *_) in expected(persons, 3).items() if k < 3]
    assert len(found.shortfalls) == 1 + len(alone)


def seven(session: sa.Session, wards: str, ward: str = "ward") -> LinkedMeasurement:
    """Measure the seven persons of spec/linked.md, section 10, fact L1."""
    persons = "FROM (VALUES (1, 'f'), (2, 'f'), (3, 'f'), (4, 'f'), (5, 'm'), (6, 'm'), (7, 'm')) AS p (id, sex)"
    tables = {"seven": persons, "wards": f"SELECT person, {ward} AS ward FROM {wards} AS w (person, ward)"}
    policy = LinkedPolicy(
        tables={
            "seven": TableRoles(row_key="id", quasi_identifiers=("sex",)),
            "wards": TableRoles(parent="seven", key="person", quasi_identifiers=("ward",)),
        },
        privacy=(KnownRows(2, m=2),),
    )
    engine = engine_of(session)
    return measure_linked(engine, {name: engine.resolve(query) for name, query in tables.items()}, policy)


WARDS = (
    "(VALUES (1, 'heart'), (1, 'lung'), (2, 'lung'), (2, 'heart'), (3, 'heart'), (4, 'heart'), (4, 'heart'), "
    "(5, 'lung'), (6, 'lung'), (6, 'knee'))"
)


def test_fact_of_seven_persons(session: sa.Session) -> None:
    found = seven(session, WARDS)
    assert found.trees is not None
    assert (found.trees.k, found.trees.pattern_count, found.trees.unique_persons) == (1, 6, 5)
    assert [found.known[m].k for m in range(3)] == [3, 1, 1]
    assert [found.known[m].pattern_count for m in range(3)] == [2, 4, 3]
    assert [found.known[m].unique_patterns for m in range(3)] == [0, 1, 2]
    everywhere = seven(session, WARDS, "'*'")
    assert everywhere.trees is not None
    assert (everywhere.trees.k, everywhere.trees.pattern_count, everywhere.trees.unique_persons) == (1, 5, 4)
    assert [everywhere.known[m].k for m in range(3)] == [3, 2, 1]


def test_persons_without_rows(session: sa.Session) -> None:
    found = seven(session, f"(SELECT * FROM {WARDS} AS w (person, ward) WHERE false)")
    assert found.rows == {"seven": 7, "wards": 0}
    assert [*found.known] == [0]
    assert found.trees == found.counts
    assert found.trees is not None and found.trees.k == 3


def test_rows_without_keys_are_not_measured(session: sa.Session) -> None:
    persons = [Row(PERSONS, "a", (Row(VISITS, "a"),)), Row(PERSONS, "a", (Row(VISITS, "a"),))]
    measured(session, persons)
    session.connection.execute('UPDATE "label" SET key = NULL WHERE key = 1; UPDATE "pers""ons" SET id = 0')
    engine = engine_of(session)
    found = measure_linked(
        engine, {name: ResolvedSource(exp.Table(this=identifier(name)), name) for name in NAMES}, POLICY
    )
    assert (found.known, found.trees) == ({}, None)
    assert [*found.shortfalls] == [
        'of the table "pers"ons": 1 rows have the key of another row',
        'of the table "label": 1 rows have no key',
        'of the table "label": 1 rows belong to no row of its parent',
        'of the table "select": 2 rows belong to no row of its parent',
        "what somebody knows of persons cannot be counted: rows lack keys of their own",
    ]


VALUES = st.lists(st.tuples(st.booleans(), st.lists(st.sampled_from(["x", "y", None]), max_size=2)), max_size=5)
SHARES = LinkedPolicy(
    tables={
        "people": TableRoles(row_key="id", quasi_identifiers=("sex",)),
        "stays": TableRoles(parent="people", key="id", sensitive=("value",)),
    },
    privacy=(
        AlphaKAnonymity("stays.value", alpha=0.5, k=2),
        BetaLikeness("stays.value", beta=1, variant="enhanced"),
        BetaLikeness("stays.value", beta=1),
        DeltaDisclosure("stays.value", delta=1),
    ),
)


def relations(session: sa.Session, name: str, persons: list[Any]) -> dict[str, ResolvedSource]:
    session.connection.execute(f"CREATE OR REPLACE TABLE {name}_people (id INT, sex BOOLEAN)")
    session.connection.execute(f"CREATE OR REPLACE TABLE {name}_stays (id INT, value TEXT)")
    for number, (sex, values) in enumerate(persons):
        session.connection.execute(f"INSERT INTO {name}_people VALUES (?, ?)", [number, sex])
        for value in values:
            session.connection.execute(f"INSERT INTO {name}_stays VALUES (?, ?)", [number, value])
    return {table: engine_of(session).resolve(f"{name}_{table}") for table in SHARES.tables}


@settings(max_examples=examples(400), deadline=None)
@given(VALUES, VALUES)
def test_shares_are_of_persons_who_have_a_value(session: sa.Session, persons: list[Any], left_out: list[Any]) -> None:
    everybody = persons + left_out
    ratios, shares = [0.0], [0.0]
    is_beyond = False
    for sex, values in persons:
        alike = [found for own, found in persons if own == sex and len(found) == len(values)]
        for value in {*values}:
            share = sum(value in found for found in alike) / len(alike)
            whole = sum(value in found for _, found in everybody) / len(everybody)
            shares.append(share)
            ratios.append(share / whole)
            is_beyond = is_beyond or share / whole - 1 > -log(whole) + 1e-12
    tables, sources = relations(session, "released", persons), relations(session, "original", everybody)
    found = measure_linked(engine_of(session), tables, SHARES, sources=sources)
    measured = {each.measure: each.attained for each in found.models if each.column is not None}
    if max(shares) == 0:
        assert {*measured.values()} == {None}
        return
    assert measured["largest_share"] == pytest.approx(max(shares))
    assert measured["basic_likeness"] == pytest.approx(max(ratios) - 1)
    assert measured["disclosure"] == pytest.approx(log2(max(ratios)))
    assert (measured["enhanced_likeness"] == inf) == is_beyond
    alone = measure_linked(engine_of(session), tables, SHARES).models
    known = [each.measure for each in alone if each.column is not None and each.attained is not None]
    assert known == ["largest_share"]
    short = [sentence for sentence in found.shortfalls if "attained" in sentence]
    bounds = [max(shares) <= 0.5, max(ratios) - 1 <= 1 and not is_beyond, max(ratios) - 1 <= 1, log2(max(ratios)) < 1]
    assert len(short) == bounds.count(False)


def test_bounds_on_different_numbers_of_columns_by_table(session: sa.Session) -> None:
    tables = {
        "one": "SELECT range AS id, range % 2 AS sex FROM range(6)",
        "two": "SELECT range AS id, range % 6 AS above, 'a' AS a, range % 3 AS b FROM range(12)",
        "three": "SELECT range % 12 AS above, range % 4 AS c FROM range(12)",
    }
    policy = LinkedPolicy(
        tables={
            "one": TableRoles(row_key="id", quasi_identifiers=("sex",)),
            "two": TableRoles(parent="one", key="above", row_key="id", sensitive=("a", "b")),
            "three": TableRoles(parent="two", key="above", sensitive=("c",)),
        },
        privacy=(AlphaKAnonymity("two.a", alpha=0.5, k=2), AlphaKAnonymity("two.b", alpha=0.9, k=2)),
    )
    engine = engine_of(session)
    found = measure_linked(engine, {name: engine.resolve(query) for name, query in tables.items()}, policy)
    shares = {each.column: each.attained for each in found.models if each.column is not None}
    assert shares["two.a"] == 1
    assert shares["two.b"] == pytest.approx(1 / 3)
    assert found.counts is not None and found.counts.k == 3
