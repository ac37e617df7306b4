"""How runs grow with rows and quasi-identifiers: every figure beside a plain DuckDB query of the same run.

    python -m tests.benchmarks.lakes [--rows 1000000 10000000] [--columns 9] [--insensitive 1] [--memory-limit 2GB]
        [--adult]

Makes the data itself (Mohammed et al. 2013, section 6: copies of a table with some attributes of each copied row drawn
anew), runs each size in a process of its own, and prints a table and, with --json, the figures. ``--adult`` takes ARX's
Adult (SQLANON_DATA) in place of invented people.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
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
from tests.benchmarks.processes import peak_bytes, seconds
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


@dataclass(frozen=True)
class Figures:
    """What was measured of one table; seconds of wall time, ratios against the plain query."""

    rows: int
    columns: int
    suppression_limit: float
    cells: int
    nodes: int
    checked_nodes: int
    encode: float
    encode_ratio: float
    check_milliseconds: float
    check_ratio: float
    release: float
    release_ratio: float
    whole: float
    seconds: dict[str, float]
    peak_bytes: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--columns", type=int, nargs="+", default=[9], help="how many there are, 5 to 12")
    parser.add_argument(
        "--insensitive", type=int, default=0, help="how many of these, the last, are released as they are"
    )
    parser.add_argument("--limits", type=float, nargs="+", default=[0.05], help="suppression limits")
    parser.add_argument("--memory-limit", default=None)
    parser.add_argument("--adult", action="store_true", help="blow up ARX's Adult: 9 columns")
    parser.add_argument("--folder", type=Path, default=None, help="where the data is made and kept")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, one size a line")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        sys.stdout.write(json.dumps(asdict(measured(arguments))) + "\n")
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        found = [
            in_own_process(arguments, folder, rows, columns, limit)
            for columns in arguments.columns
            for rows in arguments.rows
            for limit in arguments.limits
        ]
    show(found, as_json=arguments.json)


def in_own_process(arguments: argparse.Namespace, folder: Path, rows: int, columns: int, limit: float) -> Figures:
    source = folder / f"{'adult' if arguments.adult else 'people'}_{columns}_{rows}.parquet"
    if not source.exists():
        blow_up(source, rows, base_columns(arguments, columns), adult=arguments.adult)
    options = ["--child", "--rows", str(rows), "--columns", str(columns), "--limits", str(limit)]
    options += ["--insensitive", str(arguments.insensitive), *(["--adult"] if arguments.adult else [])]
    options += ["--folder", str(folder)]
    options += [] if arguments.memory_limit is None else ["--memory-limit", arguments.memory_limit]
    command = [sys.executable, "-m", "tests.benchmarks.lakes", *options]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return Figures(**json.loads(output.splitlines()[-1]))


def base_columns(arguments: argparse.Namespace, count: int) -> list[str]:
    return ARX_COLUMNS[:count] if arguments.adult else COLUMNS[:count]


# The data


def blow_up(
    path: Path, rows: int, columns: Sequence[str], *, adult: bool, first: int = 0, seed: int | None = None
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
    with duckdb.connect() as connection:
        if adult:
            source = str(DATA / "adult_arx" / "adult.csv")
            connection.read_csv(source, header=True, sep=";", all_varchar=True).create("originals")
        else:
            query = Path(__file__).with_name("adult_like.sql").read_text(encoding="utf-8")
            connection.execute(f"CREATE TABLE originals AS {query}", [PEOPLE])
        write_copies(connection, path, rows, columns, first, seed)


def write_copies(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    rows: int,
    columns: Sequence[str],
    first: int = 0,
    seed: int | None = None,
) -> None:
    """As :func:`blow_up`, of the table ``originals`` of a connection."""
    count = connection.sql("SELECT count(*) FROM originals").fetchall()[0][0]
    drawn = ", ".join(drawn_anew(name, position, uniform=seed is None) for position, name in enumerate(columns))
    copies = f"range({first}, {first - (-rows // count)})"
    connection.execute(
        f"""
        COPY (
            WITH copies AS (
                SELECT *, concat_ws(' ', copy, rowid, {"NULL" if seed is None else seed}) AS row_key,
                FROM {copies} AS copies (copy) CROSS JOIN (SELECT rowid, * FROM originals)
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


def load_taxonomies(session: sa.Session, columns: Sequence[str], *, adult: bool) -> None:
    if adult:
        session.taxonomies.load_all({name: DATA / "adult_arx" / "hierarchies" / f"{name}.csv" for name in columns})
        return
    intervals = {"age": (17, 90, [5, 10, 20]), "hours_per_week": (1, 98, [10, 20]), "weeks_per_year": (1, 52, [4, 12])}
    widths = {"education": (16, [2, 4, 8]), "native_country": (41, [5]), "workclass": (7, [3]), "occupation": (14, [5])}
    widths["capital_gain"] = (30, [5, 15])
    words = {"education": "grade", "native_country": "country", "workclass": "class", "occupation": "occupation"}
    words["capital_gain"] = "gain"
    flat = {
        "sex": [["female"], ["male"]],
        "race": [["asian"], ["black"], ["native"], ["other"], ["white"]],
        "salary_class": [["<=50K"], [">50K"]],
        "marital_status": [
            ["divorced", "alone"],
            ["married", "together"],
            ["married, armed forces", "together"],
            ["never married", "alone"],
            ["separated", "alone"],
            ["spouse absent", "alone"],
            ["widowed", "alone"],
        ],
    }
    for name in columns:
        if name in intervals:
            least, most, steps = intervals[name]
            taxonomy = sa.Taxonomy.intervals(steps, minimum=least, maximum=most)
        elif name in widths:
            count, steps = widths[name]
            digits = "{}" if name == "workclass" else "{:02d}"
            taxonomy = sa.Taxonomy.from_rows(
                [
                    [f"{words[name]} {digits.format(value)}", *(f"{value // step}/{step}" for step in steps), "*"]
                    for value in range(count)
                ]
            )
        else:
            taxonomy = sa.Taxonomy.from_rows([[*labels, "*"] for labels in flat[name]])
        session.taxonomies.load(name, taxonomy)


# The measurements


def measured(arguments: argparse.Namespace) -> Figures:
    """The whole run first, for its memory is measured; then its parts beside plain queries."""
    (rows,), (width,), (limit,) = arguments.rows, arguments.columns, arguments.limits
    columns = base_columns(arguments, width)
    source = str(arguments.folder / f"{'adult' if arguments.adult else 'people'}_{width}_{rows}.parquet")
    quasi_identifiers = columns[: width - arguments.insensitive]
    policy = sa.Policy(
        quasi_identifiers=quasi_identifiers,
        insensitive=columns[len(quasi_identifiers) :],
        privacy=[sa.KAnonymity(5)],
        quality=sa.LM(aggregate="geometric"),
        suppression_limit=limit,
    )
    target = arguments.folder / "release.parquet"
    repeats = REPEATS if rows <= REPEATED_ROWS else 1
    with connected(arguments) as session:
        load_taxonomies(session, columns, adult=arguments.adult)
        start = time.perf_counter()
        report = session.anonymize(source, policy, into=target, replace=True).report
        whole = time.perf_counter() - start
    peak = peak_bytes()
    with connected(arguments) as session:
        load_taxonomies(session, columns, adult=arguments.adult)
        engine = engine_of(session)
        bound = prepare(engine, engine.resolve(source), policy)
        with engine.transaction(), engine.scratch():
            encode, plain_encode, table = encoded(engine, bound, source, quasi_identifiers, repeats)
            checked, check, plain_check = checks(engine, table)
        plain_copy = statistics.median(seconds(lambda: plain_release(engine, source, target)) for _ in range(repeats))
    target.unlink()
    return Figures(
        rows=rows,
        columns=width,
        suppression_limit=limit,
        cells=table.cell_count,
        nodes=report.lattice_nodes,
        checked_nodes=checked,
        encode=encode,
        encode_ratio=encode / plain_encode,
        check_milliseconds=1000 * check,
        check_ratio=check / plain_check,
        release=report.seconds["release"],
        release_ratio=report.seconds["release"] / plain_copy,
        whole=whole,
        seconds=report.seconds,
        peak_bytes=peak,
    )


def connected(arguments: argparse.Namespace) -> sa.Session:
    """A session in memory, within the limit that was asked for."""
    if arguments.memory_limit is None:
        return sa.connect()
    spill = arguments.folder / "spill"
    spill.mkdir(exist_ok=True)
    return sa.connect(memory_limit=arguments.memory_limit, temp_directory=spill)


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


def plain_release(engine: Engine, source: str, target: Path) -> None:
    engine.connection.execute(
        f"COPY (SELECT * FROM read_parquet('{source}')) TO '{target}' (FORMAT parquet, COMPRESSION zstd)"
    ).fetchall()


# The table


def show(found: Sequence[Figures], *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write("".join(json.dumps(asdict(figures)) + "\n" for figures in found))
        return
    sys.stdout.write(
        "| rows | columns | limit | cells | checks | encode | check | release | start to verified | peak memory |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    )
    for each in found:
        sys.stdout.write(
            f"| {each.rows:,} | {each.columns} | {100 * each.suppression_limit:g} % | {each.cells:,} "
            f"| {each.checked_nodes:,} of {each.nodes:,} | {each.encode:.1f} s, {each.encode_ratio:.2f} x "
            f"| {each.check_milliseconds:.1f} ms, {each.check_ratio:.2f} x "
            f"| {each.release:.1f} s, {each.release_ratio:.2f} x | {each.whole:.1f} s "
            f"| {each.peak_bytes / 2**30:.1f} GiB |\n"
        )


if __name__ == "__main__":
    main()
