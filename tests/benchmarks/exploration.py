"""What an exploration costs: to open, to search, and for one node, as multiples of a plain GROUP BY; and its memory.

    python -m tests.benchmarks.exploration [ROWS ...]

Each number of rows is a process of its own, with invented people of five quasi-identifiers and about as many cells as
rows; of the first two the whole lattice is examined, by which MAX_CELLS and MIN_CELLS were set. The nodes are 20 at
random, and 20 steps of a slider from the best node.
"""

import resource
import statistics
import sys
import time
from collections.abc import Callable
from random import Random
from typing import Any

import sqlanon as sa
from tests.benchmarks.processes import in_own_process, say

RANDOM = Random(1)  # noqa: S311 - which nodes are asked
PEOPLE = """
CREATE TABLE people AS
WITH draws AS (
    SELECT person, list_transform(range(5), lambda n: hash(concat_ws(' ', person, n)) / pow(2, 64)) AS draw
    FROM range($1) AS people (person)
)

SELECT
    person,
    CAST(18 + floor(36 * (draw[1] + draw[2])) AS INTEGER) AS age,
    printf('%05d', CAST(floor(100000 * pow(draw[3], 1.5)) AS INTEGER)) AS zip,
    DATE '2010-01-01' + CAST(floor(4449 * draw[4]) AS INTEGER) AS seen,
    CASE WHEN draw[5] < 0.5 THEN 'f' ELSE 'm' END AS sex,
    ['A', 'B', 'C', 'D', 'E'][1 + CAST(floor(5 * pow(draw[1] * draw[5], 0.5)) AS INTEGER)] AS ward
FROM draws
"""
PLAIN = "SELECT count(*) FROM (SELECT age, zip, seen, sex, ward, count(*) FROM people GROUP BY ALL) AS classes"
POLICY = sa.Policy(
    quasi_identifiers=["age", "zip", "seen", "sex", "ward"],
    identifiers=["person"],
    privacy=[sa.KAnonymity(5)],
    suppression_limit=0.05,
    taxonomies={
        "age": {"kind": "intervals", "widths": [5, 10, 20, 40]},
        "zip": {"kind": "prefixes", "keep": [4, 3, 2, 1]},
        "seen": {"kind": "dates"},
        "sex": {"kind": "flat"},
        "ward": {"kind": "flat"},
    },
)


def main() -> None:
    for rows in [*map(int, sys.argv[1:])] or [1_000, 40_000, 1_000_000]:
        say(in_own_process(line, rows))


def line(rows: int) -> str:
    with sa.connect() as session:
        session.connection.execute("SET enable_progress_bar = false")
        session.connection.execute(PEOPLE, [rows])
        session.connection.execute(PLAIN).fetchall()
        plain = seconds(lambda: session.connection.execute(PLAIN).fetchall())
        start = time.perf_counter()
        with session.exploration("people", POLICY) as found:
            opened = time.perf_counter() - start
            first = seconds(lambda: found.search(ks=(), stop=lambda: bool(found.curve())))
            others = seconds(found.search)
            nodes = [{each.name: RANDOM.randint(each.least, each.most) for each in found.columns} for _ in range(20)]
            anywhere = [seconds(lambda node=node: found.at(node)) for node in nodes]  # type: ignore[misc]
            slider = [seconds(lambda node=node: found.at(node)) for node in steps(found)]  # type: ignore[misc]
            counts = f"{rows:,} rows, {found.cell_count:,} cells, {found.node_count:,} nodes"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    node = [f"{statistics.median(each):.3f} ({max(each):.3f}) s" for each in (anywhere, slider)]
    ratio = statistics.median(anywhere) / plain
    return (
        f"{counts}: plain {plain:.3f} s, open {opened:.1f} s, first k {first:.1f} s, all {others:.1f} s, "
        f"a node {node[0]}, {ratio:.1f} plain; a slider {node[1]}; {peak:.0f} MB"
    )


def steps(found: sa.Exploration) -> list[dict[str, int]]:
    best = found.best()
    assert best is not None
    node, walked = dict(best.node), []
    for _ in range(20):
        column = RANDOM.choice(found.columns)
        node[column.name] = min(column.most, max(column.least, node[column.name] + RANDOM.choice((-1, 1))))
        walked.append({**node})
    return walked


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
