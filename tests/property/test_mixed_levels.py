"""Rows of linked tables on rungs, by naive code: who stands where, what it loses, and attackers who know one row."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.errors import UnsatisfiableError
from sqlanon.methods.linked import mixed_levels, rungs
from sqlanon.methods.stages import silent
from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.model.release.linked_report import LinkedRelease
from sqlanon.run.linked import anonymize_linked
from tests.effort import examples
from tests.engines import engine_of
from tests.linked_oracle import Label, Levels, Position, Row, Schema, label_of, loss, rows_of

K = 2
PERSONS, VISITS, BILLS, DIAGNOSES = "persons", "visits", "bills", "diagnoses"
# The labels of values by level. The labels "b" and "c" of wards are also values, and stand for others.
BORN = [["1", "1-2", "*"], ["2", "1-2", "*"], ["3", "3-4", "*"], ["4", "3-4", "*"]]
DAY = [["x", "x-y", "*"], ["y", "x-y", "*"], ["z", "z", "*"]]
WARD = [["a", "b", "*"], ["b", "c", "*"], ["c", "b", "*"]]
CODE = [["p", "*"], ["q", "*"]]
COLUMNS = {PERSONS: {"born": BORN}, VISITS: {"day": DAY, "ward": WARD}, BILLS: {"day": DAY}, DIAGNOSES: {"code": CODE}}
SCHEMA = Schema(
    {
        table: [[{rows[0]: rows[level] for rows in found} for level in range(len(found[0]))] for found in of.values()]
        for table, of in COLUMNS.items()
    }
)
KEYS: Mapping[str, Mapping[str, str]] = {
    PERSONS: {"row_key": "id"},
    VISITS: {"parent": PERSONS, "key": "person", "row_key": "id"},
    BILLS: {"parent": PERSONS, "key": "person"},
    DIAGNOSES: {"parent": VISITS, "key": "visit"},
}

SMALL: Mapping[str, Any] = {"MAX_START_ROUNDS": 3, "MAX_PERSON_NODES": 3}
"""The constants of a search that takes half a second."""

Texts = tuple[str, tuple[Label, ...], tuple[Any, ...]]
"""The table and labels of a row, and the rows below it."""


def trees(table: str, *below: st.SearchStrategy[Row], most: int = 3) -> st.SearchStrategy[Row]:
    values = st.tuples(*(st.sampled_from([*(rows[0] for rows in found), None]) for found in COLUMNS[table].values()))
    some = st.lists(st.one_of(*below), max_size=most).map(tuple) if below else st.just(())
    return st.builds(Row, st.just(table), values, some)


PEOPLE = st.lists(trees(PERSONS, trees(VISITS, trees(DIAGNOSES), most=2), trees(BILLS)), min_size=1, max_size=12)
SOMEBODY = Row(PERSONS, ("1",), (Row(VISITS, ("x", "a"), (Row(DIAGNOSES, ("p",)),)), Row(BILLS, ("x",))))
"""A person with rows in each table: tables without rows are refused."""


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with sa.connect() as opened:
        yield opened


def policy(limit: float) -> LinkedPolicy:
    tables = {
        table: {
            **KEYS[table],
            "quasi_identifiers": [*columns],
            "taxonomies": {name: {"kind": "rows", "rows": rows} for name, rows in columns.items()},
            "suppression_limit": limit,
        }
        for table, columns in COLUMNS.items()
    }
    tables[PERSONS].pop("suppression_limit")
    privacy = [{"model": "known-rows", "k": K, "m": 1}]
    given = {"tables": tables, "privacy": privacy, "suppression_limit": limit, "method": "local-recoding"}
    return LinkedPolicy.model_validate(given)


def make_tables(session: sa.Session, persons: Sequence[Row]) -> None:
    connection = engine_of(session).connection
    places = rows_of(persons)
    numbers = {place: number for number, place in enumerate(places)}
    for table, columns in COLUMNS.items():
        keys = KEYS[table]
        numbered = [keys[each] for each in ("row_key", "key") if each in keys]
        declared = ", ".join([*(f"{name} BIGINT" for name in numbered), *(f"{name} VARCHAR" for name in columns)])
        connection.execute(f"CREATE OR REPLACE TABLE {table} ({declared})")
        for place, row in places.items():
            if row.table == table:
                own = [numbers[place]] if "row_key" in keys else []
                above = [numbers[place[:-1]]] if "key" in keys else []
                given = [*own, *above, *row.values]
                connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(given))})", given)


def release(session: sa.Session, persons: Sequence[Row], limit: float, into: Path) -> LinkedRelease:
    make_tables(session, persons)
    engine = engine_of(session)
    sources = {table: engine.resolve(table) for table in COLUMNS}
    return anonymize_linked(engine, sources, policy(limit), f"{into}/", replace=True, progress=silent)


def standing(
    persons: Sequence[Row], of_person: Levels, chains: Mapping[str, Sequence[Levels]]
) -> dict[Position, tuple[Any, Levels]]:
    """The rows that are shown: what they have in common with others, and their levels."""
    shown: dict[Position, tuple[Any, Levels]] = {}
    for table in COLUMNS:
        left = {place: row for place, row in rows_of(persons).items() if row.table == table}
        left = {place: row for place, row in left.items() if table == PERSONS or place[:-1] in shown}
        for number, levels in enumerate([of_person] if table == PERSONS else chains[table]):
            owners: dict[Any, set[int]] = defaultdict(set)
            alike = {
                place: (place[1:] and shown[place[:-1]][0], number, SCHEMA.cells(row, levels))
                for place, row in left.items()
            }
            for place, common in alike.items():
                owners[common].add(place[0])
            found = {place: common for place, common in alike.items() if len(owners[common]) >= K}
            shown |= {place: (common, levels) for place, common in found.items()}
            left = {place: row for place, row in left.items() if place not in found}
    return shown


def texts(row: Row, levels: Levels) -> tuple[Label, ...]:
    found = zip(SCHEMA.taxonomies[row.table], levels, row.values, strict=True)
    return tuple(label_of(taxonomy, level, value) for taxonomy, level, value in found)


def in_order(rows: Sequence[Texts]) -> tuple[Texts, ...]:
    return tuple(sorted(rows, key=repr))


def expected_records(persons: Sequence[Row], shown: Mapping[Position, tuple[Any, Levels]]) -> list[Texts]:
    def record(place: Position, row: Row) -> Texts:
        below = [record((*place, at), each) for at, each in enumerate(row.below) if (*place, at) in shown]
        return row.table, texts(row, shown[place][1]), in_order(below)

    return [record((at,), person) for at, person in enumerate(persons) if (at,) in shown]


def written_records(session: sa.Session, found: LinkedRelease) -> list[Texts]:
    """What is in the files: persons with all of their rows, joined by the keys."""
    connection = engine_of(session).connection
    below: dict[tuple[str, int | None], list[tuple[str, int | None, tuple[Label, ...]]]] = defaultdict(list)
    for table, columns in COLUMNS.items():
        file = found.tables[table]
        row_key, key = KEYS[table].get("row_key", "NULL"), KEYS[table].get("key", "NULL")
        rows = connection.execute(f"SELECT {key}, {row_key}, {', '.join(columns)} FROM '{file}'").fetchall()
        for above, own, *labels in rows:
            below[KEYS[table].get("parent", ""), above].append((table, own, tuple(labels)))

    def record(table: str, own: int | None, labels: tuple[Label, ...]) -> Texts:
        return table, labels, in_order([record(*each) for each in (below[table, own] if own is not None else ())])

    return [record(*each) for each in below["", None]]


def has(record: Texts, known: Sequence[tuple[str, tuple[Label, ...]]]) -> bool:
    """Whether a record has rows with these labels, each below the one before."""
    (table, labels), *rest = known
    is_alike = record[:2] == (table, labels)
    return is_alike and (not rest or any(has(each, rest) for each in record[2]))


@settings(max_examples=examples(240), deadline=None)
@given(PEOPLE, st.sampled_from([1.0, 0.25]), st.sampled_from([3, 50_000]))
def test_rows_stand_where_naive_code_puts_them_and_one_known_row_leaves_k_persons(
    session: sa.Session,
    tmp_path_factory: pytest.TempPathFactory,
    persons: list[Row],
    limit: float,
    sampled_rows: int,
) -> None:
    persons = [SOMEBODY, *persons]
    into = tmp_path_factory.getbasetemp() / "mixed"
    try:
        with (
            mock.patch.multiple(rungs, SAMPLED_ROWS=sampled_rows, MIN_SAMPLED_CLASSES=1),
            mock.patch.multiple(mixed_levels, **SMALL),
        ):
            found = release(session, persons, limit, into)
    except UnsatisfiableError:
        assert limit < 1
        return
    report = found.report
    of_person = tuple(report.node[f"{PERSONS}.{name}"] for name in COLUMNS[PERSONS])
    chains = {name: [tuple(rung.values()) for rung in rungs] for name, rungs in report.rungs.items()}
    shown = standing(persons, of_person, chains)
    levels = {place: levels for place, (_, levels) in shown.items()}

    records = written_records(session, found)
    assert Counter(records) == Counter(expected_records(persons, shown))
    assert report.loss == pytest.approx(float(loss(persons, SCHEMA, levels)))
    places = rows_of(persons)
    for table in COLUMNS:
        assert sum(row.table == table and place not in shown for place, row in places.items()) <= limit * sum(
            row.table == table for row in places.values()
        )

    # Whoever knows a row knows the levels of its path, and where it ends.
    for place in places:
        path = [place[:length] for length in range(1, len(place) + 1)]
        known = [(places[each].table, texts(places[each], levels[each])) for each in path if each in shown]
        if known:
            assert sum(has(record, known) for record in records) >= K
