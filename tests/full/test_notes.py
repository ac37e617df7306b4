"""What reports say of columns whose labels say nothing any more, and of those whose values say too much."""

from collections.abc import Iterable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from sqlanon.release import kept_columns
from sqlanon.report import html
from tests.conftest import open_clinic

ROWS = 40


@pytest.fixture(scope="module")
def people() -> Iterator[sa.Session]:
    """Forty people of four ages: ``account`` is unique, ``town`` is shared by two, ``team`` by ten."""
    with duckdb.connect(config={"threads": 1}) as connection:
        session = open_clinic(connection)
        add_people(session)
        yield session


def notes(session: sa.Session, wanted: sa.Policy, source: str = "people", into: str = "released") -> tuple[str, ...]:
    """What a release notes, and shows where it is printed."""
    release = session.anonymize(source, wanted, into=into, replace=True)
    shown = unescape(html.page(release.document()))
    assert all(note in shown for note in release.report.notes)
    return release.report.notes


def add_people(session: sa.Session) -> None:
    session.connection.execute(
        "CREATE TABLE people AS SELECT (20 + i // 10) AS age, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS sex, "
        "1000 + i AS account, 'town ' || i // 2 AS town, 'team ' || i % 4 AS team, [i, i + 1] AS list "
        f"FROM range({ROWS}) AS numbers (i)"
    )
    session.taxonomies.load("age", sa.Taxonomy.intervals([2], minimum=20, maximum=23), source="people")
    session.taxonomies.load("sex", sa.Taxonomy.flat(), source="people")


def policy(k: int = 5, **more: Any) -> sa.Policy:
    kept = {
        "insensitive": ["account", "town", "team", "list"],
        "privacy": [sa.KAnonymity(k)],
        "earlier": "none",
        **more,
    }
    return sa.Policy(quasi_identifiers=["age", "sex"], **kept)


def unique_notes(found: Iterable[str]) -> list[str]:
    return [note for note in found if "nearly unique" in note]


def columns_of(found: Iterable[str]) -> list[str]:
    return [note.split('"')[1] for note in unique_notes(found)]


@pytest.mark.parametrize("into", ["released", "released.parquet", "released/"])
def test_kept_columns_that_are_nearly_unique_are_named(people: sa.Session, tmp_path: Path, into: str) -> None:
    target = into if into == "released" else f"{tmp_path}/{into}"
    found = notes(people, policy(insensitive=["account", "team", "list"], sensitive=["town"]), into=target)
    assert columns_of(found) == ["town", "account", "list"]
    note = unique_notes(found)[1]
    assert "100.0 % of the released rows have a value there that fewer than 5 rows have" in note
    assert not any(f"{1000 + row}" in note or f"town {row}" in note for note in found for row in range(ROWS // 2))


def test_without_a_k_nearly_unique_is_a_value_that_no_other_row_has(people: sa.Session) -> None:
    wanted = policy(insensitive=["account", "town", "list"], sensitive=["team"], privacy=[sa.TCloseness("team", 1)])
    found = notes(people, wanted)
    assert columns_of(found) == ["account", "list"]
    assert "that no other row has" in unique_notes(found)[0]


def test_of_a_large_k(people: sa.Session) -> None:
    """Each team has ten people: teams divide a class of twenty-one, but nobody is found."""
    found = notes(people, policy(21))
    assert columns_of(found) == ["account", "town", "list"]
    assert "that fewer than 10 rows have" in unique_notes(found)[0]
    (top,) = (note for note in found if "nearly unique" not in note)
    assert top.startswith('"age" and "sex" are at the top level, where all rows have one label, so that they say')


def test_half_of_the_rows_are_enough_and_fewer_are_not(people: sa.Session) -> None:
    wanted = policy(insensitive=["account", "team"], identifiers=["town", "list"])
    for own, expected in ((ROWS // 2, ["account"]), (ROWS // 2 - 1, [])):
        source = f"SELECT * REPLACE (least(account, {1000 + own}) AS account) FROM people"
        assert columns_of(notes(people, wanted, source)) == expected


def test_of_many_rows_a_sample_of_the_values_is_counted(people: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_columns, "COUNTED_ROWS", 10)
    found = notes(people, policy())
    assert columns_of(found) == ["account", "town", "list"]
    assert "about 100.0 % of the released rows" in unique_notes(found)[0]


OF_TEAMS = {"insensitive": ["team"], "identifiers": ["account", "town", "list"]}


def test_a_column_that_was_to_be_at_the_top_is_not_named(people: sa.Session) -> None:
    wanted = policy(21, minimum_levels={"sex": 1}, **OF_TEAMS)
    (note,) = notes(people, wanted, "SELECT * REPLACE ('all' AS team) FROM people")
    assert note.startswith('"age" is at the top level')


def test_missing_values_have_the_label_of_the_top_too(people: sa.Session) -> None:
    source = "SELECT * REPLACE (CASE WHEN age <> 20 THEN sex END AS sex) FROM people"
    (note,) = notes(people, policy(10, maximum_levels={"age": 0}, **OF_TEAMS), source)
    assert note.startswith('"sex" is at the top level')
    assert people.connection.sql("SELECT DISTINCT sex FROM released").fetchall() == [("*",)]


def test_a_fit_says_it_of_its_source(people: sa.Session, tmp_path: Path) -> None:
    fitted = people.partitions.fit("people", policy(21), tmp_path / "people.fit", accept_observed_domain=True)
    assert columns_of(fitted.notes) == ["account", "town", "list"]
    assert "100.0 % of the released rows have" in unique_notes(fitted.notes)[0]
    assert any("at the top level" in note for note in fitted.notes)
