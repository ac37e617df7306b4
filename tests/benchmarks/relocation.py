"""How far relocation moves rows, and what it takes, by how many large classes each small one is compared with.

    python -m tests.benchmarks.relocation [--rows 33000 1000000] [--neighbours 4 16 64 256] [--folder DIR]

Over copies of ARX's Adult (SQLANON_DATA) with k = 5 and a limit of 5 %. A line for each number of neighbours: the mean
distance as a ratio of that where all are compared, and the CPU seconds to move and of the whole run.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import sqlanon as sa
from sqlanon.methods.relocation import moving
from sqlanon.methods.relocation import relocation_run as method
from sqlanon.methods.relocation.relocation_run import RelocationReport
from tests.benchmarks.lakes import blow_up, load_taxonomies
from tests.conftest import ARX_COLUMNS

ALL = 1 << 62


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[33_000, 1_000_000])
    parser.add_argument("--neighbours", type=int, nargs="+", default=[4, 16, 64, 256])
    parser.add_argument("--folder", type=Path, help="where the data is made and kept")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        for rows in arguments.rows:
            source = folder / f"adult_{len(ARX_COLUMNS)}_{rows}.parquet"
            if not source.exists():
                blow_up(source, rows, ARX_COLUMNS, adult=True)
            whole, *least = measured(source, ALL)
            sys.stdout.write(line(rows, "all", whole, whole, *least))
            for count in arguments.neighbours:
                found, *seconds = measured(source, count)
                sys.stdout.write(line(rows, f"{count:,}", found, whole, *seconds))


def line(rows: int, neighbours: str, found: RelocationReport, whole: RelocationReport, *seconds: float) -> str:
    distance, least = found.mean_distance, whole.mean_distance
    ratio = distance / least if distance and least else 1
    moving_seconds, all_seconds = seconds
    return (
        f"{rows:>10,} rows   {found.relocated_classes:>7,} to {found.class_count:>7,} classes   "
        f"{neighbours:>5} neighbours   distance {ratio:.3f}   {moving_seconds:6.2f} of {all_seconds:6.2f} s\n"
    )


def measured(source: Path, neighbours: int) -> tuple[RelocationReport, float, float]:
    """The report of a run, and the CPU seconds to move and of all of it."""
    taken: list[float] = []
    policy = sa.Policy(
        quasi_identifiers=ARX_COLUMNS[:-1], sensitive=ARX_COLUMNS[-1:], method=sa.Relocation(5, limit=0.05)
    )
    limits = patch.multiple(moving, MAX_PAIRS=0, MIN_NEIGHBOURS=neighbours)
    with tempfile.TemporaryDirectory() as scratch, sa.connect() as session:
        load_taxonomies(session, ARX_COLUMNS, adult=True)
        with limits, patch.object(method, "move", timed(moving.move, taken)):
            start = time.process_time()
            report = session.anonymize(str(source), policy, Path(scratch) / "release.parquet").report
            seconds = time.process_time() - start
    assert isinstance(report, RelocationReport)
    return report, sum(taken), seconds


def timed(function: Callable[..., Any], taken: list[float]) -> Callable[..., Any]:
    def noting(*given: Any) -> Any:
        start = time.process_time()
        try:
            return function(*given)
        finally:
            taken.append(time.process_time() - start)

    return noting


if __name__ == "__main__":
    main()
