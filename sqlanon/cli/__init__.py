"""The command line: ``sqlanon``."""

import atexit
import gc
import os
import sys
from contextlib import suppress
from typing import NoReturn

__all__ = ["main", "program"]

# Objects made before Python collects garbage. Collecting every 700 of them costs 0.11 s of CPU of 1.41 s in a run of
# the demo's 5,000 rows (median of 20 pairs of whole processes on a loaded machine).
UNSEEN_OBJECTS = 250_000


def program() -> NoReturn:
    """Run the command line, and end the process.

    The system frees the memory at once; for Python to free all imported objects one by one costs 0.21 s of CPU of 1.48
    s in the same run (median of 13 pairs).
    """
    try:
        main()
    except SystemExit as end:
        atexit._run_exitfuncs()
        with suppress(OSError):  # an ordinary exit reports it
            for stream in filter(None, (sys.stdout, sys.stderr)):
                stream.flush()
            if end.code is None or isinstance(end.code, int):
                os._exit(end.code or 0)
        raise


def main() -> NoReturn:
    gc.set_threshold(UNSEEN_OBJECTS)
    # numpy multiplies only small arrays here: starting a thread per processor takes 0.05 s of CPU of 1.3 s in a run.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.argv[1:] == ["--version"]:  # needs no command, so it imports none
        _show_version()
    from sqlanon.cli.interrupt import interrupt_once

    try:
        interrupt_once()  # before slow imports
        from sqlanon.cli.app import main as run_command

        run_command()
    except KeyboardInterrupt:  # these errors come before there is a command to report them
        _end("interrupted", 130)
    except MemoryError:
        _end("the command ran out of memory", 1)
    except OSError as error:
        _end(f"the command cannot be loaded: {error.strerror}", 1)


def _show_version() -> NoReturn:
    from sqlanon.cli.output import report_failure, show_version
    from sqlanon.errors import EngineError

    try:
        show_version()
    except EngineError as error:
        sys.exit(report_failure(error, as_json=False, as_events=False, debug=False))
    sys.exit()


def _end(message: str, code: int) -> NoReturn:
    os.write(2, f"Error: {message}\n".encode())
    sys.exit(code)
