"""What a private release costs against plain k-anonymity, on the invented hospital of the demonstration.

    python -m tests.benchmarks.private [--rows 10000000] [--folder DIR]

Every run is a process of its own, so that its peak memory is its own. The nodes of a private release are scored in the
stage "search", those of k-anonymity are checked in it.
"""

import argparse
import tempfile
import time
from pathlib import Path

import duckdb

import sqlanon as sa
from sqlanon.run.demo import SOURCE, TAXONOMIES, invent
from tests.benchmarks.processes import in_own_process, peak_bytes, say
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


if __name__ == "__main__":
    main()
