"""A run whose warehouse lists other releases of its data set, beside one whose policy asks for no comparison.

    python -m tests.benchmarks.others [--rows 30162 1000000] [--repeats 5] [--folder DIR]

ARX's Adult (SQLANON_DATA), as in tests.benchmarks.runs; k = 20, 10 % suppressed, beside others at k = 5 to 9. Medians
of CPU seconds in one process, with and without a comparison: with one other release, with five, and with one that has
three quasi-identifiers more, for which the source is read once more.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlanon as sa
from tests.benchmarks.runs import Setting, made
from tests.conftest import ARX_COLUMNS, DATA

HIERARCHIES = DATA / "adult_arx" / "hierarchies"
FEWER = ARX_COLUMNS[:6]


def main() -> None:
    """Measure every size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[30_162, 1_000_000])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where the data is made and kept")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.folder or Path(temporary)).resolve()
        for rows in arguments.rows:
            source = made(Setting(folder, 1, None, None), rows)
            for columns, others in ((ARX_COLUMNS, 1), (ARX_COLUMNS, 5), (FEWER, 1)):
                show(rows, columns, others, ratios(source, columns, others, arguments.repeats))


def show(rows: int, columns: list[str], others: int, seconds: tuple[float, float]) -> None:
    alone, beside = seconds
    sys.stdout.write(
        f"{rows:,} rows, {len(columns)} columns beside {others} of {len(ARX_COLUMNS)}: {alone:.2f} CPU s alone, "
        f"{beside:.2f} beside, {beside / alone:.2f} times\n"
    )


def ratios(source: Path, columns: list[str], others: int, repeats: int) -> tuple[float, float]:
    """The seconds of a run without others and with them, in turn."""
    with warehouse(source, others) as session:
        taken: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(repeats):
            for compares, seconds in taken.items():
                before = cpu()
                release = session.anonymize(source, policy(columns, 20, compares=compares), "present", replace=True)
                seconds.append(cpu() - before)
                assert release.report.findings is not None
                found = release.report.findings.other_releases
                assert sum(each.joint is not None for each in found) == (others if compares else 0)
    return statistics.median(taken[False]), statistics.median(taken[True])


@contextmanager
def warehouse(source: Path, others: int) -> Iterator[sa.Session]:
    """A warehouse that lists some releases of a source."""
    with tempfile.TemporaryDirectory() as folder, sa.connect(Path(folder) / "adult.duckdb") as session:
        session.taxonomies.load_all({name: str(HIERARCHIES / f"{name}.csv") for name in ARX_COLUMNS})
        for number in range(others):
            session.anonymize(source, policy(ARX_COLUMNS, 5 + number, compares=False), f"other_{number}")
        yield session


def policy(columns: list[str], k: int, *, compares: bool) -> sa.Policy:
    return sa.Policy(
        quasi_identifiers=columns,
        identifiers=[name for name in ARX_COLUMNS if name not in columns],
        suppression_limit=0.1,
        quality=sa.LM(aggregate="geometric"),
        privacy=[sa.KAnonymity(k)],
        earlier=() if compares else "none",
    )


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
