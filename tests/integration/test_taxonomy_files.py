"""What is named as the file of a taxonomy and is none: refused in words, at once, before anything is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import sqlanon as sa
from sqlanon.model.taxonomy import hierarchies
from tests.commands import sqlanon

POLICY = 'quasi_identifiers = ["a"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n[taxonomies]\na = "{}"\n'


def test_devices_and_pipes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(sa.TaxonomyError, match=f"{path} is not a file, but a device or a pipe"):
            sa.Taxonomy.from_csv(path)


def test_directories(tmp_path: Path) -> None:
    with pytest.raises(sa.TaxonomyError, match="Is a directory"):
        sa.Taxonomy.from_csv(tmp_path)


def test_files_that_are_too_large(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with path.open("wb") as file:
        file.truncate(hierarchies.MAX_FILE_MB * 1_000_000 + 1)  # a sparse file
    with pytest.raises(sa.TaxonomyError, match=r"is larger than 1,000 MB"):
        sa.Taxonomy.from_csv(path)


def test_binary_data(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"PK\0\1;x\nb;x\n")
    with pytest.raises(sa.TaxonomyError, match="is not a text: it has NUL characters"):
        sa.Taxonomy.from_csv(path)


def test_a_run_by_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a\nx\nx\n")
    (tmp_path / "policy.toml").write_text(POLICY.format("/dev/zero"))
    refused = sqlanon("run", "rows.csv", "--policy", "policy.toml", "--into", "out.csv", folder=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "/dev/zero is not a file" in refused.stderr
    assert not (tmp_path / "out.csv").exists()
