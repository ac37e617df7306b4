"""What a start and large taxonomies take, in whole processes: CPU and wall seconds, and memory, beside DuckDB alone.

    python -m tests.benchmarks.start [--values 1000000] [--memory-limit 1GB] [--repeats 5] [--before CHECKOUT]

The processes run in turn, and medians are printed. Adult is ARX's (SQLANON_DATA), with its hierarchies. The file of a
large taxonomy has a line for each value: a code, one of 1,000 groups, one of 20 areas, and the top. With a checkout of
another commit, its processes alternate with those of this one, and the ratio of CPU seconds is printed, too.
"""

import argparse
import tempfile
from functools import partial
from pathlib import Path
from statistics import median

from tests.benchmarks.lakes import PEOPLE, blow_up
from tests.benchmarks.processes import in_own_process, in_turn, run_python, say
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

LARGE = """
import sys, tempfile
file, limit = sys.argv[1:]
database = f"{tempfile.mkdtemp(dir=file + '.databases')}/w.duckdb"
"""

LARGE_COPIED = f"""{LARGE}
import duckdb
connection = duckdb.connect(database, config={{"memory_limit": limit}})
connection.read_csv(file, header=False, all_varchar=True, sep=";").create("taxonomy")
"""

LARGE_LOADED = f"""{LARGE}
import sqlanon as sa
sa.connect(database, memory_limit=limit).taxonomies.load("code", file)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--values", type=int, default=1_000_000)
    parser.add_argument("--memory-limit", default="1GB", help="while a large taxonomy is loaded")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--before", type=Path, help="a checkout of another commit, to alternate with")
    arguments = parser.parse_args()
    checkouts = [None] if arguments.before is None else [None, arguments.before.resolve()]
    with tempfile.TemporaryDirectory() as folder:
        for programs in (starts(Path(folder)), large(Path(folder), arguments.values, arguments.memory_limit)):
            show(programs, checkouts, arguments.repeats)


def starts(folder: Path) -> dict[str, list[str]]:
    source, target = folder / "adult.parquet", folder / "release.parquet"
    in_own_process(blow_up, str(source), PEOPLE, ARX_COLUMNS, True)
    given = [str(DATA / "adult_arx" / "hierarchies"), str(source), str(target), *ARX_COLUMNS]
    return {
        "Python with DuckDB": ["-c", "import duckdb; duckdb.connect()"],
        "sqlanon --version": ["-m", "sqlanon", "--version"],
        "import": ["-c", "import sqlanon"],
        "import and connect": ["-c", CONNECTED],
        "the same, and nine taxonomies": ["-c", LOADED, *given],
        "connect, and nine taxonomies one by one": ["-c", ONE_BY_ONE, *given],
        "connect, nine taxonomies at once, and Adult": ["-c", RELEASED, *given],
        "20 sessions, a small run each": ["-c", SMALL],
    }


def large(folder: Path, values: int, limit: str) -> dict[str, list[str]]:
    file = folder / "codes.csv"
    with file.open("w", encoding="utf-8") as lines:
        lines.writelines(f"code{n:07};group{n % 1000:04};area{n % 20:02};*\n" for n in range(values))
    Path(f"{file}.databases").mkdir()
    codes = {"plain DuckDB reads a large file": LARGE_COPIED, "load it as a taxonomy": LARGE_LOADED}
    return {name: ["-c", code, str(file), limit] for name, code in codes.items()}


def show(programs: dict[str, list[str]], checkouts: list[Path | None], repeats: int) -> None:
    """A table of what programs take, each beside the first."""
    alternated = {
        (name, code): partial(run_python, program, code) for name, program in programs.items() for code in checkouts
    }
    found = in_turn(alternated, repeats)
    say(f"\n| | CPU | wall | peak | CPU beside the first | beside the other commit |\n|{' --- |' * 6}")
    first = None
    for name in programs:
        taken = found[name, None]
        cpu, wall, peak = (median(getattr(each, figure) for each in taken) for figure in ("cpu", "wall", "peak"))
        first = first or cpu
        pairs = (zip(taken, found[name, other], strict=True) for other in checkouts[1:])
        ratios = "".join(f"{median(one.cpu / two.cpu for one, two in each):.2f} x" for each in pairs)
        say(f"| {name} | {cpu:.2f} s | {wall:.2f} s | {peak / 2**20:.0f} MiB | {cpu / first:.2f} x | {ratios} |")


if __name__ == "__main__":
    main()
