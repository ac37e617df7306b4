"""Runs command lines in forks of one process that has run such commands before: processes of their own that start at
once, with the modules imported and the SQL parsed that they need.

It listens at the Unix socket that is its argument. A request is one JSON document, ``arguments``, ``folder`` and
``environment``, with descriptors for stdin, stdout and stderr; the answer is the return code as :mod:`subprocess` gives
it.
"""

import gc
import json
import os
import signal
import socket
import sys
import traceback
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from select import select
from tempfile import TemporaryDirectory
from typing import NoReturn
from unittest import mock

import opendp.measurements  # noqa: F401 - imported and not practised: forks are not to share the state of its chance

from sqlanon.cli import app, main
from sqlanon.cli.interrupt import INTERRUPTS

LONGEST = 60
"""Seconds after which a command is ended by a signal."""

POLICY = """
quasi_identifiers = ["age", "sex"]
sensitive = ["illness"]
privacy = [{ model = "k-anonymity", k = 2 }]
"""

PRACTICE = (
    "schema",
    "install --db w.duckdb",
    "taxonomy load --db w.duckdb sex sex.csv --source people.csv",
    "taxonomy make --db w.duckdb age flat --source people.csv --json",
    "explain people.csv --db w.duckdb --policy policy.toml",
    "run people.csv --db w.duckdb --policy policy.toml --into released",
    "run people.csv --db w.duckdb --policy policy.toml --into released.parquet --json",
    "verify released.parquet --policy policy.toml",
    "lattice people.csv --db w.duckdb --policy policy.toml",
    "ledger show --db w.duckdb",
)
"""Commands that the server itself runs first."""


def serve(path: str) -> NoReturn:
    """Answer requests until stdin is closed."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    sys.stdout.write("listens\n")
    sys.stdout.flush()
    mock.patch.object(app, "command_line", cache(app.command_line)).start()
    practise()
    gc.collect()
    gc.freeze()  # or every fork would copy the memory of all that is imported
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who answer
    while listener in select([sys.stdin, listener], [], [])[0]:
        with listener.accept()[0] as connection:
            if not os.fork():  # a process each, so that commands can run at the same time
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                connection.send(f"{answer(connection)}".encode())
                os._exit(0)
    os._exit(0)


def answer(connection: socket.socket) -> int:
    request, descriptors, _, _ = socket.recv_fds(connection, 1 << 20, 3)
    while more := connection.recv(1 << 20):
        request += more
    child = os.fork()
    if not child:
        become(descriptors, **json.loads(request))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def practise() -> None:
    """Run commands in this process, in a folder that is gone afterwards. DuckDB's threads end with its connections."""
    handlers = {number: signal.getsignal(number) for number in INTERRUPTS}  # a command ignores them at its end
    said = StringIO()
    with TemporaryDirectory() as folder, chdir(folder), redirect_stdout(said), redirect_stderr(said):
        Path("policy.toml").write_text(POLICY)
        Path("sex.csv").write_text("f;*\nm;*\n")
        Path("people.csv").write_text("age,sex,illness\n1,f,flu\n1,f,cold\n2,m,flu\n2,m,cold\n")
        for arguments in PRACTICE:
            sys.argv = ["sqlanon", *arguments.split()]
            try:
                main()
            except SystemExit as end:
                assert not end.code, (arguments, said.getvalue())
    for number, handler in handlers.items():
        signal.signal(number, handler)


def become(descriptors: list[int], arguments: list[str], folder: str, environment: dict[str, str]) -> NoReturn:
    """Run a command line as ``python -m sqlanon`` would, and end without taking down the interpreter."""
    signal.alarm(LONGEST)
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    # New ones: those of the server know whether its own can seek.
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["sqlanon", *arguments]
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


if __name__ == "__main__":
    serve(sys.argv[1])
