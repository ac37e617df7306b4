"""Tables that the experiments on DiffGen make: folds, variations of rows, and invented stays."""

from collections.abc import Iterator

import pytest
from sqlglot import exp

import sqlanon as sa
from sqlanon.papers.adult import RAW_TEST, RAW_TRAINING
from sqlanon.papers.diffgen_experiment import SQL, put, put_fold
from sqlanon.queries.kit.nodes import identifier, string


@pytest.fixture
def session() -> Iterator[sa.Session]:
    with sa.connect(":memory:") as session:
        session.connection.execute(
            "CREATE TABLE people AS SELECT range AS row, range % 50 AS age, chr(65 + (range % 7)::INT) AS letter, "
            "range AS kept FROM range(1000)"
        )
        yield session


def ages(session: sa.Session, table: str) -> list[int]:
    return [kept for (kept,) in session.connection.sql(f"SELECT kept FROM {table} ORDER BY kept").fetchall()]


def test_ten_folds_are_a_partition(session: sa.Session) -> None:
    folds = []
    for seed in range(11):
        put_fold(session, "people", ["kept"], seed, 10)
        folds.append(ages(session, RAW_TEST))
        assert sorted(folds[-1] + ages(session, RAW_TRAINING)) == [*range(1000)]
        assert 60 < len(folds[-1]) < 140
    assert sorted(kept for fold in folds[:10] for kept in fold) == [*range(1000)]
    assert folds[10] != folds[0]


def test_variations_have_values_of_other_rows(session: sa.Session) -> None:
    columns = ["age", "letter"]
    people = exp.Table(this=identifier("people"))
    names = [*map(string, columns)]
    query = SQL.query("variations", people=people, scale=4, columns=columns, names=names, kept="kept")
    put(session, "varied", query)
    found = session.connection.sql(
        "SELECT count(*), count(DISTINCT kept), max(age), count(DISTINCT letter), avg((age = kept % 50)::INT), "
        "avg((letter = chr(65 + (kept % 7)::INT))::INT) FROM varied"
    ).fetchall()[0]
    assert found[:4] == (4000, 1000, 49, 7)
    # A quarter of the rows is as it was; of the others every second value, and some by chance.
    assert found[4] == pytest.approx(0.25 + 0.75 * (0.5 + 0.5 / 50), abs=0.03)
    assert found[5] == pytest.approx(0.25 + 0.75 * (0.5 + 0.5 / 7), abs=0.03)
    once = SQL.query("variations", people=people, scale=1, columns=columns, names=names, kept="kept")
    put(session, "varied", once)
    assert (
        session.connection.sql(
            "SELECT age, letter, kept FROM varied EXCEPT SELECT age, letter, kept FROM people"
        ).fetchall()
        == []
    )
