"""What a private release reads is charged to one account, or declared public, and its individuals can be traced."""

import dataclasses
import os
import random
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.chance.accountant import Expense
from sqlanon.engines.duckdb import lineage
from sqlanon.ledger.accounts import known
from sqlanon.ledger.charged_sources import DataSet, charged, open_ledger
from sqlanon.model.names import KnownSource
from tests.commands import sqlanon
from tests.engines import engine_of
from tests.stories.test_private_runs import METHOD, POLICY, ROLES, TOML, make_warehouse

QUERY = "SELECT * FROM people"
SPENT = sa.Budget(1, "0.01")

READS_PEOPLE = [
    QUERY,
    "seen",
    "FROM seen.again",
    "FROM people_of(1)",
    "FROM query_table('peo' || 'ple')",
    "FROM query('FROM peo' || 'ple')",
    "FROM query_table(getvariable('which'))",
    "FROM copied.people",
    "FROM codes WHERE person IN (SELECT person FROM people)",
    "SELECT * REPLACE (older_than(age) AS age) FROM codes WHERE 20 <= ALL (SELECT age FROM people)",
    "SELECT codes.* FROM codes LEFT JOIN people USING (person, age, sex, illness) WHERE FALSE OR age < 99",
    "WITH codes AS MATERIALIZED (FROM people) FROM codes",
    "FROM codes WHERE person = (SELECT any_value(person) FROM people WHERE FALSE) OR age > 0",
    "FROM codes WHERE age <= oldest()",
]
"""Queries and views that read table ``people``, whatever for."""


@pytest.fixture(scope="module")
def made(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = Path(shutil.copy(installed, tmp_path_factory.mktemp("made")))
    with make_warehouse(path) as session:
        session.connection.execute(
            """
            CREATE TABLE codes AS FROM people;
            CREATE VIEW seen AS FROM people;
            CREATE SCHEMA seen;
            CREATE VIEW seen.again AS FROM seen;
            CREATE MACRO people_of(i) AS TABLE (FROM people WHERE person >= i OR TRUE);
            CREATE MACRO older_than(i) AS i;
            CREATE MACRO oldest() AS (SELECT max(age) FROM people);
            """
        )
    return path


@pytest.fixture
def session(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sa.Session]:
    monkeypatch.chdir(tmp_path)
    with sa.connect(shutil.copy(made, tmp_path)) as found:
        found.connection.execute(
            "SET VARIABLE which = 'people'; ATTACH ':memory:' AS copied; CREATE TABLE copied.people AS FROM people"
        )
        yield found


def account(session: sa.Session, source: Any, dataset: str | None = None, public: Sequence[str] = ()) -> DataSet:
    """What a release of a source is charged to."""
    engine = engine_of(session)
    return charged(engine, open_ledger(engine, session.ledger.file), engine.resolve(source), dataset, public)


def charge(session: sa.Session, source: Any, dataset: str | None = None, public: Sequence[str] = ()) -> None:
    """Charge what a release costs, without one."""
    found = account(session, source, dataset, public)
    expense = Expense(found.name, "ipa", "cells", SPENT, "", sources=found.sources, public=found.public)
    open_ledger(engine_of(session), session.ledger.file).commit([expense])


class TestOneAccount:
    def test_what_its_plan_reads_is_what_a_query_reads(self, session: sa.Session) -> None:
        engine = engine_of(session)
        setting = "SELECT current_setting('explain_output')"
        before = session.connection.execute(setting).fetchall()
        for source in READS_PEOPLE:
            for read in (source, session.connection.sql(source if " " in source else f"FROM {source}")):
                found = engine.resolve(read)
                assert KnownSource("people") in known(found.read, engine.origins(found).tables), source
        assert session.connection.execute(setting).fetchall() == before

    def test_what_a_query_reads_belongs_to_the_account_that_it_was_charged_to(self, session: sa.Session) -> None:
        """Else the same rows would be paid for from two accounts, each of which shows half."""
        session.ledger.cap("study", sa.Budget("1.5", "0.1"))
        charge(session, "seen", "study")
        assert session.ledger.spent("people") == session.ledger.spent("study") == SPENT
        with pytest.raises(sa.BudgetError, match="has less left"):
            session.anonymize("people", POLICY, "second")
        session.ledger.cap("people", sa.Budget(2, "0.1"))
        charge(session, "people")
        assert session.ledger.spent("study") == sa.Budget(2, "0.02")
        assert set(session.ledger.entries()["dataset"].to_pylist()) == {"study"}

    def test_what_has_an_account_is_charged_to_no_other(self, session: sa.Session) -> None:
        session.connection.execute("COPY people TO 'a.parquet'")
        os.link("a.parquet", "link.parquet")
        session.connection.execute(
            "CREATE VIEW listed AS FROM read_parquet(['a.parquet']); "
            "CREATE MACRO files_of(i) AS TABLE (FROM read_parquet('a.parquet') WHERE person >= i OR TRUE)"
        )
        session.ledger.cap("study", None)
        charge(session, "people")
        session.ledger.cap("a.parquet", None)
        table, file = '"people"', f'"{Path("a.parquet").resolve()}"'
        both = "FROM listed SEMI JOIN query_table('people') USING (person)"
        for source, accounts in (
            (QUERY, [table]),
            ("FROM read_parquet('*.parquet')", [file]),
            ("FROM listed", [file]),
            (session.connection.sql("FROM listed"), [file]),
            ("FROM files_of(1)", [file]),
            (session.connection.sql(both), sorted([table, file])),
        ):
            with pytest.raises(sa.PolicyError, match="with other accounts in the ledger") as error:
                account(session, source, "study")
            assert sorted(error.value.problems) == accounts, source
        assert account(session, READS_PEOPLE[-1], "people").name == "people"

    def test_a_row_of_the_ledger_lists_what_was_read_once(self, session: sa.Session) -> None:
        session.ledger.cap("study", None)
        first = session.anonymize(JOIN, POLICY, "first", dataset="study")
        [said] = [line for line in first.guarantee.conditions if "from one row of the data set" in line]
        assert 'table "codes" and table "people"' in said
        rows = session.ledger.entries()["sources"].to_pylist()
        assert [row["name"] for row in rows[1]] == ["codes", "people"]
        session.anonymize("people", POLICY, "second", dataset="study")
        charge(session, "codes")
        assert session.ledger.entries()["sources"].to_pylist()[2:] == [None] * 6
        assert session.ledger.spent("people") == sa.Budget(3, "0.03") == session.ledger.spent("codes")
        with pytest.raises(sa.PolicyError, match="dataset= is for queries and views"):
            session.anonymize("people", POLICY, "third", dataset="codes")

    def test_files_that_a_query_read_belong_to_its_account(self, session: sa.Session, tmp_path: Path) -> None:
        (tmp_path / "lake").mkdir()
        session.connection.execute("COPY people TO 'lake/a.parquet'; COPY (FROM people LIMIT 9) TO 'lake/b.parquet'")
        os.link("lake/a.parquet", "link.parquet")
        shutil.copyfile("lake/b.parquet", "copy.parquet")
        session.ledger.cap("study", sa.Budget("1.5", "0.1"))
        charge(session, "FROM read_parquet(['lake/a.parquet', 'lake/[b].parquet'])", "study")
        for again in ("lake", "lake/*.parquet", "lake/b.parquet", "link.parquet", "copy.parquet"):
            with pytest.raises(sa.BudgetError, match="study"):
                charge(session, again)
        with pytest.raises(sa.PolicyError, match="with other accounts"):
            account(session, "FROM 'lake/*.parquet'", "people")

    def test_files_that_cannot_be_listed_are_known_by_their_name(self, session: sa.Session) -> None:
        """As those of another machine, which DuckDB does not list."""
        session.connection.execute("COPY people TO 'a.parquet'")
        source = dataclasses.replace(
            engine_of(session).resolve("a.parquet"), files=(), dataset="https://host/a.parquet"
        )
        session.ledger.cap("https://host/a.parquet", None)
        found = charged(engine_of(session), open_ledger(engine_of(session), None), source, None)
        assert found.sources == (KnownSource("https://host/a.parquet"),)

    def test_a_ledger_without_the_warehouse_caps_the_account_that_a_table_belongs_to(
        self, session: sa.Session, tmp_path: Path
    ) -> None:
        session.close()
        with sa.connect("w.duckdb", ledger="b.duckdb") as beside:
            beside.ledger.cap("study", None)
            charge(beside, QUERY, "study")
        with sa.connect(ledger="b.duckdb") as custodian:
            custodian.ledger.cap("people", sa.Budget(1, "0.1"))
            assert set(custodian.ledger.entries()["dataset"].to_pylist()) == {"study"}

    def test_what_cannot_be_seen_is_refused(self, session: sa.Session) -> None:
        session.connection.execute(
            "COPY people TO 'a.parquet'; COPY people TO 'a.csv'; SET VARIABLE file = 'a.parquet'; "
            "CREATE MACRO file_of(name) AS TABLE (FROM read_parquet(name))"
        )
        for source, reason in (
            ("FROM read_parquet('a.par' || 'quet')", "computes file names"),
            ("FROM read_parquet(getvariable('file'))", "computes file names"),
            ("FROM query('FROM ''a.parquet''')", "computes file names"),
            ("FROM file_of('a.parquet')", "computes file names"),
            ("SELECT p.* FROM people AS p SEMI JOIN duckdb_tables() AS t ON t.estimated_size > p.age", "duckdb_tables"),
            ("SELECT p.* FROM people AS p, sniff_csv('a.csv')", "sniff_csv"),
        ):
            with pytest.raises(sa.PolicyError, match=reason):
                account(session, source, "people")
        with pytest.raises(sa.PolicyError, match="sniff_csv"):
            session.anonymize(source, POLICY, "first", dataset="people")
        assert session.ledger.entries().num_rows == 0

    def test_a_connection_whose_settings_are_locked_shows_no_plan(self, session: sa.Session) -> None:
        session.connection.execute("SET lock_configuration = true")
        session.anonymize("people", POLICY, "first")
        with pytest.raises(sa.PolicyError, match="lock_configuration"):
            session.anonymize(QUERY, POLICY, "second", dataset="people")


PERSONS = [
    ("people", "person"),
    ("FROM people", "person"),
    ("SELECT *, age + 1 AS older FROM people WHERE age > 20", "person"),
    ("SELECT person AS who, age FROM people", "who"),
    ("SELECT who, age FROM (SELECT (p.person) AS who, p.* EXCLUDE (person) FROM people AS p)", "who"),
    ("WITH a AS (FROM people), b (who, years) AS (SELECT person, age FROM a) FROM b", "who"),
    ("FROM seen.again", "person"),
    ("named", "who"),
    ("SELECT * RENAME (person AS who) FROM people", "who"),
    ("SELECT s.who FROM people AS s (who)", "who"),
    ("SELECT * REPLACE (age // 10 AS age) FROM people", "person"),
    ("SELECT c.age, p.person FROM codes AS c JOIN people AS p ON c.age = p.age", "person"),
    ("FROM codes AS c SEMI JOIN people AS p USING (person)", "person"),
    ("SELECT person, c.age FROM people LEFT JOIN codes AS c USING (person)", "person"),
    ("SELECT person, count(*) OVER () AS n, max(age) FROM people GROUP BY person", "person"),
    ("FROM people UNION ALL FROM codes", "person"),
    ("FROM 'a.parquet'", "person"),
    ("FROM read_csv('a.csv', types = {'age': 'INTEGER'})", "person"),
    ("SELECT person, (SELECT max(age) FROM codes) AS oldest FROM people QUALIFY row_number() OVER () > 3", "person"),
    ("SELECT age // 10 AS person, person AS who FROM people", "who"),
    ("SELECT age AS who FROM (SELECT age, person FROM people) AS t (person, age)", "who"),
]
"""Sources with a column that is column ``person`` of tables or files."""

NOT_PERSONS = [
    "SELECT person * 10 + age AS person FROM people",
    "SELECT row_number() OVER () AS person, age FROM people",
    "SELECT * REPLACE (person // 10 AS person) FROM people",
    "SELECT * FROM (SELECT p.* EXCLUDE (person), person // 10 AS person FROM people AS p)",
    "WITH people AS (SELECT person // 10 AS person FROM people) FROM people",
    "WITH RECURSIVE r AS (SELECT person FROM people UNION SELECT person + 1 FROM r WHERE person < 3) FROM r",
    "tens",
    "FROM tens_of(1)",
    "SELECT ten(person) AS person FROM people",
    "SELECT rowid AS person FROM people",
    "FROM people UNION ALL SELECT age AS person, age, sex, illness FROM codes",
    "FROM people UNION ALL BY NAME FROM codes",
    "SELECT person FROM people RIGHT JOIN codes USING (person)",
    "FROM people FULL JOIN codes USING (person)",
    "FROM people NATURAL JOIN codes",
    "SELECT COLUMNS('p.*') FROM people",
    "SELECT person FROM (SELECT unnest({'person': age}), person FROM people)",
    "SELECT person FROM (SELECT s.*, person FROM structs)",
    "SELECT s.person FROM structs",
    "SELECT person FROM (SELECT person COLLATE NOCASE, person FROM texts)",
    "SELECT person::INTEGER AS person FROM texts",
    "SELECT any_value(person) AS person, age FROM people GROUP BY age",
    "SELECT z.person FROM people, LATERAL (SELECT age AS person) AS z",
    "SELECT unnest([person, age]) AS person FROM people",
    "SELECT t.person FROM (VALUES (1), (2)) AS t (person), people",
    "FROM read_csv('a.csv', names = ['age', 'person', 'sex', 'illness'])",
    "FROM (PIVOT people ON sex USING count(*) GROUP BY person)",
    "FROM query_table('people')",
    "FROM (SELECT age // 10, person FROM people) AS t (person, age)",
    "FROM read_csv('a.csv', header = false, names => ['age', 'person', 'sex', 'illness'])",
]
"""Queries and views whose column ``person`` is made of others, or is not known not to be."""


RELATIONS = [
    "a",
    "b",
    "c",
    "(SELECT age AS person, person AS age FROM a)",
    "(SELECT person // 10 AS person, person AS age FROM a)",
    "(SELECT max(person) AS person, age FROM a GROUP BY age)",
    "(SELECT s.*, person, age FROM a)",
    "(SELECT unnest(s), a.* FROM a)",
    "(WITH a AS (FROM c) FROM a)",
    "(FROM a SELECT person: age, age: person)",
    "(SELECT * RENAME (age AS person, person AS age) FROM b)",
]
JOINS = [
    "{} AS x, {} AS y",
    "{} AS x LEFT JOIN {} AS y ON x.person = y.age",
    "{} AS x JOIN {} AS y USING (person)",
    "{} AS x RIGHT JOIN {} AS y USING (person)",
    "{} AS x FULL JOIN {} AS y USING (age)",
    "{} AS x SEMI JOIN {} AS y USING (person)",
    "{} AS y POSITIONAL JOIN {} AS x",
    "{} AS x (age, person), {} AS y (who)",
]
LISTS = ["*", "x.*", "y.*, x.*", "person", "x.age, x.person", "* REPLACE (x.age AS person)", "* EXCLUDE (person)"]
SHAPES = ["{} LIMIT 9", "SELECT * FROM ({}) LIMIT 9", "WITH a AS ({} LIMIT 9) SELECT person AS age, * FROM a"]
"""What random queries are made of."""


class TestIndividuals:
    """Their column must be one of the data set: what is lost by another cannot be added up."""

    @pytest.fixture
    def session(self, session: sa.Session) -> sa.Session:
        session.connection.execute(
            """
            CREATE VIEW named (who, years) AS SELECT person, age FROM people;
            CREATE VIEW tens AS SELECT * REPLACE (person // 10 AS person) FROM people;
            CREATE MACRO tens_of(i) AS TABLE (SELECT * REPLACE (person // 10 AS person) FROM people);
            CREATE MACRO ten(i) AS i // 10;
            CREATE TABLE structs AS SELECT person, {'person': age} AS s FROM people;
            CREATE TABLE texts AS SELECT person::VARCHAR AS person FROM people;
            COPY people TO 'a.parquet';
            COPY people TO 'a.csv';
            """
        )
        return session

    def test_a_plain_column_is_traced(self, session: sa.Session) -> None:
        engine, connection = engine_of(session), session.connection
        for source, name in PERSONS:
            for read in (source, connection.sql(source if " " in source else f"FROM {source}")):
                [found] = engine.traced(engine.resolve(read), [name])
                assert found is not None and found.name == "person", source
        table = connection.sql("FROM people").to_arrow_table()
        assert engine.traced(engine.resolve(table), ["person"]) != [None]

    def test_a_column_that_may_be_made_of_others_is_not(self, session: sa.Session) -> None:
        engine = engine_of(session)
        for source in NOT_PERSONS:
            assert engine.traced(engine.resolve(source), ["person"]) == [None], source
        assert engine.traced(engine.resolve(session.connection.sql(NOT_PERSONS[0])), ["person"]) == [None]

    def test_what_is_traced_has_the_values_of_its_column(self, session: sa.Session) -> None:
        """Of tables whose columns have no value in common, in random queries."""
        engine, connection = engine_of(session), session.connection
        connection.execute(
            "CREATE TABLE a AS SELECT person + 1000 AS person, age, {'person': -person} AS s FROM people; "
            "CREATE TABLE b AS SELECT person + 5000 AS person, age + 9000 AS age FROM people; "
            "CREATE VIEW c (person, age) AS SELECT age, person FROM b"
        )
        chosen = random.Random(1).sample(list(product(SHAPES, LISTS, JOINS, RELATIONS, RELATIONS)), 40)  # noqa: S311
        describe = cache(engine.describe)
        traced = 0
        for shape, columns, join, left, right in chosen:
            query = shape.format(f"SELECT {columns} FROM {join.format(left, right)}")
            with suppress(sa.EngineError):  # DuckDB refuses some
                source = engine.resolve(query)
                strangers = []
                names = [*{column.name for column in describe(source.relation)}]
                for name, found in zip(names, lineage.traced(source, names, engine.rows, describe), strict=True):
                    if found is not None:
                        (table,) = found.tables
                        known_values = f'SELECT "{found.name}"::VARCHAR FROM {table}'
                        strangers.append(f'count("{name}") FILTER ("{name}"::VARCHAR NOT IN ({known_values}))')
                if strangers:
                    traced += len(strangers)
                    counts = connection.execute(f"SELECT {', '.join(strangers)} FROM ({query})").fetchall()
                    assert counts == [(0,) * len(strangers)], (query, strangers)
        assert traced > 10

    def test_a_query_that_redefines_it_is_refused(self, session: sa.Session) -> None:
        by_person = sa.Policy(**ROLES, individual="person", method=METHOD)
        with pytest.raises(sa.PolicyError, match=r'"person" of the query cannot be traced to a plain column'):
            session.anonymize(
                "SELECT * REPLACE (person * 10 + age AS person) FROM people", by_person, "r", dataset="people"
            )
        assert session.ledger.entries().num_rows == 0

    def test_the_unit_is_the_column_of_the_data_set(self, session: sa.Session) -> None:
        """A column that is called by the name of another is the one that it is."""
        by_person = sa.Policy(**ROLES, individual="person", method=METHOD)
        swapped = "SELECT age AS person, person AS age, sex, illness FROM people WHERE person BETWEEN 20 AND 29"
        release = session.anonymize(swapped, by_person, "first", dataset="people")
        assert session.ledger.entries()["individual"].to_pylist() == ["age"] * 3
        assert any("identifies the same individuals in all" in line for line in release.guarantee.conditions)
        with pytest.raises(sa.PolicyError, match='how many of "person" belong to one of "age"'):
            session.anonymize("people", by_person, "second")

    def test_individuals_are_not_those_of_a_public_table(self, session: sa.Session) -> None:
        by_person = sa.Policy(**ROLES, individual="person", method=METHOD)
        query = "SELECT c.person, p.* EXCLUDE (person) FROM people AS p JOIN codes AS c ON p.person = c.person"
        with pytest.raises(sa.PolicyError, match="cannot be traced to a plain column"):
            session.anonymize(query, by_person, "r", dataset="people", public=["codes"])


JOIN = "SELECT p.* FROM people AS p JOIN codes AS c ON p.person = c.person AND p.sex = c.sex"


class TestJoins:
    def test_what_is_public_is_not_charged_and_said_to_be(self, session: sa.Session) -> None:
        release = session.anonymize(JOIN, POLICY, "first", dataset="people", public=["main.Codes"])
        [said] = [line for line in release.guarantee.conditions if "public" in line]
        assert said == 'everybody may know all of table "codes", which was declared public'
        assert session.ledger.entries()["public"].to_pylist()[0] == ["codes"]
        later = session.anonymize("codes", POLICY, "second")
        [said] = [line for line in later.guarantee.conditions if "public" in line]
        assert 'earlier charges took everybody to know all of table "codes", which they declared public' in said
        assert session.ledger.spent("people") == SPENT == session.ledger.spent("codes")
        with pytest.raises(sa.PolicyError, match='"codes", declared public, belongs to an account'):
            session.anonymize(JOIN, POLICY, "third", dataset="people", public="codes")

    def test_what_cannot_be_public(self, session: sa.Session) -> None:
        session.connection.execute("CREATE TABLE visits AS FROM people")
        session.ledger.cap("study", None)
        for source, public, reason in (
            (JOIN, ["visits"], "is not read"),
            (JOIN, ["missing"], "is not a table or file here"),
            (JOIN, ["seen"], "is a view"),
            (JOIN, ["people", "codes"], "nothing is left"),
            ("people", ["codes"], "public= is for queries and views"),
        ):
            dataset = None if source == "people" else "study"
            with pytest.raises(sa.PolicyError, match=reason):
                account(session, source, dataset, public)
        session.ledger.cap("codes", None)
        with pytest.raises(sa.PolicyError, match="belongs to an account of the ledger"):
            account(session, JOIN, "study", ["codes"])

    def test_public_is_for_private_methods(self, session: sa.Session) -> None:
        policy = sa.Policy(quasi_identifiers=["age"], privacy=[sa.KAnonymity(2)])
        with pytest.raises(sa.PolicyError, match="public"):
            session.anonymize(JOIN, policy, "first", public=["codes"])

    def test_the_command_line_declares_it_too(self, session: sa.Session, tmp_path: Path) -> None:
        session.close()
        (tmp_path / "policy.toml").write_text(TOML)
        command = ("run", JOIN, "--db", "w.duckdb", "--policy", "policy.toml", "--into", "r", "--dataset", "people")
        done = sqlanon(*command, "--public", "codes", folder=tmp_path)
        assert (done.returncode, '"codes", which was declared public' in done.stdout) == (0, True), done.stderr


class TestNewAccounts:
    def test_the_report_says_that_a_run_opened_one(self, session: sa.Session) -> None:
        assert session.anonymize("people", POLICY, "first").report.opened_account == "people"
        session.ledger.cap("codes", None)
        assert [account(session, name).is_new for name in ("people", "codes")] == [False, False]
        seeded = session.anonymize("codes", POLICY, "s", random_source=sa.SeededSource(1))
        assert seeded.report.opened_account is None
        assert "opened_account" not in (session.provenance("first") or "")

    def test_a_capped_ledger_takes_no_data_set_without_a_cap(self, session: sa.Session) -> None:
        session.close()
        with sa.connect("w.duckdb", ledger_mode="capped") as capped:
            with pytest.raises(sa.BudgetError, match=r"refuses data sets without a cap.*ledger cap") as error:
                capped.anonymize("people", POLICY, "first")
            assert error.value.problems == ('"people"',)
            assert capped.ledger.entries().num_rows == 0
            capped.ledger.cap("people", None)
            with pytest.raises(sa.BudgetError, match="without a cap"):
                capped.anonymize("people", POLICY, "second")
            capped.anonymize("people", POLICY, "second", random_source=sa.SeededSource(1))

    def test_a_mode_that_there_is_not(self) -> None:
        with pytest.raises(sa.EngineError, match='ledger_mode is "open" or "capped"'):
            sa.connect(ledger_mode="closed")  # type: ignore[arg-type]

    def test_the_command_line_announces_accounts_and_refuses_them(self, session: sa.Session, tmp_path: Path) -> None:
        session.close()
        (tmp_path / "policy.toml").write_text(TOML)
        command = ("run", "people", "--db", "w.duckdb", "--policy", "policy.toml", "--into", "r")
        refused = sqlanon(*command, "--ledger-mode", "capped", folder=tmp_path)
        assert (refused.returncode, "without a cap" in refused.stderr) == (4, True), refused.stderr
        done = sqlanon(*command, folder=tmp_path)
        assert (done.returncode, 'opened the account "people" in the ledger' in done.stderr) == (0, True), done.stderr
        slip = sqlanon(*command, "--replace", "--ledger-mode", "closed", folder=tmp_path)
        assert (slip.returncode, "--ledger-mode" in slip.stderr) == (2, True)
