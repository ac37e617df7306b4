"""Events of whole runs, as Python and the command line tell them, and Ctrl-C in every stage."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from sqlanon.methods import stages as progress
from tests.commands import environment

ROW_COUNT = 1_000_000
STAGES = ["encode", "search", "release", "verify", "publish"]
LONGEST_CANCELLATION = 15.0
"""Seconds: far more than it takes on a machine that has other things to do, far less than the statements would take."""

ATTENTIVE = """
import os
import time

from sqlanon.cli import main
from sqlanon.engines.duckdb import watching
from sqlanon.methods import stages as progress

begin = progress.Stages.begin

def begin_slowly(stages, name):
    begin(stages, name)
    if name == os.environ.get("LINGERS_AT"):
        time.sleep(10)

watching.PERIOD = progress.PERIOD = 0.01
progress.Stages.begin = begin_slowly
main()
"""
"""The command, which looks at its statements so often that it sees all that take a while on fast machines, too.

It lingers where it is asked to, so that a signal finds it there.
"""

ENDLESS = "SELECT rows.* FROM 'rows.parquet' AS rows, range(1000000000)"
NUMBERS = (
    "CREATE TABLE numbers AS SELECT hash(i) % 8 AS a, hash(-i) % 8 AS b, hash(7 * i) % 8 AS c, hash(i + 999) % 8 AS d "
    "FROM range(400) AS rows (i)"
)
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


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a Parquet file that takes a while in every stage, an old release, taxonomies and policies."""
    folder = tmp_path_factory.mktemp("lake")
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT hash(i) % 128 AS a, hash(-i) % 128 AS b, hash(7 * i) % 128 AS c, md5(i::VARCHAR) AS note "
            f"FROM range({ROW_COUNT}) AS rows (i)) TO '{folder / 'rows.parquet'}'"
        )
    for name in "abc":
        lines = (";".join([*(f"{step}: {value // step}" for step in (2, 8, 32)), "*"]) for value in range(128))
        (folder / f"{name}.csv").write_text("\n".join(f"{i};{line}" for i, line in enumerate(lines)))
    (folder / "quick.toml").write_text(POLICY.format(search="optimal", k=50))
    (folder / "slow.toml").write_text(POLICY.format(search="exhaustive", k=50))
    (folder / "impossible.toml").write_text(POLICY.format(search="optimal", k=ROW_COUNT + 1))
    (folder / "old.parquet").write_bytes(b"the old release")
    return folder


@pytest.fixture(scope="module")
def numbers() -> Iterator[sa.Session]:
    """A table of 400 rows with a lattice of 256 nodes."""
    with sa.connect() as session:
        session.connection.execute(NUMBERS)
        rows = [(str(value), f"p{value // 2}", f"q{value // 4}", "*") for value in range(8)]
        for name in "abcd":
            session.taxonomies.load(name, sa.Taxonomy.from_rows(rows), source="numbers")
        yield session


@pytest.fixture(scope="module")
def least_loss(numbers: sa.Session) -> float:
    """That of the best node of the lattice under the policy of the tests of all searches."""
    nodes = numbers.lattice("numbers", numbers_policy("optimal")).to_pylist()
    return float(min(node["loss"] for node in nodes if node["satisfies"]))


def numbers_policy(search: str = "optimal", **options: Any) -> sa.Policy:
    options = {"privacy": [sa.KAnonymity(5)], "suppression_limit": 0.1, "quality": sa.DMStar(), **options}
    return sa.Policy(quasi_identifiers=list("abcd"), search=search, **options)


def command(policy: str, *more: str, source: str = "rows.parquet") -> list[str]:
    taxonomies = [word for name in "abc" for word in ("--taxonomy", f"{name}={name}.csv")]
    arguments = ["run", source, "--policy", policy, *taxonomies, "--into", "old.parquet", "--replace-anything", *more]
    return [sys.executable, "-c", ATTENTIVE, *arguments]


def events(stderr: str) -> list[dict[str, Any]]:
    """Every line of stderr: all of them are JSON."""
    return [json.loads(line) for line in stderr.splitlines()]


class TestInPython:
    @pytest.fixture(autouse=True)
    def every_event(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(progress, "PERIOD", 0.0)
        monkeypatch.setattr(progress, "BOUND_PERIOD", 0.0)
        monkeypatch.setattr(progress, "BOUND_SHARE", 1e9)

    @pytest.mark.parametrize("search", ["optimal", "exhaustive", "ola", "incognito", "samarati", "datafly"])
    def test_the_bound_holds_all_along(self, numbers: sa.Session, least_loss: float, search: str) -> None:
        told: list[sa.Event] = []
        release = numbers.anonymize("numbers", numbers_policy(search), "published", replace=True, progress=told.append)
        searched = [event for event in told if event.stage == "search"]
        last, report = searched[-1], release.report
        found = (last.checked_nodes, last.lattice_nodes, last.loss, last.lower_bound, last.gap)
        assert found == (report.checked_nodes, 256, report.loss, report.lower_bound, report.gap)
        checked = [event.checked_nodes for event in searched if event.checked_nodes is not None]
        assert checked == sorted(checked)
        assert all(event.lower_bound <= least_loss + 1e-9 for event in searched if event.lower_bound is not None)
        losses = [event.loss for event in searched if event.loss is not None]
        assert all(loss >= least_loss - 1e-9 for loss in losses)
        if search != "samarati":  # it publishes the node of least height, not of least loss
            assert losses == sorted(losses, reverse=True)
        assert [event.state for event in searched] == ["started", *["progress"] * (len(searched) - 2), "finished"]

    def test_inverse_ola_has_no_bound(self, numbers: sa.Session) -> None:
        told: list[sa.Event] = []
        policy = numbers_policy(objective="privacy", max_loss=0.9, quality=sa.Prec(), privacy=[sa.KAnonymity(2)])
        numbers.anonymize("numbers", policy, into="published", replace=True, progress=told.append)
        assert {event.lower_bound for event in told} == {None}

    def test_a_lattice(self, numbers: sa.Session) -> None:
        told: list[sa.Event] = []
        numbers.lattice("numbers", numbers_policy("optimal"), into="nodes", replace=True, progress=told.append)
        assert [event.stage for event in told if event.state == "finished"] == ["encode", "search", "publish"]
        searched = [event.checked_nodes for event in told if event.stage == "search" and event.step is None]
        assert searched == [None, 64, 128, 192, 256, 256]

    def test_what_stands_in_the_way_is_a_stage_too(self, numbers: sa.Session) -> None:
        told: list[sa.Event] = []
        policy = numbers_policy("optimal", privacy=[sa.KAnonymity(401)])
        with pytest.raises(sa.UnsatisfiableError):
            numbers.anonymize("numbers", policy, into="never", progress=told.append)
        assert (told[-1].stage, told[-1].state) == ("explain", "progress")

    @pytest.mark.parametrize(("enabled", "printed"), [(True, True), (True, False), (False, True)])
    def test_settings_of_a_lent_connection_come_back(self, enabled: bool, printed: bool) -> None:
        asked = "SELECT current_setting('enable_progress_bar'), current_setting('enable_progress_bar_print')"
        policy = sa.Policy(quasi_identifiers=["i"], privacy=[sa.KAnonymity(2)])
        with duckdb.connect() as connection:
            session = sa.connect(connection)
            session.taxonomies.load("i", sa.Taxonomy.flat(range(10)))
            connection.execute(f"SET enable_progress_bar = {enabled}; SET enable_progress_bar_print = {printed}")
            for source in ("SELECT 1 AS i FROM range(4)", "SELECT CAST('x' AS INTEGER) AS i", "SELECT 99 AS i"):
                try:
                    session.anonymize(source, policy, into="published", progress=lambda _event: None)
                except sa.SqlanonError:
                    assert "99" in source or "CAST" in source
                assert connection.execute(asked).fetchall() == [(enabled, printed)]

    @pytest.mark.parametrize("setting", ["lock_configuration", "python_scan_all_frames"])
    def test_other_settings_are_no_obstacle(self, setting: str) -> None:
        told: list[sa.Event] = []
        with duckdb.connect() as connection:
            session = sa.connect(connection)
            session.taxonomies.load("i", sa.Taxonomy.flat(range(10)))
            connection.execute(f"SET {setting} = true")
            policy = sa.Policy(quasi_identifiers=["i"], privacy=[sa.KAnonymity(2)])
            session.anonymize("SELECT 1 AS i FROM range(4)", policy, into="published", progress=told.append)
        assert told[-1].stage == "publish"

    @pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
    def test_an_error_in_the_middle_of_a_statement(self, error: type[BaseException]) -> None:
        def stop(event: sa.Event) -> None:
            if event.step == "cells":
                raise error

        with duckdb.connect(config={"threads": 1}) as connection:
            session = sa.connect(connection)
            session.taxonomies.load("i", sa.Taxonomy.flat(range(10)))
            connection.execute("CREATE TABLE published AS SELECT 'old' AS state")
            policy = sa.Policy(quasi_identifiers=["i"], privacy=[sa.KAnonymity(2)])
            endless = "SELECT (a.i * b.i) % 10 AS i FROM range(10000000) AS a (i), range(10000000) AS b (i)"
            with pytest.raises(error):
                session.anonymize(endless, policy, into="published", replace="anything", progress=stop)
            assert connection.execute("FROM published").fetchall() == [("old",)]
            assert connection.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]


class TestOnTheCommandLine:
    def test_all_of_a_run(self, lake: Path) -> None:
        old = (lake / "old.parquet").read_bytes()
        done = subprocess.run(
            command("quick.toml", "--events", "--json"),
            cwd=lake, env=environment(), capture_output=True, text=True, check=True,
        )  # fmt: skip
        (lake / "old.parquet").write_bytes(old)
        told = events(done.stderr)
        assert told[-1] == {"event": "done", "exit_code": 0}
        for state in ("started", "finished"):
            assert [event["stage"] for event in told if event["event"] == state] == STAGES
        assert "write the file" in {event.get("step") for event in told}
        assert all(0 <= event.get("share", 0) <= 1 for event in told)  # 1.5 cannot tell of every statement
        searched = next(event for event in told if event["event"] == "finished" and event["stage"] == "search")
        report = json.loads(done.stdout)["report"]
        assert {name: searched[name] for name in ("checked_nodes", "lattice_nodes", "loss", "lower_bound", "gap")} == {
            name: report[name] for name in ("checked_nodes", "lattice_nodes", "loss", "lower_bound", "gap")
        }
        # Nothing but names of columns and numbers.
        assert "hash" not in done.stderr
        assert "*" not in done.stderr

    @pytest.mark.parametrize(
        ("arguments", "code", "kind"),
        [
            (command("impossible.toml", "--events"), 3, "UnsatisfiableError"),
            (command("no.toml", "--events"), 2, "PolicyError"),
            (command("quick.toml", "--events", "--time-limit", "x"), 2, "UsageError"),
        ],
    )
    def test_failures_are_events(self, lake: Path, arguments: list[str], code: int, kind: str) -> None:
        refused = subprocess.run(arguments, cwd=lake, env=environment(), capture_output=True, text=True, check=False)
        last = events(refused.stderr)[-1]
        assert (refused.returncode, last["event"], last["exit_code"], last["kind"]) == (code, "failed", code, kind)
        assert last["message"]
        assert refused.stdout == ""
        assert bool(last.get("relaxations")) == (kind == "UnsatisfiableError")

    def test_lines_on_a_terminal(self, lake: Path) -> None:
        shown = on_a_terminal(command("impossible.toml"), lake)
        assert "encode" in shown
        assert "nodes checked" in shown
        assert '"event"' not in shown


def on_a_terminal(arguments: list[str], folder: Path) -> str:
    """What a command writes to stderr if that is a terminal."""
    mine, its = pty.openpty()
    settings = environment(TERM="xterm", COLUMNS="120")
    with subprocess.Popen(arguments, cwd=folder, env=settings, stdout=subprocess.DEVNULL, stderr=its):
        os.close(its)
        shown = b""
        while chunk := read(mine):
            shown += chunk
    os.close(mine)
    return shown.decode()


def read(terminal: int) -> bytes:
    """The next that a terminal shows; nothing where Linux tells by an error that all programs have left it."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


@pytest.mark.deep
class TestCtrlC:
    @pytest.mark.parametrize(
        ("source", "policy", "stage", "step", "again", "number"),
        [
            (ENDLESS, "quick.toml", "encode", "cells", None, signal.SIGINT),
            ("rows.parquet", "slow.toml", "search", None, None, signal.SIGTERM),
            ("rows.parquet", "quick.toml", "release", "write the file", None, signal.SIGINT),
            ("rows.parquet", "quick.toml", "verify", None, None, signal.SIGHUP),
            ("rows.parquet", "quick.toml", "release", "write the file", 0.01, signal.SIGINT),
        ],
    )
    def test_it_cancels(
        self,
        lake: Path,
        source: str,
        policy: str,
        stage: str,
        step: str | None,
        again: float | None,
        number: signal.Signals,
    ) -> None:
        before = contents(lake)

        def has_come(event: dict[str, Any]) -> bool:
            return (event.get("stage"), event.get("step")) == (stage, step)

        process = subprocess.Popen(
            command(policy, "--events", "--json", source=source),
            cwd=lake, env=environment(LINGERS_AT=stage if stage == "verify" else ""),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            # Under nohup the tests ignore the end of their terminal, which the command would inherit.
            preexec_fn=lambda: signal.signal(number, signal.SIG_DFL) if number == signal.SIGHUP else None,
        )  # fmt: skip
        with process:
            try:
                assert process.stderr is not None
                assert any(has_come(json.loads(line)) for line in process.stderr)
                process.send_signal(number)
                began = time.monotonic()
                if again is not None:
                    time.sleep(again)
                    process.send_signal(number)
                stdout, stderr = process.communicate(timeout=20)
                seconds = time.monotonic() - began
            finally:
                process.kill()  # some sources never end
        last = events(stderr)[-1]
        assert (process.returncode, last["event"], last["kind"]) == (130, "failed", "Interrupted")
        assert last["message"] == "interrupted; nothing was published"
        assert json.loads(stdout)["error"]["message"] == last["message"]
        assert contents(lake) == before
        assert seconds < LONGEST_CANCELLATION


def contents(folder: Path) -> dict[str, tuple[int, int]]:
    """All files of a folder, hidden ones too, with their size and time of change."""
    return {path.name: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.iterdir()}
