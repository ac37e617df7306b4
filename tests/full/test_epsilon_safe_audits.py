"""ε-safe anonymization under audit, its choice of a node exactly and its samples by runs; and broken ones, found."""

import pytest

import sqlanon as sa
from tests.node_choices import ELSEWHERE, ROW, Neighbours, exact_audit

ON_NODE = sa.EpsilonSafe(k=5, beta="1/2", epsilon_node=2, epsilon_sampling="7/10")
"""Nearly all of ε on the choice: -ln(1 - 1/2) is 0.693."""

OF_ONE_WEIGHT = sa.EpsilonSafe(k=5, beta="1/2", epsilon_node=2, epsilon_sampling="7/10", suppressed_weight=1)


def policy(method: sa.EpsilonSafe, *quasi_identifiers: str) -> sa.Policy:
    names = quasi_identifiers or ("age", "sex")
    dropped = [name for name in ("age", "sex", "diagnosis", "person") if name not in names]
    return sa.Policy(quasi_identifiers=names, identifiers=dropped, method=method)


class TestChoice:
    @pytest.mark.parametrize("method", [ON_NODE, OF_ONE_WEIGHT], ids=["five weights", "one weight"])
    @pytest.mark.parametrize("rows", [0, 9])
    def test_it_loses_no_more_than_is_claimed(self, method: sa.EpsilonSafe, rows: int) -> None:
        for more in (ROW, ELSEWHERE):
            audit = exact_audit(Neighbours([ROW] * rows, [more]), policy(method, "age", "sex"))
            assert audit.claimed == method.budgets["node"]
            assert not audit.violates

    @pytest.mark.parametrize("method", [ON_NODE, OF_ONE_WEIGHT], ids=["five weights", "one weight"])
    def test_a_sensitivity_that_is_too_small_is_found(self, method: sa.EpsilonSafe) -> None:
        rows = [*[ROW] * 9, *[ELSEWHERE] * 9]
        audit = exact_audit(Neighbours(rows, [ROW]), policy(method, "sex"), lambda sensitivity: sensitivity // 4)
        assert audit.violates
