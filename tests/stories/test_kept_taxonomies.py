"""What a release leaves in its warehouse, so that SQL can go on: the taxonomies of its policy, and macros."""

from pathlib import Path

import duckdb
import pytest

import sqlanon as sa

AGES = {"kind": "intervals", "widths": [10, 50], "minimum": 0, "maximum": 99}
POLICY = {
    "quasi_identifiers": ["age", "sex"],
    "privacy": [{"model": "k-anonymity", "k": 3}],
    "taxonomies": {"age": AGES, "sex": {"kind": "flat"}},
}
TOML = """
quasi_identifiers = ["age", "sex"]
privacy = [{ model = "k-anonymity", k = 3 }]

[taxonomies]
age = { kind = "intervals", widths = [10, 50], minimum = 0, maximum = 99 }
sex = { kind = "flat" }
"""
ROWS = "SELECT 20 + i % 40 AS age, if(i % 2 = 0, 'f', 'm') AS sex FROM range(120) AS rows (i)"


def wider(widths: list[int]) -> dict[str, object]:
    return {**POLICY, "taxonomies": {**POLICY["taxonomies"], "age": {**AGES, "widths": widths}}}  # type: ignore[dict-item]


def stored(session: sa.Session) -> dict[str, object]:
    return {name: (shape["height"], shape["domain"]) for name, shape in session.taxonomies.list().items()}


def test_a_table_leaves_taxonomies_and_macros_and_files_leave_nothing(tmp_path: Path) -> None:
    warehouse = tmp_path / "clinic.duckdb"
    with sa.connect(warehouse) as session:
        session.connection.execute(f"CREATE TABLE people AS {ROWS}")
        session.anonymize("people", POLICY, tmp_path / "k3.csv")
        session.anonymize("people", POLICY, "none", keep_taxonomies=False)
        assert stored(session) == {}

        session.anonymize("people", POLICY, "k3")
        assert stored(session) == {"age": (3, "declared"), "sex": (1, "observed")}
        # Another policy replaces what a policy left, and what it does not carry it finds.
        session.anonymize("people", wider([5, 10, 50]), "by_five")
        assert stored(session)["age"] == (4, "declared")
        assert session.verify("k3", POLICY).met
        without = {name: value for name, value in POLICY.items() if name != "taxonomies"}
        assert session.anonymize("people", without, "again").report.loss is not None

        # What somebody has loaded stays, also where a policy carries the same, and others are refused.
        session.taxonomies.load("age", sa.Taxonomy.intervals([7], minimum=0, maximum=99))
        session.anonymize("people", wider([7]), "by_seven")
        with pytest.raises(sa.TaxonomyError, match="stores others"):
            session.anonymize("people", POLICY, "refused")
        assert stored(session)["age"] == (2, "declared")

        # Unless the policy says that its own holds, which changes no other policy's hash.
        own = {**POLICY, "stored_taxonomies": "ignore"}
        by_ten = session.anonymize("people", own, "by_ten")
        assert any('keeps its own taxonomies of "age"' in note for note in by_ten.report.notes)
        assert session.connection.execute("FROM by_ten EXCEPT ALL FROM k3").fetchall() == []
        assert session.verify("by_ten", own).met and stored(session)["age"] == (2, "declared")
        assert "stored_taxonomies" not in sa.Policy(**POLICY).model_dump()

    with duckdb.connect(str(warehouse)) as client:
        client.execute("CREATE TABLE by_sql AS FROM anon.generalize('people', MAP {'age': 1, 'sex': 1})")
        assert client.execute("SELECT k FROM anon.k_anonymity('by_sql', ['age', 'sex'])").fetchone() == (3,)
