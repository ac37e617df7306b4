"""Days of a taxonomy in columns of times: midnight is its day, as a frame of pandas has days."""

from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlanon as sa

RULE = {"kind": "dates", "units": ["month", "year"], "first": "2025-12-01", "last": "2026-12-31"}
KINDS = ("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")


def source(*kinds: str) -> str:
    """Days in a column ``seen``, or in one that has the name of each type."""
    day = "CAST(DATE '2026-01-01' + CAST(i % 40 AS INTEGER) AS {}) AS {}"
    columns = [day.format(kind, kind if len(kinds) > 1 else "seen") for kind in kinds]
    return f"SELECT {', '.join(columns)} FROM range(120) AS rows (i)"


def policy(**more: Any) -> sa.Policy:
    return sa.Policy(
        **{
            "quasi_identifiers": ["seen"],
            "privacy": [sa.KAnonymity(3)],
            "taxonomies": {"seen": RULE},
            "earlier": "none",
            **more,
        }
    )


@pytest.mark.parametrize("level", [pytest.param(0, marks=pytest.mark.deep), 1])
def test_labels_of_midnights_are_those_of_days(session: sa.Session, level: int) -> None:
    asked = policy(quasi_identifiers=KINDS, taxonomies=dict.fromkeys(KINDS, RULE))
    report = session.anonymize(source(*KINDS), asked, "released", node=dict.fromkeys(KINDS, level)).report
    assert (report.rows.released, report.min_class_size) == ((120, 3) if level == 0 else (120, 27))
    assert session.verify("released", asked).notes == ()
    days, *others = zip(*session.connection.execute("FROM released").fetchall(), strict=True)
    assert others == [days] * len(others)
    assert len({*days}) == (40 if level == 0 else 2)


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
