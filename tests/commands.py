"""``sqlanon`` as the tests of the command line call it."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Lock
from typing import Any

from tests import command_client

ROOT = Path(__file__).parents[1]
DBT = Path(sys.executable).with_name("dbt")
"""The command of dbt, which the extra of that name installs."""
STARTING = Lock()
"""Tests of races call from several threads."""


def environment(**settings: str) -> dict[str, str]:
    """The environment of a command: this checkout, no colours, no debugging."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("SQLANON_DEBUG", "FORCE_COLOR")}
    return {**inherited, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", **settings}


def sqlanon(*arguments: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end: in a process of its own, forked from one that has imported everything."""
    return forked(["sqlanon", *arguments], arguments, folder, environment(**settings))


def python(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program that uses the package to its end, in such a process."""
    return forked(["python", "-c", text], ["-c", text], folder, environment())


def forked(
    command: list[str], arguments: Sequence[str], folder: Path, settings: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    with Path(os.devnull).open() as stdin, TemporaryFile("w+") as stdout, TemporaryFile("w+") as stderr:
        descriptors = [file.fileno() for file in (stdin, stdout, stderr)]
        code = command_client.run(server(), arguments, str(folder), settings, descriptors)
        stdout.seek(0)
        stderr.seek(0)
        return subprocess.CompletedProcess(command, code, stdout.read(), stderr.read())


def started(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in a new Python, as a shell does."""
    command = [sys.executable, "-m", "sqlanon", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=60, check=False
    )


def document(result: subprocess.CompletedProcess[str]) -> Any:
    """The one JSON document on stdout."""
    assert "Traceback" not in result.stderr
    return json.loads(result.stdout)


def server() -> str:
    """The socket of a :mod:`tests.command_server` for all tests of this process."""
    with STARTING:
        return _started_server()


@cache
def _started_server() -> str:
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
