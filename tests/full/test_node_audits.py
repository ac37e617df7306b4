"""The choice of a node under audit, exactly and by runs, with nearly all of ε on it; and broken ones, which it finds.

A score changes by no more than its sensitivity, which has tests of its own. Here it is the sensitivity that a choice is
made with, for which scores, ε and the rows of an individual have to fit each other.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.model.methods.noisy import NODE
from tests.effort import examples
from tests.node_choices import ELSEWHERE, ROW, Neighbours, NotedChoices, Row, exact_audit, method, policy, threshold

RUNS = 5_000
CONFIDENCE = 0.9999
"""One in 10,000 audits may call a sound mechanism a violation; the seeds are fixed, so that it is settled by now."""

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


def audited(neighbours: Neighbours, wanted: sa.IPA, changed: Callable[[int], int] = int) -> sa.evaluation.Audit:
    mechanism = sa.evaluation.repeatable(neighbours.session(), policy(wanted), NotedChoices(changed))
    return sa.evaluation.audit_privacy(mechanism, "without", "with_one", RUNS, CONFIDENCE)


class TestExactly:
    @pytest.mark.parametrize("name", METHODS)
    @pytest.mark.parametrize("rows", [0, 1])
    def test_a_choice_loses_what_is_claimed_and_no_less(self, name: str, rows: int) -> None:
        """No less, so that what is wrong by any factor shows: the loss is more, or it is less."""
        wanted = METHODS[name]
        audit = exact_audit(at_the_threshold(wanted, rows), policy(wanted))
        assert audit.claimed == wanted.budgets[NODE]
        assert not audit.violates
        assert audit.lower_bound == pytest.approx(float(audit.claimed.epsilon), rel=1e-6)

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

    @pytest.mark.parametrize("name", METHODS)
    @pytest.mark.parametrize("part", [2, 7])
    def test_a_sensitivity_that_is_too_small_is_found(self, name: str, part: int) -> None:
        """Of scores in parts of a row, so that half of it is a whole number still."""
        wanted = METHODS[name]
        audit = exact_audit(at_the_threshold(wanted), policy(wanted), lambda sensitivity: sensitivity // part)
        assert audit.violates
        assert audit.lower_bound == pytest.approx(part * float(wanted.budgets[NODE].epsilon), rel=1e-6)


@pytest.mark.deep
class TestByRuns:
    """Without a look inside: what a release would show, as an audit of a policy has it."""

    @pytest.mark.parametrize("name", ["a row", "seven rows of one"])
    def test_no_violation_is_found(self, name: str) -> None:
        wanted = METHODS[name]
        audit = audited(at_the_threshold(wanted), wanted)
        assert not audit.violates
        assert audit.lower_bound > 0.6, "else that it finds nothing would say nothing"

    @pytest.mark.parametrize(
        ("name", "changed"),
        [
            ("a row", lambda sensitivity: sensitivity // 2),
            ("two rows of one", lambda sensitivity: sensitivity // 2),
            ("seven rows of one", lambda sensitivity: sensitivity // 7),
        ],
        ids=["half of a row", "one of two rows", "one of seven rows"],
    )
    def test_a_sensitivity_that_is_too_small_is_found(self, name: str, changed: Callable[[int], int]) -> None:
        wanted = METHODS[name]
        audit = audited(at_the_threshold(wanted), wanted, changed)
        assert audit.violates
        assert audit.lower_bound > 1.5
