"""What a suggested policy takes, beside DuckDB's own SUMMARIZE of the same table.

    python -m tests.benchmarks.suggestions [--rows 1000000] [--repeats 5] [--memory-limit 2GB] [--threads 2]

Invented people with 19 columns in many forms. The two run in turn, each in a process of its own; ratios are medians of
those within a turn, and leave out what a first suggestion loads. CPU seconds are those of all threads, so that what
else runs hardly matters.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path

import duckdb

from tests.benchmarks.processes import in_turn, run_python
from tests.full.test_suggest import PEOPLE

OPENED = """
import sys
import time
import sqlanon as sa
database, memory, threads = sys.argv[1:]
session = sa.connect(database, read_only=True, memory_limit=memory, threads=int(threads))
session.connection.execute("FROM people LIMIT 1").fetchall()
session.connection.execute("SET enable_progress_bar = false")
session.suggest("FROM people LIMIT 10")
start = time.process_time(), time.perf_counter()
{}
print(time.process_time() - start[0], time.perf_counter() - start[1])
"""

SUMMARIZE, SUGGEST = "SUMMARIZE", "suggest"
PROGRAMS = {
    SUMMARIZE: OPENED.format('session.connection.execute("SUMMARIZE people").fetchall()'),
    SUGGEST: OPENED.format('session.suggest("people")'),
}


def main() -> None:
    """Measure both and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--memory-limit", default="2GB")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder, "people.duckdb")
        with duckdb.connect(database) as connection:
            connection.execute(f"CREATE TABLE people AS {PEOPLE.replace('range(600)', f'range({arguments.rows})')}")
        given = [str(database), arguments.memory_limit, str(arguments.threads)]
        programs = {name: partial(run_python, ["-c", code, *given]) for name, code in PROGRAMS.items()}
        found = in_turn(programs, arguments.repeats)
    seconds = {name: [[*map(float, each.output.split())] for each in taken] for name, taken in found.items()}
    sys.stdout.write("| | CPU | wall | highest memory |\n| --- | --- | --- | --- |\n")
    for name, taken in found.items():
        cpu, wall = map(statistics.median, zip(*seconds[name], strict=True))
        highest = max(each.peak for each in taken) / 1e6
        sys.stdout.write(f"| {name} | {cpu:.2f} s | {wall:.2f} s | {highest:,.0f} MB |\n")
    cpu, wall = (
        statistics.median(
            one[kind] / other[kind] for one, other in zip(seconds[SUGGEST], seconds[SUMMARIZE], strict=True)
        )
        for kind in (0, 1)
    )
    sys.stdout.write(f"| ratio | {cpu:.2f} | {wall:.2f} | |\n")


if __name__ == "__main__":
    main()
