"""Searches that are stopped: the release is met and verified as always, and says how far from optimal it can be."""

import json
import signal
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from sqlanon.methods.stages import Stages, stopping
from sqlanon.nodes import counting
from tests.commands import document, sqlanon

QUASI_IDENTIFIERS = ["a", "b", "c"]
"""Lattice of 4 x 4 x 4 nodes: two batches."""

TAXONOMY = [(str(value), f"p{value // 2}", f"q{value // 4}", "*") for value in range(8)]
ROWS = (
    "CREATE TABLE numbers AS SELECT hash(i) % 8 AS a, hash(-i) % 8 AS b, hash(7 * i) % 8 AS c "
    "FROM range(400) AS rows (i)"
)


def make(connection: duckdb.DuckDBPyConnection) -> sa.Session:
    session = sa.connect(connection)
    connection.execute(ROWS)
    session.taxonomies.load_all(dict.fromkeys(QUASI_IDENTIFIERS, sa.Taxonomy.from_rows(TAXONOMY)))
    return session


@pytest.fixture(scope="module")
def numbers() -> Any:
    with duckdb.connect() as connection:
        yield make(connection)


@pytest.fixture(scope="module")
def least_loss(numbers: sa.Session) -> float:
    """What the best node loses under the policy of the test of all searches."""
    nodes = numbers.lattice("numbers", policy(k=2, suppression_limit=0.4, quality=sa.Prec())).to_pylist()
    return float(min(node["loss"] for node in nodes if node["satisfies"]))


def policy(search: str = "optimal", k: int = 5, **options: Any) -> sa.Policy:
    options = {"suppression_limit": 0.1, "quality": sa.DMStar(), "earlier": "none", **options}
    return sa.Policy(quasi_identifiers=QUASI_IDENTIFIERS, privacy=[sa.KAnonymity(k)], search=search, **options)


def after(batches: int) -> Callable[[], bool]:
    """Say stop when asked for the nth time."""
    asked = count(1)
    return lambda: next(asked) >= batches


class TestStopping:
    def test_the_clock(self) -> None:
        now = [100.0]
        stop = stopping(5.0, None, clock=lambda: now[0])
        for seconds, expected in ((100.0, False), (104.9, False), (105.0, True), (200.0, True)):
            now[0] = seconds
            assert stop() is expected

    def test_either_is_enough(self) -> None:
        now = [0.0]
        stop = stopping(5.0, after(2), clock=lambda: now[0])
        assert [stop(), stop()] == [False, True]
        now[0] = 6.0
        assert stopping(5.0, lambda: False, clock=lambda: now[0])() is False

    def test_a_limit_is_positive(self, numbers: sa.Session) -> None:
        for limit in (0, -1, float("nan")):
            with pytest.raises(sa.PolicyError, match="time limit"):
                numbers.anonymize("numbers", policy(), into="never", time_limit=limit)


@pytest.mark.parametrize(
    ("search", "batches"), [("optimal", 1), ("exhaustive", 1), ("incognito", 3), ("samarati", 1), ("datafly", 3)]
)
def test_a_stopped_search_publishes_what_it_has(
    numbers: sa.Session, least_loss: float, search: str, batches: int
) -> None:
    wanted = policy(search, 2, suppression_limit=0.4, quality=sa.Prec())
    try:
        release = numbers.anonymize("numbers", wanted, into="stopped", replace=True, stop=after(batches))
    except sa.UnsatisfiableError as error:
        assert error.explanation is None
        assert "found yet" in str(error)
        assert "no node meets" not in str(error)
        return
    report = release.report
    assert numbers.verify("stopped", wanted).met
    assert report.gap is not None
    assert report.lower_bound is not None
    assert report.gap == pytest.approx(report.loss - report.lower_bound)
    assert report.loss - report.gap <= least_loss + 1e-9
    assert report.proven_optimal is (report.gap == 0)
    assert any("not proven optimal" in note for note in report.notes) is not report.proven_optimal


def test_the_gap_in_words(numbers: sa.Session) -> None:
    release = numbers.anonymize("numbers", policy("exhaustive", 40), into="words", stop=after(2))
    assert release.report.proven_optimal
    assert release.report.gap == 0
    assert not any("optimal" in note for note in release.report.notes)
    stopped = numbers.anonymize("numbers", policy("exhaustive"), into="words", replace=True, stop=after(1)).report
    assert not stopped.proven_optimal
    assert stopped.gap is not None
    [note] = [note for note in stopped.notes if "optimal" in note]
    assert f"by at most {stopped.gap:.6g}, {100 * stopped.gap / stopped.loss:.3g} % of it" in note
    assert json.loads(stopped.model_dump_json())["gap"] == stopped.gap


def test_none_found_is_not_none_there(numbers: sa.Session) -> None:
    wanted = policy("exhaustive", 130, suppression_limit=0.0)
    with pytest.raises(sa.UnsatisfiableError) as caught:
        numbers.anonymize("numbers", wanted, into="nothing", stop=after(1))
    assert caught.value.explanation is None
    assert "found yet: 32 of 64 nodes" in str(caught.value)
    assert numbers.anonymize("numbers", wanted, into="something").report.min_class_size >= 130


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "n.duckdb")) as connection:
        make(connection)
    (tmp_path / "policy.toml").write_text(
        f"quasi_identifiers = {json.dumps(QUASI_IDENTIFIERS)}\nsuppression_limit = 0.1\n"
        'search = "exhaustive"\nquality = {model = "dm-star"}\n[[privacy]]\nmodel = "k-anonymity"\nk = 5\n'
    )
    return tmp_path


def test_the_command_line(lake: Path) -> None:
    command = ["run", "numbers", "--db", "n.duckdb", "--policy", "policy.toml", "--into", "t.parquet"]
    shown = sqlanon(*command, "--time-limit", "0.000001", folder=lake)
    assert shown.returncode == 0
    assert "Not proven optimal" in shown.stdout
    assert "more than the least" in " ".join(shown.stdout.split())
    command[-1] = "proven.parquet"
    assert "proven by" in sqlanon(*command, folder=lake).stdout
    refused = sqlanon(*command, "--time-limit", "-3", "--json", folder=lake)
    assert refused.returncode == 2
    assert "time limit" in refused.stderr


def test_arguments_of_another_type(numbers: sa.Session) -> None:
    """Each was an error of Python from within a run."""
    for given in ("5", True, [5], b"5"):
        for name, what in {"time_limit": "number of seconds", "rows_per_file": "whole number"}.items():
            with pytest.raises(
                sa.PolicyError, match=f"{type(given).__name__}.* not a {what}|{type(given).__name__} is"
            ):
                numbers.anonymize("numbers", policy(), into="never/", **{name: given})
    for name in ("progress", "stop"):
        with pytest.raises(sa.PolicyError, match="must be functions, not a list"):
            numbers.anonymize("numbers", policy(), into="never", **{name: []})
    for by in (5, [5], b"x", {"a": 1}):
        with pytest.raises(sa.PolicyError, match="partition_by: give the name of a column"):
            numbers.anonymize("numbers", policy(), into="never/", partition_by=by)
    for name, reason in ((5, "why"), ({}, "why"), ("x", b"why"), ("x", None)):
        with pytest.raises(sa.PolicyError, match=r"a name must be a text, not a|give a reason why"):
            numbers.releases.forget(name, reason=reason)


class TestLattices:
    """A lattice of 64 nodes, checked 16 at a time."""

    @pytest.fixture(autouse=True)
    def small_batches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(counting, "NODES_AT_ONCE", 16)

    @pytest.mark.parametrize(
        "wanted",
        [
            pytest.param({"quality": sa.LM()}, marks=pytest.mark.deep),
            pytest.param({"quality": sa.DMStar(), "search": "samarati"}, marks=pytest.mark.deep),
            {"quality": sa.Prec(), "minimum_levels": {"b": 1}, "objective": "privacy", "max_loss": 0.9},
            {"quality": sa.LM(), "k": 401},
        ],
        ids=["LM", "DM*", "privacy", "none satisfies"],
    )
    def test_those_that_were_checked_are_the_best(self, numbers: sa.Session, wanted: dict[str, Any]) -> None:
        asked = policy(**wanted)
        whole = numbers.lattice("numbers", asked)
        everything = {str(row["node"]): row for row in whole.to_pylist()}
        losses = [row["loss"] for row in everything.values() if row["satisfies"]]
        for batches in (1, 4, 100):
            found = numbers.lattice("numbers", asked, stop=after(batches))
            rows = found.to_pylist()
            nodes = [str(row["node"]) for row in rows]
            assert nodes == [node for node in everything if node in nodes]
            for row in rows:
                expected = everything[str(row["node"])]
                assert row["loss"] == pytest.approx(expected["loss"])
                assert (row["satisfies"], row["best_k"]) == (expected["satisfies"], expected["best_k"])
            if len(rows) == len(everything):
                assert found.schema.equals(whole.schema, check_metadata=True)
                continue
            known = json.loads(found.schema.metadata[b"sqlanon"])
            assert (known["nodes"], known["lattice_nodes"]) == (len(rows), len(everything))
            kept = [row["loss"] for row in rows if row["satisfies"]]
            assert known["satisfying_nodes"] == len(kept)
            assert (known["lower_bound"] or 0.0) <= min(losses, default=float("inf")) + 1e-9
            assert known["gap"] == (pytest.approx(min(kept) - known["lower_bound"]) if kept else None)
        assert len(rows) == len(everything)

    def test_the_best_node_is_among_the_first(self, numbers: sa.Session) -> None:
        asked, events = policy(quality=sa.LM()), list[sa.Event]()
        losses = [row["loss"] for row in numbers.lattice("numbers", asked).to_pylist() if row["satisfies"]]

        def has_counted() -> bool:
            return events[-1].stage == "count"

        explored = numbers.explore("numbers", asked, progress=events.append, stop=has_counted)
        assert (explored.checked_nodes, explored.node_count, explored.gap) == (16, 64, 0.0)
        [best] = [event for event in events if event.node is not None]
        assert (best.stage, best.state, best.loss) == ("search", "finished", pytest.approx(min(losses)))
        found = numbers.lattice("numbers", asked, progress=events.append, stop=has_counted).to_pylist()
        places = [
            sum(dict(row["node"])[name] * 4**power for name, power in zip("cba", range(3), strict=True))
            for row in found
        ]
        assert sorted(explored.nodes.places) == places
        assert min(row["loss"] for row in found if row["satisfies"]) == pytest.approx(min(losses))
        assert best.node in [dict(row["node"]) for row in found]

    def test_the_command_line(self, lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        command = ["lattice", "numbers", "--db", "n.duckdb", "--policy", "policy.toml"]
        limit = ("--time-limit", "0.000001")
        shown = sqlanon(*command, *limit, "--into", "some.parquet", folder=lake)
        assert (shown.returncode, "16 of 64 nodes checked, " in shown.stdout) == (0, True)
        assert "Stopped by the time limit: 16 of 64 nodes were checked. Another node" in shown.stderr
        page = document(sqlanon(*command, *limit, "--out", "some.html", "--json", folder=lake))
        assert (page["checked_nodes"], page["node_count"]) == (16, 64)
        assert '"checked_nodes":16,' in (lake / "some.html").read_text()
        with duckdb.connect() as connection:
            record = json.loads(sa.connect(connection).provenance(lake / "some.parquet") or "")["sqlanon"]["lattice"]
            assert (record["nodes"], record["lattice_nodes"], record["gap"] > 0) == (16, 64, True)
        pressing(monkeypatch, 1)
        kept = sqlanon(*command, "--json", "--events", folder=lake)
        found = json.loads(kept.stdout)
        assert (kept.returncode, found["nodes"], found["lattice_nodes"], found["gap"]) == (130, 16, 64, 0.0)
        assert [json.loads(line) for line in kept.stderr.splitlines()[-2:]] == [
            {"event": "stopped", "checked_nodes": 16, "lattice_nodes": 64, "gap": 0.0},
            {"event": "done", "exit_code": 130},
        ]
        for more in (("--replace",), ()):
            pressing(monkeypatch, 1 if more else 2)
            before = (lake / "some.parquet").read_bytes()
            left = sqlanon(*command, "--into", "some.parquet" if more else "new.parquet", *more, folder=lake)
            assert (left.returncode, left.stdout) == (130, "")
            assert "interrupted; nothing was published" in left.stderr
            assert (lake / "some.parquet").read_bytes() == before
            assert not (lake / "new.parquet").exists()


def pressing(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Press Ctrl-C when the first nodes of a lattice table were counted."""
    counted, presses = Stages.counted, iter(range(times))

    def press(stages: Stages, *given: int) -> None:
        for _ in presses:
            signal.raise_signal(signal.SIGINT)
        counted(stages, *given)

    monkeypatch.setattr(Stages, "counted", press)
