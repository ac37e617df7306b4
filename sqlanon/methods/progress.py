"""Callbacks of a run: progress events, and the question whether to stop searching."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.model.events import Event


Progress = Callable[["Event"], None]  # called with each event, in the thread of the run


Stopped = Callable[[], bool]  # returns True to end the search with the best node so far


def silent(_event: Event) -> None: ...


def never() -> bool:
    return False


def stopping(
    time_limit: float | None, stop: Stopped | None, clock: Callable[[], float] = time.monotonic
) -> Stopped | None:
    """Return a callback that stops after a time limit or when ``stop`` says so; None if neither is given.

    Raises:
        PolicyError: the limit is not a positive number.
    """
    if time_limit is None:
        return stop
    if isinstance(time_limit, bool) or not isinstance(time_limit, int | float):
        raise PolicyError(f"the time limit is a {type(time_limit).__name__}, not a number of seconds")
    if not time_limit > 0:
        raise PolicyError(f"the time limit, {time_limit:g} seconds, is not a positive number")
    end = clock() + time_limit
    return lambda: clock() >= end or (stop is not None and stop())
