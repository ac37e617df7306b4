"""What users wait for: ``sqlanon run`` from the start of its process to a verified release, and the memory it takes.

    python -m tests.benchmarks.runs [sizes models local ceilings] [--rows 30162 1000000] [--repeats 3]
        [--folder DIR] [--marginals SEED] [--memory-limit 1GB] [--before CHECKOUT]

ARX's Adult (SQLANON_DATA) with its hierarchies and k = 5; larger tables are blown up from it (see
tests.benchmarks.lakes), by values of its domains or, with a seed, of its marginals. Four sets of policies: ``sizes``, 9
quasi-identifiers and ARX's Loss; ``models``, 8 of them with a model of the occupation; ``local``, local recoding beside
full domain; ``ceilings``, h-ceiling beside k-anonymity, with a sensitive column of 14 values. The policies of a set
take turns with a process that copies the same columns with plain DuckDB. Medians are printed, and ratios of CPU seconds
to the copy and to the first policy: those of an idle machine and a busy one are alike. With a checkout of another
commit, its runs alternate with those of this one, and the ratios are printed, too.
"""

import argparse
import json
import math
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import TypeAlias

from tests.benchmarks.lakes import blow_up
from tests.benchmarks.processes import Taken, in_own_process, in_turn, run_python, say
from tests.conftest import ARX_COLUMNS, DATA

LM = 'quality = { model = "lm", aggregate = "geometric" }\n'
NCP = 'quality = "ncp"\n'
K = 'privacy = [{ model = "k-anonymity", k = 5 }]\n'
LIMIT = "suppression_limit = 0.05\n"


def beside_k(model: str) -> str:
    """k = 5 and a model of the occupation."""
    return f'{LM}{LIMIT}privacy = [{{ model = "k-anonymity", k = 5 }}, {{ model = {model}, column = "occupation" }}]\n'


SETS = {
    "sizes": {"5 % suppressed": LM + LIMIT + K, "0 % suppressed": LM + K},
    "models": {
        "nothing else": LM + LIMIT + K,
        "distinct 3-diversity": beside_k('"distinct-l-diversity", l = 3'),
        "entropy 3-diversity": beside_k('"entropy-l-diversity", l = 3'),
        "recursive (4, 3)-diversity": beside_k('"recursive-c-l-diversity", c = 4, l = 3'),
        "(0.5, 5)-anonymity": beside_k('"alpha-k-anonymity", alpha = 0.5, k = 5'),
        "basic 2-likeness": beside_k('"beta-likeness", beta = 2'),
        "1.5-disclosure": beside_k('"delta-disclosure", delta = 1.5'),
        "0.2-closeness, equal distance": beside_k('"t-closeness", t = 0.2, distance = "equal"'),
        "0.2-closeness, ordered": beside_k('"t-closeness", t = 0.2, distance = "ordered"'),
        "0.3-closeness, hierarchical": beside_k('"t-closeness", t = 0.3, distance = "hierarchical"'),
    },
    "local": {
        "full domain, 5 %": NCP + LIMIT + K,
        "full domain, 0 %": NCP + K,
        "local recoding": f'{NCP}method = "local-recoding"\n{K}',
    },
    "ceilings": {
        "k-anonymity, 0 %": K,
        "k-anonymity, 5 %": LIMIT + K,
        **{f"h = {h}": f'method = {{ model = "h-ceiling", k = 5, h = {h} }}\n' for h in (0.2, 0.3, 0.4)},
    },
}
"""The policies of each set, without their columns."""

SENSITIVE = {"models": "occupation", "ceilings": "disease"}

COPY = """
import sys, duckdb
duckdb.connect().read_parquet(sys.argv[1]).write_parquet(sys.argv[2], compression="zstd")
"""

DISEASES = """
import sys, duckdb
people = duckdb.read_parquet(sys.argv[1], file_row_number=True)
disease = "hash(file_row_number) % 14 * (hash(-file_row_number) % 14) // 13"  # the last is the rarest
people.project(f"* EXCLUDE (file_row_number), 'd' || {disease} AS disease").write_parquet(sys.argv[2])
"""

Found: TypeAlias = dict[str, dict[str, list[Taken]]]
"""By policy, or "copy", and by commit, ``now`` or ``before``."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"all if none is named: {', '.join(SETS)}")
    parser.add_argument("--rows", type=int, nargs="+", default=[30_162, 1_000_000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the data is made and kept")
    parser.add_argument("--marginals", type=int, metavar="SEED", help="draw from marginals, with this seed")
    parser.add_argument("--memory-limit", help="of the database, which goes out of core beyond it")
    parser.add_argument("--before", type=Path, help="a checkout of another commit, whose runs alternate with these")
    arguments = parser.parse_args()
    options = [f"--memory-limit={arguments.memory_limit}"] if arguments.memory_limit else []
    checkouts = {"now": None, **({"before": arguments.before.resolve(strict=True)} if arguments.before else {})}
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.folder or Path(temporary)).resolve()
        for name in arguments.sets or SETS:
            say(
                f"\n| rows | {name} | nodes checked | loss, at least | classes | counterfeits | seconds | CPU seconds "
                f"| beside a copy | beside the first | peak memory | |\n|{' --- |' * 12}"
            )
            for rows in arguments.rows:
                source = made(folder, rows, arguments.marginals, diseases=name == "ceilings")
                programs = {case: run_of(folder, source, name, case, options) for case in SETS[name]}
                programs["copy"] = partial(run_python, ["-c", COPY, str(source), str(folder / "copy.parquet")])
                alternated = {
                    (case, now): partial(run, code) for case, run in programs.items() for now, code in checkouts.items()
                }
                taken = in_turn(alternated, arguments.repeats)
                show(rows, {case: {now: taken[case, now] for now in checkouts} for case in programs})


def made(folder: Path, rows: int, seed: int | None, *, diseases: bool) -> Path:
    """The table of so many rows, made by a process of its own: what this one has in memory counts for all it starts."""
    source = folder / f"adult_9_{rows}{'' if seed is None else f'_{seed}'}.parquet"
    if not source.exists():
        in_own_process(blow_up, str(source), rows, ARX_COLUMNS, True, 0, seed)
    if not diseases:
        return source
    with_diseases = source.with_stem(f"{source.stem}_diseases")
    if not with_diseases.exists():
        run_python(["-c", DISEASES, str(source), str(with_diseases)])
    return with_diseases


def run_of(
    folder: Path, source: Path, of_set: str, case: str, options: Sequence[str]
) -> Callable[[Path | None], Taken]:
    """The command, which runs in a checkout, None for this one."""
    sensitive = SENSITIVE.get(of_set)
    columns = {
        "quasi_identifiers": [name for name in ARX_COLUMNS if name != sensitive],
        "sensitive": [] if sensitive is None else [sensitive],
    }
    policy = folder / f"{of_set}_{[*SETS[of_set]].index(case)}.toml"
    policy.write_text(
        "".join(f"{role} = {json.dumps(names)}\n" for role, names in columns.items()) + SETS[of_set][case]
    )
    known = ARX_COLUMNS if "hierarchical" in case else columns["quasi_identifiers"]
    taxonomies = [f"--taxonomy={name}={DATA / 'adult_arx' / 'hierarchies' / name}.csv" for name in known]
    target = ["--into", str(folder / "release.parquet"), "--replace-anything", "--json"]
    command = ["-m", "sqlanon", "run", str(source), "--policy", str(policy), *taxonomies, *options, *target]
    return partial(run_python, command)


def show(rows: int, found: Found) -> None:
    copy = median(each.cpu for each in found.pop("copy")["now"])
    first = median(each.cpu for each in next(iter(found.values()))["now"])
    for case, taken in found.items():
        report = report_of(taken["now"])
        wall, cpu, peak = medians(taken["now"])
        least = report.get("lower_bound")
        figures = [f"{rows:,}", case, f"{report.get('checked_nodes') or 0:,} of {report.get('lattice_nodes') or 0:,}"]
        figures += [f"{report['loss']:.4g}" + ("" if least is None else f", {least:.4g}")]
        figures += [f"{report.get('class_count') or 0:,}", str(report.get("counterfeits", ""))]
        figures += [
            f"{wall:.2f}",
            f"{cpu:.2f}",
            f"{cpu / copy:.1f} ×",
            f"{cpu / first:.2f} ×",
            f"{peak / 2**30:.2f} GiB",
        ]
        say(f"| {' | '.join(figures)} | {beside_before(taken)} |")


def report_of(taken: Sequence[Taken]) -> dict[str, float]:
    found: dict[str, float] = json.loads(taken[0].output)["report"]
    return found


def medians(taken: Sequence[Taken]) -> list[float]:
    return [median(getattr(each, name) for each in taken) for name in ("wall", "cpu", "peak")]


def beside_before(taken: dict[str, list[Taken]]) -> str:
    """Seconds, CPU seconds and memory as ratios of those of the other commit, whose losses are the same."""
    if "before" not in taken:
        return ""
    ratios = [now / before for now, before in zip(*map(medians, taken.values()), strict=True)]
    losses = [report_of(each)["loss"] for each in taken.values()]
    same = "" if math.isclose(*losses) else ", another loss"  # its last digit depends on the order of its parts
    return "{:.2f} × s, {:.2f} × CPU s, {:.2f} × memory".format(*ratios) + same


if __name__ == "__main__":
    main()
