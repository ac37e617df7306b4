"""Tables of thousands of columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sqlanon as sa

VALUES = ("(row + {0}) % 7", "'v' || (row + {0}) % 7", "(row * {0} % 100) / 7")
"""Integers, texts, and numbers that have several texts, as SQL."""


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sa.Session]:
    monkeypatch.chdir(tmp_path)
    with sa.connect() as session:
        yield session


def make(session: sa.Session, columns: int) -> sa.Policy:
    """A table of this many columns beside an age, and a policy that releases them all."""
    kept = {f"column {place}": VALUES[place % 3].format(place) for place in range(columns)}
    listed = ", ".join(f'{value} AS "{name}"' for name, value in kept.items())
    session.connection.execute(f"CREATE TABLE wide AS SELECT row % 9 AS age, {listed} FROM range(90) AS rows (row)")
    session.taxonomies.load("age", sa.Taxonomy.intervals([3], minimum=0, maximum=8))
    return sa.Policy(quasi_identifiers=["age"], insensitive=[*kept], privacy=[sa.KAnonymity(20)])


def assert_released(session: sa.Session, policy: sa.Policy, target: str) -> None:
    release = session.anonymize("wide", policy, target)
    assert release.node == {"age": 1}
    assert session.verify(target, policy).met
    released = release.to_arrow()
    assert (released.num_rows, released.num_columns) == (90, len(policy.columns))


def test_more_columns_than_expressions_may_be_deep(session: sa.Session) -> None:
    """DuckDB refuses an expression that is deeper than this setting, which is 1,000 unless it is changed."""
    session.connection.execute("SET max_expression_depth TO 250")
    assert_released(session, make(session, 260), "released")


@pytest.mark.parametrize(("target", "columns"), [("released.parquet", 3_000), ("released.csv", 1_500)])
def test_thousands_of_columns(session: sa.Session, target: str, columns: int) -> None:
    assert_released(session, make(session, columns), target)


def test_two_hundred_quasi_identifiers(session: sa.Session) -> None:
    """Searched for a second: the answer is verified, and says how far it can be from the best."""
    names = [f"q{place}" for place in range(200)]
    listed = ", ".join(f"(row + {place}) % 5 AS {name}" for place, name in enumerate(names))
    session.connection.execute(f"CREATE TABLE wide AS SELECT {listed} FROM range(500) AS rows (row)")
    session.taxonomies.load_all({name: sa.Taxonomy.flat(range(5)) for name in names})
    policy = sa.Policy(quasi_identifiers=names, privacy=[sa.KAnonymity(5)])
    release = session.anonymize("wide", policy, "released", time_limit=1)
    assert session.verify("released", policy).met
    assert release.report.gap is not None
    assert 0 <= release.report.gap <= 1


def test_an_expression_that_is_too_deep(session: sa.Session) -> None:
    deep = "SELECT " + "1 + " * 1_100 + "1 AS age FROM range(9)"
    with pytest.raises(sa.EngineError, match="nested deeper than max_expression_depth"):
        session.measure(deep, sa.Policy(quasi_identifiers=["age"], privacy=[sa.KAnonymity(2)]))
