"""The hospital of spec/linked.md, section 10: patients with 0 to 20 visits, made by hashes, and policies for it."""

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

CHANCES = """
CREATE OR REPLACE TEMP MACRO of_person(a, b) AS hash(a, 1, b) % 1000003 / 1000003.0;
CREATE OR REPLACE TEMP MACRO of_visit(a, b, c) AS hash(a, b, 1, c) % 1000003 / 1000003.0;
CREATE OR REPLACE TEMP MACRO nth(texts, place) AS list_extract(texts, CAST(floor(place) AS INTEGER) + 1);
"""
PATIENTS = """
CREATE OR REPLACE TABLE patients AS
SELECT
    id AS patient_id,
    CAST(1925 + floor(99 * (of_person(id, 1) + of_person(id, 2)) / 2) AS INTEGER) AS born,
    CASE WHEN of_person(id, 3) < 0.52 THEN 'f' ELSE 'm' END AS sex,
    CAST(10000 + 100 * floor(20 * of_person(id, 4) ** 1.7) + floor(10 * of_person(id, 5) ** 1.5) AS INTEGER) AS zip,
    nth(
        ['public', 'public', 'public', 'public', 'public plus', 'public plus', 'private', 'state', 'abroad', 'none'],
        10 * of_person(id, 6)
    ) AS insurance
FROM range($1) AS persons (id)
"""
VISITS = """
CREATE OR REPLACE TABLE visits AS
SELECT
    id AS patient_id,
    DATE '2024-01-01' + CAST(floor(731 * of_visit(id, i, 11)) AS INTEGER) AS day,
    nth(
        ['cardiology', 'oncology', 'surgery', 'orthopaedics', 'paediatrics', 'obstetrics', 'neurology', 'psychiatry',
            'urology', 'ophthalmology', 'dermatology', 'gastroenterology', 'pneumology', 'nephrology', 'emergency',
            'geriatrics'],
        16 * CASE WHEN of_visit(id, i, 12) < 0.6 THEN usual ELSE of_visit(id, i, 14) END ** 1.3
    ) AS department,
    nth(['emergency', 'planned', 'planned', 'transfer'], 4 * of_visit(id, i, 15)) AS kind,
    CAST(least(30, floor(-4 * ln(1 - of_visit(id, i, 16)) * slowness)) AS INTEGER) AS stay,
    nth(
        ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'],
        CASE WHEN of_visit(id, i, 17) < 0.8 THEN near ELSE 8 * of_visit(id, i, 18) END
    ) AS site,
    concat('D', CAST(floor(60 * of_visit(id, i, 19) ** 2) AS INTEGER)) AS diagnosis
FROM (
    SELECT
        patient_id AS id,
        unnest(range(CAST(least(20, floor(-5.4 * ln(1 - of_person(patient_id, 7)))) AS INTEGER))) AS i,
        of_person(patient_id, 13) AS usual,
        CASE WHEN born < 1960 THEN 1.5 ELSE 1 END AS slowness,
        zip // 100 % 8 AS near
    FROM patients
)
"""
DEPARTMENTS = {
    "internal medicine": ["cardiology", "pneumology", "nephrology", "gastroenterology", "geriatrics"],
    "surgery and emergency": ["surgery", "orthopaedics", "urology", "emergency"],
    "nerves and mind": ["neurology", "psychiatry"],
    "children and births": ["paediatrics", "obstetrics"],
    "others": ["oncology", "ophthalmology", "dermatology"],
}
OF_PATIENTS = {
    "born": {"kind": "intervals", "widths": [5, 10, 20, 40]},
    "sex": {"kind": "flat"},
    "zip": {"kind": "intervals", "widths": [100, 500]},
    "insurance": {
        "kind": "groups",
        "groups": {"by law": ["public", "public plus", "state"], "other": ["private", "abroad", "none"]},
    },
}
OF_VISITS = {
    "day": {"kind": "dates", "units": ["month", "quarter", "year"]},
    "department": {"kind": "groups", "groups": DEPARTMENTS},
    "kind": {"kind": "flat"},
    "stay": {"kind": "cuts", "breaks": [[1, 2, 4, 8, 15], [1, 4]]},
    "site": {
        "kind": "groups",
        "groups": {"north": ["A", "B", "C"], "middle": ["D", "E", "F"], "south": ["G", "H"]},
    },
}
LIMITS = {"patients": 0.05, "visits": 0.1}


def make_hospital(connection: duckdb.DuckDBPyConnection, persons: int) -> None:
    """Make the tables ``patients`` and ``visits``, as other runs and machines do."""
    connection.execute(CHANCES)
    connection.execute(PATIENTS, [persons])
    connection.execute(VISITS)


def hospital_policy(
    k: int = 5, *, privacy: Sequence[Mapping[str, Any]] | None = None, limits: Mapping[str, float] = LIMITS
) -> dict[str, Any]:
    """The fields of a policy for the hospital, of one known row by default.

    Args:
        k: the number of persons.
        privacy: the models, as in a file; they have their own k.
        limits: by table the share of rows that may be left out.
    """
    patients = {"row_key": "patient_id", "quasi_identifiers": [*OF_PATIENTS], "taxonomies": OF_PATIENTS}
    visits = {
        "parent": "patients",
        "key": "patient_id",
        "quasi_identifiers": [*OF_VISITS],
        "sensitive": ["diagnosis"],
        "suppression_limit": limits["visits"],
        "taxonomies": OF_VISITS,
    }
    return {
        "privacy": privacy or [{"model": "known-rows", "k": k, "m": 1}],
        "suppression_limit": limits["patients"],
        "tables": {"patients": patients, "visits": visits},
    }
