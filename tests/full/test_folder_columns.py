"""Columns that the names of folders give, as ``year=2026/month=03``, in a fit and in its parts."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from tests.commands import document, sqlanon

POLICY = """
quasi_identifiers = ["age"]
identifiers = ["id", "Year", "month"]
insensitive = ["note"]
[[privacy]]
model = "k-anonymity"
k = 2
[taxonomies]
age = { kind = "intervals", widths = [10], minimum = 0, maximum = 99 }
"""
MONTHS = ("year=2026/month=01", "year=2026/month=02", "year=2027/month=01")


@pytest.fixture(params=["parquet", "csv"])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A lake of three months, and beside it the file of each month, ``0``, ``1`` and ``2``."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "policy.toml").write_text(POLICY)
    for number, month in enumerate(MONTHS):
        (tmp_path / "lake" / month).mkdir(parents=True)
        rows = f"SELECT {number} * 100 + i AS id, i % 5 AS age, 'n' AS note FROM range(20) AS rows (i)"
        file = tmp_path / "lake" / month / f"part.{request.param}"
        duckdb.connect().execute(f"COPY ({rows}) TO '{file}'")
        shutil.copy(file, tmp_path / f"{number}{file.suffix}")
    return tmp_path


def fitted(folder: Path, source: str) -> Any:
    return document(sqlanon("fit", source, "--policy", "policy.toml", "--fit", "club.fit", "--json", folder=folder))


def applied(folder: Path, source: str, into: str) -> str:
    """The message about a refused part; nothing for a published one."""
    done = sqlanon("apply", source, "--fit", "club.fit", "--into", f"parts/{into}.parquet", folder=folder)
    assert done.returncode == (2 if done.stderr else 0)
    return done.stderr


def test_parts_may_lack_identifiers_of_the_fit(folder: Path) -> None:
    suffix = next(folder.glob("0.*")).suffix
    assert fitted(folder, "lake")["policy"]["identifiers"] == ["id", "Year", "month"]
    assert applied(folder, f"0{suffix}", "0") == ""
    assert applied(folder, f"lake/{MONTHS[1]}", "1") == ""
    assert applied(folder, f"lake/{MONTHS[2]}/part{suffix}", "2") == ""
    verified = document(sqlanon("verify", "parts/*.parquet", "--policy", "policy.toml", "--json", folder=folder))
    assert (verified["met"], verified["notes"]) == (True, [])


def test_a_part_may_have_identifiers_that_the_source_of_the_fit_lacks(folder: Path) -> None:
    suffix = next(folder.glob("0.*")).suffix
    assert fitted(folder, f"0{suffix}")["policy"]["identifiers"] == ["id", "Year", "month"]
    assert applied(folder, f"lake/{MONTHS[0]}", "0") == ""
    assert applied(folder, f"1{suffix}", "1") == ""


def test_the_same_rows_with_and_without_their_folders_count_once(folder: Path) -> None:
    suffix = next(folder.glob("0.*")).suffix
    fitted(folder, "lake")
    assert applied(folder, f"lake/{MONTHS[0]}", "0") == ""
    assert 'published with this fit already, as "parts/0.parquet"' in applied(folder, f"0{suffix}", "1")


def test_other_columns_are_still_needed(folder: Path) -> None:
    fitted(folder, "lake")
    with sa.connect() as session, pytest.raises(sa.PolicyError) as refused:
        session.partitions.apply("SELECT 1 AS age, 2 AS Note, 3 AS other", folder / "club.fit", folder / "1.parquet")
    assert refused.value.problems[0].startswith('column "other" has no role')
    with sa.connect() as session, pytest.raises(sa.PolicyError) as refused:
        session.partitions.apply("SELECT 1 AS age, 2 AS month", folder / "club.fit", folder / "1.parquet")
    assert refused.value.problems == ('column "note" has a role but is not in the source',)
