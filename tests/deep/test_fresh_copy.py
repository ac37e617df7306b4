"""What a new user gets: the built wheel in a fresh virtual environment."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.blocks import README, blocks
from tests.conftest import ROOT


def test_the_demo_command_works_from_a_fresh_copy(tmp_path: Path) -> None:
    """Installs the built wheel into a fresh virtual environment: what a new user gets. Needs the package index."""
    if os.environ.get("SQLANON_OFFLINE"):
        pytest.skip("SQLANON_OFFLINE is set")
    copy = tmp_path / "sqlanon"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "sqlanon", "sql"):
        subprocess.run(["cp", "-r", str(ROOT / name), str(copy)], check=True)
    command = next(block.text for block in blocks(README) if block.marker == "demo command")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "visits_k5" in done.stdout
