"""What a start takes, in whole processes: CPU and wall seconds, and CPU beside Python that connects to DuckDB alone.

    python -m tests.benchmarks.start [--repeats 5] [--before CHECKOUT]

The processes run in turn, and medians are printed. Adult is ARX's (SQLANON_DATA), with its hierarchies. With a checkout
of another commit, its processes alternate with those of this one, and the ratio of CPU seconds is printed, too.
"""

import argparse
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path

from tests.benchmarks.lakes import PEOPLE, blow_up
from tests.benchmarks.processes import Taken, in_turn, run_python
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

ONE_BY_ONE = f"""{CONNECTED}
folder, columns = Path(sys.argv[1]), sys.argv[4:]
for name in columns:
    session.taxonomies.load(name, folder / f"{{name}}.csv")
"""

SMALL = """
import sqlanon as sa
policy = sa.Policy(quasi_identifiers=["age", "sex"], privacy=[sa.KAnonymity(30)])
people = "SELECT range % 10 AS age, CASE WHEN range % 2 = 0 THEN 'f' ELSE 'm' END AS sex FROM range(200)"
for _ in range(20):
    with sa.connect() as session:
        session.taxonomies.load("age", sa.Taxonomy.intervals([5], minimum=0, maximum=9))
        session.taxonomies.load("sex", sa.Taxonomy.from_rows([("f", "*"), ("m", "*")]))
        session.anonymize(people, policy, "released")
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
SINGLY = "connect, and nine taxonomies one by one"
ADULT = "connect, nine taxonomies at once, and Adult"

PROGRAMS = {
    PLAIN: ["-c", "import duckdb; duckdb.connect()"],
    "sqlanon --version": ["-m", "sqlanon", "--version"],
    "import": ["-c", "import sqlanon"],
    CONNECT: ["-c", CONNECTED],
    TAXONOMIES: ["-c", LOADED],
    SINGLY: ["-c", ONE_BY_ONE],
    ADULT: ["-c", RELEASED],
    "20 sessions, a small run each": ["-c", SMALL],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--before", type=Path, help="a checkout of another commit, to alternate with")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "adult.parquet"), Path(folder, "release.parquet")
        blow_up(source, PEOPLE, ARX_COLUMNS, adult=True)
        given = [str(DATA / "adult_arx" / "hierarchies"), str(source), str(target), *ARX_COLUMNS]
        for name in (TAXONOMIES, SINGLY, ADULT):
            PROGRAMS[name] += given
        checkouts = [None] if arguments.before is None else [None, arguments.before.resolve()]
        programs = {
            (name, code): partial(run_python, program, code) for name, program in PROGRAMS.items() for code in checkouts
        }
        show(in_turn(programs, arguments.repeats), checkouts[1:])


Found = dict[tuple[str, Path | None], list[Taken]]


def show(found: Found, others: list[Path | None]) -> None:
    """The table, and what nine taxonomies take by themselves."""
    plain = median_cpu(found[PLAIN, None])
    heading = "".join(" | beside the other commit" for _ in others)
    sys.stdout.write(
        f"| | CPU | wall | CPU beside plain{heading} |\n| --- | --- | --- | ---{' | ---' * len(others)} |\n"
    )
    for name in PROGRAMS:
        taken = found[name, None]
        cpu, wall = median_cpu(taken), statistics.median(each.wall for each in taken)
        pairs = (zip(taken, found[name, other], strict=True) for other in others)
        ratios = "".join(f" | {statistics.median(one.cpu / two.cpu for one, two in each):.2f} x" for each in pairs)
        sys.stdout.write(f"| {name} | {cpu:.2f} s | {wall:.2f} s | {cpu / plain:.2f} x{ratios} |\n")
    alone = median_cpu(found[TAXONOMIES, None]) - median_cpu(found[CONNECT, None])
    sys.stdout.write(f"| nine taxonomies alone | {alone:.2f} s | | {alone / plain:.2f} x{' |' * len(others)} |\n")


def median_cpu(taken: list[Taken]) -> float:
    return statistics.median(each.cpu for each in taken)


if __name__ == "__main__":
    main()
