"""What is told of the progress of a run, and nothing of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlanon.model.events import Event

Progress = Callable[["Event"], None]
"""Told of every stage, in the thread of the run."""


def silent(_event: Event) -> None:
    """Report no progress."""
