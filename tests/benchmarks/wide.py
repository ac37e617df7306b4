"""What is found and proven of lattices too large for an array, by the CPU seconds that the search has taken.

    python -m tests.benchmarks.wide [--rows 30000 1000000] [--columns 12 15] [--no-adult] [--seconds 10 28 60]
        [--loss geometric-lm] [--folder DIR]

Invented people (wide.sql) with 12 or 15 quasi-identifiers of four levels: 16,777,216 or 1,073,741,824 nodes. The 30,162
complete rows of Adult (SQLANON_DATA) with 12: ARX's nine, hours-per-week in intervals of 5, 10 and 50, capital-gain of
5,000 and 25,000, and capital-loss of 500 and 2,000; 1,036,800 nodes. k = 5, and 5 % of the rows may be suppressed.

CPU seconds are those of all processors, without what makes the cells, so that it hardly matters what else runs; there
is a line for each number of them, unless the optimum is proven before. The gap is that of the report, loss - lower
bound.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.model.quality import QualityModel
from sqlanon.nodes.choice import choose_node
from sqlanon.nodes.table import encode_table
from sqlanon.search import Inquiry
from tests.benchmarks.lakes import load_taxonomies
from tests.benchmarks.processes import say
from tests.conftest import ARX_COLUMNS, DATA, UCI_COLUMNS
from tests.engines import engine_of

LOSSES: dict[str, QualityModel] = {
    "geometric-lm": sa.LM(aggregate="geometric"),
    "lm": sa.LM(),
    "entropy": sa.Entropy(),
    "prec": sa.Prec(),
    "dm-star": sa.DMStar(),
}
INTERVALS = {"hours-per-week": (5, 10, 50), "capital-gain": (5_000, 25_000), "capital-loss": (500, 2_000)}
"""The widths of intervals of Adult's numbers."""

NAMES = [f"q{number:02}" for number in range(1, 16)]
VALUES = 27
TAXONOMY = [(str(value), f"third {value // 3}", f"ninth {value // 9}", "*") for value in range(VALUES)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[30_000, 1_000_000])
    parser.add_argument("--columns", type=int, nargs="+", default=[12, 15], help="how many are quasi-identifiers")
    parser.add_argument("--no-adult", action="store_true")
    parser.add_argument("--seconds", type=float, nargs="+", default=[10.0, 28.0, 60.0], help="CPU seconds of a search")
    parser.add_argument("--loss", choices=LOSSES, default="geometric-lm")
    parser.add_argument("--folder", type=Path, help="where the data is made and kept")
    arguments = parser.parse_args()
    quality = LOSSES[arguments.loss]
    if not arguments.no_adult:
        with sa.connect() as session:
            search(session, "adult", policy(adult(session), [], quality), arguments.seconds)
    with tempfile.TemporaryDirectory() as temporary:
        for rows in arguments.rows:
            source = (arguments.folder or Path(temporary)) / f"wide_{rows}.parquet"
            if not source.exists():
                make(source, rows)
            for columns in arguments.columns:
                with sa.connect() as session:
                    wanted = policy(NAMES[:columns], NAMES[columns:], quality)
                    for name in wanted.quasi_identifiers:
                        session.taxonomies.load(name, sa.Taxonomy.from_rows(TAXONOMY))
                    search(session, str(source), wanted, arguments.seconds)


def adult(session: sa.Session) -> list[str]:
    """Make the table ``adult`` with taxonomies of its 12 quasi-identifiers; returns their names."""
    columns = ["salary-class" if name == "income" else name.replace("_", "-") for name in UCI_COLUMNS]
    names = [*ARX_COLUMNS, *INTERVALS]
    file = str(DATA / "adult_uci" / "adult.data")
    people = session.connection.read_csv(file, header=False, sep=", ", names=columns, all_varchar=True)
    quoted = [f'"{name}"' for name in names]
    people.filter(" AND ".join(f"{name} <> '?'" for name in quoted)).project(", ".join(quoted)).create("adult")
    load_taxonomies(session, ARX_COLUMNS, adult=True)
    for name, widths in INTERVALS.items():
        values = session.connection.table("adult").project(f'"{name}"').distinct().fetchall()
        rows = [(text, *(f"{int(text) // width * width} + {width}" for width in widths), "*") for (text,) in values]
        session.taxonomies.load(name, sa.Taxonomy.from_rows(rows))
    return names


def make(source: Path, rows: int) -> None:
    query = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    with duckdb.connect() as connection:
        connection.sql(query, params=[rows]).write_parquet(str(source))


def policy(names: Sequence[str], others: Sequence[str], quality: QualityModel) -> sa.Policy:
    return sa.Policy(
        quasi_identifiers=names, identifiers=others, privacy=[sa.KAnonymity(5)], quality=quality, suppression_limit=0.05
    )


def search(session: sa.Session, source: str, wanted: sa.Policy, seconds: Sequence[float]) -> None:
    engine = engine_of(session)
    bound = prepare(engine, engine.resolve(source), wanted)
    with engine.transaction(), engine.scratch():
        table = encode_table(engine, bound, label_losses=wanted.quality.label_losses)
        context = table.context
        say(f"{context.row_count:,} rows, {len(wanted.quasi_identifiers)} columns, {context.lattice.size:,} nodes")
        elapsed = timer()
        due = sorted(seconds)

        def observe(checked: int, _: int, inquiry: Inquiry) -> None:
            if len(due) > 1 and elapsed() >= due[0]:
                show_known(elapsed(), checked, inquiry.loss, inquiry.lower_bound())
                del due[0]

        outcome = choose_node(engine, table, observe, lambda: elapsed() >= max(seconds))
        show_known(elapsed(), outcome.checked_nodes, outcome.loss, outcome.lower_bound)


def timer() -> Callable[[], float]:
    start = time.process_time()
    return lambda: time.process_time() - start


def show_known(seconds: float, checked: int, loss: float | None, lower_bound: float | None) -> None:
    if loss is None or lower_bound is None:
        say(f"{seconds:8.1f} s  {checked:>7,} checked  nothing found")
        return
    gap = loss - lower_bound
    say(
        f"{seconds:8.1f} s  {checked:>7,} checked  {checked / seconds:7.1f} / s  loss {loss:.6g}  "
        f"bound {lower_bound:.6g}  gap {gap:.4g} = {100 * gap / loss:.2f} %"
    )


if __name__ == "__main__":
    main()
