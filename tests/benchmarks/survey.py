"""What the risk of a sample costs beside a plain GROUP BY, from Parquet: seconds of CPU, and memory.

    python -m tests.benchmarks.survey [--only SUDA] [--rows 1000000]

Each line is two processes, both with the macros: one asks, and one counts the same keys and sums weights by a plain
GROUP BY. CPU is that of a whole process, its ratio that of the queries alone. The rows are invented people with
weights, three to a household.
"""

import argparse
import tempfile
import time
from pathlib import Path

import duckdb

from sqlanon.queries.kit.macros import install_script
from tests.benchmarks.processes import in_own_process, invented, peak_bytes, say

PEOPLE = """
COPY (
    WITH draws AS (
        SELECT person, list_transform(range(11), lambda n: hash(concat_ws(' ', person, n)) / pow(2, 64)) AS draw
        FROM range($1) AS people (person)
    )

    SELECT
        person // 3 AS home,
        20 + person * 7919 % 181 AS weight,
        CAST(18 + floor(36 * (draw[1] + draw[2])) AS INTEGER) AS age,
        CASE WHEN draw[3] < 0.5 THEN 'f' ELSE 'm' END AS sex,
        CAST(floor(16 * pow(draw[4], 3)) AS INTEGER) AS region,
        CAST(floor(8 * sqrt(draw[5] * draw[1])) AS INTEGER) AS education,
        CAST(floor(10 * draw[6] * draw[5]) AS INTEGER) AS occupation,
        CAST(floor(5 * pow(draw[7], 2) * draw[1]) AS INTEGER) AS marital,
        CAST(floor(6 * pow(draw[8], 4)) AS INTEGER) AS children,
        CAST(floor(12 * pow(draw[9], 12)) AS INTEGER) AS birthplace,
        draw[10] < 0.3 AS owner,
        CAST(floor(9 * pow(draw[11], 4) * draw[4]) AS INTEGER) AS trade,
        age // 7 AS years
    FROM draws
) TO '{}' (FORMAT parquet)
"""
KEYS = ["age", "sex", "region", "education", "occupation", "marital", "children", "birthplace", "owner", "trade"]
PLAIN = "SELECT count(*), max(people) FROM (SELECT {keys}, count(*), sum(weight) AS people FROM people GROUP BY ALL)"
RISK = "SELECT sum(class_size * risk) FROM anon.individual_risk('people', {listed}, 'weight')"
HOMES = "SELECT sum(risk), sum(member_count * risk) FROM anon.household_risk('people', {listed}, 'weight', 'home')"
BRACKET = "FROM anon.global_risk('people', {listed}, 'weight')"
SUDA = "SELECT count(*), sum(score), sum(len(minimal_sets)) FROM anon.suda('people', {listed}, {size})"
MEASURES = (
    ("individual and household risk", 1_000_000, KEYS[:6], "NULL", (RISK, HOMES)),
    ("bracket", 1_000_000, KEYS[:6], "NULL", (BRACKET,)),
    ("SUDA", 1_000_000, KEYS[:8], "NULL", (SUDA,)),
    ("SUDA of coarse ages", 1_000_000, ["years", *KEYS[1:8]], "NULL", (SUDA,)),
    ("SUDA to size 3", 1_000_000, KEYS, "3", (SUDA,)),
    ("individual and household risk", 10_000_000, KEYS[:7], "NULL", (RISK, HOMES)),
)
"""A name, rows, keys, the largest size of a set, and what is asked."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="the start of the names to run")
    parser.add_argument("--rows", type=int, default=10_000_000, help="the most rows to run")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, rows, keys, size, queries in MEASURES:
            if name.startswith(arguments.only) and rows <= arguments.rows:
                path = str(Path(folder) / f"{rows}.parquet")
                if not Path(path).exists():
                    in_own_process(invented, PEOPLE, path, rows)
                show(f"{name}, {rows:,} rows, {len(keys)} keys", path, keys, size, queries)


def show(name: str, path: str, keys: list[str], size: str, queries: tuple[str, ...]) -> None:
    used = {"keys": ", ".join(keys), "listed": repr(keys), "size": size}
    plain, plain_asked, plain_peak, cells = in_own_process(taken, path, [PLAIN.format(**used)])
    cpu, asked, peak, _ = in_own_process(taken, path, [query.format(**used) for query in queries])
    base = f"plain GROUP BY {plain:.2f} CPU s, {plain_peak / 1e6:.0f} MB"
    say(f"{name}, {cells:,} classes: {cpu:.2f} CPU s, {peak / 1e6:.0f} MB; {base}; {asked / plain_asked:.1f} x")


def taken(path: str, queries: list[str]) -> tuple[float, float, int, float]:
    """Seconds of CPU since the process began, and of the queries, the most bytes in use, and the first figure."""
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(install_script())
        connection.read_parquet(path).create_view("people")
        start = time.process_time()
        found = [connection.execute(query).fetchall() for query in queries]
        asked = time.process_time() - start
    return time.process_time(), asked, peak_bytes(), found[0][0][0]


if __name__ == "__main__":
    main()
