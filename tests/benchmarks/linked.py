"""What measuring and releasing linked tables costs beside a plain GROUP BY of their join: seconds of CPU, and memory.

    python -m tests.benchmarks.linked [--persons 100000 1000000] [--time-limit 300]

The tables are the hospital of spec/linked.md, section 10: patients with 0 to 20 visits. Each line is a process of its
own, with the macros; the labels are those of a node at which patients with one known visit are protected. A run reads
the tables, searches within the time limit, writes a folder and verifies it.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

import sqlanon
from sqlanon.queries.kit.macros import install_script
from tests.benchmarks.processes import in_own_process, peak_bytes, say
from tests.linked_hospital import hospital_policy, make_hospital

RECODED = """
CREATE VIEW coarse_patients AS
SELECT
    patient_id,
    born // 20 AS born,
    sex,
    zip // 500 AS zip,
    insurance IN ('public', 'public plus', 'state') AS insurance
FROM patients;
CREATE VIEW coarse_visits AS
SELECT
    patient_id,
    year(day) AS day,
    CASE
        WHEN department IN ('cardiology', 'pneumology', 'nephrology', 'gastroenterology', 'geriatrics') THEN 0
        WHEN department IN ('surgery', 'orthopaedics', 'urology', 'emergency') THEN 1
        WHEN department IN ('neurology', 'psychiatry') THEN 2
        WHEN department IN ('paediatrics', 'obstetrics') THEN 3
        ELSE 4
    END AS department,
    kind,
    CASE WHEN stay < 2 THEN stay WHEN stay < 4 THEN 2 WHEN stay < 8 THEN 3 WHEN stay < 15 THEN 4 ELSE 5 END AS stay,
    CASE WHEN site <= 'C' THEN 0 WHEN site <= 'F' THEN 1 ELSE 2 END AS site
FROM visits;
"""
LABELS = (
    "'coarse_patients', 'patient_id', ['born', 'sex', 'zip', 'insurance'], "
    "'coarse_visits', 'patient_id', ['day', 'department', 'kind', 'stay', 'site']"
)
PLAIN = """
SELECT count(*) FROM (
    SELECT count(*) FROM coarse_patients JOIN coarse_visits USING (patient_id)
    GROUP BY born, sex, zip, insurance, day, department, kind, stay, site
)
"""
MEASURES = {
    "trees": f"SELECT k, class_count, unique_persons FROM anon.linked_k({LABELS})",
    "one known row": f"SELECT k, pattern_count FROM anon.known_rows({LABELS}, 1, 5) ORDER BY known_rows",
    "two known rows": f"SELECT k, pattern_count FROM anon.known_rows({LABELS}, 2, 5) ORDER BY known_rows",
    "rows left out": f"SELECT persons_left_out, rows_left_out FROM anon.known_rows_left_out({LABELS}, 5)",
    "broken keys": "SELECT row_count, orphans FROM anon.broken_keys('patients', 'patient_id', 'visits', 'patient_id')",
}

RUNS: dict[str, dict[str, Any]] = {
    "trees": {"privacy": [{"model": "k-anonymity", "k": 5}]},
    "one known row": {},
    "one known row, mixed levels": {"method": "local-recoding"},
    "two known rows": {"privacy": [{"model": "known-rows", "k": 5, "m": 2}]},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--persons", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--time-limit", type=float, default=300, help="seconds of a search")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for persons in arguments.persons:
            in_own_process(make, folder, persons)
            plain, peak, found = in_own_process(taken, folder, PLAIN)
            say(f"{persons:,} persons, plain GROUP BY of the join: {plain:.2f} CPU s, {peak / 1e6:.0f} MB; {found}")
            for name, query in MEASURES.items():
                cpu, peak, found = in_own_process(taken, folder, query)
                say(f"  {name}: {cpu:.2f} CPU s, {cpu / plain:.1f} x, {peak / 1e6:.0f} MB; {found}")
            for name, fields in RUNS.items():
                cpu, peak, words = in_own_process(released, folder, fields, arguments.time_limit)
                say(f"  run, {name}: {cpu:.1f} CPU s, {cpu / plain:.0f} x, {peak / 1e6:.0f} MB; {words}")


def make(folder: str, persons: int) -> None:
    with duckdb.connect(str(Path(folder) / "hospital.duckdb")) as connection:
        connection.execute("SET enable_progress_bar = false")
        make_hospital(connection, persons)


def taken(folder: str, query: str) -> tuple[float, int, list[tuple[int, ...]]]:
    """Seconds of CPU of the query, the most bytes in use, and what it found."""
    with duckdb.connect(str(Path(folder) / "hospital.duckdb")) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(install_script())
        connection.execute(RECODED.replace("VIEW", "OR REPLACE TEMP VIEW"))
        start = time.process_time()
        found = connection.execute(query).fetchall()
        return time.process_time() - start, peak_bytes(), found


def released(folder: str, fields: dict[str, Any], time_limit: float) -> tuple[float, int, str]:
    """Seconds of CPU of a run, the most bytes in use, and its loss and search in words."""
    policy = {**hospital_policy(), **fields}
    start = time.process_time()
    with sqlanon.connect(Path(folder) / "hospital.duckdb") as session:
        report = session.anonymize({}, policy, f"{folder}/released/", replace=True, time_limit=time_limit).report
    proven = "proven" if report.proven_optimal else f"gap {report.gap}"
    words = f"loss {report.loss:.4f}, {proven}, {report.checked_nodes} nodes, {report.seconds}"
    return time.process_time() - start, peak_bytes(), words


if __name__ == "__main__":
    main()
