"""What commands take on a survey of thousands of columns, beside a third of them: about three times as much.

    python -m tests.benchmarks.columns [--columns 5000] [--repeats 3]

50 rows; one quasi-identifier, and all other columns dropped. CPU seconds are those of all threads of a whole process,
and ratios are medians of those within a turn.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path

from tests.benchmarks.processes import in_turn, run_python

COMMANDS = {
    "init": ["init", "{0}.csv", "--out", "{0}_init.toml", "--replace"],
    "run": ["run", "{0}.csv", "--policy", "{0}.toml", "--into", "{0}_k5.csv", "--replace"],
    "verify": ["verify", "{0}_k5.csv", "--policy", "{0}.toml", "--source", "{0}.csv"],
    "report": ["report", "{0}_k5.csv", "--policy", "{0}.toml", "--source", "{0}.csv", "--out", "{0}.html", "--replace"],
}


def main() -> None:
    """Measure each command at both sizes and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=5_000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    sizes = (arguments.columns // 3, arguments.columns)
    os.environ["PYTHONPATH"] = str(Path.cwd())
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for size in sizes:
            make(size)
        sys.stdout.write(f"{'':8}{sizes[0]:>10,}{sizes[1]:>10,}{'ratio':>8}\n")
        for name, command in COMMANDS.items():
            programs = {
                str(size): partial(run_python, ["-m", "sqlanon", *(word.format(size) for word in command)])
                for size in sizes
            }
            taken = in_turn(programs, arguments.repeats)
            few, many = ([each.cpu for each in taken[str(size)]] for size in sizes)
            ratio = statistics.median(large / small for small, large in zip(few, many, strict=True))
            sys.stdout.write(f"{name:8}{statistics.median(few):>9.1f}s{statistics.median(many):>9.1f}s{ratio:>8.1f}\n")


def make(columns: int) -> None:
    """Write the survey and a policy for it."""
    names = [f"q{place}" for place in range(columns)]
    rows = [[20 + row % 40, *((row * 7 + place * 3) % 5 for place in range(columns))] for row in range(50)]
    lines = [",".join(map(str, row)) for row in (["age", *names], *rows)]
    Path(f"{columns}.csv").write_text("\n".join([*lines, ""]))
    Path(f"{columns}.toml").write_text(
        f'quasi_identifiers = ["age"]\nidentifiers = {names}\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 5\n[taxonomies]\nage = {kind = "intervals", widths = [10, 20]}\n'
    )


if __name__ == "__main__":
    main()
