"""A billion rows within a few GB: how long a verified release takes, and how much memory.

    python -m tests.benchmarks.billion [--copies 3300] [--files 10] [--memory-limit 4GB] [--folder DIR]

Makes the data itself as :mod:`tests.benchmarks.lakes` does: invented people with 9 quasi-identifiers, 30,162 a copy,
so that 10 files of 3,300 copies are 995,346,000 rows in 3.7 GB. A folder that is given keeps them for the next time.
Prints the seconds of each stage, the most memory that was resident, and a plain copy of the same rows by DuckDB beside
it.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

import sqlanon as sa
from tests.benchmarks.lakes import COLUMNS, PEOPLE, blow_up, load_taxonomies
from tests.benchmarks.processes import peak_bytes, say

QUASI_IDENTIFIERS = COLUMNS[:9]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=int, default=3300, help="how many a file has")
    parser.add_argument("--files", type=int, default=10)
    parser.add_argument("--memory-limit", default="4GB")
    parser.add_argument("--folder", type=Path, help="where the data is made and kept")
    parser.add_argument("--child", choices=("release", "copy"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        work = {"release": release, "copy": plain_copy}[arguments.child]
        work(arguments.folder, arguments.memory_limit)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        make(folder / "lake", arguments.copies, arguments.files)
        (folder / "spill").mkdir(exist_ok=True)
        for child in ("release", "copy"):
            options = ["--child", child, "--memory-limit", arguments.memory_limit, "--folder", str(folder)]
            subprocess.run([sys.executable, "-m", "tests.benchmarks.billion", *options], check=True)


def make(lake: Path, copies: int, files: int) -> None:
    lake.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        file = lake / f"part_{number}.parquet"
        if not file.exists():
            begun = lake / f"begun_{number}"
            blow_up(begun, copies * PEOPLE, QUASI_IDENTIFIERS, adult=False, first=number * copies)
            begun.rename(file)


def release(folder: Path, memory_limit: str) -> None:
    policy = sa.Policy(
        quasi_identifiers=QUASI_IDENTIFIERS,
        privacy=[sa.KAnonymity(5)],
        quality=sa.LM(aggregate="geometric"),
        suppression_limit=0.05,
    )
    target = folder / "release.parquet"
    start = time.perf_counter()
    with sa.connect(memory_limit=memory_limit, temp_directory=folder / "spill") as session:
        load_taxonomies(session, QUASI_IDENTIFIERS, adult=False)
        report = session.anonymize(f"{folder}/lake/*.parquet", policy, into=target, replace=True).report
    seconds = time.perf_counter() - start
    assert isinstance(report, sa.Report)
    stages = ", ".join(f"{stage} {taken:.0f}" for stage, taken in report.seconds.items())
    say(
        f"{report.rows.source:,} rows within {memory_limit}: {seconds:.0f} s ({stages}), "
        f"{peak_bytes() / 2**30:.1f} GiB resident at most, {target.stat().st_size / 2**30:.1f} GiB written"
    )
    target.unlink()


def plain_copy(folder: Path, memory_limit: str) -> None:
    target = folder / "copy.parquet"
    start = time.perf_counter()
    with duckdb.connect(config={"memory_limit": memory_limit, "temp_directory": str(folder / "spill")}) as connection:
        connection.execute(
            f"COPY (FROM '{folder}/lake/*.parquet') TO '{target}' (FORMAT parquet, COMPRESSION zstd)"
        ).fetchall()
    say(f"a plain copy of them: {time.perf_counter() - start:.0f} s, {peak_bytes() / 2**30:.1f} GiB resident at most")
    target.unlink()


if __name__ == "__main__":
    main()
