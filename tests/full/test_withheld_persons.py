"""Who is hidden so that joint classes keep k persons."""

from typing import Any

import sqlanon as sa
from tests.stories import test_earlier_releases
from tests.stories.test_earlier_releases import SPRING, ages, at, copy, load, policy

make_warehouse = test_earlier_releases.make_warehouse


def test_a_large_class_lends_as_many_as_are_missing(session: sa.Session) -> None:
    """Of twelve patients one has left: three more are hidden, and nobody else; a later release finds out who they are.

    Without another column nobody is looked for among equal rows.
    """
    load(session, "spring", [*range(20, 30), 20, 21])
    copy(session, "summer", "spring", "id > 1")
    session.anonymize("spring", policy(), "first", **at(2))
    session.connection.execute("CREATE TABLE tagged AS SELECT *, id AS tag FROM summer")
    session.connection.execute("CREATE TABLE plain AS SELECT id, age FROM summer")
    plain: dict[str, Any] = {"identifiers": ["id"], "sensitive": []}
    for source, into, fields in (("tagged", "second", {"insensitive": ["tag"]}), ("plain", "third", plain)):
        held = policy(earlier=[SPRING], suppression_limit=0.5, **fields)
        assert session.anonymize(source, held, into, **at(2)).report.suppressed_rows == 3
        assert ages(session, into) == {"20s": 8}
        found = session.compare_releases([SPRING, sa.Earlier(into, source=source)], source=source, key="id")
        assert (found.k, found.class_count, found.persons_at_risk) == (4, 2, 0)
    hidden = "SELECT id FROM summer WHERE id NOT IN (SELECT tag FROM second)"
    first_by_hash = "FROM (SELECT id FROM summer ORDER BY md5(id::VARCHAR) LIMIT 3)"
    query = f"SELECT count(*) FROM ({hidden} INTERSECT {first_by_hash})"
    assert session.connection.execute(query).fetchall() == [(3,)]
