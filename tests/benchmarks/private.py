"""What a private release costs against plain k-anonymity, on the invented hospital of the demonstration.

    python -m tests.benchmarks.private [--rows 10000000] [--folder DIR]

Every run is a process of its own, so that its peak memory is its own. The scores of all nodes are compared with the
k-anonymity checks of the same nodes, and with plain GROUP BYs over the same cells.
"""

import argparse
import tempfile
import time
from pathlib import Path

import duckdb

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.chance.accountant import Accountant
from sqlanon.engines.duckdb import Engine, OpenedDatabase
from sqlanon.methods.noisy_node import ipa as scoring
from sqlanon.model.methods.noisy import CELLS, NODE
from sqlanon.nodes.counting import NodeCounter
from sqlanon.nodes.table import EncodedTable, encode_table
from sqlanon.queries.noise import WHOLE
from sqlanon.run.demo import SOURCE, TAXONOMIES, invent
from sqlanon.search import Inquiry
from sqlanon.search.problem import batches
from tests.benchmarks.processes import in_own_process, peak_bytes, say, seconds
from tests.benchmarks.speed import make_plain_cells, plain_query
from tests.engines import engine_of

COLUMNS = {"quasi_identifiers": ["age", "sex", "zip", "admission"], "sensitive": ["diagnosis"]}
DROPPED = ["patient_id", "ssn", "length_of_stay"]
K_ANONYMITY = sa.Policy(**COLUMNS, identifiers=DROPPED, privacy=[sa.KAnonymity(10)], suppression_limit=0.05)
IPA = sa.Policy(**COLUMNS, identifiers=DROPPED, method=sa.IPA(accept_observed_domain=True))

LABELS = {"quasi_identifiers": COLUMNS["quasi_identifiers"], "identifiers": [*DROPPED, *COLUMNS["sensitive"]]}
SAMPLED = sa.EpsilonSafe(k=50, beta=0.75, epsilon_sampling=2, accept_observed_domain=True)
POLICIES = {
    "k-anonymity": K_ANONYMITY,
    "IPA": IPA,
    "classes": sa.Policy(**LABELS, privacy=[sa.KAnonymity(50)], suppression_limit=0.05),
    "epsilon-safe": sa.Policy(**LABELS, method=SAMPLED),
}

NODES_AT_ONCE = 64
"""Of how many nodes the checks are asked for at once."""

PLAIN_NODES = 40
"""How many plain GROUP BYs are timed, spread over the lattice."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, help="where to keep the hospital between runs")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"hospital_{arguments.rows}.duckdb"
        hospital(path, arguments.rows)
        say(f"DuckDB {duckdb.__version__}, {arguments.rows:,} rows")
        for name in POLICIES:
            say(f"{name:<14} {in_own_process(released, str(path), name)}")
        say(f"{'scores':<14} {in_own_process(node_scores, str(path))}")


def hospital(path: Path, rows: int) -> None:
    if path.exists():
        return
    with sa.connect(path) as session:
        invent(engine_of(session), rows=rows, seed=1)
        for name, taxonomy in TAXONOMIES.items():
            session.taxonomies.load(name, taxonomy, source=SOURCE)


def released(path: str, name: str) -> dict[str, object]:
    ledger = Path(path).with_name("ledger.duckdb")
    with sa.connect(path, ledger=ledger) as session:
        session.ledger.cap(SOURCE, None)  # so that the warehouse, which is opened read-only below, has noted its ledger
    with tempfile.TemporaryDirectory() as folder, sa.connect(path, read_only=True, ledger=ledger) as session:
        began = time.perf_counter()
        release = session.anonymize(SOURCE, POLICIES[name], Path(folder) / "released.parquet")
        return {
            "seconds": round(time.perf_counter() - began, 2),
            "stages": {stage: round(seconds, 2) for stage, seconds in release.report.seconds.items()},
            "node": release.node,
            "lattice_nodes": release.report.lattice_nodes,
            "peak_gib": round(peak_bytes() / 2**30, 2),
        }


def node_scores(path: str) -> dict[str, object]:
    """The scores of all nodes against the k-anonymity checks of the same nodes, each over its own cells.

    Scores are distinguished as in a release of the default ε.
    """
    checked, plain = checks(path)
    engine, table = encoded(path, IPA)
    nodes = table.context.lattice.size
    method = IPA.method
    least = scoring.thresholds(method, scoring.Domains({}, 0).at(table.context.lattice.bottom))[CELLS]
    charge = Accountant(None, dataset="", method="", policy_sha256="").charge(method.budgets)[NODE]
    reach = scoring.reach(charge, WHOLE * method.rows_per_individual, nodes)
    scored = seconds(lambda: scoring.scores(engine, table, least, reach))
    exact = seconds(lambda: scoring.scores(engine, table, least, WHOLE * table.context.row_count))
    engine.close()
    return {
        "nodes": nodes,
        "score_ms": round(scored / nodes * 1000, 2),
        "exact_ms": round(exact / nodes * 1000, 2),
        "check_ms": round(checked / nodes * 1000, 2),
        "plain_ms": round(plain * 1000, 2),
        "score_to_check": round(scored / checked, 2),
        "score_to_plain": round(scored / nodes / plain, 2),
    }


def checks(path: str) -> tuple[float, float]:
    """Seconds of the k-anonymity checks of all nodes, and of one plain GROUP BY over their cells on average."""
    engine, table = encoded(path, K_ANONYMITY)
    nodes = list(table.context.lattice.nodes())
    counter = NodeCounter(engine, table)
    began = time.perf_counter()
    for batch in batches(nodes, NODES_AT_ONCE):
        counter.answer(Inquiry(batch, None, lambda: None, "counts"))
    checked = time.perf_counter() - began
    make_plain_cells(engine, table)
    some = nodes[:: max(1, len(nodes) // PLAIN_NODES)]
    plain = seconds(lambda: [engine.connection.execute(plain_query(table, levels)).fetchall() for levels in some])
    engine.close()
    return checked, plain / len(some)


def encoded(path: str, policy: sa.Policy) -> tuple[Engine, EncodedTable]:
    engine = OpenedDatabase.at(Path(path), read_only=True).engine()
    bound = prepare(engine, engine.resolve(SOURCE), policy)
    engine.connection.begin()
    return engine, encode_table(engine, bound, label_losses=("ncp",) if policy.has_private_method else ())


if __name__ == "__main__":
    main()
