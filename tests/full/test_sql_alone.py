"""A connection of DuckDB with the script alone, beside a run of the package: the same node, and the same rows."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from tests.commands import sqlanon
from tests.conftest import ARX_COLUMNS, DATA, ROOT

QUASI_IDENTIFIERS = ["age", "sex", "zip", "admission"]


@pytest.fixture
def alone() -> Iterator[duckdb.DuckDBPyConnection]:
    """What somebody has who installed nothing but DuckDB and read the file."""
    with duckdb.connect() as connection:
        connection.execute((ROOT / "sql" / "sqlanon.sql").read_text(encoding="utf-8"))
        yield connection


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The warehouse of the demo."""
    folder = tmp_path_factory.mktemp("demo")
    assert sqlanon("demo", "--db", "clinic.duckdb", folder=folder).returncode == 0
    return folder / "clinic.duckdb"


def counted(connection: duckdb.DuckDBPyConnection, relation: str, columns: Sequence[str]) -> list[tuple[object, ...]]:
    """The rows of a relation with the numbers in which they stand."""
    names = ", ".join(f'"{name}"' for name in columns)
    return connection.execute(f"SELECT {names}, count(*) FROM {relation} GROUP BY ALL ORDER BY ALL").fetchall()


def five_anonymous(columns: Sequence[str], limit: float) -> sa.Policy:
    """The policy of the macros; other columns but the diagnosis are dropped."""
    others = ["diagnosis"] if columns == QUASI_IDENTIFIERS else []
    models = [sa.KAnonymity(5)]
    return sa.Policy(
        quasi_identifiers=columns, insensitive=others, rest="identifier", privacy=models, suppression_limit=limit
    )


@pytest.mark.parametrize("limit", [pytest.param(0.0, marks=pytest.mark.deep), 0.05])
def test_hospital(alone: duckdb.DuckDBPyConnection, hospital: Path, limit: float, tmp_path: Path) -> None:
    alone.execute(f"ATTACH '{hospital}' AS clinic (READ_ONLY)")
    alone.execute("INSERT INTO anon.taxonomy FROM clinic.anon.taxonomy")
    alone.execute(f"CREATE TABLE k5 AS FROM anon.release('clinic.main.visits', {QUASI_IDENTIFIERS}, 5, {limit})")
    search = (
        f"SELECT node, rank FROM anon.best_nodes('clinic.main.visits', {QUASI_IDENTIFIERS}, 5, {limit}) WHERE rank = 1"
    )
    nodes = [node for node, _ in alone.execute(search).fetchall()]
    alone.execute("DETACH clinic")
    with sa.connect(hospital) as session:
        policy = five_anonymous(QUASI_IDENTIFIERS, limit)
        release = session.anonymize("visits", policy, into=tmp_path / "k5.parquet")
    assert release.node == nodes[0]
    assert len(release.report.ties) == len(nodes)
    columns = [*QUASI_IDENTIFIERS, "diagnosis"]
    assert counted(alone, "k5", columns) == counted(alone, f"'{tmp_path / 'k5.parquet'}'", columns)


def test_local_recoding_of_the_hospital(alone: duckdb.DuckDBPyConnection, hospital: Path, tmp_path: Path) -> None:
    """It is 5-anonymous, leaves nearly nobody out, and loses little more than where every node is tried."""
    alone.execute(f"ATTACH '{hospital}' AS clinic (READ_ONLY)")
    alone.execute("INSERT INTO anon.taxonomy FROM clinic.anon.taxonomy")
    visits, columns = "clinic.main.visits", QUASI_IDENTIFIERS
    alone.execute(f"CREATE TABLE k5 AS FROM anon.local_recoding('{visits}', {columns}, 5, 50)")
    [verified] = alone.execute(f"SELECT holds, k FROM anon.verify('k5', '{visits}', {columns}, 5)").fetchall()
    assert verified == (True, 5)
    [left_out] = alone.execute(f"SELECT (SELECT count(*) FROM {visits}) - (SELECT count(*) FROM k5)").fetchall()[0]
    assert left_out < 5
    [(best,)] = alone.execute(f"SELECT ncp FROM anon.best_nodes('{visits}', {columns}, 5, 0.0) LIMIT 1").fetchall()
    alone.execute("DETACH clinic")
    with sa.connect(hospital) as session:
        policy = five_anonymous(columns, 0.0).model_copy(update={"method": sa.LocalRecoding()})
        session.anonymize("visits", policy, into=tmp_path / "peeled.parquet")
    loss = "SELECT ncp FROM anon.released_ncp('{}', {})"
    [(tried,)] = alone.execute(loss.format("k5", columns)).fetchall()
    [(peeled,)] = alone.execute(loss.format(tmp_path / "peeled.parquet", columns)).fetchall()
    assert peeled < tried < 1.1 * peeled < 0.8 * best


def test_folder_of_parquet_files(alone: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """With a hostile name, NULLs, and taxonomies by rules."""
    name = 'a"b; drop table x --'
    alone.execute(
        f"""
        COPY (
            SELECT
                CAST(i * 7919 % 97 AS INTEGER) AS age,
                CASE WHEN i % 11 > 0 THEN chr(CAST(65 + i * i % 7 AS INTEGER)) END AS "{name.replace('"', '""')}",
                i // 250 AS part
            FROM range(1000) AS people (i)
        ) TO '{tmp_path / "lake"}' (FORMAT parquet, PARTITION_BY (part))
        """
    )
    files = f"{tmp_path}/lake/*/*.parquet"
    alone.execute(f"CREATE VIEW lake AS FROM read_parquet('{files}')")
    alone.execute("INSERT INTO anon.taxonomy FROM anon.interval_taxonomy('lake', 'age', [5, 10, 20], 0, 99)")
    alone.execute(f"INSERT INTO anon.taxonomy FROM anon.flat_taxonomy('lake', '{name}')")
    alone.execute(f"CREATE TABLE k5 AS FROM anon.release('lake', ['age', '{name}'], 5, 0.01)")
    [node] = alone.execute(
        f"SELECT node FROM anon.best_nodes('{files}', ['age', '{name}'], 5, 0.01) LIMIT 1"
    ).fetchall()
    with sa.connect() as session:
        session.taxonomies.make("age", "intervals", widths=[5, 10, 20], minimum=0, maximum=99)
        session.taxonomies.make(name, "flat", source=files)
        policy = five_anonymous(["age", name], 0.01)
        release = session.anonymize(files, policy, into=tmp_path / "k5.parquet")
    assert release.node == node[0]
    quoted = name.replace('"', '""')
    assert counted(alone, "k5", ["age", quoted]) == counted(alone, f"'{tmp_path / 'k5.parquet'}'", ["age", quoted])


def test_csv_file(alone: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """As it is, without a table of it: DuckDB 1.5 has to be kept from looking through to it."""
    path = tmp_path / "people.csv"
    path.write_text("age,sex,diagnosis\n34,f,flu\n34,f,gout\n35,m,flu\n", encoding="utf-8")
    for name in ("age", "sex"):
        alone.execute(f"INSERT INTO anon.taxonomy FROM anon.flat_taxonomy('{path}', '{name}')")
    release = f"anon.release('{path}', ['age', 'sex'], 2, {{}})"
    assert alone.execute(f"FROM {release.format(0.5)}").fetchall() == [("34", "f", "flu"), ("34", "f", "gout")]
    assert alone.execute(f"SELECT DISTINCT age, sex FROM {release.format(0)}").fetchall() == [("*", "*")]


@pytest.mark.adult
def test_adult_with_seven_quasi_identifiers(alone: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    columns, folder = list(ARX_COLUMNS[:7]), DATA / "adult_arx"
    for name in columns:
        path = folder / "hierarchies" / f"{name}.csv"
        alone.execute(f"INSERT INTO anon.taxonomy FROM anon.hierarchy_file('{path}', '{name}')")
    [data] = folder.glob("*.csv")
    alone.execute(f"CREATE TABLE adult AS FROM read_csv('{data}')")
    [node] = alone.execute(f"SELECT node FROM anon.best_nodes('adult', {columns}, 5, 0.05) LIMIT 1").fetchall()
    with sa.connect() as session:
        session.taxonomies.load_all({name: folder / "hierarchies" / f"{name}.csv" for name in columns})
        policy = five_anonymous(columns, 0.05)
        release = session.anonymize(data, policy, into=tmp_path / "k5.parquet")
    assert release.node == node[0]
