"""What local recoding takes and loses beside full domain: whole processes, in turn, over the same table.

    python -m tests.benchmarks.local [--rows 30162 1000000 10000000] [--k 5 10 50] [--repeats 3] [--folder DIR]
        [--memory-limit 1GB]

ARX's Adult (SQLANON_DATA), 9 quasi-identifiers, nothing left out; larger tables are blown up from it by its marginals
(see tests.benchmarks.lakes). Full domain may suppress 5 % of the rows, or none; a
plain query counts the combinations of all columns. Medians are printed, and the most memory.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from tests.benchmarks.lakes import blow_up
from tests.benchmarks.processes import Taken, in_turn, run_python
from tests.benchmarks.runs import median
from tests.conftest import ARX_COLUMNS, DATA

METHODS = {
    "full domain, 5 %": "suppression_limit = 0.05",
    "full domain, 0": "",
    "local recoding": 'method = "local-recoding"',
}

COUNT = "import duckdb, sys; print(duckdb.sql(sys.argv[1]).fetchall())"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[30_162, 1_000_000, 10_000_000])
    parser.add_argument("--k", type=int, nargs="*", default=[5])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the data is made and kept")
    parser.add_argument("--memory-limit", help="of the database, which goes out of core beyond it")
    arguments = parser.parse_args()
    limit = [] if arguments.memory_limit is None else [f"--memory-limit={arguments.memory_limit}"]
    sys.stdout.write("| rows | k | | NCP | at least | classes | seconds | CPU s | beside a plain count | peak MiB |\n")
    sys.stdout.write("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        for rows in arguments.rows:
            source = folder / f"adult_marginals_{rows}.parquet"
            if not source.exists():
                blow_up(source, rows, ARX_COLUMNS, adult=True, seed=1)
            for k in arguments.k:
                programs = {name: run_of(folder, source, k, part, limit) for name, part in METHODS.items()}
                query = f"SELECT count(*) FROM (SELECT DISTINCT * FROM '{source}')"
                show(
                    rows,
                    k,
                    in_turn({**programs, "count": partial(run_python, ["-c", COUNT, query])}, arguments.repeats),
                )


def run_of(folder: Path, source: Path, k: int, part: str, options: Sequence[str] = ()) -> Callable[[], Taken]:
    policy = folder / f"local_{k}_{abs(hash(part))}.toml"
    models = f'[[privacy]]\nmodel = "k-anonymity"\nk = {k}\n'
    policy.write_text(f'quasi_identifiers = {json.dumps(ARX_COLUMNS)}\nquality = "ncp"\n{part}\n{models}', "utf-8")
    hierarchies = DATA / "adult_arx" / "hierarchies"
    taxonomies = [f"--taxonomy={each}={hierarchies / each}.csv" for each in ARX_COLUMNS]
    command = [
        *taxonomies,
        *options,
        "--policy",
        str(policy),
        "--into",
        str(folder / "release.parquet"),
        "--replace-anything",
        "--json",
    ]
    return partial(run_python, ["-m", "sqlanon", "run", str(source), *command])


def show(rows: int, k: int, found: dict[str, list[Taken]]) -> None:
    plain = median(each.cpu for each in found.pop("count"))
    for name, taken in found.items():
        report = json.loads(taken[0].output)["report"]
        cpu, wall = (median(getattr(each, figure) for each in taken) for figure in ("cpu", "wall"))
        least = report.get("lower_bound")
        figures = [f"{rows:,}", str(k), name, f"{report['loss']:.4f}", "" if least is None else f"{least:.4f}"]
        figures += [f"{report['class_count']:,}", f"{wall:.1f}", f"{cpu:.1f}", f"{cpu / plain:.1f} ×"]
        figures.append(f"{max(each.peak for each in taken) / 2**20:.0f}")
        sys.stdout.write(f"| {' | '.join(figures)} |\n")


if __name__ == "__main__":
    main()
