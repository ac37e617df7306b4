"""What the tests of the searches share: random small tables with a policy, and searches driven by hand."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.model.lattice import Lattice, LevelLosses, Levels, LossContext, NodeSummary
from sqlanon.search import SEARCHES, Inquiry, Search, SearchOutcome, SearchProblem, SearchStopped
from tests import brute_force, oracle
from tests.brute_force import Answer, Measured, Task
from tests.certain_rows import certain_rows_of
from tests.effort import examples
from tests.oracle import Rows, Taxonomy
from tests.strategies import domains, taxonomies

QUALITIES = (
    sa.Prec(),
    sa.Prec(weights={"age": 0.5, "sex": 3}),
    sa.Prec(suppressed="charged"),
    sa.Prec(suppressed="charged", weights={"age": 0.5, "sex": 3}),
    sa.Entropy(),
    sa.Entropy(suppressed="charged"),
    sa.LM(),
    sa.LM(weights={"age": 0.5, "sex": 3}),
    sa.LM(aggregate="geometric"),
    sa.LM(aggregate="geometric", weights={"age": 0.5, "sex": 3}),
    sa.NCP(),
    sa.RCE(),
    sa.DMStar(),
    sa.DM(),
    sa.AECS(),
    sa.ClassificationMetric("disease"),
    sa.PublisherPayout(3, 0.75, 2, 10),
)
MONOTONIC = [quality for quality in QUALITIES if quality.monotonic_without_suppression]
WITHOUT_WEIGHTS = [quality for quality in QUALITIES if not quality.counts_suppressed_weight]
LIMITS = (0.0, 0.05, 0.1, 0.29, 0.34, 0.5, 1.0)
EXAMPLES = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
FEWER = settings(EXAMPLES, max_examples=examples(30))


SENSITIVE = ("disease", "drug")
SENSITIVE_TAXONOMIES: Mapping[str, Taxonomy] = {
    "disease": [["flu", "lung", "*"], ["asthma", "lung", "*"], ["gout", "joint", "*"]],
    "drug": [["aspirin", "*"], ["quinine", "*"]],
}


@dataclass(frozen=True)
class WideLimits:
    """Limits under which small lattices are searched as those too large for arrays are."""

    at_once: int
    most_boxes: int

    @contextmanager
    def imposed(self) -> Iterator[None]:
        """No lattice is small enough for arrays."""
        limits = {
            "knowledge.DENSE_NODES": 0,
            "optimal.BATCH_SIZE": self.at_once,
            "optimal.FEW_NODES": self.at_once,
            "boxes.MAX_BOXES": self.most_boxes,
        }
        with pytest.MonkeyPatch.context() as patch:
            for name, limit in limits.items():
                patch.setattr(f"sqlanon.search.{name}", limit)
            yield


WIDE_LIMITS = (WideLimits(1, 1), WideLimits(1, 100_000), WideLimits(32, 100_000))
"""One box after another, with hardly any that waits or in order of their bounds, or many at once."""


@dataclass(frozen=True)
class Table:
    """Rows with taxonomies for their quasi-identifiers, and a population; ``disease`` and ``drug`` are sensitive."""

    rows: Rows
    taxonomies: Mapping[str, Taxonomy]
    population: Rows = field(default_factory=list)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    names = ["age", "sex", "zip"][: draw(st.integers(1, 3))]
    values = {name: draw(domains("VARCHAR")) for name in names}
    known = {name: draw(taxonomies(values[name])) for name in names}
    fields = {name: st.sampled_from([None, *domain]) for name, domain in values.items()}
    people = draw(st.lists(st.fixed_dictionaries(fields), max_size=14))
    fields |= {name: st.sampled_from([None, *(row[0] for row in SENSITIVE_TAXONOMIES[name])]) for name in SENSITIVE}
    fields["person"] = st.integers(0, 9)
    rows = draw(st.lists(st.fixed_dictionaries(fields), min_size=1, max_size=14))
    return Table(rows, known, [*people, *({name: row[name] for name in names} for row in rows[::2])])


def privacy_models(columns: Sequence[str] = SENSITIVE, *, individual: bool = False) -> st.SearchStrategy[list[Any]]:
    """One or more models of all kinds (that can count individuals), at most one of a kind and column."""
    model = st.one_of(
        st.integers(2, 4).map(sa.KAnonymity),
        st.builds(sa.NoAttack, st.sampled_from([0, 1.5, 3]), st.sampled_from([0.75, 1, 2])),
        *(models_of(name) for name in columns),
        *([] if individual else [population_models(), concealing_models(columns), mean_models(), payments()]),
    )
    return st.lists(model, min_size=1, max_size=3, unique_by=_kind)


def payments() -> st.SearchStrategy[Any]:
    """Classes of 3 are attacked or not by a hair; little information pays, or much."""
    return st.builds(
        sa.Profitability,
        st.sampled_from([0.3, 3]),
        st.sampled_from([0.1, 0.75]),
        st.sampled_from([0.5, 2]),
        st.sampled_from([0, 1, 7]),
    )


def models_of(column: str) -> st.SearchStrategy[Any]:
    """The models of one sensitive column, with thresholds that small tables meet exactly now and then."""
    distances = st.sampled_from(["equal", "ordered", "hierarchical"])
    return st.one_of(
        st.builds(sa.AlphaKAnonymity, st.just(column), st.sampled_from([0.4, 0.5, 0.75]), st.integers(2, 3)),
        st.builds(sa.DistinctLDiversity, st.just(column), st.integers(2, 3)),
        st.builds(sa.EntropyLDiversity, st.just(column), st.sampled_from([1.5, 2.0, 2.5])),
        st.builds(sa.RecursiveCLDiversity, st.just(column), st.sampled_from([0.7, 1.0, 2.0, 3.5]), st.integers(2, 3)),
        st.builds(sa.TCloseness, st.just(column), st.sampled_from([0.25, 0.5, 0.7]), distances),
        st.builds(
            sa.BetaLikeness, st.just(column), st.sampled_from([0.5, 1.0, 3.0]), st.sampled_from(["basic", "enhanced"])
        ),
        st.builds(sa.DeltaDisclosure, st.just(column), st.sampled_from([0.4, 1.0, 1.5])),
    )


def population_models() -> st.SearchStrategy[Any]:
    return st.one_of(
        st.builds(sa.KMap, st.integers(2, 4), st.just("everyone")),
        st.builds(
            sa.DeltaPresence, st.sampled_from([0.0, 0.2, 0.5]), st.sampled_from([0.5, 0.75, 1.0]), st.just("everyone")
        ),
    )


def mean_models() -> st.SearchStrategy[Any]:
    """Bounds on means, with thresholds that small tables meet exactly now and then."""
    return st.one_of(
        st.builds(sa.SampleUniqueness, st.sampled_from([0, 0.1, 0.25, 0.5])),
        st.builds(sa.AverageRisk, st.sampled_from([0.2, 0.25, 0.4, 0.5, 0.75])),
    )


def concealing_models(columns: Sequence[str]) -> st.SearchStrategy[Any]:
    prior = st.dictionaries(st.sampled_from(columns), st.sampled_from([0.0, 0.05, 0.3, 1.0]), min_size=1)
    return st.builds(sa.MConcealing, st.sampled_from([0.25, 0.5, 0.6]), prior, st.sampled_from(["class", "node"]))


def _kind(model: Any) -> Any:
    return type(model), model.columns, model.bounds[0].measure


def policy_for(
    table: Table, models: Sequence[object], quality: object, limit: float, *, individual: bool = False
) -> sa.Policy:
    names = list(table.taxonomies)
    weights = {name: weight for name, weight in getattr(quality, "weights", {}).items() if name in names}
    return sa.Policy(
        quasi_identifiers=names,
        sensitive=SENSITIVE,
        identifiers=["person"] if individual else [],
        privacy=models,
        quality=quality.model_copy(update={"weights": weights}) if weights else quality,
        suppression_limit=limit,
        individual="person" if individual else None,
    )


def task_of(table: Table, policy: sa.Policy) -> Task:
    return Task(table.rows, {**SENSITIVE_TAXONOMIES, **table.taxonomies}, policy, table.population)


Bounds = tuple[Levels, Levels]
"""The least and the greatest level allowed of each quasi-identifier."""


@dataclass(frozen=True)
class Case:
    """A table and a policy, with bounds of the levels and the allowed nodes as brute force measures them.

    Attributes:
        proving: whether summaries tell what classes prove of less general nodes.
    """

    table: Table
    policy: sa.Policy
    bounds: Bounds | None
    nodes: Sequence[Measured]
    proving: bool = True

    @cached_property
    def context(self) -> LossContext:
        return context_of(self.table, self.policy, self.bounds)

    @cached_property
    def summaries(self) -> dict[Levels, NodeSummary]:
        summaries = (summary_of(self.table, node, self.policy) for node in self.nodes)
        if not self.proving:
            summaries = (replace(summary, certain_suppressed_rows=0) for summary in summaries)
        return {summary.levels: summary for summary in summaries}

    @cached_property
    def expected(self) -> Answer | None:
        return brute_force.answer(self.nodes)

    @cached_property
    def satisfying(self) -> dict[Levels, Measured]:
        return {node.levels: node for node in self.nodes if node.satisfies}

    def loss(self, levels: Levels) -> float:
        (node,) = (node for node in self.nodes if node.levels == levels)
        return brute_force.loss_of(node)

    def attainable(self, levels: Levels) -> int:
        (node,) = (node for node in self.nodes if node.levels == levels)
        sizes = [len(rows) for rows in brute_force.classes(task_of(self.table, self.policy), node.node).values()]
        return brute_force.best_k(sizes, self.context.allowed_rows)


@st.composite
def cases(draw: st.DrawFn, quality: object, *, monotonic: bool = False) -> Case:
    """If ``monotonic``, no model stops being met when a node is generalized."""
    table, limit = draw(tables()), draw(st.sampled_from(LIMITS))
    individual = quality.counted_column is None and not quality.counts_rows_alone and draw(st.booleans())
    models = draw(privacy_models(individual=individual))
    if monotonic and not quality.monotonic:
        limit = 0.0
    if monotonic:
        anything = policy_for(table, models, sa.Prec(), limit, individual=individual)
        models = [model for model in models if anything.is_monotonic(model)] or [sa.KAnonymity(2)]
    heights = [oracle.height(taxonomy) for taxonomy in table.taxonomies.values()]
    maximum = tuple(draw(st.integers(0, height) | st.just(height)) for height in heights)
    minimum = tuple(draw(st.integers(0, most) | st.just(0)) for most in maximum)
    return case_of(table, policy_for(table, models, quality, limit, individual=individual), (minimum, maximum))


def case_of(table: Table, policy: sa.Policy, bounds: Bounds) -> Case:
    minimum, maximum = bounds
    nodes = brute_force.lattice(task_of(table, policy))
    allowed = [
        node for node in nodes if brute_force.covers(node.levels, minimum) and brute_force.covers(maximum, node.levels)
    ]
    return Case(table, policy, bounds, allowed)


def context_of(table: Table, policy: sa.Policy, bounds: Bounds | None = None) -> LossContext:
    names = policy.quasi_identifiers
    heights = tuple(oracle.height(table.taxonomies[name]) for name in names)

    alone = [_alone(table, name) for name in names]

    def per_level(measure: str) -> tuple[tuple[float, ...], ...]:
        """The loss of each quasi-identifier alone, as its part of the whole; nothing is suppressed."""
        scale = 1 if measure == "entropy" else len(names)
        return tuple(tuple(brute_force.loss_of(node, measure) / scale for node in nodes) for nodes in alone)

    def by_level(measure: Callable[..., float], *more: object) -> tuple[tuple[float, ...], ...]:
        return tuple(
            tuple(measure(table.rows, table.taxonomies, name, level, *more) for level in range(height + 1))
            for name, height in zip(names, heights, strict=True)
        )

    finest = dict.fromkeys(names, 0)
    # By quasi-identifier, level and row: a value is the only one under its label at level 0.
    by_logs = [
        [
            [oracle.information_lost(table.taxonomies, finest | {name: level}, row) for row in table.rows]
            for level in range(height + 1)
        ]
        for name, height in zip(names, heights, strict=True)
    ]
    return LossContext(
        lattice=Lattice(names, heights, *(bounds or ())),
        losses=LevelLosses(
            *(per_level(measure) for measure in ("prec", "entropy", "lm", "ncp")),
            distinct_labels=tuple(
                tuple(distinct_labels(table, name, level) for level in range(height + 1))
                for name, height in zip(names, heights, strict=True)
            ),
            largest_lm=by_level(oracle.largest_loss, oracle.lm_share),
            largest_ncp=by_level(oracle.largest_loss, oracle.ncp_share),
            rce=per_level("rce"),
            largest_rce=by_level(oracle.largest_loss, oracle.rce_share),
            log_share=tuple(tuple(sum(each) / len(each) for each in losses) for losses in by_logs),
            largest_log_share=tuple(tuple(len(names) * max(each) for each in losses) for losses in by_logs),
            least_information=by_level(oracle.least_information),
        ),
        row_count=len(table.rows),
        allowed_rows=brute_force.allowed_rows(policy.suppression_limit, len(table.rows)),
        k=policy.criteria.k,
    )


def _alone(table: Table, name: str) -> list[Measured]:
    """Every level of one quasi-identifier, measured as if it were the only one."""
    task = Task(table.rows, {name: table.taxonomies[name]}, KEEP_ALL)
    return [brute_force.measured(task, {name: level}) for level in range(oracle.height(table.taxonomies[name]) + 1)]


def distinct_labels(table: Table, name: str, level: int) -> int:
    return len({row[name] for row in oracle.generalize(table.rows, table.taxonomies, {name: level})})


KEEP_ALL = sa.Policy.model_construct(quasi_identifiers=("any",), privacy=(), suppression_limit=0.0, quality=sa.Prec())


def summary_of(table: Table, node: Measured, policy: sa.Policy) -> NodeSummary:
    task = task_of(table, policy)
    classes = list(brute_force.classes(task, node.node).values())
    return NodeSummary(
        levels=node.levels,
        class_count=node.class_count,
        min_class_size=node.min_class_size,
        kept_class_count=node.kept_class_count,
        suppressed_rows=node.suppressed_rows,
        certain_suppressed_rows=certain_rows_of(task, node.node, classes),
        **{name: node.losses[name] for name in ("lm", "ncp", "rce")},
        class_losses={name: node.losses[name] for name in node.losses.keys() - {"prec", "entropy", "lm", "ncp", "rce"}},
        combined_loss=node.loss,
        suppressed_share=node.suppressed_rows / len(table.rows),
        suppressed_information=suppressed_information(task, node, classes),
        attainable=brute_force.best_k(
            list(map(len, classes)), brute_force.allowed_rows(policy.suppression_limit, len(table.rows))
        ),
        rejected=node.rejected,
    )


def suppressed_information(task: Task, node: Measured, classes: Sequence[Rows]) -> float:
    """The bits that the labels of suppressed rows tell."""
    labels = oracle.generalize(task.rows, task.taxonomies, node.node)
    counts = {name: Counter(row[name] for row in labels) for name in node.node}
    bits = 0.0
    for members in classes:
        if not brute_force.meets(task, node.node, members):
            for row in oracle.generalize(members, task.taxonomies, node.node):
                bits += sum(oracle.label_information(counts[name][row[name]], len(labels)) for name in node.node)
    return bits


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
) -> SearchOutcome:
    """Drive a search by hand; it may be stopped after some answers."""
    case = Case(table, policy, bounds, nodes)
    return driven(name, case, Answers(case), quality or policy.quality, max_loss, stop_after)


MEASURES = ("min_class_size", "lm", "ncp", "combined_loss", "suppressed_information")


class Answers:
    """Answers what a search asks, and no more than that.

    Attributes:
        told: the nodes of which it has all that it needs, in their order.
        waiting: those that were only counted, of which it may ask what their labels lose.
    """

    def __init__(self, case: Case) -> None:
        self.told: list[Levels] = []
        self.waiting: list[Levels] = []
        self._case = case

    def to(self, inquiry: Inquiry) -> list[NodeSummary]:
        summaries = [self._case.summaries[levels] for levels in inquiry.nodes]
        if inquiry.asks == "loss":
            assert set(inquiry.nodes) <= set(self.waiting)
            self.waiting = [levels for levels in self.waiting if levels not in inquiry.nodes]
            self.told += inquiry.nodes
            return summaries
        self.end()
        if inquiry.asks == "everything":
            self.told += inquiry.nodes
            return summaries
        has_labels = bool(self._case.policy.quality.label_losses)
        for levels, summary in zip(inquiry.nodes, summaries, strict=True):
            # What labels lose of all rows is known, and nothing of classes.
            is_known = summary.suppressed_rows == 0 and not self._case.policy.quality.class_losses
            is_undecided = has_labels and levels in self._case.satisfying and not is_known
            (self.waiting if is_undecided else self.told).append(levels)
        return [replace(summary, class_losses={}, **dict.fromkeys(MEASURES)) for summary in summaries]

    def end(self) -> None:
        """What the search did not ask it does not need."""
        self.told += self.waiting
        self.waiting.clear()


def driven(
    name: str, case: Case, answers: Answers, quality: object, max_loss: float | None, stop_after: int | None
) -> SearchOutcome:
    running = SEARCHES[name](SearchProblem(quality, case.context, max_loss))
    answered = 0
    try:
        inquiry = next(running)
        while answered != stop_after:
            inquiry = running.send(answers.to(inquiry))
            answered += 1
    except StopIteration as finished:
        answers.end()
        outcome: SearchOutcome = finished.value
        return outcome
    return stopped(running, inquiry)


def stopped(running: Search, inquiry: Inquiry) -> SearchOutcome:
    """Stop a search: it answers what it said it knew when it asked last."""
    bound = inquiry.lower_bound()
    with pytest.raises(StopIteration) as finished:
        running.throw(SearchStopped())
    outcome: SearchOutcome = finished.value.value
    if bound is not None:
        assert inquiry.loss == outcome.loss
        assert (bound == math.inf) == outcome.unsatisfiable
        assert outcome.unsatisfiable or bound == pytest.approx(outcome.lower_bound)
    return outcome


def run(
    name: str, case: Case, *, max_loss: float | None = None, stop_after: int | None = None
) -> tuple[SearchOutcome, list[Levels]]:
    answers = Answers(case)
    outcome = driven(name, case, answers, case.policy.quality, max_loss, stop_after)
    told = answers.told
    assert len(told) == len(set(told)) <= outcome.checked_nodes <= len(told) + len(answers.waiting)
    return outcome, told
