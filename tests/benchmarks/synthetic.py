"""Synthetic rows of UCI Adult beside the table: counts of pairs and triples, four queries, and a classifier.

    python -m tests.benchmarks.synthetic [--seeds 5] [--epsilon 1] [--target] [--queries] [--rows 10000000]

Needs the Adult data (SQLANON_DATA), and scikit-learn for the classifier. The columns and the public bins are those of
spec/synthetic.md, section 7; the figures are means over seeds, with their aims in brackets where the specification has
some. ``--target`` has the income be predicted, ``--queries`` has the four queries be the workload. With ``--rows``, it
releases copies of Adult with that number of rows once, and prints the seconds and the memory that this takes.
"""

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import sqlanon as sa
from sqlanon.papers.adult import test_rows
from tests.benchmarks.processes import run_python
from tests.benchmarks.speed import report
from tests.conftest import DATA, UCI_COLUMNS

NUMERIC: Mapping[str, Any] = {
    "age": (15, 95, 5),
    "fnlwgt": [0, *range(25_000, 500_000, 25_000), 500_000, 600_000, 800_000, 1_000_000, 2_000_000],
    "education_num": (1, 17, 1),
    "capital_gain": [0, 1, *range(1000, 5001, 1000), 7500, 10_000, 15_000, 20_000, 50_000, 100_000],
    "capital_loss": [0, 1, 500, *range(1000, 2501, 250), 3000, 5000],
    "hours_per_week": [1, 10, 20, 30, 35, 40, 41, 45, 50, 55, 60, 70, 80, 100],
}
CLASS = UCI_COLUMNS[-1]
QUERIES = {
    ("sex", "occupation"): 30,
    ("age", "occupation"): 135,
    ("education", "occupation"): 240,
    ("marital_status", CLASS): 14,
}
"""The columns of queries, and how many combinations they have, also such as nobody has; ages count by decades."""
AGES = range(20, 91, 10)
"""The decades after the first one."""
COPIES = """
import sys, duckdb
source, target, rows, *names = sys.argv[1:]
connection = duckdb.connect()
adult = connection.read_csv(source, header=False, sep=", ", names=names)
copies = connection.sql(f"SELECT adult.* FROM adult, range(-(-{rows} // 32561)) LIMIT {rows}")
copies.write_parquet(target)
"""
"""Makes the table in a process of its own, whose memory is not that of a release."""


def place_in(edges: Iterable[int], name: str) -> str:
    """The expression of the place of a number among edges."""
    return f"list_count(list_filter({[*edges]}, lambda edge: edge <= {name}))"


def code_of(name: str) -> str:
    """The expression of the number of a value's bin, or of its text among those of the table."""
    if name not in NUMERIC:
        return f"list_position((SELECT list_sort(list(DISTINCT {name})) FROM adult), {name}) AS {name}"
    given = NUMERIC[name]
    return f"{place_in(range(*given) if isinstance(given, tuple) else given, name)} AS {name}"


CODES = ", ".join(map(code_of, UCI_COLUMNS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--target", action="store_true")
    parser.add_argument("--queries", action="store_true")
    parser.add_argument("--rows", type=int)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sa.connect(Path(folder) / "adult.duckdb") as session:
        make_adult(session)
        if arguments.rows:
            at_scale(session, arguments.rows, Path(folder))
            return
        options: dict[str, Any] = {"budget": sa.Budget(arguments.epsilon, "1e-6")}
        options |= {"target": CLASS} if arguments.target else {}
        options |= {"workload": [*QUERIES]} if arguments.queries else {}
        found = [figures_of(session, sa.Synthetic(**common(), **options), seed) for seed in range(arguments.seeds)]
        for name in found[0]:
            values = [each[name] for each in found]
            report(name, f"{statistics.fmean(values):.4f}   ({min(values):.4f} to {max(values):.4f})")


def common() -> dict[str, Any]:
    """The settings of all releases; which values occur is taken for public."""
    return {"numeric": NUMERIC, "accept_observed_domain": True}


def make_adult(session: sa.Session) -> None:
    """The 32,561 rows of ``adult.data`` as a table, and flat taxonomies of its texts, ``?`` among them."""
    source = str(DATA / "adult_uci" / "adult.data")
    session.connection.read_csv(source, header=False, sep=", ", names=UCI_COLUMNS).create("adult")
    for name in UCI_COLUMNS:
        if name not in NUMERIC:
            session.taxonomies.load(name, sa.Taxonomy.flat(), source="adult")


def policy(method: sa.Synthetic) -> sa.Policy:
    return sa.Policy(quasi_identifiers=UCI_COLUMNS[:-1], sensitive=UCI_COLUMNS[-1:], method=method)


def figures_of(session: sa.Session, method: sa.Synthetic, seed: int) -> dict[str, float]:
    """What a release of a seed costs, and how far it is from the table."""
    before = time.process_time()
    session.anonymize("adult", policy(method), into="released", replace=True, random_source=sa.SeededSource(seed))
    found = {"CPU seconds": time.process_time() - before}
    columns = f"{CODES}, {place_in(AGES, 'age')} AS decade"
    rows = [
        f"SELECT {columns}, {sign} AS sign, {sign} / count(*) OVER () AS share FROM {table}"
        for table, sign in (("adult", 1), ("released", -1))
    ]
    session.connection.execute(f"CREATE OR REPLACE TEMPORARY TABLE both_tables AS {' UNION ALL '.join(rows)}")
    for size, name in ((2, "pairs"), (3, "triples")):
        distances = [difference(session, "share", names) / 2 for names in combinations(UCI_COLUMNS, size)]
        found[f"mean total variation of {name}"] = statistics.fmean(distances)
    for names, cells in QUERIES.items():
        groups = ["decade" if name == "age" else name for name in names]
        found[f"mean absolute error, {' x '.join(names)}"] = difference(session, "sign", groups) / cells
    return found | classified(session)


def difference(session: sa.Session, weight: str, columns: Sequence[str]) -> float:
    """How far the table and the release differ in the weights of combinations, in sum over all."""
    by_combination = f"SELECT sum({weight}) AS difference FROM both_tables GROUP BY {', '.join(columns)}"
    ((total,),) = session.connection.execute(f"SELECT sum(abs(difference)) FROM ({by_combination})").fetchall()
    return float(total)


def classified(session: sa.Session) -> dict[str, float]:
    """How well a classifier that learns from the released rows does on the test rows of Adult."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.metrics import roc_auc_score
    except ImportError:
        return {}
    session.connection.register("test_rows", test_rows(DATA / "adult_uci", UCI_COLUMNS))
    (learnt, classes), (tested, truth) = (
        (codes[:, :-1], codes[:, -1] > 1)
        for codes in (
            session.connection.sql(f"SELECT {CODES} FROM {table}").df().to_numpy()
            for table in ("released", "test_rows")
        )
    )
    model = HistGradientBoostingClassifier(random_state=0).fit(learnt, classes)
    return {
        "accuracy on the test rows": float((model.predict(tested) == truth).mean()),
        "AUC on the test rows": float(roc_auc_score(truth, model.predict_proba(tested)[:, 1])),
    }


def at_scale(session: sa.Session, rows: int, folder: Path) -> None:
    source = folder / "copies.parquet"
    run_python(["-c", COPIES, str(DATA / "adult_uci" / "adult.data"), str(source), str(rows), *UCI_COLUMNS])
    before = time.process_time()
    method = sa.Synthetic(**common())
    found = session.anonymize(source, policy(method), into=folder / "r.parquet", random_source=sa.SeededSource(1))
    report(f"{rows:,} rows: CPU seconds", f"{time.process_time() - before:.1f}")
    report("seconds of stages", str(found.report.seconds))
    report("peak memory", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")


if __name__ == "__main__":
    main()
