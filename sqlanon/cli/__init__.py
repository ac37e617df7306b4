"""The command line: ``sqlanon``."""

import gc
import sys

__all__ = ["main"]

UNSEEN_OBJECTS = 100_000
"""How many objects a command makes before Python looks for those that only point at each other.

To look every 700 of them takes a tenth of the run of a small table (tests.benchmarks.runs).
"""


def main() -> None:
    """Run the command line and exit."""
    gc.set_threshold(UNSEEN_OBJECTS)
    if sys.argv[1:] == ["--version"]:
        from sqlanon.cli.version import main as run
    else:
        from sqlanon.cli.app import main as run
    run()
