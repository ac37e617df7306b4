"""Names and paths that nothing can have: wherever they come in, an error of ours tells of them; nothing changes."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa

NAMES = {
    "NUL": "bad\0name",
    "NUL in a file": "bad\0name.parquet",
    "NUL in a folder": "bad\0name/",
    "NUL in a glob": "./bad\0*/*.parquet",
    "NUL in a query": "SELECT 1 AS age, 'a\0b' AS sex, 1 AS illness",
    "half a character": "bad\udc80name.parquet",
    "half a character of a table": "bad\udc80name",
}
POLICY = sa.Policy(quasi_identifiers=["age", "sex"], sensitive=["illness"], privacy=[sa.KAnonymity(2)])
PRIVATE = sa.Policy(
    quasi_identifiers=["age", "sex"],
    sensitive=["illness"],
    method=sa.Histogram(budget=sa.Budget(1, "0.01"), node={"age": 0, "sex": 0}),
)
FLAT: dict[str, Any] = {"individual": "age", "event": "sex", "order": "illness", "first": 1}

Call = Callable[[sa.Session, Any], object]
CALLS: dict[str, Call] = {
    "connect": lambda _, name: sa.connect(name).close(),
    "connect read-only": lambda _, name: sa.connect(name, read_only=True).close(),
    "ledger": lambda _, name: _charged(name),
    "temp_directory": lambda _, name: sa.connect(temp_directory=name).close(),
    "taxonomy": lambda session, name: session.taxonomies.load("age", name),
    "taxonomy from csv": lambda session, name: session.taxonomies.load("age", sa.Taxonomy.from_csv(name)),
    "taxonomy from query": lambda session, name: session.taxonomies.load("age", sa.Taxonomy.from_query(str(name))),
    "taxonomy source": lambda session, name: session.taxonomies.load("age", sa.Taxonomy.flat(), source=name),
    "taxonomy column": lambda session, name: session.taxonomies.load(
        "age", sa.Taxonomy.flat(), source="people", column=str(name)
    ),
    "export": lambda session, name: session.taxonomies.export("age", name),
    "export of": lambda session, name: session.taxonomies.export(str(name), "out.csv"),
    "policy": lambda _, name: sa.Policy.from_toml(name),
    "measure": lambda session, name: session.measure(name, POLICY),
    "verify": lambda session, name: session.verify(name, POLICY),
    "verify with source": lambda session, name: session.verify("people", POLICY, source=name),
    "provenance": lambda session, name: session.provenance(name),
    "explain": lambda session, name: session.explain(name, POLICY),
    "lattice": lambda session, name: session.lattice(name, POLICY),
    "lattice into": lambda session, name: session.lattice("people", POLICY, into=name),
    "anonymize": lambda session, name: session.anonymize(name, POLICY, into="out"),
    "anonymize into": lambda session, name: session.anonymize("people", POLICY, into=name),
    "replace": lambda session, name: session.anonymize("people", POLICY, into=name, replace=True),
    "into pieces": lambda session, name: session.anonymize("people", POLICY, into=name, rows_per_file=2),
    "partition by": lambda session, name: session.anonymize("people", POLICY, into="out/", partition_by=[str(name)]),
    "private": lambda session, name: session.anonymize(name, PRIVATE, into="out"),
    "private into": lambda session, name: session.anonymize("people", PRIVATE, into=name),
    "data set": lambda session, name: session.anonymize("FROM people", PRIVATE, into="out", dataset=str(name)),
    "population": lambda session, name: session.anonymize("people", _population(name), into="out"),
    "measured population": lambda session, name: session.measure("people", _population(name)),
    "fit": lambda session, name: session.partitions.fit(name, POLICY, "side.fit"),
    "fit into": lambda session, name: session.partitions.fit("people", POLICY, name),
    "apply": lambda session, name: session.partitions.apply(name, "good.fit", into="out"),
    "apply with": lambda session, name: session.partitions.apply("people", name, into="out"),
    "apply into": lambda session, name: session.partitions.apply("people", "good.fit", into=name),
    "flatten": lambda session, name: session.flatten(name, "out", **FLAT),
    "flatten into": lambda session, name: session.flatten("people", name, **FLAT),
    "flatten a column": lambda session, name: session.flatten("people", "out", **{**FLAT, "event": str(name)}),
    "cap": lambda session, name: session.ledger.cap(str(name), sa.Budget(1)),
}


def _population(name: object) -> sa.Policy:
    return sa.Policy(quasi_identifiers=["age", "sex"], sensitive=["illness"], privacy=[sa.KMap(2, str(name))])


def _charged(name: Any) -> None:
    with sa.connect("w.duckdb", ledger=name) as session:
        session.anonymize("people", PRIVATE, into="out")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("names")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with sa.connect("w.duckdb") as session:
            session.connection.execute(
                "CREATE TABLE people AS SELECT i % 2 AS age, 'f' AS sex, 'flu' AS illness FROM range(8) AS r (i)"
            )
            session.taxonomies.load("age", sa.Taxonomy.flat(["0", "1"]))
            session.taxonomies.load("sex", sa.Taxonomy.flat(["f"]))
            session.partitions.fit("people", POLICY, "good.fit")
        yield folder


OPENING = ("connect", "connect read-only", "ledger", "temp_directory")
"""Those that open a session themselves."""


@pytest.mark.parametrize("opens", [True, False])
def test_an_error_of_ours(folder: Path, monkeypatch: pytest.MonkeyPatch, opens: bool) -> None:
    monkeypatch.chdir(folder)
    before = sorted(path.name for path in folder.iterdir() if not path.name.endswith(".wal"))
    with closing(sa.connect() if opens else sa.connect("w.duckdb")) as session:
        tables = session.connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        for call in CALLS:
            for label, name in NAMES.items() if (call in OPENING) is opens else ():
                for kind in (str, Path) if label == "NUL in a file" else (str,):  # a path is made text first
                    try:
                        CALLS[call](session, kind(name))
                    except sa.SqlanonError:
                        continue
                    pytest.fail(f"{label} can be a name for {call}")
            found = session.connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
            assert found == tables, call
    assert sorted(path.name for path in folder.iterdir() if not path.name.endswith(".wal")) == before
