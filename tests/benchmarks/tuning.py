"""What tuned constants are worth: the CPU seconds of whole runs with half and with twice the value, against the value.

    python -m tests.benchmarks.tuning [NAME ...] [--repeats 3] [--folder DIR]

Every run is a process of its own; the three values take turns. A ratio below 1 says that another value does better, and
two of about 1 that the value hardly matters on that workload. Constants that name this benchmark were set by it.
"""

import argparse
import importlib
import statistics
import sys
import tempfile
import time
from pathlib import Path

import sqlanon as sa
from tests.benchmarks.lakes import blow_up, load_taxonomies
from tests.benchmarks.processes import in_own_process, say
from tests.conftest import ARX_COLUMNS

FACTORS = (1.0, 0.5, 2.0)


WORKLOADS = {"small": (33_000, ARX_COLUMNS), "big": (1_000_000, ARX_COLUMNS), "lattice": (33_000, ARX_COLUMNS[:7])}
"""Rows and quasi-identifiers of copies of ARX's Adult."""

CONSTANTS = {
    "BATCH_SIZE": ("search.problem", ("small", "big")),
    "SMOOTHING": ("search.boxes", ("small", "big")),
    "INFORMATION_SCALE": ("search.boxes", ("small", "big")),
    "MIN_TARGET": ("search.boxes", ("big",)),
    "SAFETY": ("search.optimal", ("small", "big")),
    "MIN_GAIN": ("search.optimal", ("small", "big")),
    "WORTH": ("search.optimal", ("small", "big")),
    "PROMISING_NODES": ("search.optimal", ("small", "big")),
    "BIG": ("nodes.roll_up", ("big",)),
    "STATEMENT_ROWS": ("nodes.roll_up", ("big", "small")),
    "STEP_ROWS": ("nodes.roll_up", ("big",)),
    "CLASS_ROWS": ("nodes.roll_up", ("big",)),
    "RECENT_NODES": ("nodes.roll_up", ("big",)),
    "LOOK_ROWS": ("nodes.roll_up", ("big",)),
    "KNOWN_NODES": ("nodes.roll_up", ("big",)),
    "MAKING": ("nodes.roll_up", ("big",)),
    "BUDGET": ("nodes.roll_up", ("big",)),
    "UPPER_SHARE": ("nodes.roll_up", ("big",)),
    "PREPARED_NODES": ("nodes.counting", ("big",)),
    "NODES_AT_ONCE": ("nodes.counting", ("lattice",)),
    "COUNTED_CELLS": ("nodes.counting", ("lattice",)),
    "GROUPED": ("release.publishing", ("small", "big")),
    "MAX_STEPS": ("queries.coded_labels", ("small", "big")),
}
"""Where each is, below the package, and the workloads that it can matter to."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="all constants if none is named")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the data is made and kept")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in CONSTANTS]:
        parser.error(f"no such constants: {', '.join(unknown)}; there are {', '.join(CONSTANTS)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        for name in arguments.names or CONSTANTS:
            for workload in CONSTANTS[name][1]:
                say(line(name, workload, arguments.repeats, folder))


def line(name: str, workload: str, repeats: int, folder: Path) -> str:
    """One line: the seconds with the value as it is, and the ratios with half and twice of it."""
    rows, columns = WORKLOADS[workload]
    source = folder / f"adult_{len(columns)}_{rows}.parquet"
    if not source.exists():
        blow_up(source, rows, columns, adult=True)
    runs = [
        [in_own_process(cpu_seconds, str(source), workload, name, factor) for factor in FACTORS] for _ in range(repeats)
    ]
    as_it_is, half, twice = (statistics.median(column) for column in zip(*runs, strict=True))
    return f"{name:18} {workload:8} {as_it_is:6.2f} s   half {half / as_it_is:5.2f}   twice {twice / as_it_is:5.2f}"


def change(name: str, factor: float) -> None:
    module = importlib.import_module(f"sqlanon.{CONSTANTS[name][0]}")
    importlib.import_module("sqlanon.api.session")
    value = getattr(module, name)
    changed = value * factor if isinstance(value, float) else max(1, round(value * factor))
    for each in list(sys.modules.values()):
        if each.__name__.startswith("sqlanon.") and getattr(each, name, None) is value:
            setattr(each, name, changed)


def cpu_seconds(source: str, workload: str, name: str, factor: float) -> float:
    """What a run takes of all processors with a changed constant, its start left out."""
    change(name, factor)
    _, columns = WORKLOADS[workload]
    policy = sa.Policy(
        quasi_identifiers=columns,
        privacy=[sa.KAnonymity(5)],
        quality=sa.LM(aggregate="geometric"),
        suppression_limit=0.05,
    )
    with tempfile.TemporaryDirectory() as scratch, sa.connect() as session:
        load_taxonomies(session, columns, adult=True)
        start = time.process_time()
        if workload == "lattice":
            session.lattice(source, policy)
        else:
            session.anonymize(source, policy, Path(scratch) / "release.parquet")
        return time.process_time() - start


if __name__ == "__main__":
    main()
