"""What users wait for: ``sqlanon run`` from the start of its process to a verified release, and the memory it takes.

    python -m tests.benchmarks.runs [--rows 30162 1000000 10000000] [--models 30162 1000000] [--repeats 3]
        [--folder DIR] [--marginals SEED] [--before CHECKOUT]

ARX's Adult (SQLANON_DATA) with its hierarchies, 9 quasi-identifiers, k = 5, ARX's Loss; larger tables are blown up from
it (see tests.benchmarks.lakes), by values of its domains or, with a seed, of its marginals. Beside each size stands a
process that copies the same columns with plain DuckDB. Medians are printed, as the tables of the guide, which have CPU
seconds: those of an idle machine and a busy one are alike. With a checkout of another commit, its runs alternate with
those of this one, and the ratios are printed, too.
"""

import argparse
import json
import math
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar

from tests.benchmarks.processes import Taken, in_turn, run_python
from tests.conftest import ARX_COLUMNS, DATA

SENSITIVE = "occupation"
LIMITS = (0.05, 0.0)

Key = TypeVar("Key")
Program: TypeAlias = Callable[[Path | None], Taken]
"""Runs in a checkout, None for this one."""

Found: TypeAlias = dict[Key, dict[str, list[Taken]]]
"""By program and by commit, ``now`` or ``before``."""

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
import json, sys
from pathlib import Path
from tests.benchmarks.lakes import blow_up
blow_up(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[4:], adult=True, seed=json.loads(sys.argv[3]))
"""


@dataclass(frozen=True)
class Setting:
    """What all measurements share.

    Attributes:
        folder: where the data is made.
        repeats: how often each program runs.
        seed: of draws from the marginals, None for uniform ones.
        before: a checkout of another commit.
    """

    folder: Path
    repeats: int
    seed: int | None
    before: Path | None

    def alternated(self, programs: dict[Key, Program]) -> Found[Key]:
        """What the programs take here and, with a checkout of another commit, there."""
        places = {"now": None, "before": self.before} if self.before else {"now": None}
        taken = in_turn(
            {(name, when): partial(run, code) for name, run in programs.items() for when, code in places.items()},
            self.repeats,
        )
        return {name: {when: taken[name, when] for when in places} for name in programs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[30_162, 1_000_000, 10_000_000])
    parser.add_argument("--models", type=int, nargs="*", default=[30_162, 1_000_000], help="rows of tables for these")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the data is made and kept")
    parser.add_argument("--marginals", type=int, metavar="SEED", help="draw from marginals, with this seed")
    parser.add_argument("--before", type=Path, help="a checkout of another commit, whose runs alternate with these")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.folder or Path(temporary)).resolve()
        before = arguments.before and arguments.before.resolve(strict=True)
        setting = Setting(folder, arguments.repeats, arguments.marginals, before)
        if arguments.rows:
            show_sizes({rows: sizes(setting, rows) for rows in arguments.rows})
        if arguments.models:
            show_models({rows: models(setting, rows) for rows in arguments.models})


def sizes(setting: Setting, rows: int) -> Found[float | None]:
    """Runs by suppression limit, and the copy under None."""
    source = made(setting, rows)
    copy = ["-c", COPY, str(source), str(setting.folder / "copy.parquet")]
    programs: dict[float | None, Program] = {
        limit: run_of(setting.folder, source, ARX_COLUMNS, limit, None) for limit in LIMITS
    }
    return setting.alternated({**programs, None: partial(run_python, copy)})


def models(setting: Setting, rows: int) -> Found[str]:
    source = made(setting, rows)
    columns = [name for name in ARX_COLUMNS if name != SENSITIVE]
    return setting.alternated(
        {name: run_of(setting.folder, source, columns, 0.05, model) for name, model in MODELS.items()}
    )


def made(setting: Setting, rows: int) -> Path:
    """The table of so many rows, made by a process of its own: what this one has in memory counts for all it starts."""
    drawn = [] if setting.seed is None else [str(setting.seed)]
    source = setting.folder / f"{'_'.join(['adult_9', str(rows), *drawn])}.parquet"
    if not source.exists():
        run_python(["-c", BLOW_UP, str(source), str(rows), json.dumps(setting.seed), *ARX_COLUMNS])
    return source


def run_of(
    folder: Path, source: Path, columns: Sequence[str], limit: float, model: dict[str, object] | None
) -> Program:
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
    lines = [f"quasi_identifiers = {json.dumps(list(columns))}", f"suppression_limit = {limit}"]
    lines += [f"sensitive = {json.dumps([name for name in ARX_COLUMNS if name not in columns])}"]
    lines += ["[quality]", 'model = "lm"', 'aggregate = "geometric"']
    for model in models:
        lines += ["[[privacy]]", *(f"{name} = {json.dumps(value)}" for name, value in model.items())]
    return "\n".join(lines)


def show_sizes(found: dict[int, Found[float | None]]) -> None:
    sys.stdout.write(
        "| rows | suppressed at most | nodes checked | seconds | CPU seconds | beside a plain copy | peak memory | |\n"
    )
    sys.stdout.write("| --- | --- | --- | --- | --- | --- | --- | --- |\n")
    for rows, runs in found.items():
        copy = median(each.cpu for each in runs[None]["now"])
        for limit, taken in runs.items():
            if limit is not None:
                names = ("wall", "cpu", "peak")
                wall, cpu, peak = (median(getattr(each, name) for each in taken["now"]) for name in names)
                sys.stdout.write(
                    f"| {rows:,} | {100 * limit:g} % | {checked(taken['now'])} | {wall:.2f} | {cpu:.2f} "
                    f"| {cpu / copy:.1f} × | {peak / 2**30:.1f} GiB | {beside_before(taken)} |\n"
                )


def show_models(found: dict[int, Found[str]]) -> None:
    heading = "".join(f" {rows:,} rows: seconds | CPU seconds | nodes | |" for rows in found)
    sys.stdout.write(f"\n| k = 5 and |{heading}\n")
    sys.stdout.write("| --- |" + " --- | --- | --- | --- |" * len(found) + "\n")
    for name in MODELS:
        of_sizes = [runs[name] for runs in found.values()]
        cells = (
            f" {median(each.wall for each in taken['now']):.2f} | {median(each.cpu for each in taken['now']):.2f} "
            f"| {checked(taken['now'])} | {beside_before(taken)} |"
            for taken in of_sizes
        )
        sys.stdout.write(f"| {name} |" + "".join(cells) + "\n")


def beside_before(taken: dict[str, list[Taken]]) -> str:
    """Seconds, CPU seconds and memory as ratios of those of the other commit, whose losses are the same."""
    if "before" not in taken:
        return ""
    losses = [json.loads(taken[when][0].output)["report"]["loss"] for when in taken]
    ratios = (
        median(getattr(each, name) for each in taken["now"]) / median(getattr(each, name) for each in taken["before"])
        for name in ("wall", "cpu", "peak")
    )
    same = (
        "" if math.isclose(*losses) else ", another loss"
    )  # the last digit of a sum depends on the order of its parts
    return "{:.2f} × s, {:.2f} × CPU s, {:.2f} × memory".format(*ratios) + same


def checked(taken: Sequence[Taken]) -> str:
    report = json.loads(taken[0].output)["report"]
    return f"{report['checked_nodes']:,} of {report['lattice_nodes']:,}"


def median(figures: Iterable[float]) -> float:
    return statistics.median(figures)


if __name__ == "__main__":
    main()
