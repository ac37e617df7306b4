"""What processes take, as users wait for them: their seconds and their memory."""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

Key = TypeVar("Key")
STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class Taken:
    """What a process took, and what it printed.

    Attributes:
        cpu: seconds of all its threads.
        wall: seconds from start to end.
        peak: the most bytes that were resident at once; at least what the process that started it had.
        output: what it printed to stdout.
    """

    cpu: float
    wall: float
    peak: int
    output: str


def run_python(arguments: Sequence[str], code: Path | None = None) -> Taken:
    """Run Python, which finds its bytecode as an installed package's does.

    Args:
        arguments: what Python is given.
        code: the checkout whose modules ``-m`` and ``-c`` import, the present folder if None.

    Raises:
        CalledProcessError: it failed.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, *arguments]
    start = perf_counter()
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as talk,
        subprocess.Popen(command, env=environment, cwd=code, stdout=subprocess.PIPE, stderr=talk, text=True) as child,
    ):
        assert child.stdout is not None
        output = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = perf_counter() - start
        if child.returncode:
            talk.seek(0)
            sys.stderr.write(talk.read())
            raise subprocess.CalledProcessError(child.returncode, command)
    return Taken(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024, output)


def invented(query: str, path: str, rows: int) -> None:
    """Write invented rows to a file: ``query`` copies as many as its parameter says to ``{}``."""
    import duckdb  # here, since what others start has at least the memory of this process

    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(query.format(path), [rows])


def in_own_process(function: Callable[..., Any], *given: Any) -> Any:
    """Call a function of a benchmark in a process whose memory is its own; both sides of the call go as JSON."""
    named = sys.modules["__main__"].__spec__
    module = named.name if function.__module__ == "__main__" and named else function.__module__
    call = f"import json, sys; from {module} import {function.__name__} as asked"
    write = "sys.stdout.write(json.dumps(asked(*json.loads(sys.argv[1]))))"
    return json.loads(run_python(["-c", f"{call}; {write}", json.dumps(given)]).output)


def in_turn(programs: dict[Key, Callable[[], Taken]], repeats: int) -> dict[Key, list[Taken]]:
    """What each of some programs takes, so many times, one after the other; the first round is left out."""
    found = [{name: program() for name, program in programs.items()} for _ in range(1 + repeats)][1:]
    return {name: [each[name] for each in found] for name in programs}


def seconds(work: Callable[[], object]) -> float:
    """How long some work takes."""
    start = perf_counter()
    work()
    return perf_counter() - start


def peak_bytes() -> int:
    """The most memory that this process had in use at once.

    Linux reports it for the process itself; ``getrusage`` also counts the process that started it.
    """
    if STATUS.exists():
        status = dict(line.split(":", 1) for line in STATUS.read_text(encoding="ascii").splitlines())
        return int(status["VmHWM"].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def say(text: str) -> None:
    """Print a line at once, whatever reads it."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
