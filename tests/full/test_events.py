"""Events of whole runs, as Python hears of them, and as the command line writes them: as JSON, or for a terminal."""

import itertools
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from sqlanon.methods import stages as progress
from sqlanon.nodes import counting
from tests.commands import ended, on_a_terminal, sqlanon
from tests.full import test_time_limits

DIGITS = {"kind": "flat", "values": [*range(10)]}
numbers, numbers_policy = test_time_limits.numbers, test_time_limits.policy


class TestSearches:
    @pytest.fixture(autouse=True)
    def every_event(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(counting, "NODES_AT_ONCE", 16)
        monkeypatch.setattr(progress, "PERIOD", 0.0)
        monkeypatch.setattr(progress, "BOUND_PERIOD", 0.0)
        monkeypatch.setattr(progress, "BOUND_SHARE", 1e9)

    @pytest.mark.parametrize("search", ["optimal", "exhaustive", "ola", "incognito", "samarati", "datafly"])
    def test_the_bound_holds_all_along(self, numbers: sa.Session, search: str) -> None:
        nodes = numbers.lattice("numbers", numbers_policy()).to_pylist()
        least_loss = min(node["loss"] for node in nodes if node["satisfies"])
        events: list[sa.Event] = []
        release = numbers.anonymize(
            "numbers", numbers_policy(search), "published", replace=True, progress=events.append
        )
        searched = [event for event in events if event.stage == "search"]
        last, report = searched[-1], release.report
        found = (last.checked_nodes, last.lattice_nodes, last.loss, last.lower_bound, last.gap)
        assert found == (report.checked_nodes, 64, report.loss, report.lower_bound, report.gap)
        checked = [event.checked_nodes for event in searched if event.checked_nodes is not None]
        assert checked == sorted(checked)
        assert all(event.lower_bound <= least_loss + 1e-9 for event in searched if event.lower_bound is not None)
        losses = [event.loss for event in searched if event.loss is not None]
        assert all(loss >= least_loss - 1e-9 for loss in losses)
        if search != "samarati":  # it publishes the node of least height, not of least loss
            assert losses == sorted(losses, reverse=True)
        assert [event.state for event in searched] == ["started", *["progress"] * (len(searched) - 2), "finished"]

    def test_inverse_ola_has_no_bound(self, numbers: sa.Session) -> None:
        events: list[sa.Event] = []
        policy = numbers_policy(objective="privacy", max_loss=0.9, quality=sa.Prec(), k=2)
        numbers.anonymize("numbers", policy, into="published", replace=True, progress=events.append)
        assert {event.lower_bound for event in events} == {None}

    def test_a_lattice(self, numbers: sa.Session) -> None:
        events: list[sa.Event] = []
        numbers.lattice("numbers", numbers_policy("optimal"), into="nodes", replace=True, progress=events.append)
        assert [event.stage for event in events if event.state == "finished"] == ["encode", "search", "publish"]
        searched = [event.checked_nodes for event in events if event.stage == "search" and event.step is None]
        assert searched == [None, 16, 32, 48, 64, 64]

    def test_a_suggestion(self, numbers: sa.Session) -> None:
        events: list[sa.Event] = []
        numbers.suggest("numbers", progress=events.append)
        found = [(event.stage, event.state) for event in events if event.state != "progress"]
        assert found == [(stage, state) for stage in ("read", "suggest", "try") for state in ("started", "finished")]

        def interrupted(_event: sa.Event) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            numbers.suggest("numbers", progress=interrupted)

    def test_what_reads_a_release(self, numbers: sa.Session) -> None:
        """Each call can be ended at each of its events, and is the same afterwards."""
        policy = numbers_policy()
        numbers.anonymize("numbers", policy, into="published", replace=True)
        workload = [sa.evaluation.CountQuery(column="a")]
        calls: dict[str, Callable[..., Any]] = {
            "verify": partial(numbers.verify, "published", policy, source="numbers"),
            "read verify report": partial(numbers.report, "published", policy, source="numbers"),
            "count": partial(sa.evaluation.query_errors, numbers, "numbers", "published", workload, policy=policy),
        }
        for stages, call in calls.items():
            expected, events = call(), list[sa.Event]()
            assert call(progress=events.append) == expected
            assert list(dict.fromkeys(event.stage for event in events)) == stages.split()
            assert len(events) >= 2 * len(stages.split())
            for last in {0, 1, len(events) // 2, len(events) - 1}:
                seen = itertools.count()

                def end(_event: sa.Event, last: int = last, seen: Iterator[int] = seen) -> None:
                    if next(seen) == last:
                        raise KeyboardInterrupt

                with pytest.raises(KeyboardInterrupt):
                    call(progress=end)
                assert call() == expected

    def test_what_stands_in_the_way_is_a_stage_too(self, numbers: sa.Session) -> None:
        events: list[sa.Event] = []
        policy = numbers_policy(k=401)
        with pytest.raises(sa.UnsatisfiableError):
            numbers.anonymize("numbers", policy, into="never", progress=events.append)
        assert (events[-1].stage, events[-1].state) == ("explain", "progress")


class TestConnections:
    """Events of runs on a borrowed connection."""

    POLICY = sa.Policy(quasi_identifiers=["i"], privacy=[sa.KAnonymity(2)], taxonomies={"i": DIGITS})

    def test_settings_come_back(self) -> None:
        """Whether a run ends well, fails in a statement or is refused."""
        asked = "SELECT current_setting('enable_progress_bar'), current_setting('enable_progress_bar_print')"
        fails, is_refused = "SELECT CAST('x' AS INTEGER) AS i", "SELECT 99 AS i"
        with duckdb.connect() as connection:
            session = sa.connect(connection)
            connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = true")
            session.anonymize("SELECT 1 AS i FROM range(4)", self.POLICY, "published", progress=lambda _event: None)
            assert connection.execute(asked).fetchall() == [(True, True)]
            for enabled, printed, source in (
                (True, True, fails), (True, False, is_refused), (False, True, fails), (False, True, is_refused),
            ):  # fmt: skip
                connection.execute(f"SET enable_progress_bar = {enabled}; SET enable_progress_bar_print = {printed}")
                with pytest.raises(sa.SqlanonError):
                    session.anonymize(source, self.POLICY, into="never", progress=lambda _event: None)
                assert connection.execute(asked).fetchall() == [(enabled, printed)]

    def test_other_settings_do_not_matter(self) -> None:
        events: list[sa.Event] = []
        with duckdb.connect() as connection:
            session = sa.connect(connection)
            connection.execute("SET python_scan_all_frames = true; SET lock_configuration = true")
            session.anonymize("SELECT 1 AS i FROM range(4)", self.POLICY, into="published", progress=events.append)
        assert events[-1].stage == "publish"

    @pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
    def test_an_error_in_the_middle_of_a_statement(self, error: type[BaseException]) -> None:
        def stop(event: sa.Event) -> None:
            if event.step == "cells":
                raise error

        with duckdb.connect(config={"threads": 1}) as connection:
            session = sa.connect(connection)
            connection.execute("CREATE TABLE published AS SELECT 'old' AS state")
            endless = "SELECT (a.i * b.i) % 10 AS i FROM range(10000000) AS a (i), range(10000000) AS b (i)"
            with pytest.raises(error):
                session.anonymize(endless, self.POLICY, into="published", replace="anything", progress=stop)
            assert connection.execute("FROM published").fetchall() == [("old",)]
            assert connection.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]


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
    return [json.loads(line) for line in stderr.splitlines()]


def test_all_of_a_run(lake: Path) -> None:
    old = (lake / "old.parquet").read_bytes()
    done = ended(command("quick.toml", "--events", "--json"), lake)
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
    shown = on_a_terminal(command("impossible.toml"), lake, COLUMNS="120")
    assert "encode" in shown
    assert "nodes checked" in shown
    assert '"event"' not in shown
