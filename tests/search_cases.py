"""What the tests of the searches share: random small tables with a policy, and searches driven by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.model.lattice import Lattice, LevelLosses, Levels, LossContext, NodeSummary
from sqlanon.search import SEARCHES, SearchOutcome, SearchProblem, SearchStopped
from tests import brute_force, oracle
from tests.brute_force import Answer, Measured
from tests.oracle import Rows, Taxonomy
from tests.strategies import domains, taxonomies

QUALITIES = (sa.Prec(), sa.Entropy(), sa.LM(), sa.NCP(), sa.DMStar(), sa.DM(), sa.AECS())
LIMITS = (0.0, 0.05, 0.1, 0.29, 0.34, 0.5, 1.0)
EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
FEWER = settings(EXAMPLES, max_examples=30)


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


Bounds = tuple[Levels, Levels]
"""The least and the greatest level allowed of each quasi-identifier."""


@dataclass(frozen=True)
class Case:
    """A table and a policy, with bounds of the levels and the allowed nodes as brute force measures them."""

    table: Table
    policy: sa.Policy
    bounds: Bounds
    nodes: list[Measured]

    @property
    def context(self) -> LossContext:
        return context_of(self.table, self.policy, self.bounds)

    @property
    def expected(self) -> Answer | None:
        return brute_force.answer(self.nodes, self.policy)

    @property
    def satisfying(self) -> dict[Levels, Measured]:
        return {node.levels: node for node in self.nodes if node.satisfies}

    def loss(self, levels: Levels) -> float:
        (node,) = (node for node in self.nodes if node.levels == levels)
        return brute_force.loss_of(node, self.policy.quality.measure)

    def attainable(self, levels: Levels) -> int:
        (node,) = (node for node in self.nodes if node.levels == levels)
        sizes = [len(rows) for rows in brute_force.classes_at(self.table.rows, self.table.taxonomies, node.node)]
        return brute_force.best_k(sizes, self.context.allowed_rows)


@st.composite
def cases(draw: st.DrawFn, quality: object, *, monotonic: bool = False) -> Case:
    """If ``monotonic``, nothing is suppressed or all models are monotonic."""
    table, models, limit = draw(tables()), draw(privacy_models()), draw(st.sampled_from(LIMITS))
    if monotonic and not quality.monotonic:
        limit = 0.0
    if monotonic and limit > 0:
        models = [model for model in models if model.monotonic] or [sa.KAnonymity(2)]
    heights = [oracle.height(taxonomy) for taxonomy in table.taxonomies.values()]
    maximum = tuple(draw(st.integers(0, height) | st.just(height)) for height in heights)
    minimum = tuple(draw(st.integers(0, most) | st.just(0)) for most in maximum)
    return case_of(table, policy_for(table, models, quality, limit), (minimum, maximum))


def case_of(table: Table, policy: sa.Policy, bounds: Bounds) -> Case:
    minimum, maximum = bounds
    nodes = brute_force.lattice(table.rows, table.taxonomies, policy)
    allowed = [
        node for node in nodes if brute_force.covers(node.levels, minimum) and brute_force.covers(maximum, node.levels)
    ]
    return Case(table, policy, bounds, allowed)


def context_of(table: Table, policy: sa.Policy, bounds: Bounds | None = None) -> LossContext:
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
        lattice=Lattice(names, heights, *(bounds or ())),
        losses=LevelLosses(
            *(per_level(measure) for measure in ("prec", "entropy", "lm", "ncp")),
            distinct_labels=tuple(
                tuple(distinct_labels(table, name, level) for level in range(height + 1))
                for name, height in zip(names, heights, strict=True)
            ),
        ),
        row_count=len(table.rows),
        allowed_rows=brute_force.allowed_rows(policy.suppression_limit, len(table.rows)),
        k=policy.k,
    )


def distinct_labels(table: Table, name: str, level: int) -> int:
    return len({row[name] for row in oracle.generalize(table.rows, table.taxonomies, {name: level})})


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
        attainable=brute_force.best_k(
            list(map(len, classes)), brute_force.allowed_rows(policy.suppression_limit, len(table.rows))
        ),
    )


def search(
    name: str,
    table: Table,
    policy: sa.Policy,
    nodes: Sequence[Measured],
    bounds: Bounds | None = None,
    *,
    quality: sa.Prec | None = None,
    max_loss: float | None = None,
    stop_after: int | None = None,
) -> tuple[SearchOutcome, list[list[Levels]]]:
    """Drive a search by hand; also returns the batches that it asked about. A search may be stopped after some."""
    known = {node.levels: summary_of(table, node, policy) for node in nodes}
    problem = SearchProblem(quality or policy.quality, context_of(table, policy, bounds), max_loss)
    running = SEARCHES[name](problem)
    asked: list[list[Levels]] = []
    try:
        batch = next(running)
        while len(asked) != stop_after:
            asked.append(list(batch))
            batch = running.send([known[levels] for levels in batch])
        running.throw(SearchStopped())
    except StopIteration as finished:
        return finished.value, asked
    raise AssertionError("a search that is stopped returns")


def run(
    name: str, case: Case, *, max_loss: float | None = None, stop_after: int | None = None
) -> tuple[SearchOutcome, list[Levels]]:
    """Search a case; also returns the nodes that were asked about."""
    outcome, batches = search(
        name, case.table, case.policy, case.nodes, case.bounds, max_loss=max_loss, stop_after=stop_after
    )
    asked = [levels for batch in batches for levels in batch]
    assert len(asked) == len(set(asked)) == outcome.checked_nodes
    return outcome, asked
