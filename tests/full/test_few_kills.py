"""A few runs that are killed, whose rows are here and on a server; tests/deep kills many."""

from pathlib import Path

import pytest

from tests.deep import test_spark_kills
from tests.deep.test_kills import NEW, OLD, folder, kill_runs

__all__ = ["folder"]


def test_a_folder_and_a_file(folder: Path) -> None:
    assert sum(kill_runs(folder, OLD, NEW, ["published.csv", "parts/"], 3).values()) == 3


def test_a_server_is_killed(folder: Path) -> None:
    pytest.importorskip("pysail.spark")
    test_spark_kills.kill_a_server(folder, "write")
