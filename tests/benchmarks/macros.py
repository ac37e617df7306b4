"""How fast macros are, each beside the SQL that one would write by hand (macros.sql).

    python -m tests.benchmarks.macros [--rows 1000000] [--only generalize]

Macro and hand-written query take turns in one process, and their rows are written to a table. Prints the medians in
seconds and their ratio; a ratio of 1 is the speed of the SQL written by hand. ``generalize`` is counted, too, where a
planner may leave out the labels that nobody looks at.
"""

import argparse
import statistics
from dataclasses import dataclass
from pathlib import Path

import duckdb

from sqlanon.queries.kit.macros import install_script
from tests.benchmarks.processes import say, seconds

FOLDER = Path(__file__).parent
REPEATS = 3


@dataclass(frozen=True)
class Comparison:
    """A query with a macro, and the query by hand that has the same rows."""

    name: str
    macro: str
    by_hand: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", default="", help="the start of the names to run")
    arguments = parser.parse_args()
    with duckdb.connect() as connection:
        make_tables(connection, arguments.rows)
        for comparison in comparisons():
            if comparison.name.startswith(arguments.only):
                compare(connection, comparison)


def comparisons() -> list[Comparison]:
    text = (FOLDER / "macros.sql").read_text(encoding="utf-8")
    found = []
    for part in text.split("-- compare: ")[1:]:
        name, both = part.split("\n", 1)
        macro, by_hand = (query.strip().removesuffix(";") for query in both.split("-- by hand\n"))
        found.append(Comparison(name, macro, by_hand))
    return found


def make_tables(connection: duckdb.DuckDBPyConnection, rows: int) -> None:
    connection.execute(install_script())
    connection.execute("SET VARIABLE people_rows = $1", [rows])
    connection.execute((FOLDER / "macros_data.sql").read_text(encoding="utf-8"))


def compare(connection: duckdb.DuckDBPyConnection, comparison: Comparison) -> None:
    """Print how long both take, as a table and, of ``generalize``, as a count."""
    uses = {"table": "CREATE OR REPLACE TEMP TABLE compared AS {}"}
    if comparison.name.startswith("generalize"):
        uses["count"] = "SELECT count(*) FROM ({})"
    for into, use in uses.items():
        macro, by_hand = in_turns(connection, use.format(comparison.macro), use.format(comparison.by_hand))
        name = f"{comparison.name}, {into}"
        say(f"{name:<36} {macro:8.3f} s {by_hand:8.3f} s by hand {macro / by_hand:8.2f} x")


def in_turns(connection: duckdb.DuckDBPyConnection, *queries: str) -> list[float]:
    """The median seconds of queries that take turns, after one turn to warm up."""
    turns = [
        [seconds(lambda query=query: connection.execute(query).fetchall()) for query in queries]
        for _ in range(REPEATS + 1)
    ]
    return [statistics.median(times) for times in zip(*turns[1:], strict=True)]


if __name__ == "__main__":
    main()
