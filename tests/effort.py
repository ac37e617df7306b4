"""How much Hypothesis tries: one knob for all tests."""

import os
from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")

EFFORT = float(os.environ.get("SQLANON_EFFORT", "0.0625"))
"""The share of the examples that a test asks for: a sixteenth; all of them in ``python -m tests.deep``."""


def examples(count: int) -> int:
    """Return this number of examples at full effort, fewer at less."""
    return max(1, round(count * EFFORT))


def some(cases: Mapping[str, T], *names: str) -> dict[str, T]:
    """Return the cases that have these names, all of them at full effort."""
    return {name: cases[name] for name in (cases if EFFORT >= 1 else names)}
