"""Top and bottom coding: numbers beyond public bounds become the bounds, in labels as in columns that are kept."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa

PEOPLE = """
CREATE TABLE people AS
SELECT 17 + (i * 37) % 80 AS age, CAST(i * 1000 - 3000 AS DECIMAL(10, 2)) AS income, ['f', 'm'][1 + i % 2] AS sex,
       CASE WHEN i % 9 = 0 THEN NULL ELSE i * 0.5 END::DOUBLE AS hours
FROM range(300) AS _ (i)
"""
BOUNDS = {"bottom_coding": {"age": 20, "income": 0}, "top_coding": {"AGE": 89, "income": 99_999.5, "hours": 40}}


@pytest.fixture
def session() -> Any:
    with sa.connect() as opened:
        opened.connection.execute(PEOPLE)
        yield opened


def policy(**more: Any) -> sa.Policy:
    roles: dict[str, Any] = {
        "quasi_identifiers": ["age", "sex"],
        "sensitive": ["income"],
        "insensitive": ["hours"],
        "privacy": [sa.KAnonymity(3)],
        "taxonomies": {
            "age": {"kind": "intervals", "widths": [5, 10], "minimum": 20, "maximum": 89},
            "sex": {"kind": "flat"},
        },
    }
    return sa.Policy(**{**roles, **BOUNDS, **more})


def coded_by_hand(session: sa.Session) -> list[tuple[Any, ...]]:
    query = """
        SELECT CASE WHEN age < 20 THEN 20 WHEN age > 89 THEN 89 ELSE age END // 10 * 10 AS decade, sex,
               CASE WHEN income < 0 THEN 0 WHEN income > 99999.5 THEN 99999.5 ELSE income END,
               CASE WHEN hours > 40 THEN 40 ELSE hours END
        FROM people ORDER BY ALL"""
    return session.connection.execute(query).fetchall()


def test_a_release_is_that_of_the_coded_table(session: sa.Session) -> None:
    for method in (None, sa.LocalRecoding()):
        asked = policy(minimum_levels={"age": 2}, maximum_levels={"age": 2, "sex": 0}, method=method, earlier="none")
        release = session.anonymize("people", asked, "released", replace=True)
        query = "SELECT CAST(age[2:3] AS BIGINT) AS decade, sex, income, hours FROM released ORDER BY ALL"
        assert session.connection.execute(query).fetchall() == coded_by_hand(session)
        types = "SELECT DISTINCT typeof(income), typeof(hours) FROM released"
        assert session.connection.execute(types).fetchall() == [("DECIMAL(10,2)", "DOUBLE")]
        assert any("public" in line and '"income"' in line for line in release.guarantee.conditions)
        assert session.verify("released", asked, source="people").met
    session.connection.execute("UPDATE released SET hours = 41 WHERE hours = 40")
    found = session.verify("released", asked, strict=False)
    assert any(line.startswith('"hours" has') and "beyond its bounds" in line for line in found.shortfalls)


def test_taxonomies_of_observed_values_see_coded_values(session: sa.Session) -> None:
    asked = policy(
        quasi_identifiers=["sex", "income"],
        sensitive=[],
        rest="identifier",
        taxonomies={"sex": {"kind": "flat"}, "income": {"kind": "flat"}},
        top_coding={"income": 1000},
        bottom_coding={"income": 1000},
    )
    session.anonymize("people", asked, "released", node={"sex": 0, "income": 0})
    assert session.connection.execute("SELECT DISTINCT income FROM released").fetchall() == [("1000.00",)]


def test_a_private_method_counts_coded_values(tmp_path: Path) -> None:
    asked = sa.Policy(
        quasi_identifiers=["age"],
        sensitive=["income"],
        rest="identifier",
        method=sa.Histogram(budget=sa.Budget(1000, "0.01"), node={"age": 1}),
        taxonomies={"age": {"kind": "intervals", "widths": [10], "minimum": 20, "maximum": 89}},
        bottom_coding={"age": 20, "income": 0},
        top_coding={"age": 89, "income": 5},
    )
    with sa.connect(ledger=tmp_path / "ledger.duckdb") as custodian:
        custodian.connection.execute(PEOPLE)
        query = "SELECT age, income::INTEGER AS income FROM people"
        release = custodian.anonymize(query, asked, "released", dataset="people")
    assert any("bounds of top and bottom coding" in line for line in release.guarantee.conditions)


def test_partitions_are_coded(session: sa.Session, tmp_path: Path) -> None:
    asked = policy()
    sidecar = tmp_path / "people.fit.json"
    session.partitions.fit("people", asked, sidecar, node={"age": 2, "sex": 0}, accept_observed_domain=True)
    release = session.partitions.apply("people", sidecar, "released")
    assert session.connection.execute("SELECT max(income), max(hours) FROM released").fetchone() == (99_999.5, 40)
    assert any("bounds of top and bottom coding" in line for line in release.guarantee.conditions)


def test_bounds_that_cannot_be_are_refused_at_once() -> None:
    with pytest.raises(sa.PolicyError, match=r"top_coding\.income"):
        policy(top_coding={"income": True})
    with pytest.raises(sa.PolicyError) as refused:
        policy(bottom_coding={"age": 90, "hour": 1}, top_coding={"age": 20})
    assert '"age" has the bottom 90, which is above its top, 20' in str(refused.value)
    assert 'did you mean "hours"' in str(refused.value)


def test_columns_that_do_not_hold_bounds_are_refused_at_once(session: sa.Session) -> None:
    asked = policy(top_coding={"age": 89.5, "sex": 1, "income": 1e9}, bottom_coding={})
    with pytest.raises(sa.PolicyError) as refused:
        session.anonymize("people", asked, "released")
    assert [problem.split('"')[1] for problem in refused.value.problems] == ["sex", "age", "income"]
    with pytest.raises(duckdb.CatalogException):
        session.connection.execute("FROM released")


def test_a_policy_file_has_them(session: sa.Session, tmp_path: Path) -> None:
    asked = tmp_path / "policy.toml"
    asked.write_text(
        """
        quasi_identifiers = ["age"]
        insensitive = ["income"]
        rest = "identifier"
        privacy = [{ model = "k-anonymity", k = 3 }]
        top_coding = { income = 0.1 }
        [taxonomies]
        age = { kind = "intervals", widths = [10], minimum = 0, maximum = 99 }
        """
    )
    session.anonymize("SELECT age, income FROM people", asked, "released")
    assert session.connection.execute("SELECT max(income)::VARCHAR FROM released").fetchone() == ("0.10",)


def test_a_release_that_is_left_as_it_is_promises_the_same(session: sa.Session, tmp_path: Path) -> None:
    session.connection.execute(f"COPY people TO '{tmp_path}/people.parquet'")
    source, target = tmp_path / "people.parquet", tmp_path / "released.parquet"
    first = session.anonymize(source, policy(), target)
    again = session.anonymize(source, policy(), target, replace="changed")
    assert again.unchanged
    assert again.guarantee == first.guarantee
