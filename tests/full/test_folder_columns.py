"""Columns that the names of folders give, as ``year=2026/month=03``, in a fit and in its parts."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa

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


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sa.Session]:
    """A session in a folder: a lake of three months, and beside it the file of each month, ``0``, ``1`` and ``2``."""
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text(POLICY)
    for kind in ("parquet", "csv"):
        for number, month in enumerate(MONTHS):
            place = tmp_path / kind / "lake" / month
            place.mkdir(parents=True)
            rows = f"SELECT {number} * 100 + i AS id, i % 5 AS age, 'n' AS note FROM range(20) AS rows (i)"
            duckdb.connect().execute(f"COPY ({rows}) TO '{place}/part.{kind}'")
            shutil.copy(place / f"part.{kind}", tmp_path / kind / f"{number}.{kind}")
    with sa.connect(threads=1) as session:
        yield session


def fit(session: sa.Session, source: str) -> tuple[str, ...]:
    return session.partitions.fit(source, "policy.toml", "club.fit").policy.identifiers


def test_parts_may_lack_identifiers_of_the_fit(session: sa.Session) -> None:
    """The same rows with and without their folders count once; other columns are still needed."""
    assert fit(session, "parquet/lake") == ("id", "Year", "month")
    parts = ("parquet/0.parquet", f"parquet/lake/{MONTHS[1]}", f"parquet/lake/{MONTHS[2]}/part.parquet")
    for number, part in enumerate(parts):
        session.partitions.apply(part, "club.fit", f"part-{number}.parquet")
    verified = session.verify("part-*.parquet", "policy.toml")
    assert (verified.met, verified.notes) == (True, ())
    with pytest.raises(sa.SqlanonError, match="published with this fit already"):
        session.partitions.apply(f"parquet/lake/{MONTHS[0]}", "club.fit", "again.parquet")
    for part, problem in {
        "SELECT 1 AS age, 2 AS Note, 3 AS other": 'column "other" has no role',
        "SELECT 1 AS age, 2 AS month": 'column "note" has a role but is not in the source',
    }.items():
        with pytest.raises(sa.PolicyError) as refused:
            session.partitions.apply(part, "club.fit", "1.parquet")
        assert refused.value.problems[0].startswith(problem)


def test_a_part_may_have_identifiers_that_the_source_of_the_fit_lacks(session: sa.Session) -> None:
    assert fit(session, "csv/0.csv") == ("id", "Year", "month")
    session.partitions.apply(f"csv/lake/{MONTHS[0]}", "club.fit", "part-0.parquet")
