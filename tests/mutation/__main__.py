"""Break what privacy rests on, one thing at a time, and see that the tests notice.

    python -m tests.mutation [NAME...] [--jobs 2] [--markdown FILE] [--list]

Every function, query and macro under a comment ``guarded:`` is broken by the operators of ``operators.py``, in memory.
The tests that the comment names are collected once; a fork of this process runs them for each mutant until one fails,
which kills it. They are run without a mutant first, and must pass. NAME is part of the file and name of what is broken,
such as ``scales.py:scale_for``. The exit code is 1 if a mutant survived, 2 if the tests fail without any.
"""

import argparse
import contextlib
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("SQLANON_EFFORT", "0.25")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest

from tests.mutation.guarded import ROOT, Guarded, all_guarded
from tests.mutation.operators import Change

OPTIONS = ("-o", "addopts=--strict-markers", "-qq", "-p", "no:cacheprovider", "--hypothesis-profile=mutants")
PATIENCE, TIMES = 1, 2
"""The processor time that the tests of a mutant have: seconds, and times what they take without one."""
MEMORY = 16 * 2**30
BROKEN = "not run: "


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: the test that failed, or an empty text if none did, and its processor time."""

    guarded: Guarded
    change: str
    line: int
    killer: str
    seconds: float

    def cells(self) -> tuple[str, ...]:
        return f"{self.guarded}:{self.line}", self.change, self.killer or "survived", f"{self.seconds:.1f}"


class Mutants:
    """The plug-in of pytest that runs the tests for each mutant in place of once."""

    def __init__(self, guarded: list[Guarded], jobs: int) -> None:
        self.guarded = guarded
        self.jobs = jobs
        self.outcomes: list[Outcome] = []
        self.failing: list[Guarded] = []
        self.failed = ""
        self.running: dict[int, tuple[Guarded, Change, Path]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:  # files that cannot be collected are reported as always
            return False
        session.config.pluginmanager.unregister(name="terminalreporter")
        with tempfile.TemporaryDirectory() as folder:
            os.environ["PYTEST_DEBUG_TEMPROOT"] = folder
            for guarded in self.guarded:
                items = [item for item in session.items if any(is_of(item.nodeid, test) for test in guarded.tests)]
                pid = self._fork(guarded, None, items, Path(folder) / "first", 600)
                self.running[pid] = (guarded, Change(guarded.line, "", "", ""), Path(folder) / "first")
                first = self._ended(pid)
                if not items or first.killer:
                    self.failing.append(guarded)
                    say(f"{guarded}: fails without a mutant: {first.killer or 'no tests'}")
                    continue
                self._try_all(guarded, items, Path(folder), PATIENCE + TIMES * first.seconds)
            while self.running:
                self._note(self._ended())
        return True

    def _try_all(self, guarded: Guarded, items: list[pytest.Item], folder: Path, limit: float) -> None:
        for number, change in enumerate(guarded.changes()):
            file = folder / f"{guarded.line}-{number}"
            pid = self._fork(guarded, change, items, file, limit)
            self.running[pid] = (guarded, change, file)
            if len(self.running) >= self.jobs:
                self._note(self._ended())

    def _fork(self, guarded: Guarded, change: Change | None, items: list[pytest.Item], file: Path, limit: float) -> int:
        """Run tests in a child, which writes the test that fails to a file."""
        pid = os.fork()
        if pid:
            return pid
        try:
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(nothing, stream)
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 2))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            signal.alarm(60 + 10 * int(limit))
            guarded.put_in(change)
            self._run(items)
            file.write_text(self.failed, encoding="utf-8")
        except BaseException as error:
            file.write_text(f"{BROKEN}{type(error).__name__}: {error}", encoding="utf-8")
        finally:
            os._exit(0)

    def _run(self, items: list[pytest.Item]) -> None:
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return

    def _ended(self, pid: int = -1) -> Outcome:
        """The outcome of a child when it ends; one that is killed for its time or memory did not survive either."""
        pid, _, used = os.wait4(pid, 0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        guarded, change, file = self.running.pop(pid)
        killer = file.read_text(encoding="utf-8") if file.exists() else "no end"
        file.unlink(missing_ok=True)
        return Outcome(guarded, str(change), change.line, killer, used.ru_utime + used.ru_stime)

    def _note(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        if outcome.killer.startswith(BROKEN):
            self.failing.append(outcome.guarded)
        place, change, killer, seconds = outcome.cells()
        say(f"{'killed' if outcome.killer else 'SURVIVED':<8} {seconds:>5} s  {place}  {change}; {killer}")


def is_of(name: str, test: str) -> bool:
    """Whether a test is one of a file, a class or a file of SQL."""
    if test.endswith(".test"):
        return name == f"tests/sql/test_sqllogic.py::test_file_with_macros_called[{Path(test).stem}]"
    return name == test or name.startswith((f"{test}::", f"{test}["))


def files_of(guarded: list[Guarded]) -> Iterator[str]:
    """The files that pytest collects."""
    for test in dict.fromkeys(test for each in guarded for test in each.tests):
        yield "tests/sql/test_sqllogic.py" if test.endswith(".test") else test.partition("::")[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--list", action="store_true", help="the mutants, without running them")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    guarded = [each for each in all_guarded() if not arguments.names or any(n in str(each) for n in arguments.names)]
    if arguments.list:
        for each in guarded:
            for change in each.changes():
                say(f"{each}:{change.line}  {change}")
        return 0
    began = time.perf_counter()
    mutants = Mutants(guarded, arguments.jobs)
    pytest.main([*OPTIONS, *dict.fromkeys(files_of(guarded))], plugins=[mutants])
    if arguments.markdown is not None:
        rows = [
            ("place", "change", "test that notices", "s"),
            ("---",) * 4,
            *(each.cells() for each in mutants.outcomes),
        ]
        lines = (" | ".join(cell.replace("|", "\\|") for cell in row) for row in rows)
        arguments.markdown.write_text("".join(f"| {line} |\n" for line in lines), encoding="utf-8")
    survived = sum(not outcome.killer for outcome in mutants.outcomes)
    say(
        f"{len(guarded)} functions, {len(mutants.outcomes)} mutants, {survived} survived, "
        f"{time.perf_counter() - began:.0f} s, {sum(outcome.seconds for outcome in mutants.outcomes):.0f} CPU s"
    )
    return 2 if mutants.failing or not mutants.outcomes else int(survived > 0)


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
