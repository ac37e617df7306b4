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
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

import sqlanon as sa
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
QUERIES = (("sex", "occupation"), ("age", "occupation"), ("education", "occupation"), ("marital_status", CLASS))
COPIES = """
import sys, duckdb
source, target, rows, *names = sys.argv[1:]
connection = duckdb.connect()
adult = connection.read_csv(source, header=False, sep=", ", names=names)
copies = connection.sql(f"SELECT adult.* FROM adult, range(-(-{rows} // 32561)) LIMIT {rows}")
copies.write_parquet(target)
"""
"""Makes the table in a process of its own, whose memory is not that of a release."""

AGES = (20, 30, 40, 50, 60, 70, 80, 90)
"""The decades of the second query."""

Codes = dict[str, NDArray[np.int64]]


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
        options |= {"workload": QUERIES} if arguments.queries else {}
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
    seconds = time.process_time() - before
    domains = {name: values_of(session, name) for name in UCI_COLUMNS}
    true, drawn = (coded(session, table, domains) for table in ("adult", "released"))
    sizes = {name: len(NUMERIC[name]) if name in NUMERIC else len(domains[name]) for name in UCI_COLUMNS}
    found = {"CPU seconds": seconds}
    for size, name in ((2, "pairs"), (3, "triples")):
        distances = [total_variation(true, drawn, columns) for columns in combinations(UCI_COLUMNS, size)]
        found[f"mean total variation of {name}"] = statistics.fmean(distances)
    for columns in QUERIES:
        found[f"mean absolute error, {' x '.join(columns)}"] = query_error(session, columns, sizes)
    found |= classified(session, domains, drawn)
    return found


def edges_of(name: str) -> list[float]:
    given = NUMERIC[name]
    return list(np.arange(given[0], given[1] + 1, given[2])) if isinstance(given, tuple) else given


def values_of(session: sa.Session, name: str) -> list[str]:
    rows = session.connection.table("adult").project(duckdb.ColumnExpression(name)).distinct().fetchall()
    return sorted(value for (value,) in rows) if name not in NUMERIC else []


def coded(session: sa.Session, table: str, domains: Mapping[str, Sequence[str]]) -> Codes:
    """The columns of a table as the numbers of their bins and texts."""
    rows = session.connection.table(table).fetchnumpy()
    return {name: codes_of(name, np.asarray(rows[name]), domains[name]) for name in UCI_COLUMNS}


def codes_of(name: str, values: NDArray[Any], domain: Sequence[str]) -> NDArray[np.int64]:
    if name in NUMERIC:
        return np.searchsorted(edges_of(name), values, side="right").astype(np.int64) - 1
    return np.searchsorted(domain, values.astype(str)).astype(np.int64)


def shares(codes: Sequence[NDArray[np.int64]]) -> dict[tuple[int, ...], float]:
    combined, counts = np.unique(np.stack(codes), axis=1, return_counts=True)
    return dict(zip(map(tuple, combined.T.tolist()), (counts / counts.sum()).tolist(), strict=True))


def total_variation(true: Codes, drawn: Codes, columns: Sequence[str]) -> float:
    one, other = (shares([codes[name] for name in columns]) for codes in (true, drawn))
    return sum(abs(one.get(key, 0.0) - other.get(key, 0.0)) for key in one | other) / 2


def query_error(session: sa.Session, columns: Sequence[str], sizes: Mapping[str, int]) -> float:
    """The mean difference of all counts of a query, of combinations that nobody has, too; ages count by decades."""
    keys = [
        f"list_count(list_filter({[*AGES]}, lambda each: each <= age))" if name == "age" else name for name in columns
    ]
    query = f"SELECT {', '.join(keys)}, count(*) FROM {{}} GROUP BY ALL"
    one, other = (
        {row[:-1]: row[-1] for row in session.connection.execute(query.format(table)).fetchall()}
        for table in ("adult", "released")
    )
    cells = np.prod([len(AGES) + 1 if name == "age" else sizes[name] for name in columns])
    return float(sum(abs(one.get(key, 0) - other.get(key, 0)) for key in one | other) / cells)


def classified(session: sa.Session, domains: Mapping[str, Sequence[str]], drawn: Codes) -> dict[str, float]:
    """How well a classifier that learns from the released rows does on the test rows of Adult."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.metrics import roc_auc_score
    except ImportError:
        return {}
    source = str(DATA / "adult_uci" / "adult.test")
    test = session.connection.read_csv(source, header=False, sep=", ", skiprows=1, names=UCI_COLUMNS).fetchnumpy()
    truth = np.char.startswith(np.asarray(test[CLASS]).astype(str), ">50K")
    predictors = UCI_COLUMNS[:-1]
    rows = np.stack([codes_of(name, np.asarray(test[name]), domains[name]) for name in predictors], axis=1)
    learnt = np.stack([drawn[name] for name in predictors], axis=1)
    model = HistGradientBoostingClassifier(random_state=0).fit(learnt, drawn[CLASS] == domains[CLASS].index(">50K"))
    return {
        "accuracy on the test rows": float((model.predict(rows) == truth).mean()),
        "AUC on the test rows": float(roc_auc_score(truth, model.predict_proba(rows)[:, 1])),
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
