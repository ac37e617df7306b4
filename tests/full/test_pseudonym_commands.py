"""The key of pseudonyms on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from sqlanon.model.pseudonym_key import VARIABLE
from tests.commands import document, sqlanon
from tests.stories.test_pseudonyms import KEY, VISITS, names_of

POLICY = """
quasi_identifiers = ["age"]
sensitive = ["diagnosis"]
pseudonyms = ["patient"]
suppression_limit = 0.1
taxonomies = { age = { kind = "intervals", widths = [10, 20], minimum = 0, maximum = 99 } }

[[privacy]]
model = "k-anonymity"
k = 5
"""
ARGUMENTS = ("run", "visits.parquet", "--policy", "policy.toml", "--into", "released.parquet")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "key").write_bytes(KEY + b"\n")
    (tmp_path / "key").chmod(0o600)
    duckdb.sql(f"COPY ({VISITS}) TO '{tmp_path / 'visits.parquet'}'")
    return tmp_path


def test_a_file_and_the_environment(folder: Path) -> None:
    run = sqlanon(*ARGUMENTS, "--pseudonym-key", "key", "--json", folder=folder)
    assert run.returncode == 0, run.stderr
    first = pseudonyms_of(folder / "released.parquet")
    assert first == names_of()
    assert any("HMAC-SHA-256" in claim for claim in document(run)["guarantee"]["claims"])
    again = sqlanon(*ARGUMENTS, "--replace", "--events", folder=folder, **{VARIABLE: KEY.decode()})
    assert again.returncode == 0, again.stderr
    assert pseudonyms_of(folder / "released.parquet") == first
    verified = sqlanon("verify", "released.parquet", "--policy", "policy.toml", folder=folder)
    assert verified.returncode == 0, verified.stderr
    for result in (run, again, verified):
        assert KEY.decode() not in result.stdout + result.stderr
    assert KEY not in (folder / "released.parquet").read_bytes()


def test_the_key_itself_in_place_of_its_file(folder: Path) -> None:
    for more in ((), ("--events",)):
        run = sqlanon(*ARGUMENTS, "--pseudonym-key", KEY.decode(), *more, folder=folder)
        assert run.returncode == 2
        assert "the pseudonym key is refused" in run.stderr
        assert KEY.decode()[:12] not in run.stdout + run.stderr
    assert not (folder / "released.parquet").exists()


def test_no_key(folder: Path) -> None:
    run = sqlanon(*ARGUMENTS, folder=folder)
    assert run.returncode == 2
    assert "need a secret key: give its file as --pseudonym-key FILE" in " ".join(run.stderr.split())


def test_values_that_repeat(folder: Path) -> None:
    source = "FROM 'visits.parquet' UNION ALL FROM 'visits.parquet'"
    run = sqlanon("run", source, *ARGUMENTS[2:], "--pseudonym-key", "key", "--events", folder=folder)
    assert run.returncode == 2
    failed = json.loads(run.stderr.splitlines()[-1])
    assert failed["problems"] == ['"patient": 200 values repeat, in 400 rows, which their pseudonyms link']
    assert not (folder / "released.parquet").exists()


def pseudonyms_of(file: Path) -> set[str]:
    return {value for (value,) in duckdb.sql(f"SELECT patient FROM '{file}'").fetchall()}
