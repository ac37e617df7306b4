"""What findings add to a run: CPU seconds of whole runs on invented people, with and without findings, in turn.

python -m tests.benchmarks.findings [--rows 1000000] [--repeats 5] [--format parquet|csv]
"""

import argparse
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from unittest.mock import patch

import duckdb

import sqlanon as sa
from sqlanon.model.release import Findings
from sqlanon.release import publishing
from sqlanon.release.examined import Examined
from sqlanon.run import pipeline
from tests.benchmarks.lakes import COLUMNS, blow_up, load_taxonomies
from tests.benchmarks.processes import in_own_process, say

QUASI_IDENTIFIERS = ["sex", "age", "race", "education", "native_country"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--format", choices=("parquet", "csv"), default="parquet")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"people.{arguments.format}"
        make(file, arguments.rows)
        found = [[in_own_process(run, str(file), finds) for finds in (True, False)] for _ in range(arguments.repeats)]
    with_findings, without = (median(seconds) for seconds in zip(*found, strict=True))
    say(f"with findings {with_findings:.2f} s, without {without:.2f} s, {with_findings / without:.2f} x")


def make(file: Path, rows: int) -> None:
    """People, with an identifier of their own and one that three rows share."""
    blow_up(file.with_suffix(".made"), rows, COLUMNS, adult=False)
    stay = "row_number() OVER ()"
    people = duckdb.read_parquet(str(file.with_suffix(".made"))).project(f"{stay} AS stay, {stay} // 3 AS patient, *")
    (people.write_csv if file.suffix == ".csv" else people.write_parquet)(str(file))


def run(file: str, finds: bool) -> float:
    """The CPU seconds of a run."""
    policy = sa.Policy(
        quasi_identifiers=QUASI_IDENTIFIERS,
        identifiers=["stay", "patient", "marital_status"],
        sensitive=["occupation", "salary_class"],
        insensitive=["workclass", "hours_per_week", "capital_gain", "weeks_per_year"],
        privacy=[sa.KAnonymity(5)],
        suppression_limit=0.05,
    )
    with ExitStack() as stack:
        session = stack.enter_context(sa.connect())
        load_taxonomies(session, QUASI_IDENTIFIERS, adult=False)
        if not finds:
            nothing = Examined(Findings(), (), None)
            stack.enter_context(patch.object(pipeline, "examine", lambda *_: nothing))
            stack.enter_context(patch.object(publishing, "identifier_counts", lambda *_: []))
        start = time.process_time()
        session.anonymize(file, policy, Path(file).with_name("release.parquet"), replace=True)
        return time.process_time() - start


if __name__ == "__main__":
    main()
