"""The speeds that the project states, each as a ratio against plain DuckDB queries in the same run.

    python -m tests.benchmarks.speed [--rows 1000000]

Needs the Adult data (SQLANON_DATA). Prints one line per figure; a ratio of 1 is the speed of the plain query.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
from sqlglot import exp

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.engines.duckdb import OpenedDatabase
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.methods.cells import EncodedTable, encode_table
from sqlanon.methods.full_domain.node_counter import node_summaries
from sqlanon.model.lattice import Levels
from sqlanon.model.policy.searches import SearchName
from sqlanon.model.privacy import PrivacyModel
from sqlanon.model.recoding import AtLevel, at_node
from sqlanon.queries.cells.encoding import ROW_COUNT, row_sum
from sqlanon.queries.cells.recoding import bits_of_labels, code, code_columns
from sqlanon.queries.classes.grouping import with_bits
from sqlanon.queries.kit.nodes import DIALECT, Relation, Step, column, grouped, select, subquery
from sqlanon.search import SEARCHES, SearchOutcome, SearchProblem
from tests.benchmarks.memory import peak_bytes
from tests.conftest import ARX_COLUMNS, DATA, UCI_COLUMNS, UCI_QUASI_IDENTIFIERS

PLAIN_CELLS = Relation("plain_cells", "cell")

REPEATS = 3

MEASURED_BATCHES = 10
"""Batches of a search whose checks are measured: some 300 nodes."""

CHECKED_MODELS: list[tuple[PrivacyModel, ...]] = [
    (),
    (sa.DistinctLDiversity("occupation", 3),),
    (sa.TCloseness("occupation", 0.3),),
    (sa.TCloseness("occupation", 0.3, "ordered"),),
    (sa.TCloseness("occupation", 0.3, "hierarchical"),),
    (sa.BetaLikeness("occupation", 4),),
    (sa.MConcealing(0.2, {"occupation": 0.05}),),
]

COMPARED_SEARCHES: list[SearchName] = ["ola", "incognito", "samarati", "datafly", "optimal", "exhaustive"]


def main() -> None:
    """Run every benchmark and print its line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the large table")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        warehouse = make_warehouse(Path(folder) / "adult.duckdb")
        arx_warehouse = make_arx_warehouse(Path(folder) / "arx.duckdb")
        report("DuckDB", duckdb.__version__)
        whole_lattice(warehouse)
        checks(arx_warehouse)
        searches(warehouse, Path(folder))
        start_to_release(warehouse, Path(folder))
        large_table(warehouse, Path(folder), arguments.rows)


def report(name: str, text: str) -> None:
    """Print one figure."""
    sys.stdout.write(f"{name:<72} {text}\n")
    sys.stdout.flush()


def make_warehouse(path: Path) -> Path:
    """UCI Adult with its nine taxonomies."""
    with duckdb.connect(str(path)) as connection:
        source = str(DATA / "adult_uci" / "adult.data")
        connection.read_csv(source, header=False, sep=", ", names=UCI_COLUMNS).create("adult")
    with sa.connect(path) as session:
        for name in UCI_QUASI_IDENTIFIERS:
            session.taxonomies.load(name, DATA / "adult_uci" / "hierarchies" / f"{name}.csv")
    return path


def make_arx_warehouse(path: Path) -> Path:
    """ARX's Adult with its nine taxonomies."""
    with sa.connect(path) as session:
        source = str(DATA / "adult_arx" / "adult.csv")
        session.connection.read_csv(source, header=True, sep=";").create("adult")
        for name in ARX_COLUMNS:
            session.taxonomies.load(name, DATA / "adult_arx" / "hierarchies" / f"{name}.csv", source="adult")
    return path


def policy(quality: sa.Entropy | sa.LM, search: SearchName = "optimal") -> sa.Policy:
    """k = 5 with 5 % suppression over all nine quasi-identifiers."""
    return sa.Policy(
        quasi_identifiers=UCI_QUASI_IDENTIFIERS,
        insensitive=[name for name in UCI_COLUMNS if name not in UCI_QUASI_IDENTIFIERS],
        privacy=[sa.KAnonymity(5)],
        quality=quality,
        suppression_limit=0.05,
        search=search,
    )


def arx_policy(*models: PrivacyModel) -> sa.Policy:
    """k = 5 with 5 % suppression and ARX's Loss; the occupation is sensitive if a model looks at it."""
    sensitive = list(dict.fromkeys(column for model in models for column in model.columns))
    return sa.Policy(
        quasi_identifiers=[name for name in ARX_COLUMNS if name not in sensitive],
        sensitive=sensitive,
        privacy=[sa.KAnonymity(5), *models],
        quality=sa.LM(aggregate="geometric"),
        suppression_limit=0.05,
    )


def whole_lattice(warehouse: Path) -> None:
    """All 10,368 nodes with every measure, against as many plain GROUP BYs over the same cells."""
    with sa.connect(warehouse, read_only=True) as session:
        ours = timed(lambda: session.lattice("adult", policy(sa.Entropy())))
        engine = OpenedDatabase.at(warehouse, read_only=True).engine()
        bound = prepare(engine, engine.resolve("adult"), policy(sa.Entropy()))
        with engine.transaction():
            table = encode_table(engine, bound, label_losses=())
            make_plain_cells(engine, table)
            queries = [plain_query(table, levels) for levels in bound.lattice.nodes()]
            plain = timed(lambda: [engine.connection.execute(query).fetchall() for query in queries])
    report("whole lattice of Adult, all measures, from the table", f"{ours:.2f} s for {len(queries):,} nodes")
    report("as many plain GROUP BYs over the cells", f"{plain:.2f} s")
    report("ratio (at most 2)", f"{ours / plain:.2f}")


def checks(warehouse: Path) -> None:
    """The nodes that optimal search checks on ARX's Adult, against as many plain GROUP BYs over the same cells."""
    for models in CHECKED_MODELS:
        engine = OpenedDatabase.at(warehouse, read_only=True).engine()
        bound = prepare(engine, engine.resolve("adult"), arx_policy(*models))
        with engine.transaction():
            table = encode_table(engine, bound, label_losses=bound.policy.quality.label_losses)
            batches, outcome = searched(engine, table)
            ours, plain = check_seconds(engine, table, batches[:MEASURED_BATCHES])
        engine.close()
        report(
            f"check, {models[0] if models else 'k-anonymity'}",
            f"{ours * 1000:.1f} ms, {ours / plain:.2f} x plain; "
            f"{outcome.checked_nodes:,} of {bound.lattice.size:,} nodes checked",
        )


def check_seconds(engine: DuckDBEngine, table: EncodedTable, batches: list[Sequence[Levels]]) -> tuple[float, float]:
    """The mean seconds of a check, and of the plain GROUP BY of the same node."""
    make_plain_cells(engine, table)
    queries = [plain_query(table, levels) for batch in batches for levels in batch]
    ours = median(lambda: [node_summaries(engine, table, batch) for batch in batches])
    plain = median(lambda: [engine.connection.execute(query).fetchall() for query in queries])
    return ours / len(queries), plain / len(queries)


def searched(engine: DuckDBEngine, table: EncodedTable) -> tuple[list[Sequence[Levels]], SearchOutcome]:
    """The batches that a search asks for, and its outcome."""
    bound = table.bound
    search = SEARCHES[bound.policy.search](SearchProblem(bound.policy.quality, table.context))
    inquiry = next(search)
    batches = [inquiry.nodes]
    try:
        while True:
            inquiry = search.send(node_summaries(engine, table, inquiry.nodes))
            if inquiry.asks != "measures":
                batches.append(inquiry.nodes)
    except StopIteration as finished:
        return batches, finished.value


def searches(warehouse: Path, folder: Path) -> None:
    """Every search on the same policy: what it checks, and what its node loses."""
    with sa.connect(warehouse, read_only=True) as session:
        for search in COMPARED_SEARCHES:
            wanted = policy(sa.Entropy(), search)
            found = session.anonymize("adult", wanted, into=folder / "release.parquet", replace=True).report
            report(
                f"search {search}, Entropy",
                f"{found.checked_nodes:,} of {found.lattice_nodes:,} nodes checked in {found.seconds['search']:.2f} s; "
                f"loss {found.loss:,.1f}",
            )


def make_plain_cells(engine: DuckDBEngine, table: EncodedTable) -> None:
    """Make the cells as one would keep them by hand: a small integer for each label, in the order of no key."""
    encoding = table.encoding
    keyed = exp.alias_(encoding.cells.table, "keyed", table=True)
    labelled = select([column(name, "keyed") for name in (*encoding.distinguishing, ROW_COUNT)], keyed)
    codes = []
    for position in range(len(encoding.spec.shapes)):
        for depth in encoding.depths(position):
            name = encoding.code(position, depth)
            labels, part = f"of_{name}", AtLevel(depth)
            lookup = subquery(bits_of_labels(encoding, position, part, [code(encoding, position, part)]), labels)
            labelled = labelled.join(lookup, on=with_bits(encoding, position, part, "keyed", labels), copy=False)
            labelled = labelled.select(column(name, f"of_{name}"), copy=False)
            codes.append(name)
    keys = [column(name) for name in (*codes, *encoding.distinguishing)]
    # What a GROUP BY makes comes in the order of hashes.
    engine.run(Step(PLAIN_CELLS, grouped(select([*keys, row_sum()], subquery(labelled, "labelled")), keys), "cells"))


def plain_query(table: EncodedTable, levels: Levels) -> str:
    """What one would write by hand to count the classes of a node, over the plain cells."""
    keys = [column(key) for _, key in code_columns(table.encoding, at_node(levels))]
    size = exp.alias_(exp.Sum(this=column(ROW_COUNT)), "class_size")
    classes = grouped(select([size], PLAIN_CELLS.table), keys)
    outer = exp.select("count(*)", "min(class_size)", "sum(class_size) FILTER (WHERE class_size < 5)", dialect=DIALECT)
    return outer.from_(exp.Subquery(this=classes)).sql(DIALECT)


def start_to_release(warehouse: Path, folder: Path) -> None:
    """The command line, from the start of the process to the verified release."""
    written = folder / "policy.toml"
    quasi = ", ".join(f'"{name}"' for name in UCI_QUASI_IDENTIFIERS)
    rest = ", ".join(f'"{name}"' for name in UCI_COLUMNS if name not in UCI_QUASI_IDENTIFIERS)
    written.write_text(
        f"quasi_identifiers = [{quasi}]\ninsensitive = [{rest}]\nsuppression_limit = 0.05\n"
        '[[privacy]]\nmodel = "k-anonymity"\nk = 5\n'
    )
    command = [sys.executable, "-m", "sqlanon", "run", "adult", "--db", str(warehouse), "--policy", str(written)]
    command += ["--into", "adult_k5", "--replace", "--json"]
    seconds = median(lambda: subprocess.run(command, check=True, capture_output=True))
    report("sqlanon run, optimal, k = 5, 5 %: start to release (at most 4 s)", f"{seconds:.2f} s")


def large_table(warehouse: Path, folder: Path, rows: int) -> None:
    """Adult blown up: copies of its rows with three attributes redrawn in a third of them."""
    source = folder / "large.parquet"
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        connection.execute(BLOW_UP, [rows, str(source)])
    with sa.connect(warehouse, read_only=True) as session:
        keys = ", ".join(f'"{name}"' for name in UCI_QUASI_IDENTIFIERS)
        plain = median(
            lambda: session.connection.execute(
                f"SELECT count(*) FROM (SELECT count(*) FROM read_parquet($1) GROUP BY {keys})",
                [str(source)],
            ).fetchall()
        )
        report(f"plain GROUP BY of {rows:,} rows", f"{plain:.2f} s")
        for quality in (sa.Entropy(), sa.LM()):
            release = session.anonymize(str(source), policy(quality), into=folder / "release.parquet", replace=True)
            seconds = release.report.seconds
            total = sum(seconds.values())
            stages = ", ".join(f"{stage} {value:.2f}" for stage, value in seconds.items())
            report(
                f"{rows:,} rows to a verified release, {quality.measure}",
                f"{total:.2f} s ({stages}); encode {seconds['encode'] / plain:.2f} x plain; "
                f"{release.report.checked_nodes:,} nodes checked",
            )
    peak = peak_bytes() / 2**30
    report("peak memory of this process", f"{peak:.2f} GiB")


BLOW_UP = """
COPY (
    WITH numbered AS (SELECT row_number() OVER () - 1 AS number, * FROM adult),
    domains AS (SELECT list(DISTINCT occupation) AS occupations, list(DISTINCT education) AS educations FROM adult)
    SELECT numbered.* EXCLUDE (number) REPLACE (
        CASE WHEN hash(copy, 1) % 3 = 0 THEN 17 + CAST(hash(copy, 2) % 74 AS BIGINT) ELSE age END AS age,
        CASE WHEN hash(copy, 3) % 3 = 0 THEN occupations[1 + CAST(hash(copy, 4) % len(occupations) AS BIGINT)]
            ELSE occupation END AS occupation,
        CASE WHEN hash(copy, 5) % 3 = 0 THEN educations[1 + CAST(hash(copy, 6) % len(educations) AS BIGINT)]
            ELSE education END AS education
    )
    FROM range($1) AS copies (copy)
    INNER JOIN numbered ON numbered.number = copy % 32561
    CROSS JOIN domains
) TO $2 (FORMAT parquet)
"""


def timed(call: Callable[[], object]) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def median(call: Callable[[], object]) -> float:
    """The median of a few calls, after one to warm up."""
    call()
    return statistics.median(timed(call) for _ in range(REPEATS))


if __name__ == "__main__":
    main()
