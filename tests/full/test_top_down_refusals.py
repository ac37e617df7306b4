"""What top-down specialization refuses."""

from __future__ import annotations

from typing import Any

import pytest

import sqlanon as sa
from sqlanon.methods.cuts.shared import labels
from tests.stories import test_top_down
from tests.stories.test_top_down import policy_of

made, session = test_top_down.made, test_top_down.session


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"sensitive": []}, "is for one sensitive column, its target, not 0"),
            ({"sensitive": ["target", "w"], "identifiers": []}, "is for one sensitive column, its target, not 2"),
            ({"sensitive": ["w"], "identifiers": ["target"]}, 'the target "target" must be the one sensitive column'),
            ({"insensitive": ["w"], "identifiers": []}, 'cannot publish the insensitive "w"'),
            ({"privacy": [sa.KAnonymity(7)]}, "takes no privacy model but k-anonymity of its own k"),
            ({"suppression_limit": 0.1}, "takes no suppression_limit"),
            ({"quality": sa.Prec()}, "takes no quality model"),
            ({"maximum_levels": {"sex": 0}}, "takes no minimum_levels or maximum_levels"),
            ({"row_weight": "w"}, "counts rows, not the weights"),
            ({"individual": "w"}, "counts rows, not the individuals"),
            ({"quasi_identifiers": ["education", "sex"]}, 'method.numeric: "hours" is not a quasi-identifier'),
        ],
    )
    def test_a_policy_that_asks_for_more(self, options: dict[str, Any], words: str) -> None:
        with pytest.raises(sa.PolicyError, match=words):
            policy_of(**{"identifiers": ["w"], **options})

    @pytest.mark.parametrize(
        ("settings", "words"),
        [
            ({}, "k: field required"),
            ({"k": 1}, "k: "),
            ({"k": 3, "numeric": {"hours": (5, 5)}}, "the end must be above the least value"),
            ({"k": 3, "h": 0.1}, "h: "),
        ],
    )
    def test_settings_that_cannot_be(self, settings: dict[str, Any], words: str) -> None:
        with pytest.raises(sa.PolicyError, match=words):
            sa.TopDownSpecialization(**settings)

    def test_requests_that_it_does_not_take(self, session: sa.Session, tmp_path: Any) -> None:
        for asked, words in (
            ({"node": {"education": 0, "sex": 0}}, "takes no node"),
            ({"dataset": "x"}, "dataset, public and random_source"),
            ({"random_source": sa.SeededSource(1)}, "dataset, public and random_source"),
        ):
            with pytest.raises(sa.PolicyError, match=words):
                session.anonymize("applicants", policy_of(), "released", **asked)
        with pytest.raises(sa.PolicyError, match="a fit is of full domains"):
            session.partitions.fit("applicants", policy_of(), tmp_path / "fit.json")

    @pytest.mark.parametrize(
        ("source", "problems"),
        [
            ("SELECT * FROM applicants WHERE false", ()),
            ("SELECT * FROM applicants LIMIT 3", ("there are 3 rows", "k = 3 is the largest that would do")),
            (
                "SELECT * REPLACE (CASE WHEN sex = 'M' THEN hours END AS hours, nullif(target, 'no') AS target) "
                "FROM applicants",
                ('"hours" is NULL in 18 rows', '"target" is NULL in 13 rows'),
            ),
            ("SELECT * REPLACE (hours + 60 AS hours) FROM applicants", ('"hours": 18 rows',)),
            ("SELECT * REPLACE ('nan'::DOUBLE AS hours) FROM applicants", ('"hours": 34 rows',)),
            ("SELECT * REPLACE ('x' AS hours) FROM applicants", ("not a number",)),
            ("SELECT * REPLACE ([sex] AS sex) FROM applicants", ("a set of items has no one label",)),
            ("SELECT * REPLACE (1.5::DOUBLE AS target) FROM applicants", ("equal values can look different",)),
        ],
    )
    def test_a_source_that_does_not_fit(self, session: sa.Session, source: str, problems: tuple[str, ...]) -> None:
        with pytest.raises((sa.PolicyError, sa.UnsatisfiableError)) as refused:
            session.anonymize(source, policy_of(), "released")
        for problem in problems:
            assert problem in str(refused.value)
        if not problems:
            assert "has no rows" in str(refused.value)

    def test_values_that_a_taxonomy_does_not_know(self, session: sa.Session) -> None:
        session.connection.execute("UPDATE applicants SET education = 'secret' WHERE education = '12th'")
        with pytest.raises(sa.TaxonomyError, match='"education": 1 distinct value in 4 rows') as refused:
            session.anonymize("applicants", policy_of(), "released")
        assert "secret" not in str(refused.value)

    def test_a_release_that_is_not_as_it_should_be(self, session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
        right = labels.released

        def wrong(*given: Any) -> Any:
            return right(*given).limit(33)

        monkeypatch.setattr(labels, "released", wrong)
        with pytest.raises(sa.VerificationError, match="33 rows where 34 were to be released"):
            session.anonymize("applicants", policy_of(), "released")
