"""The searches against brute force on random small lattices, without a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.model.lattice import Lattice, LevelLosses, Levels, LossContext, NodeSummary
from sqlanon.search import SEARCHES, SearchOutcome, SearchProblem
from tests import brute_force, oracle
from tests.brute_force import Measured
from tests.oracle import Rows, Taxonomy
from tests.strategies import domains, taxonomies

QUALITIES = (sa.Prec(), sa.Entropy(), sa.LM(), sa.NCP(), sa.DMStar(), sa.DM(), sa.AECS())
LIMITS = (0.0, 0.05, 0.1, 0.29, 0.34, 0.5, 1.0)
EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@dataclass(frozen=True)
class Table:
    """Rows with taxonomies for their quasi-identifiers; ``disease`` and ``drug`` are sensitive."""

    rows: Rows
    taxonomies: Mapping[str, Taxonomy]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    names = ["age", "sex", "zip"][: draw(st.integers(1, 3))]
    values = {name: draw(domains("VARCHAR")) for name in names}
    known = {name: draw(taxonomies(values[name])) for name in names}
    fields = {name: st.sampled_from([None, *domain]) for name, domain in values.items()}
    fields |= {name: st.sampled_from([None, "flu", "gout"]) for name in ("disease", "drug")}
    return Table(draw(st.lists(st.fixed_dictionaries(fields), min_size=1, max_size=14)), known)


def privacy_models() -> st.SearchStrategy[list[object]]:
    """One or more models, at most one of a kind and column."""
    columns = st.sampled_from(["disease", "drug"])
    model = st.one_of(
        st.integers(2, 4).map(sa.KAnonymity),
        st.builds(sa.DistinctLDiversity, columns, st.integers(2, 3)),
        st.builds(sa.EntropyLDiversity, columns, st.sampled_from([1.5, 2.0, 2.5])),
    )
    return st.lists(model, min_size=1, max_size=3, unique_by=lambda found: (type(found), found.sensitive))


def policy_for(table: Table, models: Sequence[object], quality: object, limit: float) -> sa.Policy:
    return sa.Policy(
        quasi_identifiers=list(table.taxonomies),
        sensitive=["disease", "drug"],
        privacy=models,
        quality=quality,
        suppression_limit=limit,
    )


def context_of(table: Table, policy: sa.Policy) -> LossContext:
    names = policy.quasi_identifiers
    heights = tuple(oracle.height(table.taxonomies[name]) for name in names)

    def per_level(measure: str) -> tuple[tuple[float, ...], ...]:
        """The loss of each quasi-identifier alone, as its part of the whole; nothing is suppressed."""
        found = []
        for name, height in zip(names, heights, strict=True):
            alone = {name: table.taxonomies[name]}
            nodes = [brute_force.measured(table.rows, alone, {name: level}, KEEP_ALL) for level in range(height + 1)]
            scale = 1 if measure == "entropy" else len(names)
            found.append(tuple(brute_force.loss_of(node, measure) / scale for node in nodes))
        return tuple(found)

    return LossContext(
        lattice=Lattice(names, heights),
        losses=LevelLosses(*(per_level(measure) for measure in ("prec", "entropy", "lm", "ncp"))),
        row_count=len(table.rows),
        allowed_rows=brute_force.allowed_rows(policy.suppression_limit, len(table.rows)),
        k=policy.k,
    )


KEEP_ALL = sa.Policy.model_construct(quasi_identifiers=("any",), privacy=(), suppression_limit=0.0)


def summary_of(table: Table, node: Measured, policy: sa.Policy) -> NodeSummary:
    certain = [model for model in policy.privacy if model.monotonic]
    classes = brute_force.classes_at(table.rows, table.taxonomies, node.node)
    return NodeSummary(
        levels=node.levels,
        class_count=node.class_count,
        min_class_size=node.min_class_size,
        kept_class_count=node.kept_class_count,
        suppressed_rows=node.suppressed_rows,
        certain_suppressed_rows=sum(len(rows) for rows in classes if not brute_force.meets(rows, certain)),
        **{name: node.losses[name] for name in ("dm_star", "dm", "aecs", "lm", "ncp")},
    )


def search(name: str, table: Table, policy: sa.Policy, nodes: Sequence[Measured]) -> tuple[SearchOutcome, list[Levels]]:
    """Drive a search by hand; also returns the nodes that it asked about."""
    known = {node.levels: summary_of(table, node, policy) for node in nodes}
    running = SEARCHES[name](SearchProblem(policy.quality, context_of(table, policy)))
    asked: list[Levels] = []
    try:
        batch = next(running)
        while True:
            asked += batch
            batch = running.send([known[levels] for levels in batch])
    except StopIteration as finished:
        return finished.value, asked


@pytest.mark.parametrize("quality", QUALITIES, ids=lambda quality: quality.measure)
@EXAMPLES
@given(table=tables(), models=privacy_models(), limit=st.sampled_from(LIMITS))
def test_both_searches_find_what_brute_force_finds(
    quality: object, table: Table, models: list[object], limit: float
) -> None:
    policy = policy_for(table, models, quality, limit)
    nodes = brute_force.lattice(table.rows, table.taxonomies, policy)
    expected = brute_force.answer(nodes, policy)
    for name in ("exhaustive", "optimal"):
        outcome, asked = search(name, table, policy, nodes)
        assert len(asked) == len(set(asked)) == outcome.checked_nodes
        if expected is None:
            assert outcome.best is None
            assert outcome.loss is None
            assert outcome.ties == ()
            assert outcome.closest is not None
        else:
            assert outcome.best is not None
            assert outcome.best.levels == expected.best.levels, name
            assert outcome.loss == pytest.approx(expected.loss)
            assert outcome.ties[0] == expected.best.levels
            assert list(outcome.ties[1:]) == sorted(expected.ties - {expected.best.levels})


@pytest.mark.parametrize("quality", QUALITIES, ids=lambda quality: quality.measure)
@EXAMPLES
@given(table=tables(), models=privacy_models(), limit=st.sampled_from(LIMITS))
def test_the_bounds_that_prune_are_bounds(quality: sa.Prec, table: Table, models: list[object], limit: float) -> None:
    policy = policy_for(table, models, quality, limit)
    context = context_of(table, policy)
    nodes = brute_force.lattice(table.rows, table.taxonomies, policy)
    known = quality.known_bounds(context)
    for node in nodes:
        if node.satisfies:
            loss = brute_force.loss_of(node, quality.measure)
            bound = sum(losses[level] for losses, level in zip(known, node.levels, strict=True))
            assert bound <= loss + brute_force.SLACK
            for below in nodes:
                if all(low <= high for low, high in zip(below.levels, node.levels, strict=True)):
                    inherited = quality.bound_above(summary_of(table, below, policy), context)
                    assert inherited <= loss + brute_force.SLACK


@EXAMPLES
@given(table=tables(), models=privacy_models())
def test_models_that_say_they_are_monotonic_are(table: Table, models: list[object]) -> None:
    for model in models:
        if model.monotonic:
            policy = policy_for(table, [model], sa.Prec(), 0)
            suppressed = {
                node.levels: node.suppressed_rows for node in brute_force.lattice(table.rows, table.taxonomies, policy)
            }
            for node in oracle.lattice(table.taxonomies, policy.quasi_identifiers):
                for general in oracle.more_general(table.taxonomies, node):
                    assert suppressed[tuple(general.values())] <= suppressed[tuple(node.values())]


def test_entropy_diversity_with_suppression_is_not_monotonic() -> None:
    uniform = [{"sex": "f", "disease": "flu", "drug": None}] * 10
    diverse = [{"sex": "m", "disease": disease, "drug": None} for disease in ("flu", "gout")]
    table = Table(uniform + diverse, {"sex": [["f", "*"], ["m", "*"]]})
    model = sa.EntropyLDiversity("disease", 2)
    policy = policy_for(table, [model], sa.Prec(), 0.9)
    bottom, top = brute_force.lattice(table.rows, table.taxonomies, policy)
    assert (bottom.suppressed_rows, top.suppressed_rows) == (10, 12)
    assert not model.monotonic
    outcome, _ = search("optimal", table, policy, [bottom, top])
    assert outcome.ties == ((0,),)


def test_a_failing_top_does_not_hide_a_satisfying_bottom_from_the_optimal_search() -> None:
    """Were entropy l-diversity taken for monotonic, the failure of a general node would rule out the only answer."""
    rows = [{"sex": "m", "age": age, "disease": disease, "drug": None} for age in "ab" for disease in ("flu", "gout")]
    rows += [{"sex": "f", "age": "a", "disease": "flu", "drug": None}] * 6
    table = Table(rows, {"age": [["a", "*"], ["b", "*"]], "sex": [["f", "*"], ["m", "*"]]})
    policy = policy_for(table, [sa.EntropyLDiversity("disease", 2)], sa.DMStar(), 0.6)
    nodes = brute_force.lattice(table.rows, table.taxonomies, policy)
    assert [node.levels for node in nodes if node.satisfies] == [(0, 0), (1, 0)]
    for name in ("exhaustive", "optimal"):
        outcome, _ = search(name, table, policy, nodes)
        assert outcome.best is not None
        assert outcome.best.levels == (0, 0)


def test_the_bound_of_aecs_reckons_with_large_classes_that_are_suppressed() -> None:
    """A large uniform class may go, so what is kept can be smaller than the mean of all classes."""
    rows = [{"sex": "f", "disease": "flu", "drug": None}] * 8
    rows += [{"sex": "m", "disease": disease, "drug": None} for disease in ("flu", "gout")]
    table = Table(rows, {"sex": [["f", "*"], ["m", "*"]]})
    policy = policy_for(table, [sa.DistinctLDiversity("disease", 2)], sa.AECS(), 0.8)
    bottom, _ = brute_force.lattice(table.rows, table.taxonomies, policy)
    assert (bottom.satisfies, brute_force.loss_of(bottom, "aecs")) == (True, 2)
    assert sa.AECS().bound_above(summary_of(table, bottom, policy), context_of(table, policy)) <= 2


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
            batch = next(running)
            while True:
                batch = running.send([NodeSummary(levels, 5, 1, 5, summaries[levels], 0, 20, 20) for levels in batch])
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


@pytest.mark.parametrize("quality", QUALITIES, ids=lambda quality: quality.measure)
@EXAMPLES
@given(table=tables(), models=privacy_models(), limit=st.sampled_from(LIMITS))
def test_ola_finds_the_minimal_nodes_and_the_best_of_them(
    quality: object, table: Table, models: list[object], limit: float
) -> None:
    policy = policy_for(table, models, quality, limit)
    if limit > 0 and not all(model.monotonic for model in (*models, quality)):
        with pytest.raises(sa.PolicyError, match="monotonic"):
            sa.Policy(**{**dict(policy), "search": "ola"})
        return
    nodes = brute_force.lattice(table.rows, table.taxonomies, policy)
    satisfying = {node.levels for node in nodes if node.satisfies}
    minimal = {
        levels
        for levels in satisfying
        if not any(
            other != levels and all(less <= level for less, level in zip(other, levels, strict=True))
            for other in satisfying
        )
    }
    expected = brute_force.answer(nodes, policy)
    outcome, asked = search("ola", table, policy, nodes)
    assert set(outcome.minimal_nodes) == minimal
    assert len(asked) == len(set(asked)) == outcome.checked_nodes
    assert outcome.closest is not None
    if expected is None:
        assert outcome.best is None
    else:
        assert outcome.best is not None
        assert outcome.best.levels == expected.best.levels
        assert outcome.loss == pytest.approx(expected.loss)
        assert set(outcome.ties) == expected.ties & minimal
