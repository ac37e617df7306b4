"""Releases of local recoding beside earlier ones: classes at levels of their own."""

from pathlib import Path

import pytest

import sqlanon as sa
from tests.stories.test_earlier_releases import SPRING, ages, at, copy, joint, load, policy
from tests.stories.test_earlier_releases import make_warehouse as make_taxonomies


def make_warehouse(path: Path) -> sa.Session:
    """Patients in spring and in summer, with a first release of those in spring."""
    session = make_taxonomies(path)
    load(session, "spring", [22, 23, 24, 25, 26, 26, 35, 36, 37, 38])
    session.anonymize("spring", policy(), "first", **at(2))
    copy(session, "summer", "spring")
    return session


def local(*earlier: sa.Earlier, limit: float = 0.9) -> sa.Policy:
    method = sa.LocalRecoding(suppression_limit=limit)
    return policy(method=method, suppression_limit=None, earlier=earlier)


def test_whoever_left_takes_a_class_along(session: sa.Session) -> None:
    session.connection.execute("DELETE FROM summer WHERE id = 10")
    load(session, "summer", [31, 31, 31, 31], first=50)
    assert "the_release" in {step.makes for step in session.explain("summer", local(SPRING))}
    second = session.anonymize("summer", local(SPRING), "second")
    assert (second.report.suppressed_rows, joint(second)) == (3, (4, 3))
    with pytest.raises(sa.UnsatisfiableError) as error:
        session.anonymize("summer", local(SPRING, limit=0.1), "third")
    assert "2 of 13 rows do not meet them even all together with others of" in error.value.problems[1]
    session.connection.execute("DELETE FROM summer WHERE id = 1")
    with pytest.raises(sa.UnsatisfiableError) as error:
        session.anonymize("summer", local(SPRING, limit=0.3), "third")
    assert "8 rows are hidden: 4 persons at least of each joint class" in error.value.problems[1]


def test_one_unchanged_source(session: sa.Session) -> None:
    second = session.anonymize("spring", local().changed({"earlier": ["first"]}), "second")
    assert ages(session, "second") == {"20s": 6, "35-39": 4}
    assert joint(second)[0] == 4
