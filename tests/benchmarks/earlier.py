"""A fourth quarterly release beside the three before it: what that takes beside the release by itself.

    python -m tests.benchmarks.earlier [--rows 1000000] [--kind k] [--repeats 3] [--folder DIR]

ARX's Adult (SQLANON_DATA), blown up and numbered, as in tests.benchmarks.runs; every quarter 2 % of the persons leave,
3 % come, and 2 % have another age. Whole processes of ``sqlanon run``, k = 5, 10 % suppressed: at nodes (``k``), with
two values of ``occupation`` in every joint class (``diverse``, 60 % suppressed), or by local recoding (``local``,
60 %). The last line is the target of the first: at most twice the CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path

import duckdb

from tests.benchmarks.processes import Taken, in_turn, run_python
from tests.benchmarks.runs import Setting, made
from tests.conftest import ARX_COLUMNS, DATA

QUARTERS = 4
HIERARCHIES = DATA / "adult_arx" / "hierarchies"
QUARTER = Path(__file__).with_suffix(".sql")
SENSITIVE = "occupation"
OTHERS = [name for name in ARX_COLUMNS if name != SENSITIVE]

KINDS = {
    "k": [
        f"quasi_identifiers = {json.dumps(ARX_COLUMNS)}",
        "suppression_limit = 0.1",
        'quality = { model = "lm", aggregate = "geometric" }',
        'privacy = [{ model = "k-anonymity", k = 5 }]',
    ],
    "diverse": [
        f"quasi_identifiers = {json.dumps(OTHERS)}",
        f"sensitive = {json.dumps([SENSITIVE])}",
        "suppression_limit = 0.6",
        'quality = { model = "lm", aggregate = "geometric" }',
        'privacy = [{ model = "k-anonymity", k = 5 }, { model = "distinct-l-diversity", '
        f"column = {json.dumps(SENSITIVE)}, l = 2 }}]",
    ],
    "local": [
        f"quasi_identifiers = {json.dumps(ARX_COLUMNS)}",
        'method = { model = "local-recoding", suppression_limit = 0.6 }',
        'quality = { model = "lm" }',
        'privacy = [{ model = "k-anonymity", k = 5 }]',
    ],
}
"""The lines of policies."""


def main() -> None:
    """Make the quarters and their releases, then measure the last one with and without the others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--kind", choices=KINDS, default="k")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the data is made and kept")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.folder or Path(temporary)).resolve()
        sources = quarters(folder, arguments.rows)
        for quarter in range(QUARTERS - 1):
            release(folder, sources, arguments.kind, quarter, range(quarter))
        programs = {
            name: partial(release, folder, sources, arguments.kind, QUARTERS - 1, earlier)
            for name, earlier in (("alone", range(0)), ("beside three", range(QUARTERS - 1)))
        }
        taken = in_turn(programs, arguments.repeats)
    for name, runs in taken.items():
        cpu, wall, peak = (statistics.median(getattr(run, each) for run in runs) for each in ("cpu", "wall", "peak"))
        report = json.loads(runs[0].output)["report"]
        joint = report.get("joint") or {}
        sys.stdout.write(
            f"{name}: {cpu:.2f} CPU s, {wall:.2f} s, {peak / 2**30:.2f} GiB; loss {report['loss']:.4f}, "
            f"{report['suppressed_rows']:,} suppressed, joint k {joint.get('k')}\n"
        )
    alone, beside = (statistics.median(run.cpu for run in runs) for runs in taken.values())
    sys.stdout.write(f"{beside / alone:.2f} times the CPU seconds\n")


def quarters(folder: Path, rows: int) -> list[Path]:
    """The source of every quarter."""
    adult = made(Setting(folder, 1, None, None), rows)
    sources = [folder / f"quarter_{rows}_{quarter}.parquet" for quarter in range(QUARTERS)]
    with duckdb.connect() as connection:
        for quarter, source in enumerate(sources):
            if source.exists():
                continue
            connection.execute("SET VARIABLE target = $1", [str(source)])
            if quarter == 0:
                connection.execute(
                    "COPY (SELECT row_number() OVER () AS id, * FROM read_parquet($1)) TO (getvariable('target'))",
                    [str(adult)],
                )
            else:
                given = {"quarter": quarter, "before": str(sources[quarter - 1]), "first": str(sources[0])}
                connection.execute(QUARTER.read_text(encoding="utf-8"), given)
    return sources


def release(folder: Path, sources: list[Path], kind: str, quarter: int, earlier: range) -> Taken:
    """The release of a quarter, held together with some before it."""
    lines = ['identifiers = ["id"]', *KINDS[kind]]
    for other in earlier:
        facts = {"release": str(target(folder, other)), "source": str(sources[other]), "key": "id"}
        lines += ["[[earlier]]", *(f"{name} = {json.dumps(value)}" for name, value in facts.items())]
    policy = folder / f"quarter_{quarter}_{len(earlier)}.toml"
    policy.write_text("\n".join(lines), encoding="utf-8")
    shown = OTHERS if kind == "diverse" else ARX_COLUMNS
    options = [f"--taxonomy={name}={HIERARCHIES / name}.csv" for name in shown]
    options += ["--policy", str(policy), "--into", str(target(folder, quarter)), "--replace", "--json"]
    return run_python(["-m", "sqlanon", "run", str(sources[quarter]), *options])


def target(folder: Path, quarter: int) -> Path:
    return folder / f"released_{quarter}.parquet"


if __name__ == "__main__":
    main()
