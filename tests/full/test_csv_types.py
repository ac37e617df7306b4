"""What a CSV file spells differently from its type: it is what its table and its Parquet file are."""

from __future__ import annotations

import contextlib
import gzip
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import sqlanon as sa
from sqlanon.cli.app import app

SPELLED = {
    "yes_no": ["Yes", "No", "Yes"],
    "true_false": ["True", "False", "TRUE"],
    "two_decimals": ["20.50", "7.00", "7.10"],
    "mixed_numbers": ["20", "20.5", "1e1"],
    "leading_space": [" 20", "20", "30"],
    "trailing_space": ["20 ", "20", "30"],
    "leading_zero": ["007", "08", "9"],
    "plus": ["+7", "8", "-9"],
    "slashed_date": ["2016/01/01", "2016/01/02", "2017/12/31"],
    "dotted_date": ["14.01.2016", "15.01.2016", "31.12.2017"],
    "short_date": ["2020-1-5", "2020-1-6", "2020-12-7"],
    "us_date": ["12/31/2016", "01/02/2016", "02/28/2017"],
    "short_time": ["10:30", "11:45", "12:00"],
    "long_time": ["10:30:00", "11:45:00.5", "12:00:00"],
    "timestamp": ["2016-01-01T10:30", "2016-01-02T11:45", "2016-01-03T12:00"],
    "zoned": ["2016-01-01 10:30:00+01", "2016-01-02 11:45:00+01", "2016-01-03 12:00:00Z"],
    "text": [" a", "b ", "c"],
}
"""Columns by name: the texts of their values in the file."""

DECLARED = {"price": "DECIMAL(9, 2)", "small": "TINYINT", "single": "FLOAT", "exact": "UUID", "size": "HUGEINT"}
SPELLED_AS_DECLARED = {
    "price": ["20.5", "7", "7.100"],
    "small": ["+7", " 8", "9"],
    "single": ["0.10", "1e3", "2"],
    "exact": [
        "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
        "{b0eebc999c0b4ef8bb6d6bb9bd380a11}",
        "c0eebc99-9c0b4ef8-bb6d6bb9-bd380a11",
    ],
    "size": ["+7", " 8", "9"],
}
"""Columns whose types a query declares, and the texts of their values."""

COPIES = 4


def rows_of(columns: dict[str, list[str]], copies: int = COPIES) -> str:
    """A CSV with the columns, every row several times."""
    lines = [";".join(texts) for texts in zip(*columns.values(), strict=True) for _ in range(copies)]
    return "\n".join([";".join(columns), *lines, ""])


def sources() -> dict[str, str]:
    """Ways to read the same file, by name."""
    nested = "SELECT * FROM (SELECT * FROM (FROM 'folk.csv') WHERE TRUE)"
    return {
        "glob": "fol*.csv",
        "compressed": "folk.csv.gz",
        "read_csv_auto": "SELECT * FROM read_csv_auto('folk.csv')",
        "renamed": f"WITH folk AS ({nested}) SELECT COLUMNS(*) FROM folk",
        "view of a view": "of_view",
        "JSON": "FROM read_json('folk.json')",
    }


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a warehouse that has the macros, and the same rows as CSV, as Parquet, and in a table."""
    folder = tmp_path_factory.mktemp("types")
    (folder / "folk.csv").write_text(rows_of(SPELLED))
    (folder / "folk.csv.gz").write_bytes(gzip.compress((folder / "folk.csv").read_bytes()))
    (folder / "declared.csv").write_text(rows_of(SPELLED_AS_DECLARED))
    with contextlib.chdir(folder), sa.connect("w.duckdb", threads=1) as session:
        session.install()
        for statement in (
            "CREATE TABLE folk AS FROM 'folk.csv'",
            "COPY folk TO 'folk.parquet'",
            "COPY folk TO 'folk.json'",
            "CREATE VIEW of_file AS FROM 'folk.csv'",
            "CREATE VIEW of_view AS SELECT * FROM of_file",
            f"CREATE VIEW declared AS FROM read_csv('declared.csv', types = {DECLARED})",
            "CREATE TABLE materialized AS FROM declared",
        ):
            session.connection.execute(statement)
    return folder


@pytest.fixture
def session(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sa.Session]:
    """A session in a copy of that folder."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    with sa.connect("w.duckdb", threads=1) as session:
        yield session


def fetched(session: sa.Session, query: str) -> list[tuple[Any, ...]]:
    return session.connection.execute(f"FROM ({query}) ORDER BY ALL").fetchall()


def policy(names: Sequence[str], columns: Iterable[str]) -> sa.Policy:
    others = [name for name in columns if name not in names]
    return sa.Policy(quasi_identifiers=names, identifiers=others, privacy=[sa.KAnonymity(2)])


def published(session: sa.Session, source: str, names: Sequence[str], columns: Iterable[str], into: str) -> sa.Release:
    session.taxonomies.load_all(dict.fromkeys(names, sa.Taxonomy.flat()), source=source)
    return session.anonymize(source, policy(names, columns), into, replace=True)


class TestSniffedTypes:
    def test_a_quasi_identifier_is_published_as_it_is_from_parquet(self, session: sa.Session) -> None:
        """A taxonomy of a file is that of its Parquet file, too."""
        wanted = policy([*SPELLED], SPELLED).model_copy(update={"maximum_levels": dict.fromkeys(SPELLED, 0)})
        stored = []
        for kind in ("parquet", "csv"):
            session.taxonomies.load_all(dict.fromkeys(SPELLED, sa.Taxonomy.flat()), source=f"folk.{kind}")
            stored.append(fetched(session, "SELECT attribute, level, value, label FROM anon.taxonomy"))
            session.anonymize(f"folk.{kind}", wanted, f"of_{kind}")
        assert stored[0] == stored[1]
        assert fetched(session, "FROM of_csv") == fetched(session, "FROM of_parquet")
        assert session.verify("of_csv", wanted, source="folk.csv").met

    def test_types_that_a_query_declares(self, session: sa.Session) -> None:
        published(session, "materialized", [*DECLARED], DECLARED, "of_table")
        published(session, "declared", [*DECLARED], DECLARED, "of_csv")
        assert fetched(session, "FROM of_csv") == fetched(session, "FROM of_table")

    def test_sensitive_and_other_columns(self, session: sa.Session) -> None:
        names = [*SPELLED]
        models = [sa.KAnonymity(2), *(sa.DistinctLDiversity(name, 2) for name in names[1:4])]
        given = sa.Policy(quasi_identifiers=names[:1], sensitive=names[1:], privacy=models)
        session.taxonomies.load(names[0], sa.Taxonomy.flat(["true", "false"]))
        session.anonymize("folk.parquet", given, "of_parquet")
        session.anonymize("folk.csv", given, "of_csv")
        texts = "SELECT COLUMNS(*)::VARCHAR FROM"
        assert fetched(session, f"{texts} of_csv") == fetched(session, f"{texts} of_parquet")


TOGETHER = ("yes_no", "mixed_numbers", "short_date", "leading_space")
"""Columns of one policy."""
FLAT = "\n".join(f'{name} = {{ kind = "flat" }}' for name in TOGETHER)
POLICY = f"""
quasi_identifiers = {[*TOGETHER, "age"]}
sensitive = ["illness"]
suppression_limit = 0.1
privacy = [{{ model = "k-anonymity", k = 3 }}, {{ model = "distinct-l-diversity", column = "illness", l = 2 }}]

[taxonomies]
{FLAT}
age = {{ kind = "intervals", widths = [5, 10], minimum = 0, maximum = 99 }}
"""


class TestFiles:
    def test_a_file_is_published_as_its_parquet_twin(self, session: sa.Session) -> None:
        """With a sensitive column and some rows suppressed, by command as well."""
        columns = {name: [SPELLED[name][place % 3] for place in range(30)] for name in TOGETHER}
        columns["age"] = [str(20 + place * place % 23) for place in range(30)]
        columns["illness"] = [f"illness {place % 4}" for place in range(30)]
        Path("one.csv").write_text(rows_of(columns, copies=1))
        session.connection.execute("COPY (FROM 'one.csv' ORDER BY ALL) TO 'one.parquet'")
        Path("policy.toml").write_text(POLICY)
        session.anonymize("one.parquet", "policy.toml", "from_parquet.parquet")
        released = fetched(session, "FROM 'from_parquet.parquet'")
        assert len(released) >= 27
        done = CliRunner().invoke(app, ["run", "one.csv", "--policy", "policy.toml", "--into", "by_command.parquet"])
        assert (done.exit_code, done.exception) == (0, None), done.output
        assert fetched(session, "FROM 'by_command.parquet'") == released


class TestSources:
    def test_every_way_to_read_a_file(self, session: sa.Session) -> None:
        values = "SELECT * FROM anon.column_values('folk', ['yes_no', 'two_decimals', 'short_time'])"
        expected = fetched(session, values)
        labels = [("20.5",), ("7.0",), ("7.1",)]
        for way, source in sources().items():
            session.taxonomies.load("two_decimals", sa.Taxonomy.flat(), source=source)
            stored = "SELECT label FROM anon.taxonomy WHERE attribute = 'two_decimals' AND level = 0"
            assert fetched(session, stored) == labels, way
            if way not in ("compressed", "read_csv_auto"):  # which are read as others are
                session.anonymize(source, policy(["two_decimals"], SPELLED), "released", replace=True)
                assert fetched(session, "SELECT DISTINCT two_decimals FROM released") == labels, way
            if source.startswith(("FROM", "SELECT", "WITH")):
                session.connection.execute(f"CREATE OR REPLACE VIEW read AS {source}")
                source = "read"
            assert fetched(session, values.replace("folk", source)) == expected, way


class TestMacros:
    def test_they_answer_as_on_the_table(self, session: sa.Session) -> None:
        for name in (*TOGETHER, "two_decimals", "true_false", "short_time", "timestamp"):
            session.taxonomies.load(name, sa.Taxonomy.flat(), source="folk")
            for query in (
                "FROM anon.column_values('{source}', ['{name}'])",
                "SELECT {name} FROM anon.generalize('{source}', MAP {{'{name}': 1}})",
                "SELECT {name} FROM anon.generalize('{source}', MAP {{'{name}': 0}})",
                "FROM anon.k_anonymity('{source}', ['{name}'])",
                "SELECT anon.label_of('{name}', 0, {name}) FROM '{source}'",
                "SELECT anon.prefix_label({name}, 2) FROM '{source}'",
                "SELECT DISTINCT anon.text_of({name}) FROM '{source}'",
                "SELECT CASE WHEN anon.text_of({name}) > '2' THEN anon.text_of({name}) END FROM '{source}'",
                "SELECT anon.interval_label({name}, 10, 0, NULL, NULL) FROM '{source}'",
                "SELECT anon.date_label({name}, 'month') FROM '{source}'",
                "SELECT anon.icd10_label({name}, 'chapter') FROM '{source}'",
                "SELECT anon.number_of('{name}', {name}) FROM (SELECT * FROM '{source}' WHERE FALSE)",
            ):
                of_table, of_file = (query.format(source=source, name=name) for source in ("folk", "folk.csv"))
                assert outcome(session, of_file) == outcome(session, of_table), query

    def test_no_value_of_a_file_is_unmapped(self, session: sa.Session) -> None:
        session.taxonomies.load_all(dict.fromkeys(SPELLED, sa.Taxonomy.flat()), source="folk.csv")
        counted = fetched(session, f"FROM anon.unmapped_values('folk.csv', {[*SPELLED]})")
        assert counted == sorted((name, 0, 0) for name in SPELLED)


def outcome(session: sa.Session, query: str) -> list[tuple[Any, ...]] | type[Exception]:
    """The rows of a query, or the kind of its error."""
    try:
        return fetched(session, query)
    except Exception as error:
        return type(error)
