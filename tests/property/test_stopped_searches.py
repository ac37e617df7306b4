"""Searches that are stopped: what they return is right, and their bound of what they did not see is proven."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sqlanon.model.lattice import Levels
from sqlanon.model.methods.full_domain import HOLD_EVERY_NODE, NEED_MONOTONIC_PRIVACY, NEED_MONOTONIC_QUALITY
from sqlanon.search import SEARCHES, SearchOutcome
from tests import brute_force
from tests.search_cases import FEWER, MONOTONIC, QUALITIES, WIDE_LIMITS, Case, WideLimits, cases, run

pytestmark = pytest.mark.usefixtures("small_batches")

LOWEST_LOSS = sorted(set(SEARCHES) - {"inverse-ola"})
OPTIMAL = {"optimal", "exhaustive", "ola", "incognito"}
WIDE = sorted(set(SEARCHES) - HOLD_EVERY_NODE)


@pytest.mark.parametrize("name", LOWEST_LOSS)
@FEWER
@given(data=st.data(), quality=st.sampled_from(QUALITIES))
def test_a_stopped_search_knows_how_far_it_may_be_from_the_optimum(
    name: str, data: st.DataObject, quality: object
) -> None:
    assume(name not in NEED_MONOTONIC_QUALITY or quality in MONOTONIC)
    check_every_stop(name, data, quality, exact=name in NEED_MONOTONIC_PRIVACY and quality.known)


@pytest.mark.parametrize("name", WIDE)
@FEWER
@given(data=st.data(), quality=st.sampled_from(QUALITIES), limits=st.sampled_from(WIDE_LIMITS))
def test_so_does_a_search_without_arrays_of_the_size_of_the_lattice(
    name: str, data: st.DataObject, quality: object, limits: WideLimits
) -> None:
    with limits.imposed():
        check_every_stop(name, data, quality, exact=False)


def check_every_stop(name: str, data: st.DataObject, quality: object, *, exact: bool) -> None:
    """Stop a search after every answer; ``exact`` says that its bound is the best that what it saw allows."""
    case = data.draw(cases(quality, monotonic=name in NEED_MONOTONIC_PRIVACY))
    whole, asked = run(name, case)
    bound = float("-inf")
    # At most two answers a node: its counts, and what its labels lose.
    for answers in range(2 * len(asked) + 1):
        outcome, seen = run(name, case, stop_after=answers)
        assert seen == asked[: len(seen)]
        check_incumbent(case, outcome, seen, whole)
        bound = check_bound(case, outcome, bound)
        if exact:
            assert (outcome.lower_bound or 0) == pytest.approx(least_possible_loss(case, seen))
        if len(seen) == len(asked):
            break
    if name in OPTIMAL:
        assert whole.proven_optimal or whole.unsatisfiable
    assert run(name, case, stop_after=2 * len(asked) + 1)[0] == whole


def check_incumbent(case: Case, outcome: SearchOutcome, seen: list[Levels], whole: SearchOutcome) -> None:
    suppressed = [node.suppressed_rows for node in case.nodes if not node.rejected]
    assert not suppressed or outcome.least_suppressed_rows <= min(suppressed)
    satisfying = [levels for levels in seen if levels in case.satisfying]
    if not satisfying:
        assert outcome.best is None
        assert outcome.loss is None
        return
    assert outcome.best.levels in satisfying
    assert outcome.loss == pytest.approx(case.loss(outcome.best.levels))
    if outcome != whole:
        assert outcome.loss == pytest.approx(min(map(case.loss, satisfying)))


def check_bound(case: Case, outcome: SearchOutcome, before: float) -> float:
    expected = case.expected
    if outcome.unsatisfiable:
        assert expected is None
        assert outcome.lower_bound is None
        return float("inf")
    assert outcome.lower_bound >= before - brute_force.SLACK, "more is known after every batch"
    if expected is not None:
        assert outcome.lower_bound <= expected.loss + brute_force.SLACK
    if outcome.proven_optimal:
        assert outcome.loss == outcome.lower_bound == pytest.approx(expected.loss)
    elif outcome.loss is not None:
        assert outcome.lower_bound < outcome.loss
    return outcome.lower_bound


def least_possible_loss(case: Case, seen: list[Levels]) -> float:
    """The least loss of the nodes that satisfy or may do so, for all that monotonic models say; 0 if there is none."""
    failed = [levels for levels in seen if levels not in case.satisfying]
    possible = {
        node.levels for node in case.nodes if not any(brute_force.covers(levels, node.levels) for levels in failed)
    }
    return min(map(case.loss, possible), default=0)


@FEWER
@given(data=st.data(), quality=st.sampled_from(MONOTONIC))
def test_a_stopped_inverse_ola_returns_the_most_private_node_that_it_saw(data: st.DataObject, quality: object) -> None:
    case = data.draw(cases(quality, monotonic="inverse-ola" in NEED_MONOTONIC_QUALITY))
    losses = [node.loss for node in case.nodes]
    max_loss = data.draw(st.sampled_from([loss for loss in losses if loss is not None] or [1.0]))
    whole, asked = run("inverse-ola", case, max_loss=max_loss)
    for batches in range(len(asked) + 1):
        outcome, seen = run("inverse-ola", case, max_loss=max_loss, stop_after=batches)
        if len(seen) == len(asked):
            break
        assert not outcome.proven_optimal
        assert not outcome.unsatisfiable
        found = [
            levels
            for levels in seen
            if levels in case.satisfying
            and case.loss(levels) <= max_loss + brute_force.SLACK
            and (outcome.maximal_nodes is None or levels in outcome.maximal_nodes)
        ]
        assert (outcome.best is None) == (not found)
        if outcome.best is not None:
            assert outcome.best.levels in found
            assert outcome.best.attainable == max(map(case.attainable, found))
    assert run("inverse-ola", case, max_loss=max_loss, stop_after=len(asked) + 1)[0] == whole
