"""``sqlanon demo``: the same invented hospital every time, anonymized within its policy."""

import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from tests.browser import address, browser
from tests.commands import document, sqlanon

ROOT = Path(__file__).parents[2]
ROWS = 5000


@dataclass(frozen=True)
class Kept:
    """A demonstration whose warehouse is kept, and what it prints."""

    folder: Path
    stdout: str


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    folder = tmp_path_factory.mktemp("kept")
    shown = sqlanon("demo", "--db", "the hospital.duckdb", folder=folder)
    assert shown.returncode == 0, shown.stderr
    return Kept(folder, shown.stdout)


@pytest.fixture(scope="module")
def warehouse(kept: Kept, tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """A copy of its warehouse, with the raw table."""
    copy = shutil.copy(kept.folder / "the hospital.duckdb", tmp_path_factory.mktemp("copy"))
    with duckdb.connect(str(copy)) as connection:
        yield connection


def numbers(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[float, ...]:
    (row,) = connection.execute(query).fetchall()
    return tuple(row)


def test_the_same_seed_invents_the_same_rows_in_every_version(warehouse: duckdb.DuckDBPyConnection) -> None:
    first = warehouse.execute("FROM visits LIMIT 1").fetchall()[0]
    assert [str(value) for value in first] == [
        "1", "000-35-6745", "63", "male", "None", "2025-06-16", "J18.9", "3",
    ]  # fmt: skip


def test_nobody_has_an_impossible_diagnosis(warehouse: duckdb.DuckDBPyConnection) -> None:
    impossible = """
        SELECT count(*) FROM visits
        WHERE (diagnosis = 'O80' AND (sex = 'male' OR age NOT BETWEEN 18 AND 44))
           OR (diagnosis IN ('C61', 'N40') AND (sex = 'female' OR age < 50))
           OR length_of_stay < 1 OR age NOT BETWEEN 0 AND 99 OR length(zip) <> 5 OR year(admission) <> 2025
    """
    assert numbers(warehouse, impossible) == (0,)


def test_some_values_are_missing_but_few(warehouse: duckdb.DuckDBPyConnection) -> None:
    for column in ("age", "zip", "diagnosis"):
        (missing,) = numbers(warehouse, f"SELECT count(*) FILTER ({column} IS NULL) FROM visits")
        assert 10 < missing < 100


def test_draws_do_not_depend_on_each_other(warehouse: duckdb.DuckDBPyConnection) -> None:
    """DuckDB's ``hash(a, b, c)`` of several arguments is linear in their hashes: it once tied zip to age."""
    correlations = numbers(
        warehouse,
        """
        SELECT corr(age, dayofyear(admission)), corr(age, CAST(zip AS INTEGER)), corr(age, (sex = 'male')::INTEGER),
               corr(CAST(zip AS INTEGER), dayofyear(admission)), corr(length_of_stay, dayofyear(admission))
        FROM visits
        """,
    )
    assert max(map(abs, correlations)) < 0.05


def test_the_release_meets_the_policy_and_the_raw_table_does_not(
    warehouse: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """With another seed, which invents other rows."""
    shown = sqlanon("demo", "--db", "hospital.duckdb", "--seed", "2", "--json", folder=tmp_path)
    found = document(shown)
    assert (found["database"], found["policy_file"]) == ("hospital.duckdb", "hospital.policy.toml")
    assert not any(model["met"] for model in found["before"]["models"])
    assert found["before"]["unique_rows"] > ROWS * 0.9
    assert found["after"]["met"]
    assert found["after"]["measurement"]["unique_rows"] == 0
    assert found["release"]["report"]["suppressed_rows"] <= ROWS * 0.05
    assert found["release"]["node"] == {"age": 2, "sex": 0, "zip": 2, "admission": 2}, "no column is given up"
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{tmp_path / 'hospital.duckdb'}' AS hospital (READ_ONLY)")
        columns = [name for name, *_ in connection.execute("DESCRIBE hospital.visits_k5").fetchall()]
        assert connection.execute("FROM hospital.visits").fetchall() != warehouse.execute("FROM visits").fetchall()
        assert set(columns) == {"age", "sex", "zip", "admission", "diagnosis", "length_of_stay"}
        version = "SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = 'hospital'"
        assert connection.execute(version).fetchall() == [("v1.5.0+",)], "which today's DuckDB CLI can open"


@pytest.mark.deep
def test_without_a_warehouse_nothing_is_kept(tmp_path: Path) -> None:
    shown = sqlanon("demo", "--rows", "1000", folder=tmp_path)
    assert (shown.returncode, [*tmp_path.iterdir()]) == (0, []), shown.stderr
    assert "visits_k5" in shown.stdout
    lines = shown.stdout.splitlines()
    assert max(len(line) for line in lines if not line.startswith("Least")) <= 80, "the width of a terminal"
    assert "sqlanon demo --db hospital.duckdb" in shown.stdout.partition("What next")[2]


def test_the_next_steps_work_as_they_are_printed(kept: Kept) -> None:
    steps = [shlex.split(line, comments=True) for line in kept.stdout.partition("What next")[2].splitlines() if line]
    named = [step[0] for step in steps if step[0] not in ("source", "pip")]
    assert named == ["duckdb", "duckdb", "sqlanon", "sqlanon", "sqlanon", "sqlanon"]
    for step in steps:
        match step:
            case ["duckdb", file, query]:
                with duckdb.connect(str(kept.folder / file)) as connection:
                    assert connection.execute(query).fetchall()
            case ["sqlanon", *arguments]:
                assert sqlanon(*arguments, folder=kept.folder).returncode == 0
            case ["source", script]:
                assert (kept.folder / script).exists()
            case _:
                assert step == ["pip", "install", "duckdb-cli"]


def test_the_example_of_a_report_is_that_of_the_demonstration(kept: Kept) -> None:
    """``sqlanon demo --db hospital.duckdb``, and the command below, make it again."""
    policy = ("--policy", "the hospital.policy.toml", "--source", "visits", "--alternatives")
    made = sqlanon(
        "report", "visits_k5", "--db", "the hospital.duckdb", *policy, "--out", "example.html", folder=kept.folder
    )
    assert made.returncode == 0, made.stderr
    example = (ROOT / ".github" / "report.html").read_text(encoding="utf-8")
    assert without_hashes((kept.folder / "example.html").read_text(encoding="utf-8")) == without_hashes(example)


def without_hashes(page: str) -> str:
    """A page without hashes, since that of a record depends on the code that wrote it, and without its own date."""
    return re.sub(r"[0-9a-f]{64}|(?<=date of this report</th><td>)[\d-]+", "", page)


@pytest.mark.deep
def test_a_report_is_printed_on_two_sheets(kept: Kept) -> None:
    policy = ("--policy", "the hospital.policy.toml", "--source", "visits", "--out", "printed.html")
    made = sqlanon("report", "visits_k5", "--db", "the hospital.duckdb", *policy, folder=kept.folder)
    assert made.returncode == 0, made.stderr
    with browser() as page:
        page.open(address(kept.folder / "printed.html"))
        assert page.sheets() == 2


def test_a_file_that_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "hospital.duckdb").write_text("precious")
    refused = sqlanon("demo", "--db", "hospital.duckdb", folder=tmp_path)
    assert refused.returncode == 2
    assert "exists" in refused.stderr
    assert (tmp_path / "hospital.duckdb").read_text() == "precious"
