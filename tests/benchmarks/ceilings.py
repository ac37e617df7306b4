"""What h-ceiling takes beside plain k-anonymity: whole processes, in turn, over the same table.

    python -m tests.benchmarks.ceilings [--rows 1000000 10000000] [--ceilings 0.2 0.3 0.4] [--repeats 3] [--folder DIR]

ARX's Adult (SQLANON_DATA) blown up as for tests.benchmarks.runs, 9 quasi-identifiers and a sensitive column of 14
values, k = 5. Plain k-anonymity may suppress 5 % of the rows, or none. Medians are printed, and the most memory.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb

from tests.benchmarks.processes import Taken, in_turn, run_python
from tests.benchmarks.runs import Setting, made, median
from tests.conftest import ARX_COLUMNS, DATA

PLAIN = {
    "k-anonymity, 5 %": 'suppression_limit = 0.05\nprivacy = [{ model = "k-anonymity", k = 5 }]',
    "k-anonymity, 0": 'privacy = [{ model = "k-anonymity", k = 5 }]',
}
"""What h-ceiling is compared with: the parts of policies."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000_000, 10_000_000])
    parser.add_argument("--ceilings", type=float, nargs="*", default=[0.2, 0.3, 0.4])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the data is made and kept")
    arguments = parser.parse_args()
    methods = {f"h = {h:g}": f'method = {{ model = "h-ceiling", k = 5, h = {h} }}' for h in arguments.ceilings}
    sys.stdout.write("| rows | | counterfeits | nodes | seconds | CPU s | beside each plain run | peak memory |\n")
    sys.stdout.write("| --- | --- | --- | --- | --- | --- | --- | --- |\n")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        for rows in arguments.rows:
            source = with_diseases(folder, rows)
            programs = {name: run_of(folder, source, part) for name, part in {**PLAIN, **methods}.items()}
            show(rows, in_turn(programs, arguments.repeats))


def with_diseases(folder: Path, rows: int) -> Path:
    """The table of so many rows with a column of 14 values, the last the rarest."""
    source = folder / f"diseases_{rows}.parquet"
    if not source.exists():
        given = made(Setting(folder, 1, None, None), rows)
        duckdb.connect().execute(
            "COPY (SELECT * EXCLUDE (file_row_number), "
            "'d' || hash(file_row_number) % 14 * (hash(-file_row_number) % 14) // 13 AS disease "
            f"FROM read_parquet('{given}', file_row_number = TRUE)) TO '{source}'"
        )
    return source


def run_of(folder: Path, source: Path, part: str) -> Callable[[], Taken]:
    policy = folder / f"ceiling_{abs(hash(part))}.toml"
    policy.write_text(f'quasi_identifiers = {json.dumps(ARX_COLUMNS)}\nsensitive = ["disease"]\n{part}\n', "utf-8")
    hierarchies = DATA / "adult_arx" / "hierarchies"
    options = [f"--taxonomy={each}={hierarchies / each}.csv" for each in ARX_COLUMNS]
    options += ["--policy", str(policy), "--into", str(folder / "release.parquet"), "--replace-anything", "--json"]
    return partial(run_python, ["-m", "sqlanon", "run", str(source), *options])


def show(rows: int, found: dict[str, list[Taken]]) -> None:
    plain = [median(each.cpu for each in found[name]) for name in PLAIN]
    for name, taken in found.items():
        report = json.loads(taken[0].output)["report"]
        cpu, wall = (median(getattr(each, figure) for each in taken) for figure in ("cpu", "wall"))
        beside = ", ".join(f"{cpu / each:.2f} ×" for each in plain)
        peak = max(each.peak for each in taken) / 2**30
        sys.stdout.write(
            f"| {rows:,} | {name} | {report.get('counterfeits', '')} | {report['checked_nodes']} | {wall:.1f} "
            f"| {cpu:.1f} | {beside} | {peak:.2f} GiB |\n"
        )


if __name__ == "__main__":
    main()
