"""Classes that are hidden so that joint classes keep k persons."""

from __future__ import annotations

from typing import Any

import pytest

import sqlanon as sa
from tests.stories import test_earlier_releases
from tests.stories.test_earlier_releases import SPRING, ages, at, copy, load, policy

session, make_warehouse = test_earlier_releases.session, test_earlier_releases.make_warehouse


class TestWithholding:
    @pytest.fixture(autouse=True)
    def first(self, session: sa.Session) -> None:
        """Twelve patients, of whom one has left by summer."""
        load(session, "spring", [*range(20, 30), 20, 21])
        copy(session, "summer", "spring", "id > 1")
        session.anonymize("spring", policy(), "first", **at(2))

    def check(self, session: sa.Session, source: str, **fields: Any) -> None:
        """Three more are hidden, and nobody else; a later release finds out who they are."""
        held = policy(earlier=[SPRING], suppression_limit=0.5, **fields)
        second = session.anonymize(source, held, "second", **at(2))
        assert second.report.suppressed_rows == 3
        assert ages(session, "second") == {"20s": 8}
        found = session.compare_releases([SPRING, sa.Earlier("second", source=source)], source=source, key="id")
        assert (found.k, found.class_count, found.persons_at_risk) == (4, 2, 0)

    def test_a_large_class_lends_as_many_as_are_missing(self, session: sa.Session) -> None:
        session.connection.execute("CREATE VIEW tagged AS SELECT *, id AS tag FROM summer")
        self.check(session, "tagged", insensitive=["tag"])
        hidden = "SELECT id FROM summer WHERE id NOT IN (SELECT tag FROM second)"
        first_by_hash = "FROM (SELECT id FROM summer ORDER BY md5(id::VARCHAR) LIMIT 3)"
        query = f"SELECT count(*) FROM ({hidden} INTERSECT {first_by_hash})"
        assert session.connection.execute(query).fetchall() == [(3,)]

    def test_nobody_is_looked_for_among_equal_rows(self, session: sa.Session) -> None:
        """Without another column it does not matter who is hidden, and a later release finds out who that is."""
        session.connection.execute("CREATE OR REPLACE TABLE summer AS SELECT id, age FROM summer")
        self.check(session, "summer", identifiers=["id"], sensitive=[])

    def test_a_class_that_would_get_too_small_is_hidden_as_a_whole(self, session: sa.Session) -> None:
        session.connection.execute("DELETE FROM spring WHERE id > 7; DELETE FROM summer WHERE id > 7")
        session.anonymize("spring", policy(), "first", replace=True, **at(2))
        load(session, "summer", [31, 32, 33, 34], first=50)
        session.anonymize("summer", policy(earlier=[SPRING], suppression_limit=0.7), "second", **at(2))
        assert ages(session, "second") == {"30s": 4}
