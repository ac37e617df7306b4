"""The whole lattice of UCI Adult against plain DuckDB queries of the same run, and what each search checks of it.

    python -m tests.benchmarks.speed

Needs the Adult data (SQLANON_DATA). Prints one line per figure; a ratio of 1 is the speed of the plain queries.
"""

import argparse
import tempfile
from pathlib import Path

import duckdb
from sqlglot import exp

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.engines.duckdb import Engine, OpenedDatabase
from sqlanon.model.lattice import Levels
from sqlanon.model.methods.full_domain import SearchName
from sqlanon.nodes.table import EncodedTable, encode_table
from sqlanon.queries.coded_labels import has_bits, label_bits
from sqlanon.queries.encoding import ROW_COUNT, row_sum
from sqlanon.queries.kit.nodes import DIALECT, Relation, Step, aliased, column, grouped, select, subquery
from sqlanon.queries.recodings import AtNode
from tests.benchmarks.processes import say, seconds
from tests.conftest import DATA, UCI_COLUMNS, UCI_QUASI_IDENTIFIERS, make_adult

PLAIN_CELLS = Relation("plain_cells", "cell")

COMPARED_SEARCHES: list[SearchName] = ["ola", "incognito", "samarati", "datafly", "optimal", "exhaustive"]


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        warehouse = make_adult(Path(folder) / "adult.duckdb", DATA / "adult_uci")
        report("DuckDB", duckdb.__version__)
        whole_lattice(warehouse)
        searches(warehouse, Path(folder))


def report(name: str, text: str) -> None:
    say(f"{name:<72} {text}")


def policy(quality: sa.Entropy, search: SearchName = "optimal") -> sa.Policy:
    """k = 5 with 5 % suppression over all nine quasi-identifiers."""
    return sa.Policy(
        quasi_identifiers=UCI_QUASI_IDENTIFIERS,
        insensitive=[name for name in UCI_COLUMNS if name not in UCI_QUASI_IDENTIFIERS],
        privacy=[sa.KAnonymity(5)],
        quality=quality,
        suppression_limit=0.05,
        search=search,
    )


def whole_lattice(warehouse: Path) -> None:
    """All 10,368 nodes with every measure, against as many plain GROUP BYs over the same cells."""
    with sa.connect(warehouse, read_only=True) as session:
        ours = seconds(lambda: session.lattice("adult", policy(sa.Entropy())))
        engine = OpenedDatabase.at(warehouse, read_only=True).engine()
        bound = prepare(engine, engine.resolve("adult"), policy(sa.Entropy()))
        with engine.transaction():
            table = encode_table(engine, bound, label_losses=())
            make_plain_cells(engine, table)
            queries = [plain_query(table, levels) for levels in bound.lattice.nodes()]
            plain = seconds(lambda: [engine.connection.execute(query).fetchall() for query in queries])
    report("whole lattice of Adult, all measures, from the table", f"{ours:.2f} s for {len(queries):,} nodes")
    report("as many plain GROUP BYs over the cells", f"{plain:.2f} s")
    report("ratio (at most 2)", f"{ours / plain:.2f}")


def searches(warehouse: Path, folder: Path) -> None:
    with sa.connect(warehouse, read_only=True) as session:
        for search in COMPARED_SEARCHES:
            wanted = policy(sa.Entropy(), search)
            found = session.anonymize("adult", wanted, into=folder / "release.parquet", replace=True).report
            report(
                f"search {search}, Entropy",
                f"{found.checked_nodes:,} of {found.lattice_nodes:,} nodes checked in {found.seconds['search']:.2f} s; "
                f"loss {found.loss:,.1f}",
            )


def make_plain_cells(engine: Engine, table: EncodedTable) -> None:
    """Make the cells as one would keep them by hand: a small integer for each label, in the order of no key."""
    encoding = table.encoding
    keyed = exp.alias_(encoding.cells.table, "keyed", table=True)
    labelled = select([column(name, "keyed") for name in (*encoding.distinguishing, ROW_COUNT)], keyed)
    codes = []
    for position in range(len(encoding.spec.shapes)):
        for depth in encoding.depths(position):
            name = encoding.code(position, depth)
            labels, masks = f"of_{name}", encoding.keys.label_masks(position, depth)
            lookup = subquery(label_bits(encoding, position, depth, [aliased(column("code"), name)]), labels)
            labelled = labelled.join(lookup, on=has_bits(encoding, masks, "keyed", labels), copy=False)
            labelled = labelled.select(column(name, labels), copy=False)
            codes.append(name)
    keys = [column(name) for name in (*codes, *encoding.distinguishing)]
    # What a GROUP BY makes comes in the order of hashes.
    engine.run(Step(PLAIN_CELLS, grouped(select([*keys, row_sum()], subquery(labelled, "labelled")), keys), "cells"))


def plain_query(table: EncodedTable, levels: Levels) -> str:
    """What one would write by hand to count the classes of a node, over the plain cells."""
    keys = [column(key) for key in AtNode(table.encoding, levels).keys]
    size = exp.alias_(exp.Sum(this=column(ROW_COUNT)), "class_size")
    classes = grouped(select([size], PLAIN_CELLS.table), keys)
    outer = exp.select("count(*)", "min(class_size)", "sum(class_size) FILTER (WHERE class_size < 5)", dialect=DIALECT)
    return outer.from_(exp.Subquery(this=classes)).sql(DIALECT)


if __name__ == "__main__":
    main()
