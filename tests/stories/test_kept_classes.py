"""Which classes are published: those that keep every bound of every model, whoever owns their rows."""

from collections.abc import Iterator

import duckdb
import pytest

import sqlanon as sa


@pytest.fixture
def session() -> Iterator[sa.Session]:
    """Of f two people, of whom one has two rows with different values; of m one person with four; of x three."""
    with sa.connect(duckdb.connect(config={"threads": 1})) as session:
        session.connection.execute(
            "CREATE TABLE visits (sex VARCHAR, illness VARCHAR, person INTEGER); INSERT INTO visits VALUES "
            "('f', 'flu', 1), ('f', 'cold', 1), ('f', 'flu', 2), ('m', 'flu', 3), ('m', 'cold', 3), ('m', 'x', 3), "
            "('m', 'y', 3), ('x', 'flu', 4), ('x', 'flu', 5), ('x', 'flu', 6)"
        )
        session.taxonomies.load("sex", sa.Taxonomy.flat(["f", "m", "x"]))
        yield session


def published(session: sa.Session, individual: str | None, *privacy: object) -> list[tuple[str]]:
    policy = sa.Policy(
        quasi_identifiers=["sex"],
        sensitive=["illness"],
        identifiers=["person"],
        individual=individual,
        privacy=list(privacy),
        suppression_limit=0.9,
        maximum_levels={"sex": 0},
    )
    session.anonymize("visits", policy, "released", replace=True)
    return session.connection.execute("SELECT DISTINCT sex FROM released ORDER BY sex").fetchall()


def test_rows_of_one_individual_are_one(session: sa.Session) -> None:
    assert published(session, "person", sa.KAnonymity(2)) == [("f",), ("x",)]
    # Where a column is protected, an individual has a cell for each of their values.
    assert published(session, "person", sa.KAnonymity(2), sa.DistinctLDiversity("illness", 2)) == [("f",)]


def test_all_bounds_are_kept(session: sa.Session) -> None:
    several = [sa.KAnonymity(3), sa.DistinctLDiversity("illness", 2), sa.AlphaKAnonymity("illness", 0.6, 2)]
    assert published(session, None, *several) == [("m",)]
    assert published(session, None, *several[::-1]) == [("m",)]
