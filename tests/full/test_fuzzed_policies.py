"""Queries that a policy might have, with all that is refused: they write, read and ask nothing else than is named."""

import random
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import cycle
from pathlib import Path

import duckdb
import pytest
from sqlglot import exp

import sqlanon as sa
from sqlanon.engines.duckdb.catalog import parse_query
from sqlanon.engines.duckdb.restricted import refuse_forbidden
from tests.engines import engine_of

QUERIES = 200

SAFE_FUNCTIONS = (
    "upper(sex)", "abs(age)", "coalesce(sex, 'f')", "list_max([age, 3])", "year(now())", "anon.text_of(age)",
)  # fmt: skip

# what each of them would do is refused
UNSAFE_FUNCTIONS = (
    "getvariable('secret')", "current_setting('temp_directory')", "getenv('HOME')", "nextval('numbers')",
    "setseed(0.1)", "random()", "uuid()", "write_log('made')", "error('made')", "mine(age)",
    "json_serialize_plan('FROM query(''SELECT 1'')')", "in_search_path('main', 'main')", "read_text('secret.csv')",
)  # fmt: skip
UNSAFE_TABLES = (
    "enable_logging(storage_path = '{folder}/made')",
    "enable_logging('QueryLog', storage = 'file')",
    "enable_profiling()",
    "checkpoint()",
    "force_checkpoint()",
    "glob('/etc/*')",
    "read_text('secret.csv')",
    "read_blob('secret.csv')",
    "read_duckdb('w.duckdb')",
    "query('COPY people TO ''{folder}/made.csv''')",
    "query('FROM ''secret.csv''')",
    "query_table('secret.csv')",
    "json_execute_serialized_sql(json_serialize_sql('FROM ''secret.csv'''))",
    "sniff_csv('secret.csv')",
    "parquet_metadata('secret.parquet')",
    "parquet_schema('secret.parquet')",
    "duckdb_settings()",
    "duckdb_secrets()",
    "pragma_table_info('people')",
    "pragma_storage_info('people')",
    "sqlite_scan('secret.csv', 'x')",
    "postgres_scan('host=127.0.0.1 port={port}', 'public', 'x')",
    "iceberg_scan('secret')",
    "st_read('secret.csv')",
    "read_xlsx('secret.xlsx')",
    "rows_of('FROM ''secret.csv''')",
    "read_csv('sec' || 'ret.csv')",
    "read_csv(getvariable('secret'))",
    "read_csv((SELECT 'secret.csv'))",
    "read_parquet(['people.parquet', concat('secret', '.parquet')])",
    "read_csv('people.csv', store_rejects = true)",
    "read_csv('http://127.0.0.1:{port}/x.csv')",
    "read_parquet('s3://127.0.0.1:{port}/x.parquet')",
    "'https://127.0.0.1:{port}/x.parquet'",
    "'hf://127.0.0.1:{port}/x.csv'",
    "'secret.xlsx'",
    "'secret.duckdb'",
    "information_schema.tables",
    "anon.equivalence_classes('sec' || 'ret.csv', ['age'])",
    "anon.equivalence_classes('http://127.0.0.1:{port}/x.csv', ['age'])",
    "(DESCRIBE people)",
    "(SHOW TABLES)",
)
SAFE_TABLES = (
    "people", "everyone", "main.people", "'people.csv'", '"people.parquet"', "read_csv('people.csv', header = true)",
    "read_csv(['people.csv'], union_by_name = true)", "read_parquet('people.parquet')",
    "anon.equivalence_classes('people', ['age', 'sex'])", "(VALUES (1, 'f')) AS v(age, sex)",
    "(SELECT 30 AS age, 'm' AS sex)",
)  # fmt: skip
NO_QUERIES = (
    "{query}; COPY people TO '{folder}/made.csv'",
    "COPY ({query}) TO '{folder}/made.csv'",
    "CREATE TABLE made AS {query}",
    "ATTACH '{folder}/made.duckdb'; {query}",
    "SET temp_directory = '{folder}/made'; {query}",
    "EXPLAIN ANALYZE {query}",
    "EXPORT DATABASE '{folder}/made'",
    "CALL enable_logging(storage_path = '{folder}/made')",
    "WITH made AS (DELETE FROM people RETURNING *) {query}",
    "WITH made AS (COPY people TO '{folder}/made.csv' RETURNING *) {query}",
)
UNSAFE = (UNSAFE_FUNCTIONS, UNSAFE_TABLES, NO_QUERIES)
NAMED = {"people.csv", "people.parquet"}


class Written:
    """Queries that are drawn; ``is_unsafe`` if the present one is to be refused; ``left`` has what was in none yet."""

    def __init__(self, seed: int, folder: Path, port: int) -> None:
        self._random = random.Random(seed)  # noqa: S311
        self._places = {"{folder}": str(folder), "{port}": str(port)}
        self._unsafe = {each: cycle(self._random.sample(each, len(each))) for each in UNSAFE}
        self.left = {part for each in UNSAFE for part in each}
        self.is_unsafe = False

    def query(self) -> str:
        """A query, or a statement that is none."""
        unsafe = self._random.random() < 0.5
        self._left, self.is_unsafe = int(unsafe), unsafe
        text = self._select(2)
        if self._left:  # there was no place for it
            text = self._refused(NO_QUERIES).replace("{query}", text)
        for name, value in self._places.items():
            text = text.replace(name, value)
        return self._noise(text)

    def _select(self, depth: int) -> str:
        sources: Sequence[Callable[[int], str]] = (self._plain, self._joined, self._with, self._union, self._nested)
        return self._random.choice(sources)(depth)

    def _plain(self, depth: int) -> str:
        end = self._one(("", "", " WHERE {} IS NOT NULL", " ORDER BY {} DESC LIMIT 9"))
        end = end.replace("{}", self._value(depth)) if end else ""
        return f"SELECT {self._value(depth)} AS age, sex FROM {self._table(depth)}{end}"

    def _joined(self, depth: int) -> str:
        kind = self._one(("JOIN", "LEFT JOIN", "SEMI JOIN", "ANTI JOIN"))
        return f"SELECT a.age, a.sex FROM (SELECT * FROM {self._table(depth)}) AS a {kind} people AS b USING (age, sex)"

    def _with(self, depth: int) -> str:
        kind = self._one(("", "MATERIALIZED "))
        return f'WITH "{self._one(("x", "people.csv"))}" AS {kind}({self._below(depth)}), y AS (FROM people) FROM y'

    def _union(self, depth: int) -> str:
        kind = self._one(("UNION ALL", "UNION BY NAME", "EXCEPT", "INTERSECT"))
        return f"(SELECT age, sex FROM people) {kind} (SELECT age, sex FROM ({self._below(depth)}))"

    def _nested(self, depth: int) -> str:
        return f"SELECT age, sex FROM people WHERE EXISTS ({self._below(depth)})"

    def _below(self, depth: int) -> str:
        return self._select(depth - 1) if depth else f"SELECT age, sex FROM {self._table(0)}"

    def _table(self, depth: int) -> str:
        if self._is_now():
            return f"people, (SELECT 1 FROM {self._spelled(self._refused(UNSAFE_TABLES))})"
        return f"({self._below(depth)})" if depth and self._random.random() < 0.3 else self._one(SAFE_TABLES)

    def _value(self, depth: int) -> str:
        inner = self._spelled(self._refused(UNSAFE_FUNCTIONS)) if self._is_now() else self._one(SAFE_FUNCTIONS)
        forms = (
            "{}",
            "CASE WHEN {} IS NULL THEN 1 END",
            "list_transform([1], lambda each: {})",
            "[{} for each in [1]]",
            "TRY_CAST({} AS VARCHAR)",
            "{{'a': {}}}.a",
            "max({}) OVER (PARTITION BY sex ORDER BY {})",
            "count(*) FILTER ({} IS NULL) OVER ()",
            "(SELECT any_value(x) FROM (SELECT {} AS x))",
            "(SELECT {} IN (SELECT {}))",
        )
        return self._random.choice(forms).format(inner, inner)

    def _is_now(self) -> bool:
        now = self._left > 0 and self._random.random() < 0.6
        self._left -= now
        return now

    def _spelled(self, call: str) -> str:
        name, bracket, arguments = call.partition("(")
        if not bracket or not name or name.startswith(("'", "anon.")):
            return call
        spellings = (name, name.upper(), f'"{name}"', f"main.{name}", f"system.main.{name}", f"{name} /* ( */ ")
        return self._random.choice(spellings) + bracket + arguments

    def _noise(self, text: str) -> str:
        return self._one(("", " ", "-- SELECT 1\n", "/* x */ ")) + text + self._one(("", ";", "\n-- '", " /* ; */"))

    def _refused(self, choices: tuple[str, ...]) -> str:
        part = next(self._unsafe[choices])
        self.left.discard(part)
        return part

    def _one(self, choices: Sequence[str]) -> str:
        return self._random.choice(choices)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("fuzzed")
    with duckdb.connect(str(made / "w.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT range % 10 AS age, 'f' AS sex FROM range(20)")
        connection.execute("CREATE VIEW everyone AS FROM people; CREATE SEQUENCE numbers; CREATE MACRO mine(x) AS x")
        connection.execute("CREATE MACRO rows_of(text) AS TABLE FROM query(text)")
        for file in ("people.csv", "people.parquet", "secret.csv", "secret.parquet"):
            connection.execute(f"COPY people TO '{made / file}'")
    with sa.connect(made / "w.duckdb") as session:
        session.install()
    return made


@pytest.fixture
def session(folder: Path) -> Iterator[sa.Session]:
    with pytest.MonkeyPatch.context() as patch, sa.connect(folder / "w.duckdb", read_only=True) as opened:
        patch.chdir(folder)
        yield opened


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    """Takes no connection before it is asked for one, so that none is lost."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def nobody_has_called(listening: socket.socket) -> bool:
    try:
        listening.accept()
    except BlockingIOError:
        return True
    return False


def checked(session: sa.Session, query: str) -> exp.Expr:
    """A query as a relation, without what a session asks of the catalog besides."""
    relation = parse_query(query).relation
    refuse_forbidden(relation, engine_of(session).rows)  # type: ignore[attr-defined]
    return relation


def contents(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_size for path in folder.rglob("*")}


def test_queries_of_policies_only_read(folder: Path, session: sa.Session, listening: socket.socket) -> None:
    port = listening.getsockname()[1]
    connection, engine = session.connection, engine_of(session)
    connection.execute(f"SET custom_extension_repository = 'http://127.0.0.1:{port}'")
    connection.execute("SET VARIABLE secret = 'secret.csv'")
    engine.resolve("SELECT anon.text_of(1) AS x", restricted=True)
    connection.execute("CALL enable_logging('FileSystem', level = 'trace')")
    before, written = contents(folder), Written(20, folder, port)
    run = refused = 0
    for _ in range(QUERIES):
        query = written.query()
        try:
            relation = engine.resolve(query, restricted=True).relation if not run % 10 else checked(session, query)
        except (sa.PolicyError, sa.EngineError):
            assert written.is_unsafe, query
            refused += 1
            continue
        assert not written.is_unsafe, query
        with suppress(sa.EngineError):  # as of window functions in WHERE, which DuckDB refuses by itself
            engine.fetch(exp.select("count(*)").from_(relation), "count")
            run += 1
    opened = connection.execute("SELECT DISTINCT path FROM duckdb_logs_parsed('FileSystem')").fetchall()
    assert {Path(path).name for (path,) in opened} <= NAMED
    assert {Path(path).name for (path,) in opened} == NAMED
    assert contents(folder) == before
    assert nobody_has_called(listening)
    assert not written.left
    assert min(run, refused) > QUERIES / 3, (run, refused)
