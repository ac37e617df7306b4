"""Every ``*.test`` file runs twice: with the macros called as a DuckDB user does, and expanded as the engine does."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from sqlanon.queries.kit.macros import expand, install_script, macro_files
from sqlanon.queries.kit.nodes import DIALECT
from tests.conftest import copy_of
from tests.sqllogic import parse, run

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*.test"))
FIXTURES = FOLDER.parents[1] / "fixtures" / "clinic.sql"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clinic with the macros: to install them takes longer than most files."""
    path = tmp_path_factory.mktemp("installed") / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(install_script()).execute(FIXTURES.read_text(encoding="utf-8"))
    return path


def conditions(mode: str) -> set[str]:
    """What ``skipif`` may name: the version of DuckDB and how the macros are used."""
    return {mode, "duckdb-" + ".".join(duckdb.__version__.split(".")[:2])}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_file_with_macros_called(file: Path, installed: Path, tmp_path: Path) -> None:
    with copy_of(installed, threads=2) as session:

        def called(sql: str) -> Sequence[Sequence[Any]]:
            return session.connection.execute(sql).fetchall()

        run(file.read_text(encoding="utf-8"), called, tmp_path, conditions("called"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_file_with_macros_expanded(file: Path, tmp_path: Path) -> None:
    connection = duckdb.connect(config={"threads": 2})
    connection.execute(macro_files()[0].read_text(encoding="utf-8"))
    connection.execute(FIXTURES.read_text(encoding="utf-8"))

    def expanded(sql: str) -> Sequence[Sequence[Any]]:
        trees = [tree for tree in sqlglot.parse(sql, read=DIALECT) if isinstance(tree, exp.Expression)]
        return connection.execute("; ".join(expand(tree).sql(DIALECT) for tree in trees)).fetchall()

    run(file.read_text(encoding="utf-8"), expanded, tmp_path, conditions("expanded"))


def test_there_is_a_file_for_every_macro_file() -> None:
    assert [file.stem for file in FILES] == [file.stem for file in macro_files()]


def one_row(_: str) -> list[tuple[object, ...]]:
    return [("a", 1, 0.1 + 0.2, None)]


def quoting_error(_: str) -> list[tuple[object, ...]]:
    raise ValueError("cannot convert 'alice'")


@pytest.mark.parametrize(
    "record",
    [
        "query TIRT\nSELECT\n----\na\t1\t0.3\tNULL",
        "skipif always\nstatement error\nSELECT\n----\nnever reached",
        "# a comment\nstatement ok\nSELECT",
    ],
)
def test_runner_accepts(record: str) -> None:
    run(record, one_row, Path(), {"always"})


@pytest.mark.parametrize(
    ("record", "complaint"),
    [
        ("query TIRT\nSELECT\n----\na\t2\t0.3\tNULL", "line 1: expected"),
        ("query TIR\nSELECT\n----\na\t1\t0.3\tNULL", "line 1: expected"),
        ("query TIRT\nSELECT\n----", "but got"),
        ("\nstatement error\nSELECT\n----\nsome error", "line 2: no error"),
        ("statement error\nSELECT", "say which error"),
        ("halt", "unknown record"),
    ],
)
def test_runner_refuses(record: str, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        run(record, one_row, Path())


@pytest.mark.parametrize("expected", ["cannot convert", "<REGEX>:can.*t", "<!REGEX>:bob"])
def test_runner_accepts_error(expected: str) -> None:
    run(f"statement error\nSELECT\n----\n{expected}", quoting_error, Path())


@pytest.mark.parametrize("expected", ["something else", "<REGEX>:^bob", "<!REGEX>:alice"])
def test_runner_refuses_error(expected: str) -> None:
    with pytest.raises(AssertionError, match="against the error"):
        run(f"statement error\nSELECT\n----\n{expected}", quoting_error, Path())


def test_runner_refuses_a_failing_statement() -> None:
    with pytest.raises(AssertionError, match="line 1: cannot convert"):
        run("statement ok\nSELECT", quoting_error, Path())


def test_parse_keeps_the_line_of_a_record() -> None:
    records = parse("# one\n\nstatement ok\nSELECT 1;\n\n\nquery I\nSELECT 1;\n----\n1")
    assert [record.line for record in records] == [3, 7]
