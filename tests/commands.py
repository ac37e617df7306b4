"""``sqlanon`` as the tests of the command line call it."""

import atexit
import gc
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any
from unittest import mock

from sqlanon.cli import app, main
from sqlanon.cli.interrupt import INTERRUPTS

ROOT = Path(__file__).parents[1]
DBT = Path(sys.executable).with_name("dbt")
"""The command of dbt, which the extra of that name installs."""
COMMAND_LINE = cache(app.command_line)
"""Commands that are made once: to make their parameters takes a tenth of the time of a command."""


def environment(**settings: str) -> dict[str, str]:
    """The environment of a command: this checkout, no colours, no debugging."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("SQLANON_DEBUG", "FORCE_COLOR")}
    return {**inherited, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", **settings}


def sqlanon(*arguments: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in this process, as ``python -m sqlanon`` does in a folder.

    A thread other than the main one starts a process: it cannot change the folder and the signals of this one alone.
    """
    if threading.current_thread() is not threading.main_thread():
        return started(*arguments, folder=folder, **settings)
    return _in_process(["sqlanon", *arguments], main, folder, environment(**settings))


def python(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program that uses the package to its end in this process."""
    program = compile(text, "<string>", "exec")
    return _in_process(["-c"], lambda: exec(program, {"__name__": "__main__"}), folder, environment())  # noqa: S102


def started(*arguments: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in a new Python, as a shell does."""
    return ended([sys.executable, "-m", "sqlanon", *arguments], folder, **settings)


def ended(
    command: Sequence[str], folder: Path, stdout: Any = subprocess.PIPE, **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end in a process of its own, in the environment of a command."""
    pipes: dict[str, Any] = {"stdout": stdout, "stderr": subprocess.PIPE, "text": True}
    return subprocess.run(command, cwd=folder, env=environment(**settings), **pipes, timeout=60, check=False)


def on_a_terminal(command: Sequence[str], folder: Path, stream: str = "stderr", **settings: str) -> str:
    """What a program writes to one of its streams if that is a terminal."""
    mine, its = pty.openpty()
    streams: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: its}
    with subprocess.Popen(command, cwd=folder, env=environment(TERM="xterm", **settings), **streams):
        os.close(its)
        shown = b""
        with suppress(OSError):  # which Linux raises once all programs have left the terminal
            while chunk := os.read(mine, 65536):
                shown += chunk
    os.close(mine)
    return shown.decode()


@contextmanager
def opened_elsewhere(database: Path, *, read_only: bool = False) -> Iterator[subprocess.Popen[bytes]]:
    """Another program, which has a database open until the end of the block."""
    opened = f"duckdb.connect({str(database)!r}, read_only={read_only})"
    program = f"import duckdb, sys; held = {opened}; print(flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        yield holder
        holder.kill()


def document(result: subprocess.CompletedProcess[str]) -> Any:
    """The one JSON document on stdout."""
    assert "Traceback" not in result.stderr
    return json.loads(result.stdout)


def _in_process(
    command: list[str], run: Callable[[], object], folder: Path, settings: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    with TemporaryFile("w+", encoding="utf-8") as stdout, TemporaryFile("w+", encoding="utf-8") as stderr:
        with _surroundings(command, folder, settings), redirect_stdout(stdout), redirect_stderr(stderr):
            code = _exit_code(run)
        stdout.seek(0)
        stderr.seek(0)
        return subprocess.CompletedProcess(command, code, stdout.read(), stderr.read())


@contextmanager
def _surroundings(command: list[str], folder: Path, settings: Mapping[str, str]) -> Iterator[None]:
    """Arguments, folder and environment of a process of its own, and nothing that a command changes left behind."""
    handlers = {number: signal.getsignal(number) for number in INTERRUPTS}  # a command ignores them at its end
    hook, threshold = sys.unraisablehook, gc.get_threshold()
    try:
        with ExitStack() as stack:
            stack.enter_context(mock.patch.object(sys, "argv", command))
            stack.enter_context(mock.patch.object(app, "command_line", COMMAND_LINE))
            stack.enter_context(mock.patch.object(sys, "stdin", stack.enter_context(Path(os.devnull).open())))
            stack.enter_context(mock.patch.dict(os.environ, settings, clear=True))
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore", ResourceWarning)  # as a Python does that is started
            stack.enter_context(chdir(folder))
            yield
    finally:
        sys.unraisablehook = hook
        gc.set_threshold(*threshold)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _exit_code(run: Callable[[], object]) -> int:
    try:
        run()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception:
        traceback.print_exc()
        return 1
    return 0


@cache
def server() -> str:
    """The socket of a :mod:`tests.command_server`, for shells that call ``sqlanon``."""
    folder = TemporaryDirectory()
    path = str(Path(folder.name) / "socket")
    command = [sys.executable, "-m", "tests.command_server", path]
    # Threads of NumPy's linear algebra, of which nothing here has any use, would not survive a fork.
    settings = {**environment(), "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(command, cwd=ROOT, env=settings, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"listens\n"
    atexit.register(folder.cleanup)
    atexit.register(process.communicate)
    return path
