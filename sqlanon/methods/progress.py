"""Progress events of a run, and when its search makes do with the best node so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.model.events import Event


Progress = Callable[["Event"], None]
"""Called at every stage, in the thread of the run."""


Stopped = Callable[[], bool]
"""Asked whether the search is to make do with the best node so far."""


def silent(_event: Event) -> None:
    """Report no progress."""


def never() -> bool:
    """Search to the end."""
    return False


def stopping(
    time_limit: float | None, stop: Stopped | None, clock: Callable[[], float] = time.monotonic
) -> Stopped | None:
    """Stop when this number of seconds has passed from now on, or when ``stop`` says so; None if nothing would stop it.

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
