"""The published searches against naive forms of themselves, on random small lattices."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.model.lattice import Levels
from tests import brute_force
from tests.search_cases import (
    FEWER,
    MONOTONIC,
    QUALITIES,
    Case,
    Table,
    case_of,
    cases,
    distinct_labels,
    policy_for,
    run,
)

pytestmark = pytest.mark.usefixtures("small_batches")

BY_QUALITY = pytest.mark.parametrize("quality", MONOTONIC, ids=lambda quality: quality.measure)


@BY_QUALITY
@pytest.mark.parametrize("name", ["ola", "incognito"])
@FEWER
@given(data=st.data())
def test_the_minimal_nodes_and_the_best_of_them_are_found(name: str, quality: object, data: st.DataObject) -> None:
    case = data.draw(cases(quality, monotonic=True))
    minimal = brute_force.minimal(set(case.satisfying))
    # Another node can lose as little and suppress less, where labels that nobody has are all that is generalized.
    expected = brute_force.answer([node for node in case.nodes if node.levels in minimal])
    outcome, _ = run(name, case)
    assert outcome.minimal_nodes == tuple(sorted(minimal))
    assert outcome.unsatisfiable == (expected is None)
    assert outcome.lower_bound == outcome.loss
    assert outcome.closest is not None
    if expected is None:
        assert outcome.best is None
    else:
        assert outcome.best is not None
        assert outcome.best.levels == expected.best.levels
        assert outcome.loss == pytest.approx(expected.loss)
        assert case.expected is not None and expected.loss == pytest.approx(case.expected.loss)
        assert set(outcome.ties) == expected.ties
        assert outcome.proven_optimal


@FEWER
@given(data=st.data())
def test_incognito_goes_from_small_subsets_to_large_ones_and_asks_only_what_these_leave(data: st.DataObject) -> None:
    """By the paper: a node is a candidate of a subset if each of its projections, one smaller, satisfies."""
    case = data.draw(cases(sa.Prec(), monotonic=True))
    _, asked = run("incognito", case)
    _, maximum = case.bounds
    subsets = {levels: tuple(level < most for level, most in zip(levels, maximum, strict=True)) for levels in asked}
    assert [sum(subset) for subset in subsets.values()] == sorted(map(sum, subsets.values()))
    for levels in asked:
        for position, most in enumerate(maximum):
            if levels[position] < most:
                assert (*levels[:position], most, *levels[position + 1 :]) in case.satisfying
        for other in asked:
            if subsets[other] == subsets[levels] and other != levels and brute_force.covers(levels, other):
                assert other not in case.satisfying, "a node above a satisfying one of its subset is marked"
                assert asked.index(other) < asked.index(levels), "breadth-first from below"


@BY_QUALITY
@FEWER
@given(data=st.data())
def test_samarati_finds_the_least_height_and_the_best_node_there(quality: object, data: st.DataObject) -> None:
    case = data.draw(cases(quality, monotonic=True))
    outcome, _ = run("samarati", case)
    assert outcome.unsatisfiable == (not case.satisfying)
    if not case.satisfying:
        assert outcome.best is None
        return
    least = min(sum(levels) for levels in case.satisfying)
    lowest = [node for node in case.nodes if node.height == least]
    answer = brute_force.answer(lowest)
    assert answer is not None
    assert outcome.best is not None
    assert outcome.best.levels == answer.best.levels
    assert set(outcome.ties) == answer.ties
    assert outcome.loss == pytest.approx(answer.loss)


def test_samarati_compares_all_nodes_of_the_least_height() -> None:
    """Any one step merges the rows in pairs; the last node of height 1, in the third batch, loses least."""
    names = ["age", "sex", "zip", "race", "job"]
    rows = [
        {**dict(zip(names, values, strict=True)), "disease": "flu", "drug": None}
        for values in itertools.product("ab", repeat=len(names))
    ]
    taxonomies = {name: [["a", "*"], ["b", "*"]] for name in names}
    taxonomies["age"] = [["a", "ab", "*"], ["b", "ab", "*"]]
    table = Table(rows, taxonomies)
    case = case_of(table, policy_for(table, [sa.KAnonymity(2)], sa.Prec(), 0), ((0,) * 5, (2, 1, 1, 1, 1)))
    outcome, asked = run("samarati", case)
    assert asked[-1] == (1, 0, 0, 0, 0)
    assert outcome.ties == ((1, 0, 0, 0, 0),)


def naive_datafly(case: Case) -> list[Levels]:
    """The nodes that Datafly looks at, from the tables that it makes on its way."""
    names, (minimum, maximum) = case.policy.quasi_identifiers, case.bounds
    node = dict(zip(names, minimum, strict=True))
    path = [minimum]
    while path[-1] not in case.satisfying and path[-1] != maximum:
        free = [name for name, most in zip(names, maximum, strict=True) if node[name] < most]
        counts = {name: distinct_labels(case.table, name, node[name]) for name in free}
        chosen = next(name for name in free if counts[name] == max(counts.values()))
        node[chosen] += 1
        path.append(tuple(node.values()))
    return path


@FEWER
@given(data=st.data(), quality=st.sampled_from(QUALITIES))
def test_datafly_walks_the_naive_path(data: st.DataObject, quality: object) -> None:
    case = data.draw(cases(quality))
    path = naive_datafly(case)
    outcome, asked = run("datafly", case)
    assert asked == path
    if path[-1] in case.satisfying:
        assert outcome.ties == (path[-1],)
        assert outcome.loss == pytest.approx(case.loss(path[-1]))
        assert not outcome.unsatisfiable
    else:
        assert outcome.best is None
        monotonic = all(map(case.policy.is_monotonic, case.policy.privacy))
        assert outcome.unsatisfiable or not monotonic


def test_datafly_does_not_take_a_failing_top_for_a_proof_if_models_are_not_monotonic() -> None:
    rows = [{"sex": "m", "age": age, "disease": disease, "drug": None} for age in "ab" for disease in ("flu", "gout")]
    rows += [{"sex": "f", "age": "a", "disease": "flu", "drug": None}] * 6
    table = Table(rows, {"sex": [["f", "*"], ["m", "*"]], "age": [["a", "*"], ["b", "*"]]})
    models = [sa.KAnonymity(4), sa.EntropyLDiversity("disease", 2)]
    case = case_of(table, policy_for(table, models, sa.Prec(), 0.6), ((0, 0), (1, 1)))
    assert set(case.satisfying) == {(0, 1)}
    outcome, asked = run("datafly", case)
    assert asked == [(0, 0), (1, 0), (1, 1)]
    assert (outcome.best, outcome.unsatisfiable) == (None, False)


def test_datafly_does_not_take_a_failing_top_for_a_proof_if_a_merge_can_dilute_a_value() -> None:
    """Not even where nothing may be suppressed: δ-disclosure is not monotonic then either."""
    flus = {"p": 1, "q": 0, "r": 5}
    rows = [
        {"sex": "m", "age": age, "disease": "flu" if row < flus[age] else "gout", "drug": None}
        for age in "pqr"
        for row in range(10)
    ]
    rows[-10]["sex"] = "f"  # alone, with the flu
    ages = [["p", "pq", "*"], ["q", "pq", "*"], ["r", "r", "*"]]
    table = Table(rows, {"sex": [["f", "*"], ["m", "*"]], "age": ages})
    models = [sa.DeltaDisclosure("disease", 1.5)]
    case = case_of(table, policy_for(table, models, sa.Prec(), 0), ((0, 0), (1, 1)))
    assert set(case.satisfying) == {(1, 0)}
    outcome, asked = run("datafly", case)
    assert asked == [(0, 0), (0, 1), (1, 1)]
    assert (outcome.best, outcome.unsatisfiable) == (None, False)


def test_datafly_proves_that_nothing_can_be_kept() -> None:
    """All rows may be suppressed, but then nothing is left; the node off the path has no more classes to keep."""
    table = Table(
        [{"sex": "f", "age": "a", "disease": "flu", "drug": None}], {"sex": [["f", "*"]], "age": [["a", "*"]]}
    )
    case = case_of(table, policy_for(table, [sa.KAnonymity(2)], sa.Prec(), 1), ((0, 0), (1, 1)))
    outcome, asked = run("datafly", case)
    assert asked == [(0, 0), (1, 0), (1, 1)]
    assert (outcome.best, outcome.unsatisfiable) == (None, True)


@BY_QUALITY
@FEWER
@given(data=st.data())
def test_inverse_ola_finds_the_most_private_node_of_acceptable_loss(quality: sa.Prec, data: st.DataObject) -> None:
    case = data.draw(cases(quality, monotonic=True))
    losses = [node.loss for node in case.nodes]
    max_loss = data.draw(st.sampled_from([loss for loss in losses if loss is not None] or [1.0]) | st.just(0.0))
    acceptable = {levels for levels in case.satisfying if case.loss(levels) <= max_loss + brute_force.SLACK}
    outcome, asked = run("inverse-ola", case, max_loss=max_loss)
    assert outcome.lower_bound is None
    assert outcome.unsatisfiable == (not acceptable)
    assert outcome.proven_optimal == bool(acceptable)
    assert outcome.maximal_nodes is not None
    if acceptable:
        candidates = brute_force.maximal(acceptable)
        best_k = max(map(case.attainable, acceptable))
        as_private = {levels for levels in candidates if case.attainable(levels) == best_k}
        assert outcome.best is not None
        assert outcome.best.attainable == best_k
        assert set(outcome.ties) == as_private
        least = min(map(case.loss, as_private))
        assert outcome.best.levels == min(
            levels for levels in as_private if case.loss(levels) <= least + brute_force.SLACK
        )
        assert outcome.loss == pytest.approx(case.loss(outcome.best.levels))
        assert candidates <= set(outcome.maximal_nodes)
    if quality.monotonic:
        within = {node.levels for node in case.nodes if case.loss(node.levels) <= max_loss + brute_force.SLACK}
        assert outcome.maximal_nodes == tuple(sorted(brute_force.maximal(within)))
        if quality.known:
            assert tuple(asked) == outcome.maximal_nodes


def test_best_k_of_the_specification() -> None:
    """spec/ola.md (e): class sizes {3,3,5,9}."""
    allowed = {0: 0, 10: 2, 15: 3, 30: 6, 55: 11, 100: 20}
    assert [brute_force.best_k([3, 3, 5, 9], rows) for rows in allowed.values()] == [3, 3, 3, 5, 9, 20]


def test_inverse_ola_says_that_even_the_bottom_loses_too_much() -> None:
    case = two_rows(k=2)
    outcome, asked = run("inverse-ola", case, max_loss=-1.0)
    assert asked == []
    assert (outcome.best, outcome.unsatisfiable, outcome.maximal_nodes) == (None, True, ())


def test_inverse_ola_says_that_nothing_acceptable_satisfies() -> None:
    outcome, asked = run("inverse-ola", two_rows(k=2), max_loss=0.5)
    assert asked == [(0,)]
    assert (outcome.best, outcome.unsatisfiable, outcome.maximal_nodes) == (None, True, ((0,),))


def two_rows(k: int) -> Case:
    rows = [{"sex": sex, "disease": "flu", "drug": None} for sex in "fm"]
    table = Table(rows, {"sex": [["f", "*"], ["m", "*"]]})
    return case_of(table, policy_for(table, [sa.KAnonymity(k)], sa.Prec(), 0), ((0,), (1,)))
