"""The searches against brute force on random small lattices, without a database."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.model.lattice import Lattice, LevelLosses, Levels, LossContext, NodeSummary
from sqlanon.model.methods.full_domain import NEED_MONOTONIC_PRIVACY, NEED_MONOTONIC_QUALITY, AlgorithmName
from sqlanon.model.policy_value import KINDS
from sqlanon.model.quality import QualityModel, Terms
from sqlanon.search import SEARCHES, SearchOutcome, SearchProblem
from tests import brute_force, oracle
from tests.brute_force import Task
from tests.search_cases import (
    EXAMPLES,
    FEWER,
    LIMITS,
    QUALITIES,
    WIDE_LIMITS,
    Table,
    cases,
    context_of,
    policy_for,
    privacy_models,
    run,
    search,
    summary_of,
    tables,
    task_of,
)


@pytest.mark.parametrize("quality", QUALITIES, ids=lambda quality: quality.measure)
@EXAMPLES
@given(data=st.data())
def test_the_searches_for_the_optimum_find_what_brute_force_finds(quality: object, data: st.DataObject) -> None:
    case = data.draw(cases(quality))
    expected = case.expected
    for name in ("exhaustive", "optimal"):
        check_outcome(run(name, case)[0], expected)
    with data.draw(st.sampled_from(WIDE_LIMITS)).imposed():
        check_outcome(run("optimal", case)[0], expected)
    check_outcome(run("optimal", replace(case, proving=False))[0], expected)


def check_outcome(outcome: SearchOutcome, expected: brute_force.Answer | None) -> None:
    assert outcome.unsatisfiable == (expected is None)
    assert outcome.lower_bound == outcome.loss
    if expected is None:
        assert outcome.best is None
        assert outcome.loss is None
        assert outcome.ties == ()
        assert outcome.closest is not None
    else:
        assert outcome.best is not None
        assert outcome.best.levels == expected.best.levels
        assert outcome.loss == pytest.approx(expected.loss)
        assert outcome.ties[0] == expected.best.levels
        assert list(outcome.ties[1:]) == sorted(expected.ties - {expected.best.levels})
        assert outcome.proven_optimal


class Geometric(QualityModel):
    """The product of 1 + the terms of Prec, less 1: its terms are logarithms, so their sum is not the loss."""

    measure: ClassVar[str] = "geometric"
    monotonic: ClassVar[bool] = True
    known: ClassVar[bool] = True

    def loss_of(self, summary: NodeSummary, context: LossContext) -> float:
        return self.of_levels(summary.levels, context)

    def known_bounds(self, context: LossContext) -> tuple[tuple[float, ...], ...]:
        return tuple(tuple(map(math.log1p, losses)) for losses in context.losses.prec)

    def combined(self, terms: Terms) -> Terms:
        return np.expm1(terms)

    @staticmethod
    def of_levels(levels: Levels, context: LossContext) -> float:
        terms = [losses[level] for losses, level in zip(context.losses.prec, levels, strict=True)]
        return math.prod(1 + term for term in terms) - 1


@pytest.mark.parametrize("name", ["optimal", "exhaustive", "ola", "incognito"])
@FEWER
@given(data=st.data())
def test_a_loss_that_is_no_sum_of_its_terms_is_bounded_as_well(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(sa.Prec(), monotonic=True))
    losses = [Geometric.of_levels(levels, case.context) for levels in case.satisfying]
    outcome = search(name, case.table, case.policy, case.nodes, case.bounds, quality=Geometric())
    assert outcome.unsatisfiable == (not losses)
    if losses:
        assert outcome.loss == outcome.lower_bound == pytest.approx(min(losses))
    stopped = search(name, case.table, case.policy, case.nodes, case.bounds, quality=Geometric(), stop_after=0)
    least = min(Geometric.of_levels(node.levels, case.context) for node in case.nodes)
    assert stopped.lower_bound == pytest.approx(least)
    for node in case.nodes:
        bound = Geometric().bound_above(summary_of(case.table, node, case.policy), case.context)
        assert bound == pytest.approx(Geometric.of_levels(node.levels, case.context))


def test_the_loss_that_inverse_ola_accepts_is_the_combined_one() -> None:
    """Two quasi-identifiers of height 1: the top has a loss of 1.25, although its terms are logarithms."""
    rows = [{"age": "a", "sex": "f", "disease": "flu", "drug": None}] * 2
    table = Table(rows, {"age": [["a", "*"]], "sex": [["f", "*"]]})
    policy = policy_for(table, [sa.KAnonymity(2)], sa.Prec(), 0)
    nodes = brute_force.lattice(task_of(table, policy))
    for max_loss, maximal in ((1.25, ((1, 1),)), (1.24, ((0, 1), (1, 0))), (0.49, ((0, 0),))):
        outcome = search("inverse-ola", table, policy, nodes, quality=Geometric(), max_loss=max_loss)
        assert outcome.maximal_nodes == maximal


def test_every_search_that_a_policy_can_name_is_there() -> None:
    assert set(SEARCHES) == set(get_args(AlgorithmName))
    assert set(SEARCHES) >= NEED_MONOTONIC_PRIVACY >= NEED_MONOTONIC_QUALITY


@pytest.mark.parametrize("quality", QUALITIES, ids=lambda quality: quality.measure)
@EXAMPLES
@given(table=tables(), models=privacy_models(), limit=st.sampled_from(LIMITS))
def test_the_bounds_that_prune_are_bounds(quality: sa.Prec, table: Table, models: list[object], limit: float) -> None:
    policy = policy_for(table, models, quality, limit)
    quality = policy.quality
    context = context_of(table, policy)
    nodes = brute_force.lattice(task_of(table, policy))
    known = quality.known_bounds(context)
    for node in nodes:
        if node.satisfies:
            loss = brute_force.loss_of(node)
            bound = quality.combined(sum(losses[level] for losses, level in zip(known, node.levels, strict=True)))
            assert bound <= loss + brute_force.SLACK
            if quality.known:
                assert bound == pytest.approx(loss)
            assert bound_with_suppression(quality, node, context) <= loss + brute_force.SLACK
            for below in nodes:
                if all(low <= high for low, high in zip(below.levels, node.levels, strict=True)):
                    inherited = quality.bound_above(summary_of(table, below, policy), context)
                    assert inherited <= loss + brute_force.SLACK


def bound_with_suppression(quality: sa.Prec, node: brute_force.Measured, context: LossContext) -> float:
    """What the levels of a node and the rows that it suppresses say of its loss."""
    if not quality.counts_suppression(context):
        return 0.0
    suppressed = np.array([node.suppressed_rows / context.row_count])
    return float(quality.bounds_with_suppression(np.array([node.levels]).T, suppressed, context)[0])


@EXAMPLES
@given(table=tables(), data=st.data())
def test_bounds_that_say_they_are_monotonic_are(table: Table, data: st.DataObject) -> None:
    """The rows of classes out of bounds become no more on the way up, whatever is suppressed."""
    individual = data.draw(st.booleans())
    models = data.draw(privacy_models(individual=individual))
    task = task_of(table, policy_for(table, models, sa.Prec(), 0.5, individual=individual))
    for model in models:
        violating = {
            tuple(node.values()): violating_rows(task, node, model)
            for node in oracle.lattice(table.taxonomies, task.policy.quasi_identifiers)
        }
        for levels, rows in violating.items():
            for general, fewer in violating.items():
                if brute_force.covers(general, levels):
                    for bound, before, after in zip(model.bounds, rows, fewer, strict=True):
                        assert after <= before or not bound.monotonic


def violating_rows(task: Task, node: Mapping[str, int], model: object) -> list[int]:
    """For each bound of a model, the rows of classes that are out of it."""
    classes = list(brute_force.classes(task, node).values())
    kept = [brute_force.within(task, node, members, model) for members in classes]
    return [
        sum(len(members) for members, within in zip(classes, bound, strict=True) if not within)
        for bound in zip(*kept, strict=True)
    ]


@EXAMPLES
@given(table=tables(), models=privacy_models())
def test_without_suppression_models_that_say_so_are_monotonic(table: Table, models: list[sa.KAnonymity]) -> None:
    for model in models:
        met = nodes_that_meet(table, model)
        for node in oracle.lattice(table.taxonomies, table.taxonomies) if model.monotonic_without_suppression else []:
            if tuple(node.values()) in met:
                assert all(tuple(general.values()) in met for general in oracle.more_general(table.taxonomies, node)), (
                    model
                )


def nodes_that_meet(table: Table, model: object, *, individual: bool = False) -> set[Levels]:
    """The nodes at which every class meets a model."""
    task = task_of(table, policy_for(table, [model], sa.Prec(), 0, individual=individual))
    nodes = brute_force.lattice(task)
    return {node.levels for node in nodes if node.satisfies and node.suppressed_rows == 0}


def table_of(*classes: str, population: str = "", persons: str = "") -> Table:
    """A class of one quasi-identifier per text, with a row per letter: f is flu, g gout. Level 1 merges the first two.

    The population is given by the classes of its people, as digits; persons are letters, one for each row.
    """
    diseases = {"f": "flu", "g": "gout"}
    rows = [
        {"age": str(number), "disease": diseases[letter], "drug": None}
        for number, letters in enumerate(classes)
        for letter in letters
    ]
    people = persons or "x" * len(rows)
    return Table(
        [{**row, "person": person} for row, person in zip(rows, people, strict=True)],
        {"age": [[str(number), "01" if number < 2 else str(number), "*"] for number in range(len(classes))]},
        [{"age": digit} for digit in population],
    )


NOT_MONOTONIC = {
    "alpha-k-anonymity": (sa.AlphaKAnonymity("disease", 0.5, 2), table_of("ffffff", "fg")),
    "entropy-l-diversity": (sa.EntropyLDiversity("disease", 2), table_of("ffffff", "fg")),
    "recursive-c-l-diversity": (sa.RecursiveCLDiversity("disease", 1.5, 2), table_of("ffffff", "fg")),
    "t-closeness": (sa.TCloseness("disease", 0.2), table_of("ffffff", "fg", "gggggg")),
    "beta-likeness": (sa.BetaLikeness("disease", 0.5), table_of("ffffff", "fg", "gggggg")),
    "delta-disclosure": (sa.DeltaDisclosure("disease", 0.9), table_of("ffffff", "fg", "gggggg")),
    "delta-presence": (sa.DeltaPresence(0, 0.5, "everyone"), table_of("ffffff", "ff", population="1111")),
    "m-concealing": (sa.MConcealing(0.4, {"disease": 0.9}), table_of("f", "gggggg")),
    # ln(2) of ln(3) are lost by the merge, which is more than is won against attacks.
    "profitability": (sa.Profitability(9, 0.1, 2, 3.5), table_of("ff", "ff", "f")),
}
"""By model, a table in which a class that meets it is suppressed with one that does not when the two are merged."""


@pytest.mark.parametrize("kind", KINDS["privacy"].values(), ids=lambda kind: kind.model_fields["model"].default)
def test_models_that_are_not_monotonic_have_a_counter_example(kind: type[sa.KAnonymity]) -> None:
    name = kind.model_fields["model"].default
    if name not in NOT_MONOTONIC:
        # Risks of a sample have theirs in test_risk_models.py, with weights.
        of_sample = sa.SampleUniqueness, sa.AverageRisk, sa.PopulationUniqueness
        of_weights = sa.IndividualRisk, sa.ExpectedReidentifications
        assert kind in (sa.KAnonymity, sa.DistinctLDiversity, sa.KMap, sa.NoAttack, *of_sample, *of_weights)
        return
    model, table = NOT_MONOTONIC[name]
    assert not model.monotonic
    policy = policy_for(table, [model], sa.Prec(), 0.9)
    assert not policy.is_monotonic(model)
    bottom, middle, _ = brute_force.lattice(task_of(table, policy))
    assert bottom.suppressed_rows < middle.suppressed_rows


def test_delta_disclosure_is_not_monotonic_even_without_suppression() -> None:
    """A merge dilutes gout, which one of the two classes lacks altogether: that is not held against it."""
    table = table_of("fg", "ffffffff", "fffffggggg")
    model = sa.DeltaDisclosure("disease", 1)
    assert nodes_that_meet(table, model) == {(0,), (2,)}
    assert not policy_for(table, [model], sa.Prec(), 0).is_monotonic(model)


def test_profitability_is_not_monotonic_even_without_suppression() -> None:
    """Of two classes of two rows, a merge loses all information."""
    model, table = sa.Profitability(9, 0.1, 2, 3.5), table_of("ff", "ff")
    assert nodes_that_meet(table, model) == {(0,)}
    assert not policy_for(table, [model], sa.Prec(), 0).is_monotonic(model)


@pytest.mark.parametrize(
    "model",
    [
        sa.AlphaKAnonymity("disease", 0.5, 2),
        sa.EntropyLDiversity("disease", 2),
        sa.RecursiveCLDiversity("disease", 1.5, 2),
        sa.TCloseness("disease", 0.1),
        sa.BetaLikeness("disease", 0.2),
    ],
    ids=lambda model: model.model,
)
def test_models_that_count_individuals_are_not_monotonic_even_without_suppression(model: sa.EntropyLDiversity) -> None:
    """One individual has gout in both classes, so the merged class has two with flu and one with gout."""
    table = table_of("fg", "fg", "fffffggggg", persons="abcb0123456789")
    met = nodes_that_meet(table, model, individual=True)
    assert (0,) in met
    assert (1,) not in met
    policy = policy_for(table, [model], sa.Prec(), 0, individual=True)
    assert not policy.is_monotonic(model)
    with pytest.raises(sa.PolicyError, match="needs monotonic models"):
        sa.Policy(**{**dict(policy), "search": "ola"})


def test_a_failing_top_does_not_hide_a_satisfying_bottom_from_the_optimal_search() -> None:
    """Were entropy l-diversity taken for monotonic, the failure of a general node would rule out the only answer."""
    rows = [{"sex": "m", "age": age, "disease": disease, "drug": None} for age in "ab" for disease in ("flu", "gout")]
    rows += [{"sex": "f", "age": "a", "disease": "flu", "drug": None}] * 6
    table = Table(rows, {"age": [["a", "*"], ["b", "*"]], "sex": [["f", "*"], ["m", "*"]]})
    policy = policy_for(table, [sa.EntropyLDiversity("disease", 2)], sa.DMStar(), 0.6)
    nodes = brute_force.lattice(task_of(table, policy))
    assert [node.levels for node in nodes if node.satisfies] == [(0, 0), (1, 0)]
    for name in ("exhaustive", "optimal"):
        outcome = search(name, table, policy, nodes)
        assert outcome.best is not None
        assert outcome.best.levels == (0, 0)


def test_the_bound_of_aecs_reckons_with_large_classes_that_are_suppressed() -> None:
    """A large uniform class may go: its rows are a class all the same, so that nothing is gained."""
    rows = [{"sex": "f", "disease": "flu", "drug": None}] * 8
    rows += [{"sex": "m", "disease": disease, "drug": None} for disease in ("flu", "gout")]
    table = Table(rows, {"sex": [["f", "*"], ["m", "*"]]})
    policy = policy_for(table, [sa.DistinctLDiversity("disease", 2)], sa.AECS(), 0.8)
    bottom, _ = brute_force.lattice(task_of(table, policy))
    assert (bottom.satisfies, brute_force.loss_of(bottom)) == (True, 10 / 2)
    assert sa.AECS().bound_above(summary_of(table, bottom, policy), context_of(table, policy)) == 10 / 2


class TestTieRule:
    """spec/ola.md step 5: least entropy, then fewest suppressed rows, then least height, then lexicographic."""

    @staticmethod
    def outcome(entropies: Sequence[Sequence[float]], summaries: Mapping[Levels, int]) -> SearchOutcome:
        """Search the 2 x 2 lattice in which every node has the same loss, given suppressed rows by node."""
        flat = ((0.0, 0.0), (0.0, 0.0))
        losses = LevelLosses(prec=flat, entropy=tuple(map(tuple, entropies)), lm=flat, ncp=flat)
        context = LossContext(Lattice(("a", "b"), (1, 1)), losses, row_count=10, allowed_rows=10, k=2)
        running = SEARCHES["optimal"](SearchProblem(sa.Prec(), context))
        try:
            nodes = next(running).nodes
            while True:
                found = [
                    NodeSummary(levels, 5, 5, summaries[levels], 0, class_losses={"dm_star": 20, "dm": 20})
                    for levels in nodes
                ]
                nodes = running.send(found).nodes
        except StopIteration as finished:
            return finished.value

    def test_least_entropy_comes_first(self) -> None:
        suppressed = {(0, 0): 0, (0, 1): 0, (1, 0): 9, (1, 1): 0}
        assert self.outcome([(3.0, 1.0), (0.0, 5.0)], suppressed).ties == ((1, 0), (0, 0), (0, 1), (1, 1))

    def test_then_fewest_suppressed_rows(self) -> None:
        suppressed = {(0, 0): 4, (0, 1): 3, (1, 0): 2, (1, 1): 1}
        assert self.outcome([(0.0, 0.0), (0.0, 0.0)], suppressed).ties[0] == (1, 1)

    def test_then_least_height(self) -> None:
        suppressed = {(0, 0): 2, (0, 1): 1, (1, 0): 2, (1, 1): 1}
        assert self.outcome([(0.0, 0.0), (0.0, 0.0)], suppressed).ties[0] == (0, 1)

    def test_then_lexicographic_order(self) -> None:
        suppressed = {(0, 0): 2, (0, 1): 1, (1, 0): 1, (1, 1): 1}
        assert self.outcome([(0.0, 0.0), (0.0, 0.0)], suppressed).ties[0] == (0, 1)
