"""One long call at a time, in a thread that outlives the page that started it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Literal

from sqlanon.errors import SqlanonError
from sqlanon.methods.stages import Event

State = Literal["running", "done", "failed", "cancelled"]
Work = Callable[["Job"], None]


class Cancelled(Exception):
    """Raised in a progress callback to end the call."""


class Job:
    """A call in its thread.

    Attributes:
        what: in words, such as "Search".
        then: the page that shows its result.
        state: how it is, or how it ended; ``problem`` says why it failed, ``left`` what a cancelled one leaves.
        event: its last event.
    """

    def __init__(self, number: int, what: str, then: str, work: Work) -> None:
        self.number, self.what, self.then = number, what, then
        self.state: State = "running"
        self.problem, self.left = "", "nothing was changed"
        self.event: Event | None = None
        self._asked: Literal["", "cancel", "enough"] = ""
        self._is_there = False
        self._began = time.monotonic()
        self._ended: float | None = None
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)

    def start(self) -> None:
        self._thread.start()

    def progress(self, event: Event) -> None:
        """Note an event; it ends the call if someone cancelled it."""
        self.event = event
        if self._asked == "cancel" and not self._is_there:
            raise Cancelled

    def keep(self) -> None:
        """Cancel no more: what was asked for is there."""
        self._is_there = True

    def is_enough(self) -> bool:
        """Whether someone asked for the best result so far."""
        return self._asked == "enough"

    def ask(self, how: Literal["cancel", "enough"]) -> None:
        self._asked = how

    def wait(self, seconds: float | None = None) -> None:
        if self._thread.is_alive():
            self._thread.join(seconds)

    @property
    def elapsed(self) -> float:
        return (self._ended or time.monotonic()) - self._began

    @property
    def sentence(self) -> str:
        """What it does, or how it ended, in one line."""
        if self.state == "failed":
            return f"{self.what} failed: {self.problem}"
        if self.state != "running":
            ended = f"was cancelled; {self.left}" if self.state == "cancelled" else "is done"
            return f"{self.what} {ended} after {self.elapsed:.1f} s"
        running = f"{self.what}: {self.elapsed:.0f} s"
        return running if self.event is None else f"{running} · {self.event.in_words}"

    def document(self) -> dict[str, Any]:
        """Return its state for a stream of events, and what is known of its last event."""
        known = {} if self.event is None else self.event.document()
        return known | {"job": self.number, "state": self.state, "sentence": self.sentence}

    def _run(self, work: Work) -> None:
        try:
            work(self)
        except Cancelled:
            self.state = "cancelled"
        except SqlanonError as error:
            self.problem, self.state = str(error), "failed"
        except Exception as error:  # a defect: said without its text, which may hold a value
            self.problem, self.state = f"an unexpected {type(error).__name__}; please report it", "failed"
        else:
            self.state = "done"
        finally:
            self._ended = time.monotonic()
