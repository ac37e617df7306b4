"""The SQL of whole runs is as it was reviewed, and does without sqlanon what sqlanon does with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.plans import PLANS, executed, golden_file, recorded
from tests.golden.recording import statements_of

CHANGED = "the SQL of this run is another: write it with `python -m tests.golden`, and review the diff"


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_as_it_was_reviewed(name: str, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "script").mkdir()
    now, reviewed = recorded(name, tmp_path / "run"), golden_file(name).read_text()
    assert now.text.splitlines() == reviewed.splitlines(), CHANGED
    assert executed(name, statements_of(reviewed), tmp_path / "script") == now.rows


def test_every_file_is_of_a_plan() -> None:
    assert {file.stem for file in Path(__file__).parent.glob("*.sql")} == set(PLANS)
