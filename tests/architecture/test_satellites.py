"""The core does without satellites: what they offer is named, and imported when it is asked for."""

import subprocess
import sys
from pathlib import Path

import pytest

from sqlanon.satellites import SATELLITES, all_offered, offers

KINDS = ("commands", "methods", "rows", "sources", "targets")

ALONE = f"""
import sys

sys.modules.update(dict.fromkeys({[f"sqlanon.{name}" for name in SATELLITES]!r}))
import sqlanon as sa

with open("people.csv", "w") as file:
    file.write("age\\n1\\n1\\n2\\n2\\n")
policy = sa.Policy(quasi_identifiers=["age"], privacy=[sa.KAnonymity(2)], taxonomies={{"age": "flat"}})
session = sa.connect()
for into in ("release.parquet", "release.csv", "release/"):
    session.anonymize("people.csv", policy, into)
    assert not session.verify(into, policy).shortfalls, into
for call in (
    lambda: sa.connect(rows="sc://localhost"),
    lambda: session.anonymize("people.csv", policy, "delta:release"),
    lambda: session.anonymize("s3://bucket/release/", policy, "other.parquet"),
):
    try:
        call()
        raise SystemExit("it needs a satellite")
    except sa.EngineError as error:
        assert "lacks the part for" in str(error), error
sys.argv = ["sqlanon", "--help"]
import sqlanon.cli

sqlanon.cli.main()
"""


def test_the_core_releases_without_them(tmp_path: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", ALONE], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "ledger" in ran.stdout and "audit-privacy" not in ran.stdout and "reproduce" not in ran.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_what_they_offer_is_there(kind: str) -> None:
    assert offers(kind)
    assert all_offered(kind).keys() == offers(kind).keys()
