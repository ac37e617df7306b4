"""Values that a taxonomy does not have: how many, in which column, and a query that lists them as it is printed."""

import re
from collections.abc import Iterator, Sequence
from contextlib import chdir
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
AGES = {"kind": "intervals", "widths": [10], "minimum": 0, "maximum": 40}
FOUND = {"age": [("47", 6)], "city": [("Ulm", 8)]}
DAYS = {"kind": "dates", "units": ["month"], "first": "2026-01-01", "last": "2026-12-31"}
HOSTILE = 'a"b"; drop table x --'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("club")
    with chdir(folder):
        with duckdb.connect("club.duckdb") as connection:
            connection.execute(f"CREATE TABLE members AS {ROWS}; COPY members TO 'members.csv'")
            connection.execute("COPY members TO 'members.parquet'")
        Path("city.csv").write_text('Bonn;Rhineland;*\n"Kiel";"Coast; and more";*\n')
        Path("age.csv").write_text("".join(f"{age};{age // 10};*\n" for age in range(41)))
        Path("plain.toml").write_text(POLICY)
        Path("policy.toml").write_text(POLICY + RULES)
        yield folder


@pytest.fixture(scope="module")
def session(folder: Path) -> Iterator[sa.Session]:
    with sa.connect(threads=1) as session:
        session.connection.execute(f"CREATE TABLE members AS FROM '{folder}/members.parquet'")
        yield session


def listed(problems: Sequence[str], connection: Any) -> dict[str, list[tuple[Any, ...]]]:
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


def refused(session: sa.Session, source: Any, policy: sa.Policy | Path) -> Sequence[str]:
    with pytest.raises(sa.TaxonomyError) as caught:
        session.anonymize(source, policy, "out")
    return caught.value.problems


def policy_of(**taxonomies: Any) -> sa.Policy:
    names = [*taxonomies]
    return sa.Policy(quasi_identifiers=names, rest="identifier", privacy=[sa.KAnonymity(2)], taxonomies=taxonomies)


class TestCommands:
    def refused(self, folder: Path, *words: str) -> Sequence[str]:
        refused = sqlanon(*words, "--json", folder=folder)
        assert refused.returncode == 2
        assert not re.search("47|Ulm", refused.stdout + refused.stderr)
        return list(document(refused)["error"]["problems"])

    def test_whatever_the_source_and_the_command(self, folder: Path) -> None:
        given, into = ["--taxonomy", "age=age.csv", "--taxonomy", "city=city.csv"], ["--into", "out.csv"]
        for policy, source, command, *more in (
            ("policy.toml", "members.parquet", "lattice"),
            ("policy.toml", "members", "fit", "--fit", "club.fit"),
            ("policy.toml", "SELECT * FROM members WHERE id >= 0", "run", *into),
            ("plain.toml", "members.csv", "run", *into, *given),
        ):
            problems = self.refused(folder, command, source, "--db", "club.duckdb", "--policy", policy, *more)
            with duckdb.connect("club.duckdb") as connection:
                assert listed(problems, connection) == FOUND
            assert max(len(problem.partition("list them by ")[2]) for problem in problems) < 540

    def test_a_taxonomy_that_does_not_cover_its_source(self, folder: Path) -> None:
        made = ["--width", "10", "--minimum", "0", "--maximum", "40", "--source", "members", "--db", "club.duckdb"]
        problems = self.refused(folder, "taxonomy", "make", "age", "intervals", *made)
        with duckdb.connect("club.duckdb") as connection:
            assert listed(problems, connection) == {"age": FOUND["age"]}

    def test_values_are_shown_if_asked(self, folder: Path) -> None:
        command = ["run", "members.csv", "--policy", "policy.toml", "--into", "out.csv", "--json", "--show-values"]
        run = sqlanon(*command, folder=folder)
        age, city = document(run)["error"]["problems"]
        assert '("47" in 6 rows)' in age
        assert '("Ulm" in 8 rows)' in city
        assert '"Ulm" in 8 rows' in run.stderr


class TestQueries:
    def test_taxonomies_of_the_warehouse(self, folder: Path) -> None:
        with sa.connect("club.duckdb") as session:
            session.taxonomies.make("age", "intervals", widths=[10], minimum=0, maximum=40)
            session.taxonomies.load("city", Path("city.csv"))
            assert listed(refused(session, "members", folder / "plain.toml"), session.connection) == FOUND

    def test_a_part_that_is_applied(self, session: sa.Session, folder: Path) -> None:
        old, new = (f"FROM 'members.parquet' WHERE {there} (age = 47 OR city = 'Ulm')" for there in ("NOT", ""))
        session.partitions.fit(old, folder / "policy.toml", folder / "club.fit")
        with pytest.raises(sa.TaxonomyError) as caught:
            session.partitions.apply(new, folder / "club.fit", "part")
        assert listed(caught.value.problems, session.connection) == FOUND

    def test_values_that_are_declared_one_by_one_or_as_a_range(self, session: sa.Session) -> None:
        flat = {"kind": "flat", "values": ["Bonn", "Kiel", "it's"]}
        groups = {"kind": "groups", "groups": {"Rhineland": ["Bonn"], "Coast": ["Kiel"]}}
        long = {"kind": "flat", "values": [*range(47), *range(48, 200)]}
        moved = (
            "CREATE TABLE moved AS SELECT *, city AS town, age AS years, "
            "DATE '2025-12-31' + CAST(id % 3 AS INTEGER) AS day FROM 'members.csv'"
        )
        policy = policy_of(age="age.csv", city=flat, town=groups, years=long, day=DAYS)
        session.connection.execute(moved)
        assert not any("Bonn" in problem for problem in refused(session, "moved", policy))
        with sa.connect(threads=1, show_values=True) as showing:
            showing.connection.execute(moved)
            ages, towns = '1 distinct value in 6 rows ("47" in 6 rows)', '1 distinct value in 8 rows ("Ulm" in 8 rows)'
            days = '1 distinct value in 8 rows ("2025-12-31" in 8 rows)'
            shown = {"age": ages, "city": towns, "town": towns, "years": ages, "day": days}
            assert refused(showing, "moved", policy) == tuple(f'"{name}": {each}' for name, each in shown.items())

    def test_times_where_days_are_declared(self, session: sa.Session) -> None:
        """They are refused with a source of days."""
        policy = policy_of(**{"seen at": DAYS})
        days = [("2026-01-01",), ("2026-01-02",), ("2026-01-03",)]
        for kind in ("TIMESTAMP_S", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP"):
            times = f"CAST('2026-01-0' || 1 + i % 3 || ' 10:30:00' AS {kind})"
            rows = f'SELECT {times} AS "seen at" FROM range(9) AS rows (i)'
            session.connection.execute(f"CREATE OR REPLACE TABLE visits AS {rows}")
            [problem] = refused(session, rows if kind == "TIMESTAMP" else "visits", policy)
            found = re.search(r"for days in place of times, take the source (.*); list them by (.*)", problem)
            assert found is not None
            assert len(session.connection.execute(found[2]).fetchall()) == 3
            texts = f'SELECT DISTINCT CAST("seen at" AS VARCHAR) FROM ({found[1]}) ORDER BY ALL'
            assert session.connection.execute(texts).fetchall() == days
        session.anonymize(found[1], policy, "days")
        assert session.connection.execute('SELECT DISTINCT "seen at" FROM days ORDER BY ALL').fetchall() == days

    def test_times_of_a_frame_have_no_query_over_it(self, session: sa.Session) -> None:
        frame = pa.table({"seen": [datetime(2026, 1, 1, 10, 30)]})
        [problem] = refused(session, frame, policy_of(seen=DAYS))
        assert "times, make dates of them in the frame; list" in problem

    @pytest.mark.parametrize("is_top_down", [False, True])
    def test_hostile_names_and_frames(self, session: sa.Session, is_top_down: bool) -> None:
        file = Path("it's [1] ; --.csv")
        file.write_text("1;*\n;*\n")
        frame = pa.table({HOSTILE: [1, 2, 2, 1 if is_top_down else None], "s": ["x", "y", "x", "y"]})
        method: dict[str, Any] = {"privacy": [sa.KAnonymity(2)]}
        if is_top_down:
            method = {"method": sa.TopDownSpecialization(k=2, target="s")}
        policy = sa.Policy(quasi_identifiers=[HOSTILE], sensitive=["s"], taxonomies={HOSTILE: str(file)}, **method)
        problem = next(line for line in refused(session, frame, policy) if line.startswith(f'"{HOSTILE}"'))
        session.connection.register("the_source", frame)  # what the query calls a frame
        assert session.connection.execute(problem.partition("list them by ")[2]).fetchall() == [("2", 2)]

    def test_values_of_csv_files_are_as_they_are_written(self, session: sa.Session) -> None:
        Path("known.csv").write_text("1;*\n")
        Path("a.csv").write_text("a,b,c\n" + "27.50,2016/01/02,True\n" * 2)
        problems = refused(session, "a.csv", policy_of(**dict.fromkeys("abc", "known.csv")))
        expected = {"a": [("27.50", 2)], "b": [("2016/01/02", 2)], "c": [("True", 2)]}
        assert listed(problems, session.connection) == expected

    def test_columns_named_as_the_query_names_them(self, session: sa.Session) -> None:
        """And columns whose collation takes several texts for one, and values that no taxonomy has labels for."""
        session.connection.execute("CREATE TABLE odd (value TEXT COLLATE NOCASE, rows INTEGER, list INTEGER[2])")
        session.connection.execute("INSERT INTO odd VALUES ('A', 1, [1, 2]), ('a', 7, [1, 3]), (NULL, NULL, NULL)")
        Path("odd.csv").write_text("A;*\n")
        Path("none.csv").write_text(";*\n")
        policy = policy_of(value="odd.csv", rows="none.csv", list="none.csv")
        expected = {"value": [("a", 1)], "rows": [("1", 1), ("7", 1)], "list": [("[1, 2]", 1), ("[1, 3]", 1)]}
        found = listed(refused(session, "odd", policy), session.connection)
        assert {name: sorted(rows) for name, rows in found.items()} == expected

    def test_people_of_a_population(self, session: sa.Session) -> None:
        session.connection.execute("CREATE TABLE town AS SELECT 50 AS age FROM range(7)")
        session.connection.execute("CREATE TABLE few AS SELECT 20 AS age FROM range(7)")
        mapped = policy_of(age=AGES).changed({"privacy": [sa.KMap(2, population="town")]})
        assert listed(refused(session, "few", mapped), session.connection) == {"age": [("50", 7)]}

    def test_numbers_that_need_not_be_whole(self, session: sa.Session) -> None:
        session.connection.execute("CREATE TABLE sizes AS SELECT unnest([1.0, 2.0, 2.5])::DOUBLE AS size")
        Path("size.csv").write_text("1;*\n2.25;*\n")
        assert listed(refused(session, "sizes", policy_of(size="size.csv")), session.connection) == {
            "size": [("2.0", 1), ("2.5", 1)]
        }


def test_a_session_shows_no_more_than_ten_values() -> None:
    numbers = pa.table({"n": [*range(30), *range(10, 20)]})
    policy = policy_of(n={"kind": "intervals", "widths": [10], "minimum": 0, "maximum": 4})
    with sa.connect(show_values=True) as session:
        [problem] = refused(session, numbers, policy)
    assert re.findall(r'"(\d+)" in 2 rows', problem) == [str(number) for number in range(10, 20)]
    assert "and 15 more" in problem
