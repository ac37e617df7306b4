"""The choice of a node: a search asks about nodes, and the database answers with their summaries.

Source: Samarati 2001; El Emam et al. 2009; spec/ola.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from sqlanon.engines.duckdb import Compute
from sqlanon.errors import UnsatisfiableError
from sqlanon.model.lattice import Levels, NodeSummary, total
from sqlanon.model.methods.full_domain import AlgorithmName
from sqlanon.model.privacy import KAnonymity, MConcealing
from sqlanon.model.release import FinerNode
from sqlanon.nodes.counting import NodeCounter, SizesFirst, node_summaries
from sqlanon.nodes.proofs import proofs_of
from sqlanon.nodes.table import EncodedTable
from sqlanon.search import SEARCHES, Inquiry, Search, SearchOutcome, SearchProblem, SearchStopped

ATTAINABLE_WITHOUT_ROWS = 2.0  # the k that Inverse OLA is taken to find there


class Counter(Protocol):
    """Answers a search."""

    def answer(self, inquiry: Inquiry, /) -> Sequence[Any]:
        """Return the summaries of nodes, or the proofs of intervals, in the order of the inquiry."""


Observer = Callable[[int, int, Inquiry], None]
"""Called before every batch with the number of checked nodes, the size of the lattice, and the inquiry."""


def choose_node(
    engine: Compute,
    table: EncodedTable,
    observer: Observer,
    stopped: Callable[[], bool] = lambda: False,
    algorithm: AlgorithmName | None = None,
) -> SearchOutcome:
    """Search the lattice for the satisfying node of least loss, or for the most private one within a loss.

    After every batch, ``stopped`` decides whether to settle for the best node so far. The outcome has no node if none
    satisfies the policy, or none was found in time. ``algorithm`` replaces the policy's.
    """
    with engine.scratch():
        problem, counter = problem_and_counter(engine, table)
        search = SEARCHES[algorithm or table.bound.policy.algorithm](problem)
        return answered(counter, problem, search, observer, stopped)


def choose_with_alternatives(
    engine: Compute, table: EncodedTable, observer: Observer, stopped: Callable[[], bool] = lambda: False
) -> tuple[SearchOutcome, tuple[FinerNode, ...]]:
    """Choose a node, and list nodes that keep a quasi-identifier finer; none for Inverse OLA."""
    policy = table.bound.policy
    with engine.scratch():
        problem, counter = problem_and_counter(engine, table)
        satisfying = Satisfying(problem)
        search = SEARCHES[policy.algorithm](problem)
        outcome = answered(counter, problem, search, observer, stopped, satisfying.add)
        if outcome.best is None or policy.objective == "privacy" or stopped():
            return outcome, ()
        return outcome, finer_nodes(problem, outcome, satisfying.nodes, counter.answer)


def problem_and_counter(engine: Compute, table: EncodedTable) -> tuple[SearchProblem, Counter]:
    policy, context = table.bound.policy, table.context
    problem, counter = SearchProblem(policy.quality, context, policy.max_loss), SizesFirst(engine, table)
    if policy.algorithm == "optimal" and any(map(any, policy.quality.known_bounds(context))):
        proofs = proofs_of(engine, table, counter)
        if proofs is not None:
            return replace(problem, has_proofs=True), proofs
    return problem, counter


@dataclass(frozen=True)
class NodeChoice:
    """A node to publish at, searched for or given."""

    table: EncodedTable  # under the published policy: Inverse OLA finds the most private one
    node: NodeSummary  # under that policy, with all measures
    outcome: SearchOutcome
    finer: tuple[FinerNode, ...] = ()  # nodes that keep a quasi-identifier finer
    loss_alone: float | None = None  # of the best node without earlier releases, if there are any


# More than six parameters: the results of a search.
def settled(
    engine: Compute,
    table: EncodedTable,
    outcome: SearchOutcome,
    best: NodeSummary,
    finer: tuple[FinerNode, ...] = (),
    loss_alone: float | None = None,
) -> NodeChoice:
    """Complete the measures of the best node, under the published policy."""
    lattice = table.context.lattice
    if lattice.size == 1 and any(lattice.heights) and best.attainable is None:
        # The policy's levels name the node: nothing is proven by comparing it with no other.
        outcome = replace(outcome, searched=False, proven_optimal=False, lower_bound=None)
    if best.attainable is not None:
        table = most_private(table, best.attainable)
        best = node_summaries(engine, table, [best.levels], as_asked=True)[0]
    elif best.min_class_size is None:
        best = node_summaries(engine, table, [best.levels])[0]
    return NodeChoice(table, best, outcome, finer, loss_alone)


def most_private(table: EncodedTable, attainable: float) -> EncodedTable:
    """Return the table under the policy with the largest k, or the smallest m, that is attainable."""
    policy = table.bound.policy
    if policy.has_concealing:
        privacy = tuple(
            model.model_copy(update={"m": min(model.m, 1 / attainable)}) if isinstance(model, MConcealing) else model
            for model in policy.privacy
        )
    elif attainable < 2:
        raise UnsatisfiableError(
            f"the most private release within max_loss {policy.max_loss:g} has k = {attainable:g}:",
            ["it would protect nobody; raise max_loss or suppression_limit"],
        )
    else:
        others = (model for model in policy.privacy if not isinstance(model, KAnonymity))
        privacy = (KAnonymity(int(attainable)), *others)
    return table.under(policy.model_copy(update={"privacy": privacy}))


# More than six parameters: both sides of the conversation, its observer, and its end.
def answered(
    counter: Counter,
    problem: SearchProblem,
    search: Search,
    observer: Observer,
    stopped: Callable[[], bool],
    satisfying: Callable[[NodeSummary], None] = lambda _: None,
) -> SearchOutcome:
    """Answer the inquiries of a search until it returns or is stopped."""
    checked = 0
    try:
        inquiry = next(search)
        while True:
            observer(checked, problem.context.lattice.size, inquiry)
            answers = counter.answer(inquiry) if inquiry.nodes or inquiry.intervals else ()
            if inquiry.asks not in ("loss", "proofs"):
                checked += len(inquiry.nodes)
                for summary in filter(problem.satisfies, answers):
                    satisfying(summary)
            inquiry = search.send(answers)
            if stopped():
                search.throw(SearchStopped())
    except StopIteration as finished:
        outcome: SearchOutcome = finished.value
        return outcome


def only_checked(node: NodeSummary, loss: float) -> SearchOutcome:
    """Return the outcome of checking one node without a search."""
    return SearchOutcome(node, loss, ties=(node.levels,), checked_nodes=1, searched=False)


def bottom_choice(engine: Compute, table: EncodedTable) -> NodeChoice:
    """Choose the bottom of the lattice for a table without rows, as if it had one class."""
    lattice, policy = table.context.lattice, table.bound.policy
    bottom = lattice.bottom
    NodeCounter(engine, table).show([bottom, lattice.top])
    table = most_private(table, ATTAINABLE_WITHOUT_ROWS) if policy.objective == "privacy" else table
    table = replace(table, context=replace(table.context, row_count=1))
    node = NodeSummary(
        levels=bottom,
        class_count=1,
        kept_class_count=1,
        suppressed_rows=0,
        certain_suppressed_rows=0,
        min_class_size=1,
        lm=0,
        ncp=0,
        combined_loss=0,
        suppressed_share=0,
        suppressed_information=0,
        class_losses={each.name: 1 for each in policy.criteria.class_losses},
    )
    return settled(engine, table, only_checked(node, policy.quality.loss_of(node, table.context)), node)


MAX_SWAPS = 32  # nodes that are counted after a search: one batch
MIN_SWAPS = 16  # nodes that are counted even after a short search
SHARE_OF_SWAPS = 1 / 5  # counted nodes per node that the search has checked
MAX_COMPARED = 1  # nodes per quasi-identifier whose loss is computed, by least known loss
MAX_REMEMBERED = 10_000  # nodes of a search: an exhaustive one checks millions


class Satisfying:
    """The satisfying nodes of a search; if too many, the ones of least known loss."""

    def __init__(self, problem: SearchProblem) -> None:
        self.nodes: list[NodeSummary] = []
        self._problem = problem

    def add(self, node: NodeSummary) -> None:
        self.nodes.append(node)
        if len(self.nodes) >= 2 * MAX_REMEMBERED:
            self.nodes = sorted(self.nodes, key=partial(known_loss, self._problem))[:MAX_REMEMBERED]


def finer_nodes(
    problem: SearchProblem,
    outcome: SearchOutcome,
    satisfying: Sequence[NodeSummary],
    answer: Callable[[Inquiry], Sequence[NodeSummary]],
) -> tuple[FinerNode, ...]:
    """Find, for each quasi-identifier, the satisfying node of least loss that keeps it finer; least loss first.

    ``satisfying`` are nodes that the search checked, and ``answer`` counts others.
    """
    assert outcome.best is not None
    assert outcome.loss is not None
    best, least, quality = outcome.best.levels, outcome.loss, problem.quality

    def asked(nodes: Sequence[Levels], *, counts: bool) -> list[NodeSummary]:
        inquiry = Inquiry(nodes, least, lambda: None, "counts" if counts else "everything")
        return [node for node in answer(inquiry) if problem.satisfies(node)] if nodes else []

    checked, known = {node.levels for node in satisfying}, quality.known_bounds(problem.context)
    swaps = (levels for levels in _swaps(problem, best) if levels not in checked)
    cheapest_swaps = sorted(swaps, key=lambda levels: (quality.combined(total(known, levels)), levels))
    most = min(max(int(SHARE_OF_SWAPS * outcome.checked_nodes), MIN_SWAPS), MAX_SWAPS)
    nodes = [*satisfying, *asked(cheapest_swaps[:most], counts=not quality.class_losses)]
    return cheapest_finer(problem, best, least, nodes, partial(asked, counts=False))


def cheapest_finer(
    problem: SearchProblem,
    best: Levels,
    least: float,
    satisfying: Sequence[NodeSummary],
    counted: Callable[[Sequence[Levels]], Sequence[NodeSummary]],
) -> tuple[FinerNode, ...]:
    """Choose, for each quasi-identifier, the satisfying node of least loss that keeps it finer than the best.

    ``least`` is the loss of the best node, and ``counted`` returns summaries with the loss of labels.
    """
    compared: dict[Levels, NodeSummary] = {}
    for place, level in enumerate(best):
        finer = (node for node in satisfying if node.levels[place] < level)
        by_loss = sorted(finer, key=lambda node: (known_loss(problem, node), node.levels))
        compared |= {node.levels: node for node in by_loss[:MAX_COMPARED]}
    lacking = sorted(levels for levels, node in compared.items() if problem.needs_labels(node))
    compared |= {node.levels: node for node in counted(lacking)}
    found = sorted(
        (_compared(problem, best, least, compared[levels]) for levels in sorted(compared)), key=lambda node: node.loss
    )
    names = problem.context.lattice.quasi_identifiers
    cheapest = (next((node for node in found if name in node.finer), None) for name in names)
    chosen = [node for node in cheapest if node is not None]
    return tuple(node for node in found if node in chosen)


def _compared(problem: SearchProblem, best: Levels, least: float, node: NodeSummary) -> FinerNode:
    lattice = problem.context.lattice
    before, now, loss = lattice.named(best), lattice.named(node.levels), problem.loss(node)
    return FinerNode(
        node=now,
        finer={name: level for name, level in now.items() if level < before[name]},
        coarser={name: level for name, level in now.items() if level > before[name]},
        loss=loss,
        loss_difference=loss - least,
        suppressed_rows=node.suppressed_rows,
    )


def known_loss(problem: SearchProblem, node: NodeSummary) -> float:
    """Return the loss of a node, or a lower bound if the loss of its labels may be unknown."""
    return problem.least_loss(node) if problem.quality.label_losses else problem.quality.loss_of(node, problem.context)


def _swaps(problem: SearchProblem, best: Levels) -> Iterator[Levels]:
    """Yield the nodes with one quasi-identifier a level finer and another one a level coarser."""
    lattice, places = problem.context.lattice, range(len(best))
    for finer in (place for place in places if best[place] > lattice.bottom[place]):
        for coarser in (place for place in places if place != finer and best[place] < lattice.top[place]):
            yield tuple(level - (place == finer) + (place == coarser) for place, level in enumerate(best))
