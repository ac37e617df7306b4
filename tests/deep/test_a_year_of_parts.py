"""A year of monthly parts, published by a script that looks at nothing but exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.commands import document, environment, sqlanon

POLICY = """
quasi_identifiers = ["joined", "age", "town", "plan"]
sensitive = ["course"]
identifiers = ["member", "year", "month"]
rest = "identifier"
suppression_limit = 0.1
unknown = { town = "top", "*" = "suppress" }

[[privacy]]
model = "k-anonymity"
k = 3

[[privacy]]
model = "distinct-l-diversity"
column = "course"
l = 2

[taxonomies]
joined = { kind = "dates", units = ["month", "quarter", "year"], first = 2026-01-01, last = 2026-12-31 }
age = { kind = "intervals", widths = [10, 20, 40], minimum = 0, maximum = 99 }
town = "town.csv"
plan = { kind = "flat", values = ["basic", "family"] }
"""
TOWNS = "Bonn;Rhineland;*\nKöln;Rhineland;*\nKiel;Coast;*\nBremen;Coast;*\n"
MONTH = """
    SELECT
        {month} * 1000 + i AS member,
        make_date(2026, {month}, 1 + CAST(i % 28 AS INTEGER)) AS joined,
        18 + i * 7 % 61 AS age,
        CASE WHEN {month} > 3 AND i % 8 = 0 THEN 'Ulm' ELSE ['Bonn', 'Köln', 'Kiel', 'Bremen'][1 + i % 4] END AS town,
        CASE WHEN {month} > 6 AND i % 50 = 0 THEN 'student' ELSE ['basic', 'family'][1 + i % 2] END AS plan,
        ['tennis', 'chess', 'yoga'][1 + i % 3] AS course
    FROM range({rows}) AS members (i)
"""
"""Ulm is new in April, a plan for students in July, and the channel of a member is recorded from September on."""
FIRST, CHANGED = [(4722, 426)], [(4742, 429)]
"""The rows of all parts and those of new towns: 48 of 4,800 have a new plan, and 30 are alone; then May has 20 more."""

SCRIPT = """
set -euo pipefail
[ -e club.fit ] || sqlanon fit lake/year=2026/month=01 --policy policy.toml --fit club.fit
for part in lake/year=2026/month=* late/*; do
    sqlanon apply "$part" --fit club.fit --into "parts/$(basename "$part" | tr . _).parquet" --replace-if-changed
done
sqlanon verify 'parts/*.parquet' --policy policy.toml
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A lake of ten months in Parquet and CSV, two single files beside it, and ``sqlanon`` on the path."""
    command = tmp_path / "bin" / "sqlanon"
    for name in ("bin", "parts", "late"):
        (tmp_path / name).mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sqlanon "$@"\n')
    command.chmod(0o755)
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "town.csv").write_text(TOWNS, encoding="utf-8")
    for month in range(1, 13):
        write(tmp_path, month, 400)
    return tmp_path


def write(folder: Path, month: int, rows: int) -> None:
    file = folder / "late" / f"{month}.{'csv' if month == 12 else 'parquet'}"
    if month < 11:
        file = folder / "lake" / "year=2026" / f"month={month:02}" / f"members.{'csv' if month % 3 == 2 else 'parquet'}"
    file.parent.mkdir(parents=True, exist_ok=True)
    late = ", 'web' AS channel" if month > 8 else ""
    query = f"SELECT *{late} FROM ({MONTH.format(month=month, rows=rows)})"
    duckdb.connect().execute(f"COPY ({query}) TO '{file}'")


def ran(folder: Path) -> int:
    """The exit code of the script."""
    settings = environment(PATH=f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    done = subprocess.run(["bash", "-c", SCRIPT], cwd=folder, env=settings, capture_output=True, check=False)
    return done.returncode


def released(folder: Path) -> list[tuple[object, ...]]:
    return duckdb.sql(f"SELECT count(*), count(*) FILTER (town = '*') FROM '{folder}/parts/*.parquet'").fetchall()


def test_months_are_published_and_again_if_they_changed_until_one_falls_short(folder: Path) -> None:
    assert ran(folder) == 0
    assert len([*(folder / "parts").iterdir()]) == 12
    columns = [name for name, *_ in duckdb.sql(f"DESCRIBE FROM '{folder}/parts/12_csv.parquet'").fetchall()]
    assert columns == ["joined", "age", "town", "plan", "course"]
    assert released(folder) == FIRST
    assert ran(folder) == 0
    assert released(folder) == FIRST
    write(folder, 5, 420)
    assert ran(folder) == 0
    assert released(folder) == CHANGED
    last = ("apply", "late/12.csv", "--fit", "club.fit", "--into", "parts/12_csv.parquet", "--json")
    report = document(sqlanon(*last, folder=folder))["report"]
    assert (report["partitions"], report["union"]["source"], report["union"]["unknown"]) == (12, 4820, 48)
    month = "SELECT 1 AS member, DATE '2027-01-01' AS joined, 20 AS age, 'Bonn' AS town, 'basic' AS plan, 'yoga'"
    duckdb.connect().execute(f"COPY ({month} AS course FROM range(900)) TO '{folder}/late/12.csv'")
    assert ran(folder) == 3
    assert released(folder) == CHANGED
