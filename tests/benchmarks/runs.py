"""What users wait for: ``sqlanon run`` from the start of its process to a verified release, and the memory it takes.

    python -m tests.benchmarks.runs [--rows 30162 1000000 10000000] [--models 30162 1000000] [--repeats 3]
        [--folder DIR]

ARX's Adult (SQLANON_DATA) with its hierarchies, 9 quasi-identifiers, k = 5, ARX's Loss; larger tables are blown up from
it (see tests.benchmarks.lakes). Beside each size stands a process that copies the same columns with plain DuckDB.
Medians are printed, as the tables of the README.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from tests.benchmarks.processes import Taken, in_turn, run_python
from tests.conftest import ARX_COLUMNS, DATA

SENSITIVE = "occupation"
LIMITS = (0.05, 0.0)

MODELS = {
    "nothing else": None,
    "distinct 3-diversity": {"model": "distinct-l-diversity", "l": 3},
    "entropy 3-diversity": {"model": "entropy-l-diversity", "l": 3},
    "recursive (4, 3)-diversity": {"model": "recursive-c-l-diversity", "c": 4, "l": 3},
    "(0.5, 5)-anonymity": {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 5},
    "basic 2-likeness": {"model": "beta-likeness", "beta": 2},
    "1.5-disclosure": {"model": "delta-disclosure", "delta": 1.5},
    "0.2-closeness, equal distance": {"model": "t-closeness", "t": 0.2, "distance": "equal"},
    "0.2-closeness, ordered": {"model": "t-closeness", "t": 0.2, "distance": "ordered"},
    "0.3-closeness, hierarchical": {"model": "t-closeness", "t": 0.3, "distance": "hierarchical"},
}
"""Privacy models of the sensitive column, beside k = 5."""

COPY = """
import sys, duckdb
duckdb.connect().read_parquet(sys.argv[1]).write_parquet(sys.argv[2], compression="zstd")
"""

BLOW_UP = """
import sys
from pathlib import Path
from tests.benchmarks.lakes import blow_up
blow_up(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:], adult=True)
"""


def main() -> None:
    """Measure every size and every model, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[30_162, 1_000_000, 10_000_000])
    parser.add_argument("--models", type=int, nargs="*", default=[30_162, 1_000_000], help="rows of tables for these")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the data is made and kept")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        show_sizes({rows: sizes(folder, rows, arguments.repeats) for rows in arguments.rows})
        show_models({rows: models(folder, rows, arguments.repeats) for rows in arguments.models})


def sizes(folder: Path, rows: int, repeats: int) -> dict[float | None, list[Taken]]:
    """Runs by suppression limit, and the copy under None."""
    source = made(folder, rows)
    programs: dict[float | None, Callable[[], Taken]] = {
        limit: run_of(folder, source, ARX_COLUMNS, limit, None) for limit in LIMITS
    }
    programs[None] = partial(run_python, ["-c", COPY, str(source), str(folder / "copy.parquet")])
    return in_turn(programs, repeats)


def models(folder: Path, rows: int, repeats: int) -> dict[str, list[Taken]]:
    """Runs by what is asked of the sensitive column."""
    source = made(folder, rows)
    columns = [name for name in ARX_COLUMNS if name != SENSITIVE]
    return in_turn({name: run_of(folder, source, columns, 0.05, model) for name, model in MODELS.items()}, repeats)


def made(folder: Path, rows: int) -> Path:
    """The table of so many rows, made by a process of its own: what this one has in memory counts for all it starts."""
    source = folder / f"adult_9_{rows}.parquet"
    if not source.exists():
        run_python(["-c", BLOW_UP, str(source), str(rows), *ARX_COLUMNS])
    return source


def run_of(
    folder: Path, source: Path, columns: Sequence[str], limit: float, model: dict[str, object] | None
) -> Callable[[], Taken]:
    """A run of the command line."""
    given = [{"model": "k-anonymity", "k": 5}, *([] if model is None else [{**model, "column": SENSITIVE}])]
    name = f"{len(columns)}_{limit}_{'_'.join(map(str, (model or {}).values()))}"
    policy = folder / f"{name}.toml"
    policy.write_text(policy_text(columns, limit, given), encoding="utf-8")
    hierarchies = DATA / "adult_arx" / "hierarchies"
    is_hierarchical = model is not None and model.get("distance") == "hierarchical"
    named = ARX_COLUMNS if is_hierarchical else columns
    options = [f"--taxonomy={each}={hierarchies / each}.csv" for each in named]
    options += ["--policy", str(policy), "--into", str(folder / "release.parquet"), "--replace", "--json"]
    return partial(run_python, ["-m", "sqlanon", "run", str(source), *options])


def policy_text(columns: Sequence[str], limit: float, models: Iterable[dict[str, object]]) -> str:
    """A policy as TOML."""
    lines = [f"quasi_identifiers = {json.dumps(list(columns))}", f"suppression_limit = {limit}"]
    lines += [f"sensitive = {json.dumps([name for name in ARX_COLUMNS if name not in columns])}"]
    lines += ["[quality]", 'model = "lm"', 'aggregate = "geometric"']
    for model in models:
        lines += ["[[privacy]]", *(f"{name} = {json.dumps(value)}" for name, value in model.items())]
    return "\n".join(lines)


def show_sizes(found: dict[int, dict[float | None, list[Taken]]]) -> None:
    """A line for every size and limit."""
    sys.stdout.write(
        "| rows | suppressed at most | nodes checked | start to verified | beside a plain copy | peak memory |\n"
    )
    sys.stdout.write("| --- | --- | --- | --- | --- | --- |\n")
    for rows, runs in found.items():
        copy = median(each.wall for each in runs[None])
        for limit, taken in runs.items():
            if limit is not None:
                wall, peak = (median(getattr(each, name) for each in taken) for name in ("wall", "peak"))
                sys.stdout.write(
                    f"| {rows:,} | {100 * limit:g} % | {checked(taken)} | {wall:.1f} s | {wall / copy:.1f} × "
                    f"| {peak / 2**30:.1f} GiB |\n"
                )


def show_models(found: dict[int, dict[str, list[Taken]]]) -> None:
    """A line for every model, with two columns for every size."""
    sys.stdout.write("\n| k = 5 and |" + "".join(f" {rows:,} rows | nodes |" for rows in found) + "\n")
    sys.stdout.write("| --- |" + " --- | --- |" * len(found) + "\n")
    for name in MODELS:
        cells = (
            f" {median(each.wall for each in runs[name]):.1f} s | {checked(runs[name])} |" for runs in found.values()
        )
        sys.stdout.write(f"| {name} |" + "".join(cells) + "\n")


def checked(taken: Sequence[Taken]) -> str:
    """How many nodes a run checked, of how many."""
    report = json.loads(taken[0].output)["report"]
    return f"{report['checked_nodes']:,} of {report['lattice_nodes']:,}"


def median(figures: Iterable[float]) -> float:
    """The figure in the middle."""
    return statistics.median(figures)


if __name__ == "__main__":
    main()
