"""Events as the command line writes them: lines of JSON, or lines on a terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.commands import environment, sqlanon

STAGES = ["encode", "search", "release", "verify", "publish"]

ATTENTIVE = """
import os
import time

from sqlanon.cli import main
from sqlanon.engines.duckdb import statements
from sqlanon.methods import stages as progress

begin = progress.Stages.begin

def begin_slowly(stages, name):
    begin(stages, name)
    if name == os.environ.get("LINGERS_AT"):
        time.sleep(10)

statements.PERIOD = progress.PERIOD = 0.01
progress.Stages.begin = begin_slowly
main()
"""
"""The command, which looks at its statements so often that it sees all that take a while on fast machines, too.

It lingers where it is asked to, so that a signal finds it there.
"""

POLICY = """
quasi_identifiers = ["a", "b", "c"]
insensitive = ["note"]
search = "{search}"

[[privacy]]
model = "k-anonymity"
k = {k}

[quality]
model = "entropy"
"""


def make_lake(folder: Path, rows: int) -> None:
    """A folder with a Parquet file, an old release, taxonomies and policies."""
    query = "SELECT hash(i) % 128 AS a, hash(-i) % 128 AS b, hash(7 * i) % 128 AS c, md5(i::VARCHAR) AS note"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query} FROM range({rows}) AS rows (i)) TO '{folder / 'rows.parquet'}'")
    for name in "abc":
        lines = (";".join([*(f"{step}: {value // step}" for step in (2, 8, 32)), "*"]) for value in range(128))
        (folder / f"{name}.csv").write_text("\n".join(f"{i};{line}" for i, line in enumerate(lines)))
    (folder / "quick.toml").write_text(POLICY.format(search="optimal", k=50))
    (folder / "slow.toml").write_text(POLICY.format(search="exhaustive", k=50))
    (folder / "impossible.toml").write_text(POLICY.format(search="optimal", k=rows + 1))
    (folder / "old.parquet").write_bytes(b"the old release")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lake")
    make_lake(folder, 200_000)
    return folder


def arguments(policy: str, *more: str, source: str = "rows.parquet") -> list[str]:
    taxonomies = [word for name in "abc" for word in ("--taxonomy", f"{name}={name}.csv")]
    return ["run", source, "--policy", policy, *taxonomies, "--into", "old.parquet", "--replace-anything", *more]


def command(policy: str, *more: str, source: str = "rows.parquet") -> list[str]:
    return [sys.executable, "-c", ATTENTIVE, *arguments(policy, *more, source=source)]


def events(stderr: str) -> list[dict[str, Any]]:
    """Every line of stderr: all of them are JSON."""
    return [json.loads(line) for line in stderr.splitlines()]


def test_all_of_a_run(lake: Path) -> None:
    old = (lake / "old.parquet").read_bytes()
    done = subprocess.run(
        command("quick.toml", "--events", "--json"),
        cwd=lake, env=environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    (lake / "old.parquet").write_bytes(old)
    written = events(done.stderr)
    assert written[-1] == {"event": "done", "exit_code": 0}
    for state in ("started", "finished"):
        assert [event["stage"] for event in written if event["event"] == state] == STAGES
    assert "write the file" in {event.get("step") for event in written}
    assert all(0 <= event.get("share", 0) <= 1 for event in written)  # 1.5 does not report every statement
    searched = next(event for event in written if event["event"] == "finished" and event["stage"] == "search")
    report = json.loads(done.stdout)["report"]
    assert {name: searched[name] for name in ("checked_nodes", "lattice_nodes", "loss", "lower_bound", "gap")} == {
        name: report[name] for name in ("checked_nodes", "lattice_nodes", "loss", "lower_bound", "gap")
    }
    # Nothing but names of columns and numbers.
    assert "hash" not in done.stderr
    assert "*" not in done.stderr


@pytest.mark.parametrize(
    ("policy", "more", "code", "kind"),
    [
        ("impossible.toml", (), 3, "UnsatisfiableError"),
        ("no.toml", (), 2, "PolicyError"),
        ("quick.toml", ("--time-limit", "x"), 2, "UsageError"),
    ],
)
def test_failures_are_events(lake: Path, policy: str, more: tuple[str, ...], code: int, kind: str) -> None:
    refused = sqlanon(*arguments(policy, "--events", *more), folder=lake)
    last = events(refused.stderr)[-1]
    assert (refused.returncode, last["event"], last["exit_code"], last["kind"]) == (code, "failed", code, kind)
    assert last["message"]
    assert refused.stdout == ""
    assert bool(last.get("relaxations")) == (kind == "UnsatisfiableError")


def test_lines_on_a_terminal(lake: Path) -> None:
    shown = on_a_terminal(command("impossible.toml"), lake)
    assert "encode" in shown
    assert "nodes checked" in shown
    assert '"event"' not in shown


def on_a_terminal(words: list[str], folder: Path) -> str:
    """What a command writes to stderr if that is a terminal."""
    mine, its = pty.openpty()
    settings = environment(TERM="xterm", COLUMNS="120")
    with subprocess.Popen(words, cwd=folder, env=settings, stdout=subprocess.DEVNULL, stderr=its):
        os.close(its)
        shown = b""
        while chunk := read(mine):
            shown += chunk
    os.close(mine)
    return shown.decode()


def read(terminal: int) -> bytes:
    """Read from a terminal; Linux raises an error once all programs have left it, which reads as nothing."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""
