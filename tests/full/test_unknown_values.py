"""Values that a taxonomy does not have: how many, in which column, and a query that lists them as it is printed."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import sqlanon as sa
from tests.commands import document, sqlanon

ROWS = """
    SELECT i AS id, [20, 31, 31, 47][1 + i % 4] AS age, ['Bonn', 'Kiel', 'Ulm'][1 + i % 3] AS city
    FROM range(24) AS members (i)
"""
POLICY = 'quasi_identifiers = ["age", "city"]\nidentifiers = ["id"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
RULES = "[taxonomies]\n" + 'age = { kind = "intervals", widths = [10], minimum = 0, maximum = 40 }\ncity = "city.csv"\n'
FOUND = {"age": [("47", 6)], "city": [("Ulm", 8)]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "club.duckdb")) as connection:
        connection.execute(f"CREATE TABLE members AS {ROWS}")
        connection.execute(f"COPY members TO '{tmp_path}/members.csv'")
        connection.execute(f"COPY members TO '{tmp_path}/members.parquet'")
    (tmp_path / "city.csv").write_text('Bonn;Rhineland;*\n"Kiel";"Coast; and more";*\n')
    (tmp_path / "age.csv").write_text("".join(f"{age};{age // 10};*\n" for age in range(41)))
    (tmp_path / "plain.toml").write_text(POLICY)
    (tmp_path / "policy.toml").write_text(POLICY + RULES)
    return tmp_path


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP WITH TIME ZONE"])
def test_times_where_days_are_declared_are_refused_with_a_source_of_days(folder: Path, kind: str) -> None:
    rows = f"SELECT CAST('2026-01-0' || 1 + i % 3 || ' 10:30:00' AS {kind}) AS \"seen at\" FROM range(9) AS rows (i)"
    days = {"kind": "dates", "units": ["month"], "first": "2026-01-01", "last": "2026-12-31"}
    policy = sa.Policy(quasi_identifiers=["seen at"], privacy=[sa.KAnonymity(3)], taxonomies={"seen at": days})
    with sa.connect(folder / "club.duckdb") as session:
        session.connection.execute(f"CREATE TABLE visits AS {rows}")
        for source in ("visits", rows):
            with pytest.raises(sa.TaxonomyError, match="seen at") as caught:
                session.anonymize(source, policy, "days", replace=True)
            found = re.search(r"for days in place of times, take the source (.*); list them by (.*)", str(caught.value))
            assert found is not None
            assert len(session.connection.execute(found[2]).fetchall()) == 3
            session.anonymize(found[1], policy, "days", replace=True)
            texts = session.connection.execute('SELECT DISTINCT "seen at" FROM days ORDER BY ALL').fetchall()
            assert texts == [("2026-01-01",), ("2026-01-02",), ("2026-01-03",)]


def test_times_of_a_frame_are_refused_without_a_query_over_it(folder: Path) -> None:
    days = {"kind": "dates", "units": ["month"], "first": "2026-01-01", "last": "2026-12-31"}
    policy = sa.Policy(quasi_identifiers=["seen"], privacy=[sa.KAnonymity(2)], taxonomies={"seen": days})
    with sa.connect() as session, pytest.raises(sa.TaxonomyError, match="times, make dates of them in the frame; list"):
        session.anonymize(pa.table({"seen": [datetime(2026, 1, 1, 10, 30)]}), policy, folder / "days.parquet")


def listed(problems: list[str], connection: Any) -> dict[str, list[tuple[Any, ...]]]:
    """What the query of each problem returns, by its column; the counts beside it are those of its rows."""
    found = {}
    for problem in problems:
        read = re.fullmatch(
            r'"(.+?)": ([\d,]+) distinct values? in ([\d,]+) rows?(?: \(.*\))?; list them by (.*)', problem, re.DOTALL
        )
        assert read is not None, problem
        rows = connection.execute(read[4]).fetchall()
        assert [int(read[2]), int(read[3])] == [len(rows), sum(row[1] for row in rows)]
        found[read[1]] = rows
    return found


@pytest.mark.parametrize("source", ["members.csv", "members.parquet", "members", "SELECT * FROM members WHERE id >= 0"])
@pytest.mark.parametrize("command", ["run", "lattice", "fit"])
def test_queries_for_taxonomies_of_a_policy(
    folder: Path, source: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = {"run": ["--into", "out.csv"], "lattice": [], "fit": ["--fit", "club.fit"]}[command]
    refused = sqlanon(
        command, source, "--db", "club.duckdb", "--policy", "policy.toml", *target, "--json", folder=folder
    )
    assert refused.returncode == 2
    problems = document(refused)["error"]["problems"]
    monkeypatch.chdir(folder)
    with duckdb.connect(str(folder / "club.duckdb")) as connection:
        assert listed(problems, connection) == FOUND
    shown = refused.stdout + refused.stderr
    assert "47" not in shown
    assert "Ulm" not in shown


def test_queries_for_files_that_the_command_line_names(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = ["--taxonomy", "age=age.csv", "--taxonomy", "city=city.csv"]
    refused = sqlanon(
        "run", "members.csv", "--policy", "plain.toml", *given, "--into", "out.csv", "--json", folder=folder
    )
    monkeypatch.chdir(folder)
    with duckdb.connect() as connection:
        assert listed(document(refused)["error"]["problems"], connection) == FOUND


def test_queries_for_taxonomies_of_the_warehouse(folder: Path) -> None:
    with sa.connect(folder / "club.duckdb") as session:
        session.taxonomies.make("age", "intervals", widths=[10], minimum=0, maximum=40)
        session.taxonomies.load("city", folder / "city.csv")
    refused = sqlanon(
        "run", "members", "--db", "club.duckdb", "--policy", "plain.toml", "--into", "o.csv", "--json", folder=folder
    )
    with duckdb.connect(str(folder / "club.duckdb")) as connection:
        assert listed(document(refused)["error"]["problems"], connection) == FOUND


def test_queries_for_a_part_that_is_applied(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = (f"FROM 'members.parquet' WHERE {there} (age = 47 OR city = 'Ulm')" for there in ("NOT", ""))
    assert sqlanon("fit", old, "--policy", "policy.toml", "--fit", "club.fit", folder=folder).returncode == 0
    refused = sqlanon("apply", new, "--fit", "club.fit", "--into", "1.csv", "--json", folder=folder)
    assert refused.returncode == 2
    monkeypatch.chdir(folder)
    with duckdb.connect() as connection:
        assert listed(document(refused)["error"]["problems"], connection) == FOUND


def test_queries_for_a_taxonomy_that_does_not_cover_its_source(folder: Path) -> None:
    made = ["--width", "10", "--minimum", "0", "--maximum", "40", "--source", "members"]
    refused = sqlanon("taxonomy", "make", "age", "intervals", "--db", "club.duckdb", *made, "--json", folder=folder)
    assert refused.returncode == 2
    with duckdb.connect(str(folder / "club.duckdb")) as connection:
        assert listed(document(refused)["error"]["problems"], connection) == {"age": FOUND["age"]}


VALUES = """{ kind = "flat", values = ["Bonn", "Kiel", "it's"] }"""
GROUPS = '{ kind = "groups", groups = { Rhineland = ["Bonn"], Coast = ["Kiel"] } }'


@pytest.mark.parametrize("city", [VALUES, GROUPS])
def test_values_that_are_declared_one_by_one(folder: Path, city: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "policy.toml").write_text(POLICY + f'[taxonomies]\nage = "age.csv"\ncity = {city}\n')
    refused = sqlanon("run", "members.csv", "--policy", "policy.toml", "--into", "out.csv", "--json", folder=folder)
    monkeypatch.chdir(folder)
    with duckdb.connect() as connection:
        assert listed(document(refused)["error"]["problems"], connection) == FOUND


def test_values_of_a_long_list_are_found_among_all(folder: Path) -> None:
    with sa.connect(folder / "club.duckdb") as session:
        policy = sa.Policy(
            quasi_identifiers=["age"],
            privacy=[sa.KAnonymity(2)],
            taxonomies={"age": {"kind": "flat", "values": [*range(47), *range(48, 200)]}},
        )
        with pytest.raises(sa.TaxonomyError, match='"age": 1 distinct value in 6 rows; list them among all') as caught:
            session.anonymize("SELECT age FROM members", policy, "out")
        query = caught.value.problems[0].partition(" by ")[2]
        assert session.connection.execute(query).fetchall() == [("31", 12), ("20", 6), ("47", 6)]


def test_days_out_of_a_declared_range(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    days = "SELECT DATE '2026-01-01' + CAST(i % 3 AS INTEGER) AS day FROM range(9) AS r (i)"
    duckdb.connect().execute(f"COPY ({days}) TO '{folder}/days.parquet'")
    rule = 'day = { kind = "dates", units = ["month"], first = 2026-01-01, last = 2026-01-02 }\n'
    (folder / "days.toml").write_text(
        'quasi_identifiers = ["day"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n[taxonomies]\n' + rule
    )
    refused = sqlanon("run", "days.parquet", "--policy", "days.toml", "--into", "out.csv", "--json", folder=folder)
    monkeypatch.chdir(folder)
    with duckdb.connect() as connection:
        assert listed(document(refused)["error"]["problems"], connection) == {"day": [("2026-01-03", 3)]}


HOSTILE = 'a"b"; drop table x --'


@pytest.mark.parametrize("is_top_down", [False, True])
def test_hostile_names_and_frames(tmp_path: Path, is_top_down: bool) -> None:
    file = tmp_path / "it's [1] ; --.csv"
    file.write_text("1;*\n;*\n")
    frame = pa.table({HOSTILE: [1, 2, 2, 1 if is_top_down else None], "s": ["x", "y", "x", "y"]})
    with sa.connect() as session:
        method: dict[str, Any] = {"privacy": [sa.KAnonymity(2)]}
        if is_top_down:
            method = {"method": sa.TopDownSpecialization(k=2, target="s")}
        policy = sa.Policy(quasi_identifiers=[HOSTILE], sensitive=["s"], taxonomies={HOSTILE: str(file)}, **method)
        with pytest.raises(sa.TaxonomyError, match="list them by") as caught:
            session.anonymize(frame, policy, "out")
        problem = next(line for line in caught.value.problems if line.startswith(f'"{HOSTILE}"'))
        session.connection.register("the_source", frame)  # what the query calls a frame
        assert session.connection.execute(problem.partition("list them by ")[2]).fetchall() == [("2", 2)]


@pytest.mark.parametrize(("written", "value"), [("27.50", "27.5"), ("2016/01/02", "2016-01-02"), ("True", "true")])
def test_values_of_csv_files_have_the_texts_of_their_types(tmp_path: Path, written: str, value: str) -> None:
    (tmp_path / "a.csv").write_text(f"a\n{written}\n{written}\n")
    (tmp_path / "known.csv").write_text("1;*\n")
    policy = sa.Policy(
        quasi_identifiers=["a"], privacy=[sa.KAnonymity(2)], taxonomies={"a": str(tmp_path / "known.csv")}
    )
    with sa.connect() as session, pytest.raises(sa.TaxonomyError) as caught:
        session.anonymize(tmp_path / "a.csv", policy, "out")
    assert listed(list(caught.value.problems), duckdb.connect()) == {"a": [(value, 2)]}


class TestShowValues:
    def test_the_command_line_shows_ten_of_them_if_asked(self, folder: Path) -> None:
        command = ["run", "members.csv", "--policy", "policy.toml", "--into", "out.csv", "--json", "--show-values"]
        refused = sqlanon(*command, folder=folder)
        problems = document(refused)["error"]["problems"]
        assert '("47" in 6 rows)' in problems[0]
        assert '("Ulm" in 8 rows)' in problems[1]
        assert '"Ulm" in 8 rows' in refused.stderr

    def test_a_session_shows_no_more_than_ten(self) -> None:
        numbers = pa.table({"n": [*range(30), *range(10, 20)]})
        policy = sa.Policy(
            quasi_identifiers=["n"],
            privacy=[sa.KAnonymity(2)],
            taxonomies={"n": {"kind": "intervals", "widths": [10], "minimum": 0, "maximum": 4}},
        )
        with sa.connect(show_values=True) as session, pytest.raises(sa.TaxonomyError) as caught:
            session.anonymize(numbers, policy, "out")
        shown = re.findall(r'"(\d+)" in 2 rows', caught.value.problems[0])
        assert shown == [str(number) for number in range(10, 20)]
        assert "and 15 more" in caught.value.problems[0]
        with sa.connect() as session, pytest.raises(sa.TaxonomyError) as caught:
            session.anonymize(numbers, policy, "out")
        assert '"10"' not in str(caught.value)


def test_people_of_a_population(folder: Path) -> None:
    with sa.connect(folder / "club.duckdb") as session:
        session.connection.execute("CREATE TABLE town AS SELECT 50 AS age FROM range(7)")
        session.connection.execute("CREATE TABLE few AS SELECT 20 AS age FROM range(7)")
        rules = {"age": {"kind": "intervals", "widths": [10], "minimum": 0, "maximum": 40}}
        policy = sa.Policy(quasi_identifiers=["age"], privacy=[sa.KMap(2, population="town")], taxonomies=rules)
        with pytest.raises(sa.TaxonomyError) as caught:
            session.anonymize("few", policy, folder / "out.csv")
        assert listed(list(caught.value.problems), session.connection) == {"age": [("50", 7)]}
