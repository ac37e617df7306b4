"""The command line: ``sqlanon``."""

import atexit
import gc
import os
import sys
from contextlib import suppress
from typing import NoReturn

__all__ = ["main", "program"]

UNSEEN_OBJECTS = 250_000
"""How many objects a command makes before Python looks for those that only point at each other.

To look every 700 of them takes a tenth of the run of a small table, and once among all that is imported a twentieth
(tests.benchmarks.runs).
"""


def program() -> NoReturn:
    """Run the command line, and end the process.

    What is left then is memory, which the system takes back at once: Python would first take apart all that was
    imported, object by object, in a tenth of the run of a small table (tests.benchmarks.runs).
    """
    try:
        main()
    except SystemExit as end:
        atexit._run_exitfuncs()
        with suppress(OSError):  # Python reports it at an ordinary end
            for stream in filter(None, (sys.stdout, sys.stderr)):
                stream.flush()
            if end.code is None or isinstance(end.code, int):
                os._exit(end.code or 0)
        raise


def main() -> NoReturn:
    """Run the command line and exit."""
    gc.set_threshold(UNSEEN_OBJECTS)
    if sys.argv[1:] == ["--version"]:
        from sqlanon.cli.version import main as run
    else:
        from sqlanon.cli.app import main as run
    run()
