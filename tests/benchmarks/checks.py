"""What checks of nodes cost by privacy model: CPU against checks of k-anonymity over the same cells in the same run.

    python -m tests.benchmarks.checks [--rows 30162 1000000] [--nodes 12] [--repeats 5] [--folder DIR]

Classes are compared by the occupation (14 values) and the age (74) of ARX's Adult (SQLANON_DATA) and of copies of it,
on one thread, at nodes from all over the lattice, as a search is answered that knows a node that satisfies. Models take
turns; medians are printed.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.engines.duckdb import Engine
from sqlanon.model.lattice import Levels
from sqlanon.model.privacy import PrivacyModel
from sqlanon.nodes.choice import problem_and_counter
from sqlanon.nodes.table import EncodedTable, encode_table
from sqlanon.search import Inquiry
from tests.benchmarks.lakes import blow_up, load_taxonomies
from tests.benchmarks.processes import say
from tests.conftest import ARX_COLUMNS
from tests.engines import engine_of

COLUMNS = ("occupation", "age")
K_ANONYMITY = "k-anonymity"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[30_162, 1_000_000])
    parser.add_argument("--nodes", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where the data is made and kept")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        for rows in arguments.rows:
            source = folder / f"adult_{rows}.parquet"
            if not source.exists():
                blow_up(source, rows, ARX_COLUMNS, adult=True)
            for column in COLUMNS:
                show(rows, column, measured(source, column, arguments.nodes, arguments.repeats))


def models(column: str, population: str) -> dict[str, PrivacyModel]:
    return {
        K_ANONYMITY: sa.KAnonymity(5),
        "distinct l": sa.DistinctLDiversity(column, 3),
        "alpha": sa.AlphaKAnonymity(column, 0.5, 5),
        "entropy l": sa.EntropyLDiversity(column, 3),
        "recursive (c,l)": sa.RecursiveCLDiversity(column, 4, 3),
        "basic beta": sa.BetaLikeness(column, 2),
        "enhanced beta": sa.BetaLikeness(column, 2, "enhanced"),
        "delta": sa.DeltaDisclosure(column, 1.5),
        "t, equal": sa.TCloseness(column, 0.2),
        "t, ordered": sa.TCloseness(column, 0.2, "ordered"),
        "t, hierarchical": sa.TCloseness(column, 0.2, "hierarchical"),
        "m-concealing": sa.MConcealing(0.2, {column: 0.05}),
        "delta-presence": sa.DeltaPresence(0, 0.9, population),
    }


def measured(source: Path, column: str, node_count: int, repeats: int) -> Mapping[str, list[float]]:
    """The CPU seconds of a check by model, of each repeat: all from cells that are made once."""
    compared = models(column, str(source))
    with sa.connect() as session:
        session.connection.execute("SET threads = 1")
        load_taxonomies(session, ARX_COLUMNS, adult=True)
        engine = engine_of(session)
        bound = prepare(engine, engine.resolve(str(source)), policy(column, *compared.values()))
        with engine.transaction(), engine.scratch():
            table = encode_table(engine, bound, label_losses=())
            nodes = list(bound.lattice.nodes())
            # A step that divides no height, so that levels do not go together.
            nodes = nodes[:: len(nodes) // node_count | 1]
            tables = {name: table.under(policy(column, model)) for name, model in compared.items()}
            found: dict[str, list[float]] = {name: [] for name in compared}
            for _ in range(repeats):
                for name, each in tables.items():
                    with engine.scratch():
                        found[name].append(check_seconds(engine, each, nodes))
    return found


def policy(column: str, *models: PrivacyModel) -> sa.Policy:
    """A policy of these models; with k-anonymity, of which most of them are asked together."""
    return sa.Policy(
        quasi_identifiers=[name for name in ARX_COLUMNS if name != column],
        sensitive=[column],
        privacy=list(dict.fromkeys([sa.KAnonymity(5), *models])),
        suppression_limit=0.05,
    )


def check_seconds(engine: Engine, table: EncodedTable, nodes: list[Levels]) -> float:
    """The mean CPU seconds of a check, once queries are planned: once for all nodes of a search."""
    _, counter = problem_and_counter(engine, table)
    asked = Inquiry(nodes, loss=1.0, lower_bound=lambda: None, asks="counts")
    counter.answer(asked)
    start = time.process_time()
    counter.answer(asked)
    return (time.process_time() - start) / len(nodes)


def show(rows: int, column: str, found: Mapping[str, list[float]]) -> None:
    for name, seconds in found.items():
        ratio = statistics.median(own / other for own, other in zip(seconds, found[K_ANONYMITY], strict=True))
        milliseconds = 1000 * statistics.median(seconds)
        say(f"{rows:>9,} rows  {column:<10}  {name:<16} {milliseconds:8.2f} ms  {ratio:5.2f} x")


if __name__ == "__main__":
    main()
