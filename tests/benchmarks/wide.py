"""What is found and proven of lattices too large for an array, by the CPU seconds that the search has taken.

    python -m tests.benchmarks.wide [--rows 30000 1000000] [--columns 12 15] [--seconds 60] [--loss geometric-lm]
        [--folder DIR]

Invented people (wide.sql) with 12 or 15 quasi-identifiers of four levels: 16,777,216 or 1,073,741,824 nodes. k = 5, and
5 % of the rows may be suppressed. CPU seconds are those of all processors, without what makes the cells, so that it
hardly matters what else runs; there is a line for each quarter of them, unless the optimum is proven before. The gap is
that of the report, loss - lower bound.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.methods.shared.cells import encode_table
from sqlanon.methods.shared.choice import choose_node
from sqlanon.model.quality import QualityModel
from sqlanon.search import Inquiry

LOSSES: dict[str, QualityModel] = {
    "geometric-lm": sa.LM(aggregate="geometric"),
    "lm": sa.LM(),
    "entropy": sa.Entropy(),
    "prec": sa.Prec(),
    "dm-star": sa.DMStar(),
}
VALUES = 27
TAXONOMY = [(str(value), f"third {value // 3}", f"ninth {value // 9}", "*") for value in range(VALUES)]
QUARTERS = 4


def main() -> None:
    """Search every table, and print what is known at each quarter of the limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[30_000, 1_000_000])
    parser.add_argument("--columns", type=int, nargs="+", default=[12, 15], help="how many are quasi-identifiers")
    parser.add_argument("--seconds", type=float, default=60.0, help="CPU seconds of a search")
    parser.add_argument("--loss", choices=LOSSES, default="geometric-lm")
    parser.add_argument("--folder", type=Path, help="where the data is made and kept")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for rows in arguments.rows:
            source = (arguments.folder or Path(temporary)) / f"wide_{rows}.parquet"
            if not source.exists():
                make(source, rows)
            for columns in arguments.columns:
                show(f"{rows:>9,} rows, {columns} columns")
                search(source, columns, LOSSES[arguments.loss], arguments.seconds)


def make(source: Path, rows: int) -> None:
    """Write the people to a file."""
    query = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    with duckdb.connect() as connection:
        connection.sql(query, params=[rows]).write_parquet(str(source))


def policy(columns: int, quality: QualityModel) -> sa.Policy:
    """The first columns are quasi-identifiers."""
    names = [f"q{number:02}" for number in range(1, 16)]
    return sa.Policy(
        quasi_identifiers=names[:columns],
        identifiers=names[columns:],
        privacy=[sa.KAnonymity(5)],
        quality=quality,
        suppression_limit=0.05,
    )


def search(source: Path, columns: int, quality: QualityModel, seconds: float) -> None:
    """Search a table, and print what is known of it as time passes."""
    wanted = policy(columns, quality)
    with sa.connect() as session:
        for name in wanted.quasi_identifiers:
            session.taxonomies.load(name, sa.Taxonomy.from_rows(TAXONOMY))
        engine = session._engine
        bound = prepare(engine, engine.resolve(str(source)), wanted)
        with engine.transaction(), engine.scratch():
            table = encode_table(engine, bound, label_losses=quality.label_losses)
            elapsed = timer()
            due = [seconds * quarter / QUARTERS for quarter in range(1, QUARTERS)]

            def observe(checked: int, _: int, inquiry: Inquiry) -> None:
                if due and elapsed() >= due[0]:
                    show_known(elapsed(), checked, inquiry.loss, inquiry.lower_bound())
                    del due[0]

            outcome = choose_node(engine, table, observe, lambda: elapsed() >= seconds)
            show_known(elapsed(), outcome.checked_nodes, outcome.loss, outcome.lower_bound)


def timer() -> Callable[[], float]:
    """Tells the CPU seconds since."""
    start = time.process_time()
    return lambda: time.process_time() - start


def show_known(seconds: float, checked: int, loss: float | None, lower_bound: float | None) -> None:
    """Print what is known after some seconds."""
    if loss is None or lower_bound is None:
        show(f"{seconds:8.1f} s  {checked:>7,} checked  nothing found")
        return
    gap = loss - lower_bound
    show(
        f"{seconds:8.1f} s  {checked:>7,} checked  {checked / seconds:7.1f} / s  loss {loss:.6g}  "
        f"bound {lower_bound:.6g}  gap {gap:.4g} = {100 * gap / loss:.2f} %"
    )


def show(line: str) -> None:
    """Print a line."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
