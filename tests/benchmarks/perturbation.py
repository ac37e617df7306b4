"""What perturbed columns cost beside a plain GROUP BY, from Parquet: seconds of CPU, and memory.

    python -m tests.benchmarks.perturbation [--only PRAM] [--rows 1000000]

Each line is three processes: one groups the rows by the perturbed columns and their strata, one publishes them with
their true values, and one perturbs and publishes them. What the perturbation took is the difference of the last two.
The rows are invented people of invented trades, in two regions.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

import sqlanon as sa
from tests.benchmarks.processes import in_own_process, invented, peak_bytes, say

PEOPLE = """
COPY (
    WITH draws AS (
        SELECT person, list_transform(range(7), lambda n: hash(concat_ws(' ', person, n)) / pow(2, 64)) AS draw
        FROM range($1) AS people (person)
    )

    SELECT
        CAST(18 + floor(36 * (draw[1] + draw[2])) AS INTEGER) AS age,
        CASE WHEN draw[3] < 0.5 THEN 'f' ELSE 'm' END AS sex,
        CASE WHEN draw[4] < 0.3 THEN 'north' ELSE 'south' END AS region,
        'trade ' || CAST(floor(14 * pow(draw[5], 2)) AS INTEGER) AS occupation,
        CAST(exp(9 + 1.5 * (draw[6] + draw[7] + draw[1] - draw[2])) AS BIGINT) AS income,
        exp(7 + draw[6] + draw[2]) AS rent,
        exp(8 + 3 * (draw[7] + draw[3] * draw[6])) AS wealth,
        exp(4 + 2 * draw[6] * draw[4]) AS tax
    FROM draws
) TO '{}' (FORMAT parquet)
"""
NUMBERS = ["rent", "wealth", "tax"]
CASES: tuple[tuple[str, dict[str, dict[str, Any]]], ...] = (
    ("PRAM, 14 values, 2 strata", {"occupation": {"kind": "pram", "within": ["region"]}}),
    ("PRAM, plain, most values change", {"occupation": {"kind": "pram", "form": "plain", "change": 0.9}}),
    ("microaggregation, k = 3", {"wealth": {"kind": "microaggregation"}}),
    ("microaggregation, k = 20, 2 strata", {"wealth": {"kind": "microaggregation", "k": 20, "within": ["region"]}}),
    ("swapping, 2 columns", {"income": {"kind": "swap", "together": ["rent"]}}),
    ("noise, correlated, 4 columns", {"income": {"kind": "noise", "form": "correlated", "together": NUMBERS}}),
    ("noise, masked, 4 columns, 2 strata", {"income": {"kind": "noise", "together": NUMBERS, "within": ["region"]}}),
)
"""A name, and the perturbation."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="the start of the names to run")
    parser.add_argument("--rows", type=int, default=1_000_000, help="how many rows there are")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "people.parquet")
        in_own_process(invented, PEOPLE, path, arguments.rows)
        for name, perturbation in CASES:
            if name.startswith(arguments.only):
                show(f"{name}, {arguments.rows:,} rows", path, perturbation)


def show(name: str, path: str, perturbation: dict[str, dict[str, Any]]) -> None:
    beside = (settings.get(role, ()) for settings in perturbation.values() for role in ("together", "within"))
    columns = [*perturbation, *(each for some in beside for each in some)]
    plain, plain_peak, _ = in_own_process(grouped, path, columns)
    run, run_peak, _ = in_own_process(published, path, {})
    cpu, peak, changed = in_own_process(published, path, perturbation)
    base = f"plain GROUP BY {plain:.2f} CPU s, {plain_peak / 1e6:.0f} MB"
    say(
        f"{name}, {changed:,} changed: {cpu - run:.2f} CPU s ({(cpu - run) / plain:.1f} x the {base}); with its run "
        f"{cpu:.2f} CPU s, {peak / 1e6:.0f} MB, without it {run:.2f} CPU s, {run_peak / 1e6:.0f} MB"
    )


def grouped(path: str, columns: list[str]) -> tuple[float, int, int]:
    query = f"SELECT count(*) FROM (SELECT {', '.join(columns)}, count(*) FROM '{path}' GROUP BY ALL)"
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        return taken(lambda: int(connection.execute(query).fetchall()[0][0]))


def published(path: str, perturbation: dict[str, Any]) -> tuple[float, int, int]:
    policy = {
        "quasi_identifiers": ["age", "sex"],
        "sensitive": ["occupation", "income"],
        "insensitive": ["region", *NUMBERS],
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "taxonomies": {"age": {"kind": "intervals", "widths": [5, 20]}, "sex": {"kind": "flat"}},
        "perturbation": perturbation,
    }
    with sa.connect() as session:
        session.connection.execute("SET enable_progress_bar = false")

        def run() -> int:
            made = session.anonymize(path, policy, "released", listed=False)
            return sum(each.changed for each in made.report.perturbed)

        return taken(run)


def taken(work: Callable[[], int]) -> tuple[float, int, int]:
    """Seconds of CPU of some work, the most bytes in use, and its figure."""
    start = time.process_time()
    found = work()
    return time.process_time() - start, peak_bytes(), found


if __name__ == "__main__":
    main()
