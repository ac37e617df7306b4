"""How much Hypothesis tries: one knob for all tests."""

from __future__ import annotations

import os

EFFORT = float(os.environ.get("SQLANON_EFFORT", "0.12"))
"""Of the examples that a test asks for, the share that is tried: a fifth in the deep tests of .ci/run."""


def examples(count: int) -> int:
    """So many examples at full effort."""
    return max(1, round(count * EFFORT))
