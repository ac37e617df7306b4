"""Releases of top-down specialization beside earlier ones, and as earlier ones."""

from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from tests.stories.test_earlier_releases import SPRING, SUMMER, ages, at, copy, joint, load, policy
from tests.stories.test_earlier_releases import make_warehouse as make_taxonomies


def make_warehouse(path: Path) -> sa.Session:
    """Patients in spring and in summer, with a first release of those in spring."""
    session = make_taxonomies(path)
    load(session, "spring", range(20, 40))
    fall_ill(session, "spring", 30)
    session.anonymize("spring", cut(), "first")
    copy(session, "summer", "spring")
    return session


def cut(k: int = 4, **fields: Any) -> sa.Policy:
    method = sa.TopDownSpecialization(k, numeric={"age": (20, 60)})
    roles: dict[str, Any] = {"sensitive": ["illness"], "identifiers": ["id"]}
    return sa.Policy(quasi_identifiers=["age", "sex"], method=method, **roles, **fields)


def fall_ill(session: sa.Session, table: str, age: int) -> None:
    """Up to an age patients have the flu, and a cold from there."""
    session.connection.execute(f"UPDATE {table} SET illness = if(age < {age}, 'flu', 'cold')")


def test_both_are_cuts(session: sa.Session) -> None:
    assert ages(session, "first") == {"[20, 30)": 10, "[30, 60)": 10}
    fall_ill(session, "summer", 29)
    alone = session.anonymize("summer", cut(2), "alone")
    assert ages(session, "alone") == {"[20, 29)": 9, "[29, 60)": 11}
    found = session.compare_releases([SPRING, sa.Earlier("alone", source="summer", key="id")], source="summer")
    assert (found.k, found.required_k, found.persons_at_risk) == (1, 2, 1)
    assert found.smallest[0].labels == ({"age": "[20, 30)", "sex": "f"}, {"age": "[29, 60)", "sex": "f"})
    held = cut(earlier=[SPRING])
    second = session.anonymize("summer", held, "second")
    assert ages(session, "second") == {"[20, 60)": 20}
    assert (joint(second)[0], second.report.loss_alone) == (10, alone.report.loss)
    assert any(line.startswith('together with "first"') for line in second.guarantee.claims)
    assert session.verify("second", held, source="summer").met
    assert {"the cut of a release", "joint classes"} <= {step.purpose for step in session.explain("summer", held)}


def test_a_node_follows_a_cut(session: sa.Session) -> None:
    assert joint(session.anonymize("summer", policy(earlier=[SPRING]), "second", **at(1))) == (5, 4)
    assert session.compare_releases([SPRING, SUMMER], source="summer").smallest == ()


def test_no_row_is_left_out_for_others(session: sa.Session) -> None:
    session.connection.execute("DELETE FROM summer WHERE id = 1")
    load(session, "summer", [55, 56], first=100)
    with pytest.raises(sa.UnsatisfiableError) as error:
        session.anonymize("summer", cut(earlier=[SPRING]), "second")
    assert error.value.problems == (
        'joint classes that have fewer than 4 rows in table "summer" at one label for all: 1 (the fewest: 2)',
        'joint classes of earlier releases that lack 1 to 3 of their persons in table "summer": 1',
        'what can help: method = "full-domain", which leaves rows out, or a smaller k',
    )
