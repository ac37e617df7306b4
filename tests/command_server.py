"""Runs command lines in forks of one process that has imported everything: processes of their own that start at once.

One JSON request per line on stdin: ``arguments``, ``folder``, ``environment``, and the files ``stdout`` and ``stderr``
to write to. One line on stdout per request: the return code as :mod:`subprocess` gives it.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import traceback
from typing import Any, NoReturn

import duckdb  # noqa: F401 - imported here so that no command has to
import numpy as np  # noqa: F401
import pyarrow.parquet as pq  # noqa: F401
import rich.table  # noqa: F401

import sqlanon as sa  # noqa: F401
from sqlanon.cli import main
from sqlanon.compiler.macros import install_statements

LONGEST = 60
"""Seconds after which a command is ended by a signal."""


def serve() -> NoReturn:
    """Answer requests until stdin is closed."""
    install_statements()  # which parses the macros
    gc.freeze()  # or every fork would copy the memory of all that is imported
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if not child:
            become(request)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()
    os._exit(0)


def become(request: dict[str, Any]) -> NoReturn:
    """Run a command line as ``python -m sqlanon`` would, and end without taking down the interpreter."""
    signal.alarm(LONGEST)
    redirect(0, os.devnull, os.O_RDONLY)
    redirect(1, request["stdout"], os.O_WRONLY)
    redirect(2, request["stderr"], os.O_WRONLY)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.argv = ["sqlanon", *request["arguments"]]
    code: object = 1
    try:
        main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def redirect(descriptor: int, path: str, flags: int) -> None:
    """Let a descriptor stand for a file."""
    opened = os.open(path, flags)
    os.dup2(opened, descriptor)
    os.close(opened)


if __name__ == "__main__":
    serve()
