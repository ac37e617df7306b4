"""What relocation refuses; nothing is written, and what was there stays."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp

import sqlanon as sa
from sqlanon.methods.relocation import moving as queries
from tests.stories.test_relocation_release import people_policy, session_of_people

POLICIES: list[tuple[dict[str, Any], str]] = [
    ({"sensitive": ()}, "needs a sensitive or an insensitive column"),
    ({"privacy": [sa.KAnonymity(7)]}, "takes no privacy model but k-anonymity with its own k"),
    ({"privacy": [sa.KAnonymity(3), sa.DistinctLDiversity("disease", 2)]}, "takes no privacy model but"),
    ({"suppression_limit": 0.1}, "takes no suppression_limit"),
    ({"objective": "privacy", "max_loss": 1}, "takes no suppression_limit, suppression or objective"),
    ({"search": "ola"}, "needs monotonic models, which lm is not"),
    ({"row_weight": "w"}, "counts rows, not the weights"),
    ({"individual": "w"}, "counts rows, not the individuals"),
]
SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({}, "k: field required"),
    ({"k": 1}, "k: "),
    ({"k": 3, "limit": 1.1}, "limit: "),
    ({"k": 3, "limit": -0.1}, "limit: "),
    ({"k": 3, "h": 0.1}, "h: "),
]
SOURCES = [
    ("SELECT *, '' AS note FROM people", 'column "note" has no role'),
    ("SELECT * REPLACE (0.5::DOUBLE AS disease) FROM people", '"disease" is DOUBLE'),
    ("SELECT * REPLACE ([number] AS number) FROM people", r'"number" is .*\[\]'),
    ("FROM people LIMIT 0", "has no rows"),
]
REQUESTS: list[tuple[dict[str, Any], str]] = [
    ({"node": {"age": 0, "sex": 0}}, "takes no node: bound its search"),
    ({"dataset": "x"}, "dataset"),
    ({"random_source": sa.SeededSource(1)}, "random_source"),
]


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with session_of_people() as session:
        session.connection.execute("CREATE TABLE released AS FROM people")
        yield session
        assert session.connection.sql("SELECT count(*) FROM released").fetchall() == [(82,)]


def test_policies_and_settings_that_do_not_fit() -> None:
    for options, words in POLICIES:
        roles = {"quasi_identifiers": ["age"], "sensitive": ["disease"], "identifiers": ["w"], **options}
        with pytest.raises(sa.PolicyError, match=words):
            sa.Policy(method=sa.Relocation(3), **{"quality": sa.LM(), **roles})
    for settings, words in SETTINGS:
        with pytest.raises(sa.PolicyError, match=words):
            sa.Relocation(**settings)


def test_sources_and_requests_that_do_not_fit(session: sa.Session, tmp_path: Path) -> None:
    for source, words in SOURCES:
        with pytest.raises(sa.PolicyError, match=words):
            session.anonymize(source, people_policy(), "released", replace="anything")
    for asked, words in REQUESTS:
        with pytest.raises(sa.PolicyError, match=words):
            session.anonymize("people", people_policy(), "released", replace="anything", **asked)
    with pytest.raises(sa.PolicyError, match="partitions need full domains"):
        session.partitions.fit("people", people_policy(), tmp_path / "fit.json")


def test_no_class_is_large_enough(session: sa.Session) -> None:
    with pytest.raises(sa.UnsatisfiableError) as refused:
        session.anonymize("people", people_policy(k=83), "released", replace="anything")
    assert list(refused.value.problems) == [
        "best node: age 2, sex 1; 82 of 82 rows are in such classes there",
        "k = 82 is the largest that would do",
    ]


def test_too_many_outliers(session: sa.Session) -> None:
    policy = people_policy(limit=0.01).model_copy(update={"maximum_levels": {"age": 0, "sex": 0}})
    with pytest.raises(sa.UnsatisfiableError, match=r"at most 0 rows in classes of fewer than 4") as refused:
        session.anonymize("people", policy, "released", replace="anything")
    assert list(refused.value.problems) == [
        "best node: age 0, sex 0; 2 of 82 rows are in such classes there",
        "limit = 0.03 is the smallest that would do",
        "leaving out maximum_levels would do",
    ]
    for changes in ({"method": sa.Relocation(4, limit=0.03)}, {"maximum_levels": {}}):
        session.anonymize("people", policy.model_copy(update=changes), "other", replace=True)


def with_another_value(query: exp.Query) -> exp.Query:
    """Replace the disease of one person in the cells."""
    number = exp.column("anon_raw_1", quoted=True)
    wrong = exp.case().when(number.eq(100), exp.Literal.string("d1")).else_(exp.column("anon_raw_0", quoted=True))
    replaced = exp.Star(replace=[exp.alias_(wrong, "anon_raw_0", quoted=True)])
    return exp.select(replaced).from_(query.subquery("cells"))


def test_a_release_that_is_not_as_it_should_be(session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    right = queries.moved
    for broken, words in (
        (lambda query: query.limit(70), "rows where 82 were to be released"),
        (with_another_value, "it lacks the values of 1 rows of the source"),
    ):

        def wrong(*given: Any, broken: Any = broken) -> Any:
            step = right(*given)
            return type(step)(step.makes, broken(step.query), step.purpose)

        monkeypatch.setattr(queries, "moved", wrong)
        with pytest.raises(sa.VerificationError, match=words):
            session.anonymize("people", people_policy(), "released", replace="anything")
