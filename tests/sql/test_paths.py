"""Macros read relative paths, lists, and tables of any name, called on either line of DuckDB and expanded."""

from collections.abc import Iterator
from contextlib import chdir

import duckdb
import pytest
import sqlglot

from sqlanon.queries.kit.macros import expand, install_script
from sqlanon.queries.kit.nodes import DIALECT

SOURCES = {
    "'x.csv'": 2,
    "'./x.csv'": 2,
    "'../here/x.csv'": 2,
    "'../here/a.b/*.parquet'": 4,
    "'./a.b/it''s here.parquet'": 2,
    "'\"./x.csv\"'": 2,
    "people": 2,
    "main.people": 2,
    "'main.people'": 2,
    "'memory.main.people'": 2,
    "'my people'": 2,
    "'\"a/b\".people'": 2,
    "'a/b; DROP TABLE people --'": 2,
    "['people', 'my people', 'x.csv']": 6,
    "['./x.csv', '../here/x.csv', '\"./x.csv\"', 'main.people', '\"a/b\".people']": 10,
    "['../here/a.b/*.parquet']": 4,
    "'cte'": 1,
}
"""Sources, with their numbers of rows."""


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """Tables and files of two names, and the macros; the current folder has the files."""
    here = tmp_path_factory.mktemp("paths") / "here"
    (here / "a.b").mkdir(parents=True)
    with chdir(here), duckdb.connect(config={"threads": 1}) as opened:
        opened.execute(install_script())
        opened.execute("CREATE TABLE people AS SELECT unnest(['a', 'b']) AS name")
        opened.execute("""CREATE TABLE "my people" AS FROM people;
            CREATE TABLE "a/b; DROP TABLE people --" AS FROM people;
            CREATE SCHEMA "a/b"; CREATE TABLE "a/b".people AS FROM people;
            COPY people TO 'x.csv'; COPY people TO 'a.b/it''s here.parquet'; COPY people TO 'a.b/other.parquet'""")
        yield opened


@pytest.mark.parametrize("source", SOURCES)
def test_macros_read_the_source(source: str, connection: duckdb.DuckDBPyConnection) -> None:
    query = f"WITH cte AS (SELECT 'c' AS name) SELECT sum(class_size) FROM anon.equivalence_classes({source}, ['name'])"
    assert connection.execute(query).fetchall() == [(SOURCES[source],)]
    expanded = expand(sqlglot.parse_one(query, read=DIALECT)).sql(DIALECT)
    assert connection.execute(expanded).fetchall() == [(SOURCES[source],)]


WITH_A_DOUBLE_QUOTE = {"'a\"b.csv'": 2, "'./a\"b.csv'": 2, "['../here/a\"b.csv', './x.csv']": 4}
"""Paths that contain one, with their numbers of rows."""


@pytest.mark.parametrize("source", WITH_A_DOUBLE_QUOTE)
def test_paths_with_a_double_quote(source: str, connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("COPY people TO 'a\"b.csv'; COPY people TO 'ab.csv'")
    query = f"SELECT sum(class_size) FROM anon.equivalence_classes({source}, ['name'])"
    if duckdb.__version__.startswith("1."):
        with pytest.raises(duckdb.Error, match="no path with a double quote here: make a view"):
            connection.execute(query)
    else:
        assert connection.execute(query).fetchall() == [(WITH_A_DOUBLE_QUOTE[source],)]


def test_a_missing_file_is_an_error_with_its_whole_path(connection: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(duckdb.Error, match=r"\./none\.csv"):
        connection.execute("FROM anon.k_anonymity('./none.csv', ['name'])")


@pytest.mark.parametrize("source", ["'a\"b; DROP TABLE people --/'", "'./\"; DROP TABLE people --'", "NULL", "1"])
def test_other_sources_are_errors(source: str, connection: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(duckdb.Error):
        connection.execute(f"FROM anon.k_anonymity({source}, ['name'])")
    assert connection.execute("SELECT count(*) FROM people").fetchall() == [(2,)]
