"""Days of a taxonomy in columns of times: midnight is its day, as a frame of pandas has days."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlanon as sa

RULE = {"kind": "dates", "units": ["month", "year"], "first": "2025-12-01", "last": "2026-12-31"}
KINDS = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")


def source(kind: str) -> str:
    return f"SELECT CAST(DATE '2026-01-01' + CAST(i % 40 AS INTEGER) AS {kind}) AS seen FROM range(120) AS rows (i)"


def policy(**more: Any) -> sa.Policy:
    return sa.Policy(
        **{"quasi_identifiers": ["seen"], "privacy": [sa.KAnonymity(3)], "taxonomies": {"seen": RULE}, **more}
    )


@pytest.fixture
def session() -> Any:
    with sa.connect() as opened:
        yield opened


@pytest.mark.parametrize(("level", "kinds"), [(0, KINDS[:1]), (1, KINDS[1:])])
def test_a_release_of_midnights_is_that_of_days(session: sa.Session, level: int, kinds: tuple[str, ...]) -> None:
    found = {}
    for kind in ("DATE", *kinds):
        report = session.anonymize(source(kind), policy(), kind, node={"seen": level}).report
        assert session.verify(kind, policy()).notes == ()
        rows = session.connection.execute(f'SELECT CAST(seen AS VARCHAR) FROM "{kind}" ORDER BY ALL').fetchall()
        found[kind] = (report.losses, report.rows, report.min_class_size, rows)
    assert found == dict.fromkeys(found, found["DATE"])


def test_frames_files_stored_taxonomies_and_fits(session: sa.Session, tmp_path: Path) -> None:
    frame = pd.DataFrame({"seen": pd.to_datetime(["2026-01-05"] * 3 + ["2026-02-01"] * 3)})
    assert session.anonymize(frame, policy(), "of_frame").report.rows.released == 6
    (tmp_path / "seen.csv").write_text("seen\n" + "2026-01-05 00:00:00\n" * 3)
    assert session.anonymize(tmp_path / "seen.csv", policy(), "of_csv").report.rows.released == 3
    days = sa.Taxonomy.dates(["month"], first=date(2025, 12, 1), last=date(2026, 12, 31))
    session.taxonomies.load("seen", days, source=source("TIMESTAMP"))
    session.partitions.fit(source("TIMESTAMP"), policy(taxonomies={}), tmp_path / "a.fit")
    applied = session.partitions.apply(source("TIMESTAMP"), tmp_path / "a.fit", into=tmp_path / "1.parquet")
    assert applied.report.rows.released == 120


def test_other_times_are_refused(session: sa.Session) -> None:
    times = f"SELECT seen + INTERVAL 1 SECOND AS seen FROM ({source('TIMESTAMP')}) UNION ALL {source('TIMESTAMP')}"
    with pytest.raises(sa.TaxonomyError, match='"seen": 40 distinct values in 120 rows;') as caught:
        session.anonymize(times, policy(), "refused")
    query = caught.value.problems[0].partition("list them by ")[2]
    assert len(session.connection.execute(query).fetchall()) == 40
