"""What findings add to a run: one whole run on invented people, with or without findings.

    python -m tests.benchmarks.findings make FILE [--rows 1000000]
    python -m tests.benchmarks.findings run FILE [--without]

Time both forms of ``run`` in turn, several times each. FILE ends in .csv or .parquet.
"""

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import duckdb

import sqlanon as sa
from sqlanon.model.release import Findings
from sqlanon.release import publishing
from sqlanon.release.examined import Examined
from sqlanon.run import pipeline

PEOPLE = Path(__file__).with_name("adult_like.sql")

COUNTRIES = [f"country {number:02d}" for number in range(42)]

TAXONOMIES = {
    "sex": sa.Taxonomy.flat(["male", "female"]),
    "age": sa.Taxonomy.intervals([5, 10, 20, 40], minimum=0, maximum=99),
    "race": sa.Taxonomy.flat(["white", "black", "asian", "native", "other"]),
    "education": sa.Taxonomy.flat([f"grade {number:02d}" for number in range(17)]),
    "native_country": sa.Taxonomy.flat(COUNTRIES),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("make", "run"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--without", action="store_true", help="do not look for findings")
    arguments = parser.parse_args()
    if arguments.what == "make":
        make(arguments.file, arguments.rows)
    else:
        sys.stdout.write(f"{run(arguments.file, without=arguments.without):,} findings\n")


def make(file: Path, rows: int) -> None:
    """People, with an identifier of their own and one that three rows share."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE people AS {PEOPLE.read_text()}", [rows])
        people = connection.sql(
            "SELECT row_number() OVER () AS stay, row_number() OVER () // 3 AS patient, * FROM people"
        )
        if file.suffix == ".csv":
            people.write_csv(str(file))
        else:
            people.write_parquet(str(file))


def run(file: Path, *, without: bool) -> int:
    policy = sa.Policy(
        quasi_identifiers=[*TAXONOMIES],
        identifiers=["stay", "patient", "marital_status"],
        sensitive=["occupation", "salary_class"],
        insensitive=["workclass", "hours_per_week", "capital_gain", "weeks_per_year"],
        privacy=[sa.KAnonymity(5)],
        suppression_limit=0.05,
    )
    with ExitStack() as stack:
        session = stack.enter_context(sa.connect())
        session.taxonomies.load_all(TAXONOMIES)
        if without:
            nothing = Examined(Findings(), (), None)
            stack.enter_context(patch.object(pipeline, "examine", lambda *_: nothing))
            stack.enter_context(patch.object(publishing, "identifier_counts", lambda *_: []))
        report = session.anonymize(str(file), policy, file.with_name("release.parquet"), replace=True).report
    assert report.findings is not None
    return len(report.findings.sentences)


if __name__ == "__main__":
    main()
