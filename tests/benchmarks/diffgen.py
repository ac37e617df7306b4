"""What DiffGen takes beside one plain GROUP BY of its columns: whole processes, in turn, over the same table.

    python -m tests.benchmarks.diffgen [--rows 30162 200000 1000000 10000000] [--sets 1000000] [--repeats 3]
        [--folder DIR]

UCI Adult (SQLANON_DATA) without unknown values: the 30,162 rows for training, or more, copies of all 45,222 in which
one to three attributes are drawn anew (Mohammed et al. 2013, "scalability"); 14 predictors, 15 specializations, ε = 1.
Then invented patients with ten codes each, of 1,000 in three levels of ten labels (item_sets.sql): 3 predictors, 10
specializations. Medians are printed, and the most memory; a round is its share of the search.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb

import sqlanon as sa
from sqlanon.papers import adult
from sqlanon.papers.adult import BOUNDS, predictors
from tests.benchmarks.lakes import write_copies
from tests.benchmarks.processes import Taken, in_turn, run_python
from tests.benchmarks.runs import median
from tests.conftest import DATA

TRAINING_ROWS = 30_162

DIFFGEN = "DiffGen"
PLAIN = "GROUP BY"
COUNT = """
import sys, duckdb
duckdb.connect().execute("CREATE TABLE counted AS SELECT *, count(*) FROM read_parquet(?) GROUP BY ALL", [sys.argv[1]])
"""

MAKE = """
import sys
from pathlib import Path
from tests.benchmarks.diffgen import make
make(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
"""

ADULT = f"""
quasi_identifiers = {json.dumps([*predictors()])}
sensitive = ["{adult.TARGET}"]

[method]
model = "diffgen"
specializations = 15

[method.numeric]
{"".join(f"{name} = {json.dumps(bounds)}{chr(10)}" for name, bounds in BOUNDS.items())}
"""

PATIENTS = """
quasi_identifiers = ["codes", "age", "ward"]
sensitive = ["outcome"]

[method]
model = "diffgen"
specializations = 10
numeric = { age = [0, 100] }
sets = ["codes"]
"""


def main() -> None:
    """Measure every table, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[TRAINING_ROWS, 200_000, 1_000_000, 10_000_000])
    parser.add_argument("--sets", type=int, nargs="*", default=[1_000_000], help="rows of tables with item sets")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the data is made and kept")
    arguments = parser.parse_args()
    sys.stdout.write("| rows | | seconds | CPU s | beside a GROUP BY | a round | peak memory | that of a GROUP BY |\n")
    sys.stdout.write("| --- | --- | --- | --- | --- | --- | --- | --- |\n")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for rows in arguments.rows:
            show(rows, "14 predictors", in_turn(programs(folder, "adult", rows), arguments.repeats))
        for rows in arguments.sets:
            show(rows, "10 items each", in_turn(programs(folder, "patients", rows), arguments.repeats))


def of_adult(folder: Path, rows: int) -> None:
    """Write the table of so many rows."""
    source = file_of(folder, "adult", rows)
    if not source.exists():
        training, test = adult.known_rows(DATA / "adult_uci", adult.COLUMNS)
        with duckdb.connect() as connection:
            whole = connection.from_arrow(training)
            if rows == TRAINING_ROWS:
                whole.write_parquet(str(source))
            else:
                whole.union(connection.from_arrow(test)).create("originals")
                write_copies(connection, source, rows, adult.COLUMNS)


def of_patients(folder: Path, rows: int) -> None:
    """Write the table of so many rows."""
    source = file_of(folder, "patients", rows)
    if not source.exists():
        query = Path(__file__).with_name("item_sets.sql").read_text(encoding="utf-8")
        with duckdb.connect() as connection:
            connection.sql(query, params=[rows]).write_parquet(str(source))


def file_of(folder: Path, name: str, rows: int) -> Path:
    """Where the table of so many rows is."""
    return folder / f"{name}_{rows}.parquet"


def make(folder: Path, name: str, rows: int) -> None:
    """Write a table, the warehouse with its taxonomies and its policy, what of them is not there yet."""
    {"adult": of_adult, "patients": of_patients}[name](folder, rows)
    if not (folder / f"{name}.duckdb").exists():
        with sa.connect(folder / f"{name}.duckdb") as session:
            session.taxonomies.load_all(taxonomies(name))
    (folder / f"{name}.toml").write_text({"adult": ADULT, "patients": PATIENTS}[name], encoding="utf-8")


def programs(folder: Path, name: str, rows: int) -> dict[str, Callable[[], Taken]]:
    """A run of the command line, which charges a ledger, and what it is compared with.

    All is made by a process of its own: what this one has in memory counts for all it starts.
    """
    run_python(["-c", MAKE, str(folder), name, str(rows)])
    warehouse, policy, source = folder / f"{name}.duckdb", folder / f"{name}.toml", file_of(folder, name, rows)
    options = ["--db", str(warehouse), "--policy", str(policy), "--into", str(folder / "release.parquet")]
    return {
        DIFFGEN: partial(run_python, ["-m", "sqlanon", "run", str(source), *options, "--replace-anything", "--json"]),
        PLAIN: partial(run_python, ["-c", COUNT, str(source)]),
    }


def taxonomies(name: str) -> dict[str, sa.Taxonomy]:
    """The taxonomies of a table."""
    if name == "adult":
        known = {name: each for name, each in predictors().items() if isinstance(each, sa.Taxonomy)}
        return {**known, adult.TARGET: sa.Taxonomy.flat(["<=50K", ">50K"])}
    codes = [[f"{code:03d}", f"{code // 10:02d}", f"{code // 100}", "*"] for code in range(1000)]
    return {
        "codes": sa.Taxonomy.from_rows(codes),
        "ward": sa.Taxonomy.from_rows([[f"ward {ward}", f"house {ward // 4}", "*"] for ward in range(8)]),
        "outcome": sa.Taxonomy.flat(["died", "left"]),
    }


def show(rows: int, table: str, found: dict[str, list[Taken]]) -> None:
    """A line for a table."""
    cpu, wall = (
        {name: median(getattr(each, figure) for each in taken) for name, taken in found.items()}
        for figure in ("cpu", "wall")
    )
    peak = {name: max(each.peak for each in taken) / 2**30 for name, taken in found.items()}
    reports = [json.loads(each.output)["report"] for each in found[DIFFGEN]]
    each_round = median(report["seconds"]["search"] / len(report["specialized"]) for report in reports)
    sys.stdout.write(
        f"| {rows:,} | {table} | {wall[DIFFGEN]:.1f} | {cpu[DIFFGEN]:.1f} | {wall[DIFFGEN] / wall[PLAIN]:.1f} ×, CPU "
        f"{cpu[DIFFGEN] / cpu[PLAIN]:.1f} × | {each_round:.2f} s | {peak[DIFFGEN]:.2f} GiB | {peak[PLAIN]:.2f} GiB |\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    main()
