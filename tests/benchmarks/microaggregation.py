"""What microaggregation costs beside a plain GROUP BY, from Parquet: seconds of CPU, memory, and what groups lose.

    python -m tests.benchmarks.microaggregation [--rows 1000000] [--memory 2GB]

Each line is two processes: one groups the rows by their numbers, and one publishes groups of three. The numbers are
four correlated lognormal ones.
"""

import argparse
import tempfile
from pathlib import Path

import sqlanon as sa
from tests.benchmarks.perturbation import grouped, taken
from tests.benchmarks.processes import in_own_process, invented, say

FIRMS = """
COPY (
    WITH draws AS (
        SELECT firm, list_transform(range(5), lambda n: sqrt(-2 * ln(1 - hash(concat_ws(' ', firm, n)) / pow(2, 64)))
            * cos(2 * pi() * hash(concat_ws(' ', n, firm)) / pow(2, 64))) AS draw
        FROM range($1) AS firms (firm)
    )

    SELECT
        exp((draw[1] + draw[5]) / sqrt(2)) AS staff,
        exp((draw[2] + draw[5]) / sqrt(2)) AS sales,
        exp((draw[3] + draw[5]) / sqrt(2)) AS costs,
        exp((draw[4] + draw[5]) / sqrt(2)) AS assets,
        firm % 9 AS trade
    FROM draws
) TO '{}' (FORMAT parquet)
"""
NAMES = ["staff", "sales", "costs", "assets"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="how many rows there are")
    parser.add_argument("--memory", default="", help="DuckDB's memory_limit, beyond which tables go to disk")
    arguments = parser.parse_args()
    rows = arguments.rows
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "firms.parquet")
        in_own_process(invented, FIRMS, path, rows)
        plain, plain_peak, _ = in_own_process(grouped, path, NAMES)
        for block in (500, 1000):
            cpu, peak, lost = in_own_process(published, path, block, arguments.memory)
            say(
                f"{rows:,} rows, k = 3, blocks of {block:,}: {cpu:.1f} CPU s ({cpu / plain:.0f} x the plain GROUP BY, "
                f"{plain:.2f} CPU s, {plain_peak / 1e6:.0f} MB), {peak / 1e6:.0f} MB, SSE/SST {lost / 1e6:.5f}"
            )


def published(path: str, block: int, memory: str) -> tuple[float, int, int]:
    """Publish the rows; the figure is SSE/SST in millionths."""
    method = sa.Microaggregation(3, block=block)
    policy = sa.Policy(quasi_identifiers=NAMES, insensitive=["trade"], method=method)
    with sa.connect() as session:
        session.connection.execute("SET enable_progress_bar = false")
        if memory:
            session.connection.execute(f"SET memory_limit = '{memory}'")
        return taken(lambda: round(1e6 * (session.anonymize(path, policy, "released", listed=False).report.loss or 0)))


if __name__ == "__main__":
    main()
