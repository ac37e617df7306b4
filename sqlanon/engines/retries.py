"""Steps that a database refuses for what will pass: another connection is writing, or has a file open."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import TypeVar

from sqlanon.errors import EngineError, Refusal

PATIENCE = 10.0
"""Seconds to wait for another program that has a file open, or that keeps being faster."""
A_MOMENT = 1.0
"""Seconds to wait for one that writes a single row."""
PAUSE = 0.05
"""Seconds from one attempt to the next."""

IN_USE = frozenset((Refusal.LOCKED, Refusal.OPEN))
OVERTAKEN = frozenset((Refusal.TAKEN, Refusal.OVERTAKEN))

Result = TypeVar("Result")


def retry_while_locked(call: Callable[[], Result], may_pass: Collection[Refusal], patience: float = PATIENCE) -> Result:
    """The result of a call; again and again for a while, as long as the database refuses it for what may pass."""
    deadline = time.monotonic() + patience
    while True:
        try:
            return call()
        except EngineError as error:
            if error.refusal not in may_pass or time.monotonic() >= deadline:
                raise
        time.sleep(PAUSE)
