"""What a query of a policy or a taxonomy may do: others may have written it, so it reads, and does nothing else."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from sqlanon.engines.duckdb.restricted import allowed_functions
from tests.engines import engine_of

PEOPLE = """
CREATE TABLE people AS
SELECT (20 + range % 10)::INTEGER AS age, ['f', 'm'][1 + range % 2] AS sex, range AS id FROM range(40);
CREATE VIEW everyone AS FROM people;
CREATE SCHEMA other;
CREATE TABLE other.people AS FROM people;
CREATE MACRO mine(x) AS x;
CREATE MACRO rows_of(text) AS TABLE FROM query(text);
CREATE SEQUENCE numbers;
CREATE VIEW opened AS SELECT 30 AS age, 'f' AS sex FROM read_text('note.txt');
"""

ALLOWED = (
    "FROM people",
    "SELECT age, sex FROM everyone UNION ALL BY NAME SELECT age, sex FROM other.people",
    'WITH recent AS MATERIALIZED (FROM "other"."people" WHERE age > 3) SELECT upper(sex) AS sex, age FROM recent',
    "WITH RECURSIVE ages(age) AS (SELECT 1 UNION ALL SELECT age + 1 FROM ages WHERE age < 9) FROM ages",
    "SELECT DISTINCT ON (age) age, sex FROM people ORDER BY age DESC NULLS LAST LIMIT 5",
    "SELECT sex, sum(age) FILTER (age > 3) OVER (PARTITION BY sex ORDER BY id ROWS 1 PRECEDING) AS age FROM people",
    "SELECT list_transform([age], lambda x: x + 1)[1] AS age, CASE WHEN sex > '' THEN sex END AS sex FROM people",
    "SELECT unnest([1, 2]) AS age, sex FROM people, range(3) WHERE age IN (SELECT max(age) FROM people GROUP BY ALL)",
    "SELECT sex.lower() AS sex, age FROM people WHERE sex LIKE 'f%' AND age BETWEEN 2 AND 9 QUALIFY rank() OVER () < 9",
    "SELECT year(now())::INTEGER - year(DATE '1990-01-01') AS age, 'f' AS sex, {'a': 1}.a, MAP {'a': 1}",
    "FROM read_csv('people.csv', header = true, types = {'age': 'INTEGER'}, names = ['age', 'sex'])",
    "FROM read_parquet(['people.parquet', 'peop*.parquet'], union_by_name = true)",
    "FROM read_json_auto('people.json')",
    "FROM 'people.csv' -- query('x')",
    'SELECT p.* FROM "people.parquet" AS p LEFT JOIN people.csv AS q USING (age, sex)',
    "SELECT anon.text_of(age) AS age, sex FROM anon.equivalence_classes('people', ['age', 'sex'])",
    "SELECT age, 'f' AS sex FROM (PIVOT people ON sex IN ('f', 'm') USING count(*) GROUP BY age)",
    "FROM (VALUES (1, 'f')) AS t(age, sex)",
    "FROM opened",  # made by the owner of the warehouse
    "SELECT age, sex FROM people TABLESAMPLE 50%",
)

# what is refused, and by what name; more functions and files: test_fuzzed_policies
REFUSED = {
    "SELECT age, sex FROM people, (SELECT 1 FROM enable_logging(storage_path = '{}/made'))": ('"enable_logging"',),
    "FROM people, read_blob('note.txt'), read_duckdb('x.duckdb')": ('"read_blob"', '"read_duckdb"'),
    "WITH q AS (FROM query_table('people')) SELECT getvariable('x') AS age, sex FROM q": (
        '"query_table"',
        '"getvariable"',
    ),
    "SELECT sex.read_text() AS age, getenv('HOME') AS sex FROM people": ('"read_text"', '"getenv"'),
    "SELECT anon.getvariable() AS age FROM (SELECT 'x' AS anon)": ('"getvariable"',),
    "SELECT anon.getvariable('x') AS age": ('"getvariable"',),
    "SELECT list_transform([age], lambda x: nextval('numbers') + x) AS age, sex FROM people": ('"nextval"',),
    "SELECT COLUMNS(c -> setseed(0.5) IS NULL OR c = 'age') FROM people": ('"setseed"',),
    "SELECT random() AS age, uuid() AS sex, write_log('x')": ('"random"', '"uuid"', '"write_log"'),
    "SELECT age, sex FROM people ORDER BY random() LIMIT 3": ('"random"',),
    "SELECT sum(age) FILTER (nextval('numbers') > 1) OVER (ORDER BY setseed(0.1)) AS age": ('"nextval"', '"setseed"'),
    "SELECT mine(age) AS age, sex FROM rows_of('SELECT 1')": ('"mine"', '"rows_of"'),
    "FROM read_csv(getvariable('x'))": ('"getvariable"', 'argument of "read_csv"'),
    "FROM people, read_csv(sex)": ('argument of "read_csv"',),
    "FROM read_csv(CAST(CAST('people.csv' AS BLOB) AS VARCHAR))": ('argument of "read_csv"',),
    "FROM anon.equivalence_classes('peo' || 'ple', ['age'])": ('argument of "equivalence_classes"',),
    "FROM read_csv('people.csv', store_rejects = true, rejects_table = 'made')": (
        'option "store_rejects"',
        'option "rejects_table"',
    ),
    "FROM read_parquet(['people.parquet', 's3://bucket/x.parquet'])": ('"s3://bucket/x.parquet"',),
    "FROM 'HTTP://127.0.0.1:9/x.csv'": ('"HTTP://127.0.0.1:9/x.csv"',),
    'FROM "hf://x/y".csv AS t': ('"hf://x/y.csv"',),
    "FROM anon.equivalence_classes('gs://x/y.csv', ['age'])": ('"gs://x/y.csv"',),
    "gs://bucket/*.parquet": ('"gs://bucket/*.parquet"',),
    "https://127.0.0.1:9/x.parquet": ('"https://127.0.0.1:9/x.parquet"',),
    'FROM (WITH "hf://x/y.csv" AS (SELECT 1) FROM people) AS a, "hf://x/y.csv" AS b': ('"hf://x/y.csv"',),
    'FROM (WITH "w.duckdb" AS (SELECT 1) FROM people) AS a, "w.duckdb" AS b': ('"w.duckdb"',),
    "FROM '/etc/passwd'": ('"/etc/passwd"',),
    "FROM duckdb_databases": ('"duckdb_databases"',),
    "FROM (SUMMARIZE people)": ("the part SHOW",),
    "SELECT $1 AS age": ("the part PARAMETER",),
    "FROM (PIVOT people ON sex USING count(*))": ("one SELECT query",),
}

# what is no query at all, or none that is understood
NO_QUERIES = (
    "INSTALL httpfs",
    "LOAD httpfs",
    "PRAGMA database_list",
    "SELECT 1 /* ; */; DROP TABLE people",
    f"SELECT {'(' * 2000}age{')' * 2000} AS age, sex FROM people",
    "WITH made AS (INSERT INTO people VALUES (1, 'f', 1) RETURNING *) FROM made",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("restricted")
    with duckdb.connect(str(folder / "w.duckdb")) as connection:
        (folder / "note.txt").write_text("a note")
        connection.execute(PEOPLE.replace("'note.txt'", f"'{folder}/note.txt'"))
        for file in ("people.csv", "people.parquet", "people.json"):
            connection.execute(f"COPY (SELECT age, sex FROM people) TO '{folder / file}'")
    with sa.connect(folder / "w.duckdb") as session:
        session.install()
    return folder


@pytest.fixture(scope="module")
def session(made: Path) -> Iterator[sa.Session]:
    with pytest.MonkeyPatch.context() as patch, sa.connect(made / "w.duckdb", read_only=True) as opened:
        patch.chdir(made)
        yield opened


def contents(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


class TestPolicies:
    def test_queries_that_only_read_are_run(self, session: sa.Session) -> None:
        for query in ALLOWED:
            engine_of(session).describe(engine_of(session).resolve(query, restricted=True).relation)

    def test_all_else_is_refused_by_name(self, session: sa.Session, made: Path) -> None:
        before = contents(made)
        for query, names in REFUSED.items():
            with pytest.raises(sa.PolicyError) as refused:
                engine_of(session).resolve(query.replace("{}", str(made)), restricted=True)
            problems = refused.value.problems
            assert len(problems) >= len(names), query
            assert all(sum(name in problem for problem in problems) == 1 for name in names), (query, problems)
            assert contents(made) == before, query

    def test_statements_that_are_no_queries_are_refused(self, session: sa.Session, made: Path) -> None:
        before = contents(made)
        for query in NO_QUERIES:
            with pytest.raises((sa.PolicyError, sa.EngineError)):
                engine_of(session).resolve(query.replace("{}", str(made)), restricted=True)
            assert contents(made) == before, query

    def test_a_policy_writes_no_file(self, made: Path, tmp_path: Path) -> None:
        """The log that DuckDB makes where a query enables it."""
        shutil.copy(made / "w.duckdb", tmp_path / "w.duckdb")
        before = contents(tmp_path)
        query = f"SELECT age, sex FROM people, (SELECT 1 FROM enable_logging(storage_path='{tmp_path}/made'))"
        policy = {"quasi_identifiers": ["age", "sex"], "privacy": [{"model": "k-map", "k": 2, "population": query}]}
        with sa.connect(tmp_path / "w.duckdb", read_only=True) as session:
            with pytest.raises(sa.PolicyError, match='the function "enable_logging"'):
                session.measure("SELECT age, sex FROM people", policy)
            with pytest.raises(sa.PolicyError, match='the function "enable_logging"'):
                session.explain("SELECT age, sex FROM people", policy)
        assert contents(tmp_path) == before

    def test_a_query_of_a_taxonomy_is_checked_too(self, session: sa.Session) -> None:
        query = "SELECT content, '*' FROM read_text('note.txt')"
        with pytest.raises(sa.PolicyError, match='the function "read_text"'):
            session.taxonomies.load("sex", sa.Taxonomy.from_query(query))

    def test_a_source_that_the_user_gives_is_free(self, session: sa.Session) -> None:
        policy = sa.Policy(quasi_identifiers=["size"], privacy=[sa.KAnonymity(2)])
        assert session.measure("SELECT size FROM read_text('note.txt'), range(3)", policy).k == 3


class TestTheList:
    def test_functions_are_deterministic_and_without_effects(self) -> None:
        """On the DuckDB that is installed; a name that it lacks does no harm."""
        found = duckdb.sql(
            "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE internal AND "
            "function_type NOT IN ('macro', 'table', 'table_macro', 'pragma') AND "
            "(has_side_effects OR stability NOT IN ('CONSISTENT', 'CONSISTENT_WITHIN_QUERY'))"
        ).fetchall()
        assert len(found) > 10
        assert not allowed_functions() & {name for (name,) in found}

    def test_functions_are_known_to_the_catalog(self) -> None:
        """Nearly all: the two lines of DuckDB differ in a few."""
        found = duckdb.sql(
            "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE internal AND schema_name = 'main' AND "
            "function_type IN ('scalar', 'aggregate', 'window', 'macro', 'table')"
        ).fetchall()
        missing = allowed_functions() - {name for (name,) in found}
        assert len(missing) < 40, missing
        assert len(allowed_functions()) > 500
