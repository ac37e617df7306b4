"""Break what privacy rests on, one thing at a time, and see that the tests notice.

    python -m tests.mutation [NAME...] [--jobs 2] [--markdown FILE]

Every mutant is put into a copy of the repository in a temporary folder, where the tests that it names are run: it is
killed if one of them fails. All of these tests are run without a mutant first, and must pass. NAME is part of the names
of the mutants to run, all of them if there is none. Prints a line for each; the exit code is 1 if one survived that is
not said to be equivalent, 2 if the tests fail without any, or something else is wrong.
"""

from __future__ import annotations

import argparse
import compileall
import os
import py_compile
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.mutants import Mutant, named

ROOT = Path(__file__).parents[2]
COPIED = ("sqlanon", "sql", "tests", "fixtures", "pyproject.toml", "README.md")
PASSED, FAILED, ENDLESS = 0, 1, 124
"""What pytest returns; whatever else it returns, it ran no test that says something. The last stands for no end."""
PATIENCE = 600
"""Seconds for the tests of a mutant. None of the table makes them run for ever: no end tells of a slow machine."""


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: killed, survived, equivalent or broken, by which test, in how many seconds."""

    mutant: Mutant
    state: str
    killer: str
    seconds: float

    @property
    def cells(self) -> tuple[str, ...]:
        """It as a row of the table."""
        test = self.killer or self.mutant.equivalent or ", ".join(self.mutant.tests)
        return self.mutant.name, self.mutant.file, self.mutant.breaks, test, self.state, f"{self.seconds:.0f}"


def main() -> int:
    """Run the mutants."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--markdown", type=Path)
    arguments = parser.parse_args()
    mutants = named(arguments.names)
    with tempfile.TemporaryDirectory() as folder:
        copies: queue.Queue[Path] = queue.Queue()
        for number in range(arguments.jobs):
            copies.put(_copy(Path(folder) / str(number)))
        if not _passes_without(mutants, copies):
            return 2
        with ThreadPoolExecutor(arguments.jobs) as pool:
            outcomes = []
            for outcome in pool.map(lambda mutant: _outcome(mutant, copies), mutants):
                name, _, breaks, test, state, seconds = outcome.cells
                _say(f"{state:<10} {name:<36} {seconds:>4} s  {breaks}; {test}")
                outcomes.append(outcome)
    if arguments.markdown is not None:
        arguments.markdown.write_text(_markdown(outcomes), encoding="utf-8")
    return _judged(outcomes)


def _judged(outcomes: Sequence[Outcome]) -> int:
    counts = {state: sum(outcome.state == state for outcome in outcomes) for state in (*STATES, "broken")}
    _say(", ".join(f"{count} {state}" for state, count in counts.items()))
    return 2 if counts["broken"] else int(counts["survived"] > 0)


STATES = ("killed", "equivalent", "survived")


def _copy(folder: Path) -> Path:
    """A copy of the repository, with bytecode that knows the hash of its text: a mutant can have its size and time."""
    folder.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, folder / name)
    compileall.compile_dir(folder, quiet=1, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
    return folder


def _passes_without(mutants: Sequence[Mutant], copies: queue.Queue[Path]) -> bool:
    """Whether all tests that have to kill a mutant pass where there is none."""
    tests = list(dict.fromkeys(test for mutant in mutants for test in mutant.tests))
    began = time.perf_counter()
    with _lent(copies) as copy:
        code, output = _run(copy, tests, patience=10 * PATIENCE)
    _say(f"without a mutant: {len(tests)} tests or files in {time.perf_counter() - began:.0f} s")
    if code != PASSED:
        _say(f"the tests fail without a mutant:\n{output}")
    return code == PASSED


def _outcome(mutant: Mutant, copies: queue.Queue[Path]) -> Outcome:
    with _lent(copies) as copy:
        file = copy / mutant.file
        text = file.read_text(encoding="utf-8")
        file.write_text(mutant.applied(text), encoding="utf-8")
        began = time.perf_counter()
        try:
            code, output = _run(copy, mutant.tests, patience=PATIENCE)
        finally:
            file.write_text(text, encoding="utf-8")
        seconds = time.perf_counter() - began
    if code == FAILED:
        return Outcome(mutant, "killed", _killer(output), seconds)
    if code != PASSED:
        return Outcome(mutant, "broken", f"pytest ended with {code}: {output[-500:]}", seconds)
    return Outcome(mutant, "survived" if mutant.equivalent is None else "equivalent", "", seconds)


def _run(copy: Path, tests: Sequence[str], *, patience: float) -> tuple[int, str]:
    """What pytest returns and prints; examples of Hypothesis are the same every time."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        "0",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "--hypothesis-profile=mutants",
    ]
    command += tests
    environment = {
        **os.environ,
        "SQLANON_EFFORT": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(copy),
        "SQLANON_DATA": os.environ.get("SQLANON_DATA", str(ROOT.parent / "shared" / "data")),
    }
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, check=False, capture_output=True, text=True, timeout=patience
        )
    except subprocess.TimeoutExpired:
        return ENDLESS, f"no end in {patience:.0f} s"
    return done.returncode, done.stdout + done.stderr


def _killer(output: str) -> str:
    """The test that failed first."""
    found = re.search(r"^(?:FAILED|ERROR) (\S+?::[^\[\s]+)", output, re.MULTILINE)
    return found[1] if found else "?"


@contextmanager
def _lent(copies: queue.Queue[Path]) -> Iterator[Path]:
    copy = copies.get()
    try:
        yield copy
    finally:
        copies.put(copy)


def _markdown(outcomes: Sequence[Outcome]) -> str:
    rows = [("mutant", "file", "what it would do", "test that notices", "state", "s"), ("---",) * 6]
    rows += [outcome.cells for outcome in outcomes]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in rows)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
