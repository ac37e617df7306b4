"""How runs grow with rows and quasi-identifiers: every figure beside a plain DuckDB query of the same run.

    python -m tests.benchmarks.lakes [--rows 1000000 10000000] [--columns 9] [--insensitive 1] [--memory-limit 2GB]
        [--files 1] [--folder DIR] [--adult]

Makes the data itself (Mohammed et al. 2013, section 6: copies of a table with some attributes of each copied row drawn
anew), and runs each size in a process of its own. ``--adult`` takes ARX's Adult (SQLANON_DATA) in place of invented
people. A billion rows: ``--rows 995346000 --files 10 --memory-limit 4GB``.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import duckdb

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.engines.duckdb import Engine
from sqlanon.model.lattice import Levels
from sqlanon.nodes.counting import NodeCounter
from sqlanon.nodes.table import EncodedTable, encode_table
from sqlanon.search import SEARCHES, SearchProblem
from tests.benchmarks.processes import in_own_process, peak_bytes, say, seconds
from tests.benchmarks.speed import PLAIN_CELLS, make_plain_cells, plain_query
from tests.conftest import ARX_COLUMNS, DATA
from tests.engines import engine_of

PEOPLE = 30_162
COLUMNS = [
    "sex", "age", "race", "marital_status", "education", "native_country", "workclass", "occupation", "salary_class",
    "hours_per_week", "capital_gain", "weeks_per_year",
]  # fmt: skip
REPEATS = 3
"""How often cells are made, and plain queries asked, of tables of up to ``REPEATED_ROWS``: one alone says little."""

REPEATED_ROWS = 10_000_000

PLAIN_NODES = 6
"""Nodes of a batch for which the plain GROUP BY is timed, too."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--columns", type=int, nargs="+", default=[9], help="how many there are, 5 to 12")
    parser.add_argument(
        "--insensitive", type=int, default=0, help="how many of these, the last, are released as they are"
    )
    parser.add_argument("--limits", type=float, nargs="+", default=[0.05], help="suppression limits")
    parser.add_argument("--memory-limit", default=None)
    parser.add_argument("--files", type=int, default=1, help="over how many files the rows of a table are spread")
    parser.add_argument("--adult", action="store_true", help="blow up ARX's Adult: 9 columns")
    parser.add_argument("--folder", type=Path, default=None, help="where the data is made and kept")
    arguments = parser.parse_args()
    say(
        "| rows | columns | limit | cells | checks | encode | check | release | start to verified | stages "
        f"| peak memory |\n|{' --- |' * 11}"
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        for count in arguments.columns:
            columns = (ARX_COLUMNS if arguments.adult else COLUMNS)[:count]
            for rows in arguments.rows:
                lake = folder / f"{'adult' if arguments.adult else 'people'}_{count}_{rows}"
                make(lake, rows, columns, arguments.files, adult=arguments.adult)
                for limit in arguments.limits:
                    given = [str(lake), rows, columns, arguments.insensitive, limit, arguments.memory_limit]
                    say(in_own_process(measured, *given, arguments.adult))


# The data


def make(lake: Path, rows: int, columns: Sequence[str], files: int, *, adult: bool) -> None:
    lake.mkdir(parents=True, exist_ok=True)
    copies = -(-rows // (PEOPLE * files))  # of a file
    for number in range(files):
        file = lake / f"part_{number}.parquet"
        if not file.exists():
            begun = lake / f"begun_{number}"
            some = min(copies * PEOPLE, rows - number * copies * PEOPLE)
            blow_up(begun, some, columns, adult=adult, first=number * copies)
            begun.rename(file)


def blow_up(
    path: Path | str, rows: int, columns: Sequence[str], adult: bool, first: int = 0, seed: int | None = None
) -> None:
    """Copies of a table, one after the other; in all but the first, 1 to 3 attributes of a row are drawn.

    Args:
        path: the file that they are written to.
        rows: how many, over all copies.
        columns: which of them are written.
        adult: whether it is ARX's Adult, in place of invented people.
        first: the number of the first copy.
        seed: with one, values are drawn from the marginals of the table; without one, uniformly from their domains.
    """
    drawn = ", ".join(drawn_anew(name, position, uniform=seed is None) for position, name in enumerate(columns))
    with duckdb.connect() as connection:
        if adult:
            source = str(DATA / "adult_arx" / "adult.csv")
            connection.read_csv(source, header=True, sep=";", all_varchar=True).create("originals")
        else:
            query = Path(__file__).with_name("adult_like.sql").read_text(encoding="utf-8")
            connection.execute(f"CREATE TABLE originals AS {query}", [PEOPLE])
        connection.execute(
            f"""
            COPY (
                WITH copies AS (
                    SELECT *, concat_ws(' ', copy, rowid, {"NULL" if seed is None else seed}) AS row_key,
                    FROM range({first}, {first - (-rows // PEOPLE)}) AS copies (copy)
                    CROSS JOIN (SELECT rowid, * FROM originals)
                    LIMIT {rows}
                ),
                draws AS (
                    SELECT *,
                        1 + hash(row_key || ' how many') % 3 AS redrawn,
                        hash(row_key || ' first') % {len(columns)} AS first_drawn,
                        hash(row_key || ' second') % {len(columns)} AS second_drawn,
                        hash(row_key || ' third') % {len(columns)} AS third_drawn
                    FROM copies
                )
                SELECT {drawn} FROM draws
            ) TO '{path}' (FORMAT parquet)
            """
        )


def drawn_anew(name: str, position: int, *, uniform: bool) -> str:
    """A column with its value, or with another one where it is drawn anew: of its domain, or of its marginal."""
    values, draw = ("DISTINCT ", " value") if uniform else ("", f" value {position}")
    return f"""
        CASE
            WHEN copy > 0 AND (
                first_drawn = {position}
                OR (redrawn > 1 AND second_drawn = {position})
                OR (redrawn > 2 AND third_drawn = {position})
            )
            THEN list_extract(
                (SELECT list({values}"{name}" ORDER BY "{name}") FROM originals),
                CAST(1 + hash(row_key || '{draw}') % (SELECT count({values}"{name}") FROM originals) AS INTEGER)
            )
            ELSE "{name}"
        END AS "{name}"
    """


INTERVALS = {"age": (17, 90, [5, 10, 20]), "hours_per_week": (1, 98, [10, 20]), "weeks_per_year": (1, 52, [4, 12])}
"""The least and the largest value, and the widths of intervals."""

NUMBERED = {
    "education": ("grade {:02d}", 16, [2, 4, 8]),
    "native_country": ("country {:02d}", 41, [5]),
    "workclass": ("class {}", 7, [3]),
    "occupation": ("occupation {:02d}", 14, [5]),
    "capital_gain": ("gain {:02d}", 30, [5, 15]),
}
"""How a value is spelled, how many there are, and how many are neighbours in a group."""

LISTED = {
    "sex": [["female"], ["male"]],
    "race": [["asian"], ["black"], ["native"], ["other"], ["white"]],
    "salary_class": [["<=50K"], [">50K"]],
    "marital_status": [
        *([status, "alone"] for status in ("divorced", "never married", "separated", "spouse absent", "widowed")),
        *([status, "together"] for status in ("married", "married, armed forces")),
    ],
}


def load_taxonomies(session: sa.Session, columns: Sequence[str], *, adult: bool) -> None:
    """Those of ARX's Adult, or of invented people."""
    if adult:
        session.taxonomies.load_all({name: DATA / "adult_arx" / "hierarchies" / f"{name}.csv" for name in columns})
        return
    for name in columns:
        if name in INTERVALS:
            least, most, widths = INTERVALS[name]
            taxonomy = sa.Taxonomy.intervals(widths, minimum=least, maximum=most)
        else:
            rows = LISTED.get(name) or numbered(*NUMBERED[name])
            taxonomy = sa.Taxonomy.from_rows([[*labels, "*"] for labels in rows])
        session.taxonomies.load(name, taxonomy)


def numbered(spelling: str, count: int, widths: Sequence[int]) -> list[list[str]]:
    return [[spelling.format(value), *(f"{value // width}/{width}" for width in widths)] for value in range(count)]


# The measurements


def measured(
    lake: str, rows: int, columns: list[str], insensitive: int, limit: float, memory_limit: str | None, adult: bool
) -> str:
    """A row of the table: the whole run first, for its memory is measured; then its parts beside plain queries."""
    source, target = f"{lake}/*.parquet", Path(lake).with_name("release.parquet")
    quasi_identifiers = columns[: len(columns) - insensitive]
    policy = sa.Policy(
        quasi_identifiers=quasi_identifiers,
        insensitive=columns[len(quasi_identifiers) :],
        privacy=[sa.KAnonymity(5)],
        quality=sa.LM(aggregate="geometric"),
        suppression_limit=limit,
    )
    repeats = REPEATS if rows <= REPEATED_ROWS else 1
    spill = target.with_name("spill")
    spill.mkdir(exist_ok=True)
    limits = {} if memory_limit is None else {"memory_limit": memory_limit, "temp_directory": spill}
    with sa.connect(**limits) as session:
        load_taxonomies(session, columns, adult=adult)
        start = time.perf_counter()
        report = session.anonymize(source, policy, into=target, replace=True).report
        whole = time.perf_counter() - start
    peak = peak_bytes()
    with sa.connect(**limits) as session:
        load_taxonomies(session, columns, adult=adult)
        engine = engine_of(session)
        bound = prepare(engine, engine.resolve(source), policy)
        with engine.transaction(), engine.scratch():
            encode, plain_encode, table = encoded(engine, bound, source, quasi_identifiers, repeats)
            checked, check, plain_check = checks(engine, table)
        copy = f"COPY (FROM read_parquet('{source}')) TO '{target}' (FORMAT parquet, COMPRESSION zstd)"
        copied = statistics.median(seconds(lambda: engine.connection.execute(copy).fetchall()) for _ in range(repeats))
    target.unlink()
    release, stages = report.seconds["release"], (f"{stage} {taken:.1f}" for stage, taken in report.seconds.items())
    return (
        f"| {rows:,} | {len(columns)} | {100 * limit:g} % | {table.cell_count:,} "
        f"| {checked:,} of {report.lattice_nodes:,} | {encode:.1f} s, {encode / plain_encode:.2f} x "
        f"| {1000 * check:.1f} ms, {check / plain_check:.2f} x | {release:.1f} s, {release / copied:.2f} x "
        f"| {whole:.1f} s | {', '.join(stages)} | {peak / 2**30:.1f} GiB |"
    )


def encoded(
    engine: Engine, bound: Any, source: str, columns: Sequence[str], repeats: int
) -> tuple[float, float, EncodedTable]:
    """Seconds to make the cells, and to keep the result of the plain GROUP BY of the same columns: medians, in turn."""
    names = ", ".join(f'"{name}"' for name in columns)
    query = f"SELECT {names}, count(*) FROM read_parquet('{source}') GROUP BY {names}"
    ours, plain, table = [], [], None
    for repeat in range(repeats):
        plain.append(seconds(lambda: engine.connection.execute(f"CREATE TEMP TABLE plain AS {query}").fetchall()))
        engine.connection.execute("DROP TABLE plain")
        with nullcontext() if repeat == repeats - 1 else engine.scratch():  # the cells of the last time stay
            start = time.perf_counter()
            table = encode_table(engine, bound, label_losses=bound.policy.quality.label_losses)
            ours.append(time.perf_counter() - start)
    assert table is not None
    return statistics.median(ours), statistics.median(plain), table


def checks(engine: Engine, table: EncodedTable) -> tuple[int, float, float]:
    """How many nodes a search checks, and the mean seconds of a check and of the plain GROUP BY over all cells.

    What is rolled up for the checks is part of their time. Both are timed batch by batch in turn.
    """
    policy = table.bound.policy
    counter = NodeCounter(engine, table)
    make_plain_cells(engine, table)
    search = SEARCHES[policy.search](SearchProblem(policy.quality, table.context))
    checked, ours, plain = 0, 0.0, 0.0
    inquiry = next(search)
    try:
        while True:
            start = time.perf_counter()
            summaries = counter.answer(inquiry)
            ours += time.perf_counter() - start
            if inquiry.asks != "loss":
                plain += len(inquiry.nodes) * plain_check(engine, table, inquiry.nodes)
                checked += len(inquiry.nodes)
            inquiry = search.send(summaries)
    except StopIteration:
        engine.drop(PLAIN_CELLS)
        return checked, ours / checked, plain / checked


def plain_check(engine: Engine, table: EncodedTable, nodes: Sequence[Levels]) -> float:
    """The mean seconds of the plain GROUP BY over all cells, of some of the nodes."""
    step = max(1, len(nodes) // PLAIN_NODES)
    queries = [plain_query(table, levels) for levels in nodes[::step]]
    return seconds(lambda: [engine.connection.execute(query).fetchall() for query in queries]) / len(queries)


if __name__ == "__main__":
    main()
