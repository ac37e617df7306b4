"""How much Hypothesis tries: one knob for all tests."""

import os

EFFORT = float(os.environ.get("SQLANON_EFFORT", "0.0625"))
"""The share of the examples that a test asks for: a sixteenth; all of them in ``python -m tests.deep``."""


def examples(count: int) -> int:
    """Return this number of examples at full effort, fewer at less."""
    return max(1, round(count * EFFORT))
