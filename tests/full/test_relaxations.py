"""What an unsatisfiable policy could ask for instead: each change is run, and the next smaller one fails."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.errors import Explanation, Relaxation
from sqlanon.nodes.counting import share_of
from tests.conftest import clinic_policy, clinic_values
from tests.effort import examples


def policy(*privacy: Any, **options: Any) -> sa.Policy:
    """One that compares with none of the releases before."""
    return clinic_policy(*privacy, earlier="none", **options)


@pytest.fixture
def clinic(shared_clinic: sa.Session) -> sa.Session:
    return shared_clinic


def explained(session: sa.Session, wanted: sa.Policy) -> Explanation:
    with pytest.raises(sa.UnsatisfiableError) as caught:
        session.anonymize("visits", wanted, into="never", replace=True)
    explanation = caught.value.explanation
    assert explanation is not None
    assert clinic_values(f"{caught.value} {explanation}") == []
    for relaxation in explanation.relaxations:
        assert relaxation.sentence in str(caught.value)
        assert ("est that would do" in relaxation.sentence) is relaxation.smallest
        assert runs(session, relaxation.applied_to(wanted)), relaxation
    return explanation


class FoundError(RuntimeError):
    """What ends a run that has found its node."""


def stop_at_the_release(event: sa.Event) -> None:
    if event.stage == "release":
        raise FoundError


def runs(session: sa.Session, wanted: sa.Policy) -> bool:
    """Whether a run finds a node, after which a policy cannot be unsatisfiable any more."""
    with pytest.raises((sa.UnsatisfiableError, FoundError)) as ended:
        session.anonymize("visits", wanted, into="relaxed", progress=stop_at_the_release)
    return ended.type is FoundError


def by_kind(explanation: Explanation) -> dict[str, Relaxation]:
    return {relaxation.kind: relaxation for relaxation in explanation.relaxations}


class TestSuppression:
    def test_the_smallest_limit(self, clinic: sa.Session) -> None:
        self.check_smallest(clinic, policy(sa.KAnonymity(3), maximum_levels={"age": 1, "zip": 1}))

    @staticmethod
    def check_smallest(clinic: sa.Session, wanted: sa.Policy) -> None:
        """It is called the smallest, and a row less would not do."""
        relaxation = by_kind(explained(clinic, wanted))["suppression_limit"]
        assert relaxation.smallest
        allowed = relaxation.applied_to(wanted).allowed_rows(12)
        assert allowed == relaxation.suppressed_rows
        stricter = wanted.model_copy(update={"suppression_limit": share_of(allowed - 1, 12)})
        assert stricter.allowed_rows(12) == allowed - 1
        assert not runs(clinic, stricter)

    def test_of_a_model_that_is_not_monotonic_all_nodes_are_examined(self, clinic: sa.Session) -> None:
        wanted = policy(sa.EntropyLDiversity("diagnosis", 2), suppression_limit=0.1, maximum_levels={"age": 0})
        self.check_smallest(clinic, wanted)

    def test_nothing_is_called_smallest_where_it_is_not_known(
        self, clinic: sa.Session, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sqlanon.methods.full_domain.relaxation.EXAMINED_NODES", 0)
        wanted = policy(sa.EntropyLDiversity("diagnosis", 2), suppression_limit=0.1, maximum_levels={"zip": 1})
        relaxations = by_kind(explained(clinic, wanted))
        assert not any(relaxation.smallest for kind, relaxation in relaxations.items() if kind != "suppression_limit")
        assert len(relaxations) > 1
        self.check_smallest(clinic, wanted)  # the search itself has proven that

    def test_what_is_proven_of_nodes_that_were_not_examined_is_called_smallest(
        self, clinic: sa.Session, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sqlanon.methods.full_domain.relaxation.EXAMINED_NODES", 0)
        model = sa.TCloseness("diagnosis", 0.5)
        self.check_smallest(clinic, policy(model, suppression_limit=0.1, maximum_levels={"age": 0}))

    def test_a_search_that_the_limit_would_make_unsound_is_not_proposed(self, clinic: sa.Session) -> None:
        wanted = policy(sa.EntropyLDiversity("diagnosis", 2), search="ola", maximum_levels={"age": 0})
        assert "suppression_limit" not in by_kind(explained(clinic, wanted))

    @given(st.integers(1, 10**7).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
    @settings(max_examples=examples(60))
    def test_a_share_allows_just_so_many_rows(self, counts: tuple[int, int]) -> None:
        rows, total = counts
        limit = share_of(rows, total)
        assert policy(sa.KAnonymity(2), suppression_limit=limit).allowed_rows(total) == rows
        shorter = Decimal(repr(limit)).normalize()
        digits = -int(shorter.as_tuple().exponent)
        if digits > 0:
            coarse = shorter.quantize(Decimal(1).scaleb(1 - digits), rounding="ROUND_CEILING")
            assert int(coarse * total) != rows


class TestK:
    def test_k_above_all_rows(self, clinic: sa.Session) -> None:
        wanted = policy(sa.KAnonymity(300))
        explanation = explained(clinic, wanted)
        assert explanation.suppressed_rows == explanation.row_count == 12
        assert [(blocking.model, blocking.rows) for blocking in explanation.blocking_models] == [
            ("k-anonymity (k = 300)", 12)
        ]
        [relaxation] = explanation.relaxations
        assert (relaxation.kind, relaxation.smallest) == ("k", True)
        assert relaxation.changes == {"privacy": [{"model": "k-anonymity", "k": 12}]}
        assert not runs(clinic, policy(sa.KAnonymity(13)))

    def test_the_largest_k_below_the_top(self, clinic: sa.Session) -> None:
        wanted = policy(
            sa.KAnonymity(9), sa.DistinctLDiversity("diagnosis", 2), suppression_limit=0.3, maximum_levels={"zip": 1}
        )
        relaxation = by_kind(explained(clinic, wanted))["k"]
        assert relaxation.smallest
        k = relaxation.changes["privacy"][0]["k"]
        assert 2 <= k < 11
        others = wanted.model_copy(update={"privacy": (sa.KAnonymity(k + 1), wanted.privacy[1])})
        assert not runs(clinic, others)

    def test_k_of_1_is_not_proposed(self, clinic: sa.Session) -> None:
        explanation = explained(clinic, policy(sa.KAnonymity(2), maximum_levels={"age": 0, "zip": 0}))
        assert "k" not in by_kind(explanation)


class TestThresholds:
    def test_l_above_the_distinct_values(self, clinic: sa.Session) -> None:
        distinct = clinic.connection.execute("SELECT count(DISTINCT coalesce(diagnosis, '')) FROM visits").fetchone()
        assert distinct is not None
        wanted = policy(sa.KAnonymity(2), sa.DistinctLDiversity("diagnosis", distinct[0] + 1))
        [relaxation] = explained(clinic, wanted).relaxations
        assert (relaxation.kind, relaxation.smallest) == ("threshold", True)
        assert relaxation.changes["privacy"][1]["l"] == distinct[0]

    @pytest.mark.parametrize(
        ("model", "field", "stricter"),
        [(sa.EntropyLDiversity("diagnosis", 9), "l", 1e-5), (sa.AlphaKAnonymity("diagnosis", 0.1, 2), "alpha", -1e-5)],
        ids=lambda value: getattr(value, "model", value),
    )
    def test_the_strictest_threshold(self, clinic: sa.Session, model: Any, field: str, stricter: float) -> None:
        wanted = policy(model, suppression_limit=0.1, minimum_levels={"age": 1, "zip": 2}, maximum_levels={"sex": 0})
        relaxation = by_kind(explained(clinic, wanted))["threshold"]
        assert relaxation.smallest
        value = relaxation.changes["privacy"][0][field]
        asked = type(model)(**{**model.model_dump(), field: value + stricter})
        assert not runs(clinic, wanted.model_copy(update={"privacy": (asked,)}))

    def test_several_models_block(self, clinic: sa.Session) -> None:
        explanation = explained(clinic, policy(sa.KAnonymity(20), sa.DistinctLDiversity("diagnosis", 20)))
        assert len(explanation.blocking_models) == 2
        assert explanation.relaxations == ()

    def test_models_of_a_population(self, clinic: sa.Session) -> None:
        clinic.connection.execute("CREATE OR REPLACE TABLE people AS SELECT age, sex, zip FROM visits, range(3)")
        wanted = policy(sa.KMap(100, "people"))
        [relaxation] = explained(clinic, wanted).relaxations
        assert relaxation.changes["privacy"][0]["k"] == 36
        assert relaxation.smallest
        wanted = policy(sa.DeltaPresence(0.0, 0.2, "people"))
        relaxation = by_kind(explained(clinic, wanted))["threshold"]
        assert relaxation.changes["privacy"][0]["maximum"] == pytest.approx(1 / 3, abs=1e-6)


class TestLevels:
    def test_each_alone(self, clinic: sa.Session) -> None:
        wanted = policy(sa.KAnonymity(3), maximum_levels={"age": 0})
        relaxation = by_kind(explained(clinic, wanted))["maximum_levels"]
        assert relaxation.smallest
        level = relaxation.changes["maximum_levels"]["age"]
        assert level > 0
        if level > 1:
            assert not runs(clinic, wanted.model_copy(update={"maximum_levels": {"age": level - 1}}))

    def test_all_where_no_single_one_will_do(self, clinic: sa.Session) -> None:
        wanted = policy(sa.KAnonymity(12), maximum_levels={"age": 0, "sex": 0, "zip": 0})
        relaxation = by_kind(explained(clinic, wanted))["maximum_levels"]
        assert relaxation.changes == {"maximum_levels": {}}
        assert not relaxation.smallest


def test_of_inverse_ola_the_loss(clinic: sa.Session) -> None:
    wanted = policy(objective="privacy", max_loss=0.01, quality=sa.Prec(), minimum_levels={"age": 2})
    relaxation = by_kind(explained(clinic, wanted))["max_loss"]
    assert relaxation.changes["max_loss"] > 0.01
