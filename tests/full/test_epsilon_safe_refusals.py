"""What EpsilonSafe refuses."""

from collections.abc import Iterator

import pytest

import sqlanon as sa
from sqlanon.methods.noisy_node import epsilon_safe as scores
from tests.stories import test_epsilon_safe
from tests.stories.test_epsilon_safe import POLICY, ROLES

make_warehouse = test_epsilon_safe.make_warehouse


class TestRefusals:
    """Nothing is charged."""

    @pytest.fixture(autouse=True)
    def nothing_is_charged(self, session: sa.Session) -> Iterator[None]:
        session.connection.execute("CREATE TABLE released AS SELECT 'old' AS text")
        yield
        assert session.ledger.spent("people") == sa.Budget(0)
        assert session.connection.execute("FROM released").fetchall() == [("old",)]

    def test_values_that_the_taxonomy_does_not_know(self, session: sa.Session) -> None:
        session.connection.execute("UPDATE people SET age = 99 WHERE person = 3")
        with pytest.raises(sa.TaxonomyError):
            session.anonymize("people", POLICY, "released", replace="anything")

    def test_too_many_rows_for_exact_scores(self, session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scores, "MAX_ROWS", 1999)
        with pytest.raises(sa.PolicyError, match=r"for up to 399 rows with a suppressed_weight of 5"):
            session.anonymize("people", POLICY, "released", replace="anything")

    def test_methods_that_cannot_be_run(self, session: sa.Session) -> None:
        for method, problem in (
            (sa.EpsilonSafe(k=10, beta="1/2", epsilon_node="1e-12"), "cannot be drawn with"),
            (
                sa.EpsilonSafe(k=5, beta="1/5", delta="1e-6", select_on="sample"),
                r"among 6, costs δ = .* more than the delta of 1e-06",
            ),
            (sa.EpsilonSafe(k=10, beta="1/2", node={"age": 9, "sex": 0}), '"age" has levels 0 to 2, so not 9'),
        ):
            with pytest.raises(sa.PolicyError, match=problem):
                session.anonymize("people", sa.Policy(**ROLES, method=method), "released", replace="anything")

    def test_what_a_run_may_not_ask_for(self, session: sa.Session) -> None:
        with pytest.raises(sa.PolicyError, match="draws its node, or has a public one"):
            session.anonymize("people", POLICY, "released", node={"age": 1, "sex": 0}, replace="anything")
        with pytest.raises(sa.PolicyError, match="takes no time limit"):
            session.anonymize("people", POLICY, "released", time_limit=1, replace="anything")
