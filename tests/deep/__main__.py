"""``python -m tests.deep [PART...]``: tier 3, which takes hours and is not in CI. PART is one of:

- ``tests``: the tests in this folder: kills, statistics, audits, Adult and ARX, papers, newcomers who install with pip;
  and those of tier 2 that are marked ``deep``
- ``examples``: the tests of Hypothesis and those that repeat themselves in all tiers, as often as they ask for
- ``mutants``: does a test notice if what privacy rests on is broken?
- ``spark``: rows on a server and a cluster of Apache Spark, whose workers are killed; needs Java 17

All parts run if none is named, one after the other; the exit code is 1 if one of them failed.
"""

import argparse
import os
import subprocess
import sys
import time

from tests.conftest import ROOT

PYTEST = ("pytest", "--durations=10")
OF_HYPOTHESIS = ("tests/unit", "tests/property", "tests/sql", "tests/stories", "tests/full")
PARTS = {
    "tests": (*PYTEST, "-m", "deep", "tests/deep", "tests/full"),
    "examples": (*PYTEST, "-m", "hypothesis or repeated", *OF_HYPOTHESIS),
    "mutants": ("tests.mutation",),
    "spark": ("tests.spark",),
}
"""What Python runs as a module, and its arguments."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART")
    wanted = parser.parse_args().parts or [*PARTS]
    if unknown := set(wanted) - set(PARTS):
        parser.error(f"unknown parts: {', '.join(sorted(unknown))}; known are {', '.join(PARTS)}")
    ended = {part: run(part) for part in wanted}
    for part, (code, seconds) in ended.items():
        sys.stdout.write(f"{part}: {'passed' if code == 0 else f'failed with exit code {code}'} in {seconds:.0f} s\n")
    return int(any(code for code, _ in ended.values()))


def run(part: str) -> tuple[int, float]:
    """Run a part with all examples, and return its exit code and how many seconds it took."""
    began = time.monotonic()
    command = [sys.executable, "-m", *PARTS[part]]
    done = subprocess.run(command, cwd=ROOT, env={"SQLANON_EFFORT": "1", **os.environ}, check=False)
    return done.returncode, time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
