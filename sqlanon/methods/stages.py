"""The stages of a run: the events that report them, their durations, and the question whether to stop searching."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.engines.duckdb import Compute
    from sqlanon.search import Inquiry, SearchOutcome

Stage = Literal[
    "invent", "fingerprint", "encode", "join", "search", "explain", "release", "verify", "publish", "count", "read",
    "suggest", "try", "report"
]  # fmt: skip
State = Literal["started", "progress", "finished"]

DOING: Mapping[Stage, str] = {
    "invent": "invents people", "fingerprint": "reads the rows", "encode": "reads the rows", "join": "joins cells",
    "search": "searches", "explain": "looks for what would help", "release": "writes the rows",
    "verify": "measures what was written", "publish": "publishes", "count": "counts", "read": "reads the table",
    "suggest": "suggests roles", "try": "tries the suggestion", "report": "makes the report",
}  # fmt: skip


@dataclass(frozen=True)
class Event:
    """A moment of a run: counts, shares and losses, never data.

    Attributes:
        stage: ``encode`` (the only scan of the rows), ``search``, ``release`` (the write), ``verify`` and ``publish``;
            ``explain`` if the search found no node; ``invent`` in the demonstration; ``fingerprint``, ``join`` and
            ``count`` when a partition joins others; ``count`` also when a lattice is counted after a search;
            ``read``, ``suggest`` and ``try`` when a policy is suggested, and tried on some rows; ``read``, ``verify``
            and ``report`` in the report on a release; ``count`` in a workload of queries. Nothing is published before
            ``publish`` starts, and everything when it has finished.
        state: ``started``, ``progress`` or ``finished``. A stage that fails doesn't finish.
        seconds: time since the run began.
        step: the purpose of the current statement, None between statements.
        share: the completed part of that statement, from 0 to 1, as estimated by the database; None without an
            estimate.
        seconds_left: the time until the last node of the lattice is checked, in a stage that checks them all, or until
            the statement is done, at the pace so far; None if unknown.
        checked_nodes: the number of nodes checked in this stage, None if it checks none.
        lattice_nodes: the number of all nodes.
        loss: the loss of the best node so far, None if there is none.
        node: the levels of that node, by column, after a search for the best node of a lattice table.
        lower_bound: a proven lower bound of the loss of every node that satisfies the policy; None if unknown.
        left_rows: the number of rows without a class, None unless classes are made one by one.
        k: the k that an exploration searches for.
    """

    stage: Stage
    state: State
    seconds: float
    step: str | None = None
    share: float | None = None
    seconds_left: float | None = None
    checked_nodes: int | None = None
    lattice_nodes: int | None = None
    loss: float | None = None
    node: Mapping[str, int] | None = None
    lower_bound: float | None = None
    left_rows: int | None = None
    k: int | None = None

    @property
    def gap(self) -> float | None:
        """An upper bound of the distance of the loss from the optimum."""
        return proven_gap(self.loss, self.lower_bound)

    @property
    def in_words(self) -> str:
        """The work of its stage in a line, with the nodes that were checked, the least loss, and the time left."""
        words = [DOING[self.stage] + (f" for k = {self.k:,}" if self.k else "")]
        if self.checked_nodes is not None and self.lattice_nodes:
            words.append(f"{self.checked_nodes:,} of {self.lattice_nodes:,} nodes")
        if self.loss is not None:
            words.append(f"least loss so far {self.loss:.4g}")
        if self.seconds_left:
            words.append(f"about {self.seconds_left:.0f} s left")
        return " · ".join(words)

    def document(self) -> dict[str, Any]:
        """Return the known fields for JSON."""
        share = None if self.share is None else round(self.share, 3)
        known = {"event": self.state, **dataclasses.asdict(self), "share": share, "gap": self.gap}
        del known["state"]
        return {name: value for name, value in known.items() if value is not None}


def proven_gap(loss: float | None, lower_bound: float | None) -> float | None:
    """Return an upper bound of the distance of a loss from the optimum, if there is one."""
    if loss is None or lower_bound is None:
        return None
    return max(loss - lower_bound, 0.0)


Progress = Callable[[Event], None]  # called with each event, in the thread of the run
Stopped = Callable[[], bool]  # returns True to end the search with the best node so far

PERIOD = 0.2  # seconds between two events of a stage, at least
BOUND_PERIOD = 0.5  # seconds between two lower bounds, at least
BOUND_SHARE = 0.05  # the share of search time to spend on lower bounds that are only shown


def silent(_event: Event) -> None: ...


def never() -> bool:
    return False


def stopping(
    time_limit: float | None, stop: Stopped | None, clock: Callable[[], float] = time.monotonic
) -> Stopped | None:
    """Return a callback that stops after a time limit or when ``stop`` says so; None if neither is given."""
    if time_limit is None:
        return stop
    if isinstance(time_limit, bool) or not isinstance(time_limit, int | float):
        raise PolicyError(f"the time limit is a {type(time_limit).__name__}, not a number of seconds")
    if not time_limit > 0:
        raise PolicyError(f"the time limit, {time_limit:g} seconds, is not a positive number")
    end = clock() + time_limit
    return lambda: clock() >= end or (stop is not None and stop())


class Pace:
    """Estimates the remaining time of a task from its progress."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._what: str | None = None
        self._began = self._first = self._share = 0.0

    def seconds_left(self, what: str, share: float | None) -> float | None:
        """Estimate the seconds until the task is done; None while the pace is unknown."""
        now = self._clock()
        if share is None or what != self._what or share < self._share:
            self._what, self._began, self._first = what, now, share or 0.0
        self._share = share or 0.0
        done = self._share - self._first
        return round((now - self._began) * (1 - self._share) / done, 1) if done > 0 else None


class Stages:
    def __init__(self, progress: Progress, clock: Callable[[], float] = time.perf_counter) -> None:
        self.seconds: dict[str, float] = {}  # the wall time of each finished stage
        self.k: int | None = None  # the k that the next stages search for, if there are several
        self._progress = progress
        self._clock = clock
        self._began = clock()
        self._latest = Event("encode", "started", 0.0)
        self._stage_began = self._reported = self._next_bound = self._began
        self._has_begun = False
        self._pace = Pace(clock)

    def watching(self, engine: Compute) -> AbstractContextManager[None]:
        return engine.watched(None if self._progress is silent else self.note_step)

    @contextmanager
    def stage(self, name: Stage) -> Iterator[None]:
        """Time a stage; it does not finish if the block fails."""
        self.begin(name)
        yield
        self.finish()

    def begin(self, name: Stage) -> None:
        self._stage_began = self._clock()
        # A search that ends before its first event is not asked for bounds.
        self._next_bound = self._stage_began + PERIOD
        self._latest = Event(name, "started", 0.0, k=self.k)
        self._has_begun = True
        self._report("started")

    def finish(self) -> None:
        self.seconds[self._latest.stage] = round(self._clock() - self._stage_began, 6)
        self._latest = replace(self._latest, seconds_left=None)
        self._report("finished")

    def checked(self, checked_nodes: int, lattice_nodes: int, inquiry: Inquiry) -> None:
        self._latest = replace(
            self._latest, checked_nodes=checked_nodes, lattice_nodes=lattice_nodes, loss=inquiry.loss
        )
        self._bound(inquiry)
        if self._is_due():
            self._report("progress")

    def counted(self, checked_nodes: int, lattice_nodes: int) -> None:
        left = self._pace.seconds_left(self._latest.stage, checked_nodes / lattice_nodes)
        self._latest = replace(
            self._latest, checked_nodes=checked_nodes, lattice_nodes=lattice_nodes, seconds_left=left
        )
        if self._is_due():
            self._report("progress")

    def peeled(self, lattice_nodes: int, checked_nodes: int, left_rows: int) -> None:
        self._latest = replace(
            self._latest, checked_nodes=checked_nodes, lattice_nodes=lattice_nodes, left_rows=left_rows
        )
        if self._is_due():
            self._report("progress")

    def concluded(self, outcome: SearchOutcome, node: Mapping[str, int] | None = None) -> None:
        """Record the result of a search, with its node if reports may show it at once."""
        self._latest = replace(
            self._latest,
            checked_nodes=outcome.checked_nodes,
            loss=outcome.loss,
            node=node,
            lower_bound=outcome.lower_bound,
        )

    def note_step(self, step: str, share: float | None) -> None:
        left = self._latest.seconds_left
        if self._latest.lattice_nodes is None:
            left = self._pace.seconds_left(step, share)
        if self._has_begun and self._is_due():
            self._report("progress", step=step, share=share, seconds_left=left)

    def _bound(self, inquiry: Inquiry) -> None:
        """Ask for the lower bound, which costs a pass over the lattice, if it is due."""
        began = self._clock()
        if self._progress is silent or began < self._next_bound:
            return
        bound = inquiry.lower_bound()
        proven = bound is not None and math.isfinite(bound)
        self._latest = replace(self._latest, lower_bound=bound if proven else None)
        cost = self._clock() - began
        self._next_bound = began + max(BOUND_PERIOD, cost / BOUND_SHARE)

    def _is_due(self) -> bool:
        return self._clock() - self._reported >= PERIOD

    def _report(self, state: State, **of_statement: Any) -> None:
        self._reported = self._clock()
        seconds = round(self._reported - self._began, 3)
        self._progress(replace(self._latest, state=state, seconds=seconds, **of_statement))
