"""What a run tells of itself: when, in which order, and what it may cost."""

import io
import threading
import time
from collections.abc import Callable

import pytest

from sqlanon.cli.output import MAYBE_PUBLISHED, NOTHING_PUBLISHED, PUBLISHED, progress
from sqlanon.engines.duckdb.statements import Watcher
from sqlanon.methods.stages import BOUND_PERIOD, BOUND_SHARE, Event, Stages, silent
from sqlanon.search import Inquiry


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Bound:
    """A lower bound that takes its time, and counts how often it was asked for."""

    def __init__(self, clock: Clock, cost: float) -> None:
        self.clock = clock
        self.cost = cost
        self.asked = 0

    def __call__(self) -> float:
        self.asked += 1
        self.clock.now += self.cost
        return 10.0


def inquiry(bound: Callable[[], float | None], loss: float | None = 12.0) -> Inquiry:
    return Inquiry([(0,)], loss, bound)


class TestStages:
    def test_a_stage_tells_at_most_five_times_a_second(self) -> None:
        clock, reported = Clock(), list[Event]()
        stages = Stages(reported.append, clock)
        with stages.stage("search"):
            for batch in range(1000):
                clock.now += 0.01
                stages.counted(batch, 1000)
        assert [event.state for event in reported[:: len(reported) - 1]] == ["started", "finished"]
        assert 45 <= len(reported) <= 52
        assert [event.seconds for event in reported] == sorted(event.seconds for event in reported)
        assert reported[-1] == Event("search", "finished", 10.0, checked_nodes=999, lattice_nodes=1000)
        assert stages.seconds == {"search": pytest.approx(10)}

    def test_a_statement_before_the_first_stage_belongs_to_none(self) -> None:
        """A terminal has no line for it yet."""
        clock = Clock()
        reported: list[Event] = []
        stages = Stages(reported.append, clock)
        clock.now += 10
        stages.note_step("the columns of the source", 0.5)
        assert reported == []
        stages.begin("encode")
        clock.now += 10
        stages.note_step("cells", 0.5)
        assert [(event.stage, event.state, event.step) for event in reported] == [
            ("encode", "started", None),
            ("encode", "progress", "cells"),
        ]

    def test_a_bound_is_asked_for_twice_a_second(self) -> None:
        clock, reported = Clock(), list[Event]()
        stages, bound = Stages(reported.append, clock), Bound(clock, cost=0)
        stages.begin("search")
        for batch in range(1000):
            clock.now += 0.01
            stages.checked(batch, 1000, inquiry(bound))
        assert 10 / BOUND_PERIOD - 2 <= bound.asked <= 10 / BOUND_PERIOD + 1
        assert {event.gap for event in reported[-20:]} == {2.0}

    def test_an_expensive_bound_is_asked_for_less_often(self) -> None:
        clock = Clock()
        stages, bound = Stages(lambda _event: None, clock), Bound(clock, cost=2)
        stages.begin("search")
        for batch in range(10_000):
            clock.now += 0.01
            stages.checked(batch, 10_000, inquiry(bound))
        assert bound.asked >= 2
        assert bound.asked * bound.cost <= BOUND_SHARE * 100 + bound.cost

    def test_a_short_search_and_a_silent_one_pay_for_no_bound(self) -> None:
        clock = Clock()
        bound = Bound(clock, cost=0)
        stages = Stages(lambda _event: None, clock)
        stages.begin("search")
        stages.checked(0, 1000, inquiry(bound))
        stages = Stages(silent, clock)
        stages.begin("search")
        clock.now += 100
        stages.checked(0, 1000, inquiry(bound))
        assert bound.asked == 0

    def test_what_is_not_known_is_left_out(self) -> None:
        clock, reported = Clock(), list[Event]()
        stages = Stages(reported.append, clock)
        stages.begin("search")
        clock.now += 1
        stages.checked(32, 64, inquiry(lambda: float("inf"), loss=None))
        expected = {"event": "progress", "stage": "search", "seconds": 1.0, "checked_nodes": 32, "lattice_nodes": 64}
        assert reported[-1].document() == expected

    def test_the_time_left_goes_by_the_pace_so_far(self) -> None:
        clock, reported = Clock(), list[Event]()
        stages = Stages(reported.append, clock)
        stages.begin("encode")
        for share in (0.2, 0.4, None, 0.1, 0.6):
            clock.now += 10
            stages.note_step("cells", share)
        stages.begin("search")
        for batch in (100, 200):
            clock.now += 5
            stages.counted(batch, 1000)
        clock.now += 1
        stages.note_step("nodes of the lattice", 0.5)
        stages.finish()
        with stages.stage("search"):
            clock.now += 5
            stages.checked(100, 1000, inquiry(lambda: None))
            stages.checked(200, 1000, inquiry(lambda: None))
        left = [event.seconds_left for event in reported]
        assert left == [None, None, 30.0, None, 90.0, 13.3, None, None, 40.0, 40.0, None, None, None, None]
        assert reported[2].document()["seconds_left"] == 30.0

    def test_a_stage_that_fails_does_not_finish(self) -> None:
        reported: list[Event] = []
        with pytest.raises(ZeroDivisionError), Stages(reported.append).stage("encode"):
            _ = 1 / 0
        assert [event.state for event in reported] == ["started"]


class Statement:
    """Something that runs until it is interrupted, in the way of a database: before it runs that has no effect."""

    def __init__(self) -> None:
        self.interrupted = threading.Event()
        self.ended = False

    def __call__(self) -> None:
        self.interrupted.clear()
        assert self.interrupted.wait(10)
        self.ended = True
        raise RuntimeError("interrupted")


class TestWatcher:
    def test_the_caller_hears_in_its_own_thread_until_the_end(self) -> None:
        reported: list[tuple[threading.Thread, str, float | None]] = []
        with Watcher(
            lambda *step: reported.append((threading.current_thread(), *step)), lambda: 0.5, lambda: None
        ) as one:
            one.run(lambda: time.sleep(0.5), "sleep")
            count = len(reported)
        assert count == len(reported) == 2
        assert set(reported) == {(threading.current_thread(), "sleep", 0.5)}

    @pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
    def test_an_observer_that_raises_ends_the_statement(self, error: type[BaseException]) -> None:
        statement = Statement()

        def refuse(_purpose: str, _share: float | None) -> None:
            raise error

        with Watcher(refuse, lambda: None, statement.interrupted.set) as watcher:
            with pytest.raises(error):
                watcher.run(statement, "endless")
            assert statement.ended
            watcher.run(lambda: None, "the next one")

    def test_an_error_is_raised_as_it_is(self) -> None:
        with Watcher(lambda *_: None, lambda: None, lambda: None) as watcher, pytest.raises(ZeroDivisionError):
            watcher.run(lambda: 1 / 0, "division")


def test_a_terminal_is_safe_from_hostile_names_of_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress(as_events=False, quiet=False) as reported:
        reported(Event("encode", "started", 0.0))
        reported(
            Event("encode", "progress", 1.0, step='codes of "[red]a\x1b]0;title\nb"', share=0.5, seconds_left=3725.4)
        )
    shown = terminal.getvalue()
    assert "1:02:05 left" in shown
    assert '50% codes of "[red]a\\x1b]0;title b"' in shown
    assert "\x1b]0;" not in shown


@pytest.mark.parametrize(
    ("latest", "expected"),
    [
        (None, NOTHING_PUBLISHED),
        (Event("verify", "finished", 1.0), NOTHING_PUBLISHED),
        (Event("publish", "started", 1.0), MAYBE_PUBLISHED),
        (Event("publish", "finished", 1.0), PUBLISHED),
    ],
)
def test_an_interruption_says_what_became_of_the_release(latest: Event | None, expected: str) -> None:
    with pytest.raises(KeyboardInterrupt, match=expected), progress(as_events=False, quiet=True) as reported:
        if latest is not None:
            reported(latest)
        raise KeyboardInterrupt
