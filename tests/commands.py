"""``sqlanon`` as the tests of the command line call it."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def environment(**settings: str) -> dict[str, str]:
    """The environment of a command: this checkout, no colours, no debugging."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("SQLANON_DEBUG", "FORCE_COLOR")}
    return {**inherited, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", **settings}


def sqlanon(*arguments: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end: in a process of its own, forked from one that has imported everything."""
    with tempfile.TemporaryDirectory() as outputs:
        stdout, stderr = Path(outputs) / "stdout", Path(outputs) / "stderr"
        stdout.touch()
        stderr.touch()
        request = {
            "arguments": arguments,
            "folder": str(folder),
            "environment": environment(**settings),
            "stdout": str(stdout),
            "stderr": str(stderr),
        }
        code = _answer(json.dumps(request))
        return subprocess.CompletedProcess(["sqlanon", *arguments], code, stdout.read_text(), stderr.read_text())


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


def _answer(request: str) -> int:
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(request + "\n")
    server.stdin.flush()
    return int(server.stdout.readline())


@cache
def _server() -> subprocess.Popen[str]:
    """One server for all tests of this process."""
    command = [sys.executable, "-m", "tests.command_server"]
    # Threads of NumPy's linear algebra, of which nothing here has any use, would not survive a fork.
    settings = {**environment(), "OPENBLAS_NUM_THREADS": "1"}
    server = subprocess.Popen(command, cwd=ROOT, env=settings, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(server.communicate)
    return server
