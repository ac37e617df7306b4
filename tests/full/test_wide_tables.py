"""Tables of thousands of columns."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from tests.golden.recording import Recorder

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
    session.connection.execute("SET max_expression_depth TO 150")
    assert_released(session, make(session, 160), "released")


def test_an_expression_that_is_too_deep(session: sa.Session) -> None:
    deep = "SELECT " + "1 + " * 1_100 + "1 AS age FROM range(9)"
    with pytest.raises(sa.EngineError, match="nested deeper than max_expression_depth"):
        session.measure(deep, sa.Policy(quasi_identifiers=["age"], privacy=[sa.KAnonymity(2)]))


SURVEY = ("{0}", "'v' || {0}", "{0} / 4.0", "DATE '2020-01-01' + CAST({0} AS INTEGER)")
"""Answers as whole numbers, texts, decimals and days, as SQL."""


def sent(columns: int) -> list[list[str]]:
    """The statements of a suggestion, of a run that drops the answers of a survey, and of one that keeps them."""
    answers = {f"q{place}": SURVEY[place % 4].format(f"(row * 7 + {place}) % 5") for place in range(columns)}
    listed = ", ".join(f"{value} AS {name}" for name, value in answers.items())
    found = []
    connection = duckdb.connect()
    people = f"SELECT 20 + row % 9 AS age, {listed} FROM range(40) AS rows (row)"
    connection.execute(f"COPY ({people}) TO 'survey.csv' (HEADER)")
    recorder = Recorder(connection)
    with sa.connect(recorder) as session:
        for kept in (None, False, True):
            recorder.statements.clear()
            if kept is None:
                assert len(session.suggest("survey.csv").columns) == columns + 1
            else:
                policy = sa.Policy(
                    quasi_identifiers=["age"],
                    insensitive=[*answers] if kept else [],
                    identifiers=[] if kept else [*answers],
                    privacy=[sa.KAnonymity(2)],
                    taxonomies={"age": "flat"},
                )
                report = session.anonymize("survey.csv", policy, f"released_{columns}_{kept}.csv").report
                assert report.findings is not None
                if not kept:
                    assert len(report.findings.repeated_identifiers) == columns
            found.append([*recorder.statements])
    return found


def test_statements_grow_with_the_number_of_columns_and_no_faster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for few, many in zip(sent(150), sent(300), strict=True):
        assert len(many) <= len(few) + 1 < 100  # texts are looked at for cleaning if some are kept
        assert sum(map(len, many)) < 2.05 * sum(map(len, few)) < 300 * 1_700
