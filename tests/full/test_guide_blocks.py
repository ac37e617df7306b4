"""The blocks of every guide run, after those of the README."""

import shutil
from pathlib import Path

import pytest

from tests.blocks import FEW_RUNS, GUIDES, README, TEXTS, blocks, prepare, run_bash, run_blocks
from tests.commands import DBT


@pytest.fixture(scope="module")
def after_the_readme(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with what the README makes."""
    folder = prepare(tmp_path_factory.mktemp("readme"), FEW_RUNS)
    run_blocks(README, folder)
    return folder


def test_survey_data_prints_what_it_shows(after_the_readme: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(after_the_readme, tmp_path / "folder")
    guide = "sqlanon/guides/survey-data.md"
    run_blocks(guide, copy)
    printed = [run_bash(block.text, copy).stdout for block in blocks(guide) if block.language == "bash"]
    words = " ".join(" ".join(printed).split())
    shown = [
        " ".join(line.split())
        for line in TEXTS[guide].split("```")[::2]
        for line in line.splitlines()
        if line[:4] == "    "
    ]
    assert [line for line in shown if line not in words and "──" not in line] == []


LATER = ("classification", "hospital", "l-diversity", "several-tables")
"""Guides of commands and calls that the blocks of others have, too: they run in tier 3."""


@pytest.mark.parametrize(
    "guide", [pytest.param(name, marks=[pytest.mark.deep] * (Path(name).stem in LATER)) for name in GUIDES]
)
def test_the_blocks_of_a_guide_run(guide: str, after_the_readme: Path, tmp_path: Path) -> None:
    if guide == "sqlanon/guides/dbt.md" and not DBT.exists():
        pytest.skip("dbt is not installed here: pip install -e '.[dbt]'")
    if guide == "sqlanon/guides/spark.md":
        pytest.importorskip("pysail")
    copy = shutil.copytree(after_the_readme, tmp_path / "folder")
    run_blocks(guide, copy)
