"""The choice of a node under audit, exactly and by runs, with nearly all of ε on it; and broken ones, which it finds.

A score changes by no more than its sensitivity, which has tests of its own. Here it is the sensitivity that a choice is
made with, for which scores, ε and the rows of an individual have to fit each other.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.model.methods.noisy import NODE
from tests.effort import examples
from tests.node_choices import ELSEWHERE, ROW, Neighbours, Row, exact_audit, method, policy, threshold

METHODS = {
    "a row": method(),
    "a row, at another ε": method(node="1/2", epsilon="0.3"),
    "a row, where more rows are asked for": method(minimum_count=600),
    "two rows of one": method(2),
    "seven rows of one": method(7),
    "a row, with δ = 0": method(delta="0"),
}


def at_the_threshold(wanted: sa.IPA, rows: int = 0) -> Neighbours:
    """T - 1 equal rows, and those of one more: each is at risk no more if labels stay, and lost if they go."""
    return Neighbours([ROW] * (threshold(wanted) - 1 + rows), [ROW] * wanted.rows_per_individual)


class TestExactly:
    @pytest.mark.parametrize("name", METHODS)
    def test_a_choice_loses_what_is_claimed_and_no_less(self, name: str) -> None:
        """No less, so that what is wrong by any factor shows: the loss is more, or it is less."""
        wanted = METHODS[name]
        for rows in (0, 1) if name == "a row" else (0,):
            audit = exact_audit(at_the_threshold(wanted, rows), policy(wanted))
            assert audit.claimed == wanted.budgets[NODE]
            assert not audit.violates
            assert audit.lower_bound == pytest.approx(float(audit.claimed.epsilon), rel=1e-6)

    def test_the_exponential_mechanism_loses_no_more(self) -> None:
        """And more at half the sensitivity."""
        wanted = METHODS["a row"].model_copy(update={"selection": "exponential"})
        audit = exact_audit(at_the_threshold(wanted), policy(wanted))
        assert audit.claimed == wanted.budgets[NODE]
        assert not audit.violates
        assert audit.lower_bound > wanted.budgets[NODE].epsilon / 2
        assert exact_audit(at_the_threshold(wanted), policy(wanted), lambda sensitivity: sensitivity // 2).violates

    def test_nodes_between_lose_no_more(self) -> None:
        """Of two quasi-identifiers, one of them with three levels."""
        wanted = METHODS["two rows of one"]
        audit = exact_audit(at_the_threshold(wanted), policy(wanted, "age", "sex"))
        assert not audit.violates
        assert audit.lower_bound > wanted.budgets[NODE].epsilon / 2

    @given(
        rows=st.lists(st.sampled_from([ROW, ELSEWHERE, (1, "f", "flu"), (1, "m", "cold")]), max_size=25),
        more=st.lists(st.sampled_from([ROW, ELSEWHERE, (1, "f", "cold")]), min_size=1, max_size=3),
    )
    @settings(max_examples=examples(8), deadline=None)
    def test_no_table_and_no_individual_makes_it_lose_more(self, rows: list[Row], more: list[Row]) -> None:
        """With a threshold of some rows, around which these tables are."""
        wanted = method(len(more), node="1/10", epsilon="8", delta="0.5")
        assert threshold(wanted) < 15
        assert not exact_audit(Neighbours(rows, more), policy(wanted, "age", "sex")).violates

    @pytest.mark.parametrize(("name", "part"), [("a row, at another ε", 2), ("seven rows of one", 7)])
    def test_a_sensitivity_that_is_too_small_is_found(self, name: str, part: int) -> None:
        """Of scores in parts of a row, so that half of it is a whole number still."""
        wanted = METHODS[name]
        audit = exact_audit(at_the_threshold(wanted), policy(wanted), lambda sensitivity: sensitivity // part)
        assert audit.violates
        assert audit.lower_bound == pytest.approx(part * float(wanted.budgets[NODE].epsilon), rel=1e-6)
