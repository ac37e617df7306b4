"""What relocation refuses; nothing is written, and what was there stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp

import sqlanon as sa
from sqlanon.methods.relocation import queries
from tests.stories.test_relocation import people_policy, session_of_people


def with_another_value(query: exp.Query) -> exp.Query:
    """Cells of which the disease of one person is another one."""
    number = exp.column("anon_raw_1", quoted=True)
    wrong = exp.case().when(number.eq(100), exp.Literal.string("d1")).else_(exp.column("anon_raw_0", quoted=True))
    replaced = exp.Star(replace=[exp.alias_(wrong, "anon_raw_0", quoted=True)])
    return exp.select(replaced).from_(query.subquery("cells"))


class TestRefusals:
    """Nothing is written, and what was there stays."""

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ("ALTER TABLE people ADD COLUMN note TEXT", 'column "note" has no role'),
            ("ALTER TABLE people ALTER disease SET DATA TYPE DOUBLE USING 0.5", '"disease" is DOUBLE'),
            ("ALTER TABLE people ALTER number SET DATA TYPE INTEGER[] USING [number]", '"number" is INTEGER'),
            ("DELETE FROM people", "has no rows"),
        ],
    )
    def test_a_table_that_does_not_fit(self, change: str, words: str) -> None:
        with session_of_people() as session:
            session.connection.execute("CREATE TABLE released AS FROM people")
            session.connection.execute(change)
            with pytest.raises(sa.PolicyError, match=words):
                session.anonymize("people", people_policy(), "released", replace="anything")
            assert session.connection.sql("SELECT count(*) FROM released").fetchall() == [(82,)]

    def test_no_class_is_large_enough(self) -> None:
        with session_of_people() as session:
            with pytest.raises(sa.UnsatisfiableError) as refused:
                session.anonymize("people", people_policy(k=83), "released")
            assert list(refused.value.problems) == [
                "best node: age 2, sex 1; 82 of 82 rows are in such classes there",
                "k = 82 is the largest that would do",
            ]

    def test_too_many_outliers(self) -> None:
        with session_of_people() as session:
            policy = people_policy(limit=0.01).model_copy(update={"maximum_levels": {"age": 0, "sex": 0}})
            with pytest.raises(sa.UnsatisfiableError, match=r"at most 0 rows in classes of fewer than 4") as refused:
                session.anonymize("people", policy, "released")
            assert list(refused.value.problems) == [
                "best node: age 0, sex 0; 2 of 82 rows are in such classes there",
                "limit = 0.03 is the smallest that would do",
                "leaving out maximum_levels would do",
            ]
            for changes in ({"method": sa.Relocation(4, limit=0.03)}, {"maximum_levels": {}}):
                session.anonymize("people", policy.model_copy(update=changes), "released", replace=True)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"sensitive": ()}, "needs a sensitive or an insensitive column"),
            ({"privacy": [sa.KAnonymity(7)]}, "takes no privacy model but k-anonymity of its own k"),
            ({"privacy": [sa.KAnonymity(3), sa.DistinctLDiversity("disease", 2)]}, "takes no privacy model but"),
            ({"suppression_limit": 0.1}, "takes no suppression_limit"),
            ({"objective": "privacy", "max_loss": 1}, "takes no suppression_limit, suppression or objective"),
            ({"search": "ola"}, "needs monotonic models, which lm is not"),
            ({"row_weight": "w"}, "counts rows, not the weights"),
            ({"individual": "w"}, "counts rows, not the individuals"),
        ],
    )
    def test_a_policy_that_asks_for_more(self, options: dict[str, Any], words: str) -> None:
        roles = {"quasi_identifiers": ["age"], "sensitive": ["disease"], "identifiers": ["w"], **options}
        with pytest.raises(sa.PolicyError, match=words):
            sa.Policy(method=sa.Relocation(3), **{"quality": sa.LM(), **roles})

    @pytest.mark.parametrize(
        ("settings", "words"),
        [
            ({}, "k: field required"),
            ({"k": 1}, "k: "),
            ({"k": 3, "limit": 1.1}, "limit: "),
            ({"k": 3, "limit": -0.1}, "limit: "),
            ({"k": 3, "h": 0.1}, "h: "),
        ],
    )
    def test_settings_that_cannot_be(self, settings: dict[str, Any], words: str) -> None:
        with pytest.raises(sa.PolicyError, match=words):
            sa.Relocation(**settings)

    def test_requests_that_it_does_not_take(self, tmp_path: Path) -> None:
        with session_of_people() as session:
            with pytest.raises(sa.PolicyError, match="takes no node: bound its search"):
                session.anonymize("people", people_policy(), "released", node={"age": 0, "sex": 0})
            with pytest.raises(sa.PolicyError, match="dataset"):
                session.anonymize("people", people_policy(), "released", dataset="x")
            with pytest.raises(sa.PolicyError, match="random_source"):
                session.anonymize("people", people_policy(), "released", random_source=sa.SeededSource(1))
            with pytest.raises(sa.PolicyError, match="a fit is of full domains"):
                session.partitions.fit("people", people_policy(), tmp_path / "fit.json")

    @pytest.mark.parametrize(
        ("broken", "words"),
        [
            (lambda query: query.limit(70), "rows where 82 were to be released"),
            (with_another_value, "it lacks the values of 1 rows of the source"),
        ],
    )
    def test_a_release_that_is_not_as_it_should_be(
        self, monkeypatch: pytest.MonkeyPatch, broken: Any, words: str
    ) -> None:
        with session_of_people() as session:
            session.anonymize("people", people_policy(), "released")
            right = queries.moved

            def wrong(*given: Any) -> Any:
                step = right(*given)
                return type(step)(step.makes, broken(step.query), step.purpose)

            monkeypatch.setattr(queries, "moved", wrong)
            with pytest.raises(sa.VerificationError, match=words):
                session.anonymize("people", people_policy(), "released", replace=True)
            assert session.connection.sql("SELECT count(*) FROM released").fetchall() == [(82,)]
