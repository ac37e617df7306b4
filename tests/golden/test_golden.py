"""The SQL of whole runs is as it was reviewed, and does without sqlanon what sqlanon does with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.files import FOLDER, kept, texts
from tests.golden.plans import PLANS, executed, recorded

CHANGED = "the SQL of this run is another: write it with `python -m tests.golden`, and review the diff"


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_as_it_was_reviewed(name: str, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "script").mkdir()
    reviewed = kept(name)
    now, rows = recorded(name, tmp_path / "run")
    assert now == reviewed, CHANGED
    assert executed(name, reviewed.statements, tmp_path / "script") == rows


def test_each_file_is_of_a_plan_and_a_statement_of_several_stands_once() -> None:
    files = {file: file.read_text() for file in FOLDER.glob("*.sql")}
    assert texts({name: kept(name) for name in PLANS}) == files
