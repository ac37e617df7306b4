"""When a search is to make do with the best node so far."""

from __future__ import annotations

import time
from collections.abc import Callable

from sqlanon.errors import PolicyError

Stopped = Callable[[], bool]
"""Asked whether the search is to make do with the best node so far."""


def never() -> bool:
    """Search to the end."""
    return False


def stopping(time_limit: float | None, stop: Stopped | None, clock: Callable[[], float] = time.monotonic) -> Stopped:
    """Stop when so many seconds have passed from now on, or when ``stop`` says so.

    Raises:
        PolicyError: the limit is not positive.
    """
    asked = never if stop is None else stop
    if time_limit is None:
        return asked
    if not time_limit > 0:
        raise PolicyError(f"the time limit, {time_limit:g} seconds, is not a positive number")
    end = clock() + time_limit
    return lambda: clock() >= end or asked()


def refuse_stopping(time_limit: float | None, stop: Stopped | None) -> None:
    """Refuse to stop a private method early: what it chose until then would depend on the clock.

    Raises:
        PolicyError: something would stop it.
    """
    if time_limit is not None or stop is not None:
        raise PolicyError(
            "a private method scores every node: give it a public node, or maximum_levels, not a time limit"
        )
