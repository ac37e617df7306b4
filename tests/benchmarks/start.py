"""What a start takes, in whole processes: CPU and wall seconds, and CPU beside Python that connects to DuckDB alone.

    python -m tests.benchmarks.start [--repeats 5]

The processes run in turn, and medians are told. Adult is ARX's (SQLANON_DATA), with its hierarchies.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path

from tests.benchmarks.lakes import PEOPLE, blow_up
from tests.benchmarks.processes import in_turn, run_python
from tests.conftest import ARX_COLUMNS, DATA

CONNECTED = """
import sys
from pathlib import Path
import sqlanon as sa
session = sa.connect()
"""

LOADED = f"""{CONNECTED}
folder, columns = Path(sys.argv[1]), sys.argv[4:]
session.taxonomies.load_all({{name: folder / f"{{name}}.csv" for name in columns}})
"""

RELEASED = f"""{LOADED}
policy = sa.Policy(
    quasi_identifiers=columns,
    privacy=[sa.KAnonymity(5)],
    quality=sa.LM(aggregate="geometric"),
    suppression_limit=0.05,
)
session.anonymize(sys.argv[2], policy, into=sys.argv[3], replace=True)
"""

PLAIN = "Python with DuckDB"
CONNECT = "import and connect"
TAXONOMIES = "the same, and nine taxonomies"
ADULT = "the same, and Adult"

PROGRAMS = {
    PLAIN: ["-c", "import duckdb; duckdb.connect()"],
    "sqlanon --version": ["-m", "sqlanon", "--version"],
    "import": ["-c", "import sqlanon"],
    CONNECT: ["-c", CONNECTED],
    TAXONOMIES: ["-c", LOADED],
    ADULT: ["-c", RELEASED],
}


def main() -> None:
    """Measure every program and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "adult.parquet"), Path(folder, "release.parquet")
        blow_up(source, PEOPLE, ARX_COLUMNS, adult=True)
        given = [str(DATA / "adult_arx" / "hierarchies"), str(source), str(target), *ARX_COLUMNS]
        for name in (TAXONOMIES, ADULT):
            PROGRAMS[name] += given
        found = in_turn({name: partial(run_python, program) for name, program in PROGRAMS.items()}, repeats)
    medians = {
        name: (statistics.median(each.cpu for each in taken), statistics.median(each.wall for each in taken))
        for name, taken in found.items()
    }
    show(medians)


def show(medians: dict[str, tuple[float, float]]) -> None:
    """The table, and what nine taxonomies take by themselves."""
    plain, _ = medians[PLAIN]
    sys.stdout.write("| | CPU | wall | CPU beside plain |\n| --- | --- | --- | --- |\n")
    for name, (cpu, wall) in medians.items():
        sys.stdout.write(f"| {name} | {cpu:.2f} s | {wall:.2f} s | {cpu / plain:.2f} x |\n")
    alone = medians[TAXONOMIES][0] - medians[CONNECT][0]
    sys.stdout.write(f"| nine taxonomies alone | {alone:.2f} s | | {alone / plain:.2f} x |\n")


if __name__ == "__main__":
    main()
