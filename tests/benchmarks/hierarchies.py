"""Large files of taxonomies: ``sqlanon taxonomy load`` beside plain DuckDB that reads the same file into a table.

    python -m tests.benchmarks.hierarchies [--values 1000000] [--memory-limit 1GB] [--repeats 3]

A file has a line for each value: a code, one of 1,000 groups, one of 20 areas, and the top. Whole processes take turns,
each with a new database. Medians are printed.
"""

import argparse
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path

from tests.benchmarks.processes import Taken, in_turn, run_python

LOAD = "-m sqlanon taxonomy load code {file} --db {database} --memory-limit {limit} --json"

COPY = """
import sys, duckdb
file, database, limit = sys.argv[1:]
connection = duckdb.connect(database, config={"memory_limit": limit})
connection.read_csv(file, header=False, all_varchar=True, sep=";").create("taxonomy")
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--values", type=int, default=1_000_000)
    parser.add_argument("--memory-limit", default="1GB")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        found = measured(Path(temporary), arguments.values, arguments.memory_limit, arguments.repeats)
    plain, loaded = found["plain DuckDB"], found["sqlanon"]
    for name, taken in found.items():
        sys.stdout.write(f"{name}: {median(taken, 'wall'):.1f} s, {median(taken, 'peak') / 1e9:.2f} GB\n")
    ratios = (f"{median(loaded, figure) / median(plain, figure):.1f} x the {figure}" for figure in ("wall", "peak"))
    sys.stdout.write(f"sqlanon takes {', '.join(ratios)} of plain DuckDB\n")


def measured(folder: Path, values: int, limit: str, repeats: int) -> dict[str, list[Taken]]:
    file = folder / "codes.csv"
    with file.open("w", encoding="utf-8") as lines:
        lines.writelines(f"code{n:07};group{n % 1000:04};area{n % 20:02};*\n" for n in range(values))
    return in_turn({"plain DuckDB": partial(copy, file, limit), "sqlanon": partial(load, file, limit)}, repeats)


def load(file: Path, limit: str) -> Taken:
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        words = {"file": file, "database": Path(folder, "warehouse.duckdb"), "limit": limit}
        return run_python([word.format_map(words) for word in LOAD.split()])


def copy(file: Path, limit: str) -> Taken:
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        return run_python(["-c", COPY, str(file), str(Path(folder, "copy.duckdb")), limit])


def median(taken: list[Taken], figure: str) -> float:
    return statistics.median(getattr(each, figure) for each in taken)


if __name__ == "__main__":
    main()
