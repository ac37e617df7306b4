"""What measuring linked tables costs beside a plain GROUP BY of their join: seconds of CPU, and memory.

    python -m tests.benchmarks.linked [--persons 100000 1000000]

The tables are the hospital of spec/linked.md, section 10: patients with 0 to 20 visits. Each line is a process of its
own, with the macros; the labels are those of a node at which patients with one known visit are protected.
"""

import argparse
import tempfile
import time
from pathlib import Path

import duckdb

from sqlanon.queries.kit.macros import install_script
from tests.benchmarks.processes import in_own_process, peak_bytes, say

CHANCES = """
CREATE MACRO of_person(a, b) AS hash(a, 1, b) % 1000003 / 1000003.0;
CREATE MACRO of_visit(a, b, c) AS hash(a, b, 1, c) % 1000003 / 1000003.0;
"""
PATIENTS = """
SELECT
    id,
    CAST(1925 + floor(99 * (of_person(id, 1) + of_person(id, 2)) / 2) AS INTEGER) AS born,
    CASE WHEN of_person(id, 3) < 0.52 THEN 'f' ELSE 'm' END AS sex,
    CAST(10000 + 100 * floor(20 * of_person(id, 4) ** 1.7) + floor(10 * of_person(id, 5) ** 1.5) AS INTEGER) AS zip,
    CAST(floor(10 * of_person(id, 6)) AS INTEGER) AS insurance,
    CAST(least(20, floor(-5.4 * ln(1 - of_person(id, 7)))) AS INTEGER) AS visit_count
FROM range($1) AS persons (id)
"""
VISITS = """
SELECT
    id AS patient,
    DATE '2024-01-01' + CAST(floor(731 * of_visit(id, i, 11)) AS INTEGER) AS day,
    CAST(floor(16 * CASE WHEN of_visit(id, i, 12) < 0.6 THEN usual ELSE of_visit(id, i, 14) END ** 1.3) AS INTEGER)
        AS department,
    CAST(floor(4 * of_visit(id, i, 15)) AS INTEGER) AS kind,
    CAST(least(30, floor(-4 * ln(1 - of_visit(id, i, 16)) * slowness)) AS INTEGER) AS stay,
    CASE WHEN of_visit(id, i, 17) < 0.8 THEN near ELSE CAST(floor(8 * of_visit(id, i, 18)) AS INTEGER) END AS site
FROM (
    SELECT
        id,
        unnest(range(visit_count)) AS i,
        of_person(id, 13) AS usual,
        CASE WHEN born < 1960 THEN 1.5 ELSE 1 END AS slowness,
        zip // 100 % 8 AS near
    FROM patients
)
"""
RECODED = """
CREATE VIEW coarse_patients AS
SELECT id, born // 20 AS born, sex, zip // 500 AS zip, insurance < 6 AS insurance FROM patients;
CREATE VIEW coarse_visits AS
SELECT patient, year(day) AS day, department // 4 AS department, kind, stay // 8 AS stay, site // 3 AS site FROM visits;
"""
LABELS = (
    "'coarse_patients', 'id', ['born', 'sex', 'zip', 'insurance'], "
    "'coarse_visits', 'patient', ['day', 'department', 'kind', 'stay', 'site']"
)
PLAIN = """
SELECT count(*) FROM (
    SELECT count(*) FROM coarse_patients AS p JOIN coarse_visits AS v ON p.id = v.patient
    GROUP BY born, sex, zip, insurance, day, department, kind, stay, site
)
"""
MEASURES = {
    "trees": f"SELECT k, class_count, unique_persons FROM anon.linked_k({LABELS})",
    "one known row": f"SELECT k, pattern_count FROM anon.known_rows({LABELS}, 1, 5) ORDER BY known_rows",
    "two known rows": f"SELECT k, pattern_count FROM anon.known_rows({LABELS}, 2, 5) ORDER BY known_rows",
    "rows left out": f"SELECT persons_left_out, rows_left_out FROM anon.known_rows_left_out({LABELS}, 5)",
    "broken keys": "SELECT row_count, orphans FROM anon.broken_keys('patients', 'id', 'visits', 'patient')",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--persons", type=int, nargs="+", default=[100_000, 1_000_000])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for persons in arguments.persons:
            in_own_process(make, folder, persons)
            plain, peak, found = in_own_process(taken, folder, PLAIN)
            say(f"{persons:,} persons, plain GROUP BY of the join: {plain:.2f} CPU s, {peak / 1e6:.0f} MB; {found}")
            for name, query in MEASURES.items():
                cpu, peak, found = in_own_process(taken, folder, query)
                say(f"  {name}: {cpu:.2f} CPU s, {cpu / plain:.1f} x, {peak / 1e6:.0f} MB; {found}")


def make(folder: str, persons: int) -> None:
    with duckdb.connect(str(Path(folder) / "hospital.duckdb")) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(CHANCES)
        connection.execute(f"CREATE OR REPLACE TABLE patients AS {PATIENTS}", [persons])
        connection.execute(f"CREATE OR REPLACE TABLE visits AS {VISITS}")


def taken(folder: str, query: str) -> tuple[float, int, list[tuple[int, ...]]]:
    """Seconds of CPU of the query, the most bytes in use, and what it found."""
    with duckdb.connect(str(Path(folder) / "hospital.duckdb")) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(install_script())
        connection.execute(RECODED.replace("VIEW", "OR REPLACE TEMP VIEW"))
        start = time.process_time()
        found = connection.execute(query).fetchall()
        return time.process_time() - start, peak_bytes(), found


if __name__ == "__main__":
    main()
