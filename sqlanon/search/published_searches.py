"""Searches as published, for comparison, and exhaustive search.

Samarati's search, OLA and Incognito are sound only for monotonic privacy models; the last two also need monotonic
losses. OLA, optimal lattice anonymization, rules nodes out by divide and conquer, and looks for the best one among the
minimal nodes. Inverse OLA needs a measure of privacy that never decreases when a node is generalized, such as the
largest k. Datafly is a heuristic, which over-generalizes.

Source: Mazzone 2019, sections 4.3 and 4.4; El Emam et al. 2009; exactly spec/ola.md (b); and what each names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from functools import reduce

import numpy as np

from sqlanon.model.lattice import Levels, LossContext, NodeSummary
from sqlanon.search.arrays import Index, Mask, above, below, indexes, minimal
from sqlanon.search.knowledge import DenseRegion, Knowledge, region_of
from sqlanon.search.problem import (
    Answer,
    Answers,
    Inquiry,
    Part,
    Search,
    SearchOutcome,
    SearchProblem,
    SearchStopped,
    batches,
    margin,
)

OPEN, HOLDS, FAILS = 0, 1, -1


class Tags:
    """The nodes where a property is known to hold or to fail."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._tags = np.full(shape, OPEN, dtype=np.int8)

    def __getitem__(self, index: Index) -> int:
        return int(self._tags[index])

    def set(self, index: Index, *, holds: bool) -> None:
        """Tag a node and all nodes whose tags follow."""
        if holds:
            self._tags[above(index)] = HOLDS
        else:
            self._tags[below(index)] = FAILS

    def minimal(self) -> list[Index]:
        """Return the minimal nodes where the property is known to hold, in lexicographic order."""
        return list(minimal(self._tags == HOLDS))

    def open_between(self, bottom: Index, top: Index) -> bool:
        """Return whether the sublattice from ``bottom`` to ``top`` has an open node."""
        between = tuple(slice(least, most + 1) for least, most in zip(bottom, top, strict=True))
        return not self._tags[between].all()

    def open(self) -> Mask:
        nodes: Mask = self._tags == OPEN
        return nodes


class Sublattices:
    """A search by divide and conquer for a property that ``ask`` checks; in the end no node in ``tags`` is open."""

    def __init__(self, shape: tuple[int, ...], ask: Callable[[Index], Answer]) -> None:
        self.tags = Tags(shape)
        self._ask = ask

    def search(self, bottom: Index, top: Index) -> Part:
        if not self.tags.open_between(bottom, top):
            return
        height = sum(top) - sum(bottom)
        if height == 0:
            yield from self.holds(bottom)
        elif height == 1:
            if not (yield from self.holds(bottom)):
                yield from self.holds(top)
        else:
            for middle in at_height(bottom, top, sum(bottom) + height // 2):
                if (yield from self.holds(middle)):
                    yield from self.search(bottom, middle)
                else:
                    yield from self.search(middle, top)

    def holds(self, index: Index) -> Answer:
        """Return whether the property holds at a node, asking if it is open."""
        if self.tags[index] == OPEN:
            self.tags.set(index, holds=(yield from self._ask(index)))
        return self.tags[index] == HOLDS


def at_height(bottom: Index, top: Index, height: int) -> Iterator[Index]:
    """Yield the nodes of a sublattice whose levels sum to ``height``, in lexicographic order."""
    if not bottom:
        if height == 0:
            yield ()
        return
    least, most = sum(bottom[1:]), sum(top[1:])
    for level in range(max(bottom[0], height - most), min(top[0], height - least) + 1):
        for rest in at_height(bottom[1:], top[1:], height - level):
            yield (level, *rest)


def ola(problem: SearchProblem) -> Search:
    """Find the k-minimal nodes, which satisfy the policy while no node below them does, and choose the best."""
    lattice = problem.context.lattice
    knowledge = Knowledge(problem, DenseRegion(problem), monotonic=True)
    checked: dict[Levels, NodeSummary] = {}

    def ask(index: Index) -> Answer:
        (summary,) = yield knowledge.ask([lattice.node(index)])
        checked[summary.levels] = summary
        return knowledge.learn(summary)

    sublattices = Sublattices(lattice.shape, ask)
    with suppress(SearchStopped):
        yield from sublattices.search(lattice.index(lattice.bottom), lattice.index(lattice.top))
        # A tag without a check follows from a node below, so all minimal nodes were checked.
        minimal = tuple(lattice.node(index) for index in sublattices.tags.minimal())
        return knowledge.outcome([checked[levels] for levels in minimal], minimal)
    return knowledge.outcome()


Maximal = Generator[Inquiry, Answers, tuple[Levels, ...]]


def inverse_ola(problem: SearchProblem) -> Search:
    """Find the maximal acceptable nodes, and choose the most private one that satisfies the policy.

    A loss of at most ``max_loss`` is acceptable, with a tolerance of 1e-12 (relative if the loss is larger than 1).
    If losses are known without checks, only the maximal acceptable nodes are checked. Ties go to the smaller loss, then
    to lexicographic order.

    Losses ignore the rows that a node would have to suppress: otherwise losses that count them would not be monotonic
    where nothing may be suppressed.
    """
    acceptable = _Acceptable(problem)
    with suppress(SearchStopped):
        acceptable.maximal = yield from acceptable.find_maximal()
        for batch in batches(levels for levels in acceptable.maximal if levels not in acceptable.checked):
            for summary in (yield acceptable.ask(batch)):
                acceptable.learn(summary)
        return acceptable.outcome(over=True)
    return acceptable.outcome(over=False)


class _Acceptable:
    """The state of one search: checked nodes, and the maximal acceptable nodes once they are known."""

    def __init__(self, problem: SearchProblem) -> None:
        assert problem.max_loss is not None
        self.maximal: tuple[Levels, ...] | None = None
        self.checked: dict[Levels, NodeSummary] = {}
        self._problem = problem
        self._lattice = problem.context.lattice
        region = DenseRegion(problem)
        self._known = region.known
        self._knowledge = Knowledge(problem, region, monotonic=True)
        self._largest_loss = problem.max_loss + margin(problem.max_loss)
        self._satisfying: list[NodeSummary] = []

    def ask(self, nodes: Sequence[Levels]) -> Inquiry:
        return self._knowledge.ask(nodes)

    def learn(self, summary: NodeSummary) -> bool:
        """Record a checked node, and return whether its loss is acceptable."""
        self.checked[summary.levels] = summary
        satisfies = self._knowledge.learn(summary)
        # For a satisfying node the bound is its loss, wherever this search is sound.
        bound = self._problem.quality.bound_above(summary, self._problem.context)
        acceptable = bound <= self._largest_loss
        if satisfies and acceptable:
            self._satisfying.append(summary)
        return acceptable

    def find_maximal(self) -> Maximal:
        """Return the maximal acceptable nodes, lexicographically, by searching the lattice upside down."""
        if self._problem.quality.known:
            mirrored = list(minimal(np.flip(self._known <= self._largest_loss)))
        else:
            sublattices = Sublattices(self._lattice.shape, self._holds)
            top, bottom = self._mirrored(self._lattice.top), self._mirrored(self._lattice.bottom)
            # If the loss of the bottom is too large, no node is acceptable.
            if (yield from sublattices.holds(bottom)):
                yield from sublattices.search(top, bottom)
            mirrored = sublattices.tags.minimal()
        return tuple(sorted(self._mirrored(index) for index in mirrored))

    def outcome(self, *, over: bool) -> SearchOutcome:
        """Return the most private maximal nodes, or the most private acceptable ones if the search was stopped."""
        ties = self._most_private()
        return SearchOutcome(
            best=ties[0] if ties else None,
            loss=self._problem.loss(ties[0]) if ties else None,
            ties=tuple(summary.levels for summary in ties),
            checked_nodes=self._knowledge.checked_nodes,
            closest=self._knowledge.closest,
            proven_optimal=over and bool(ties),
            unsatisfiable=over and not ties,
            maximal_nodes=self.maximal,
        )

    def _holds(self, index: Index) -> Answer:
        """Return whether the node at a mirrored place has an acceptable loss; its known bound may decide."""
        levels = self._mirrored(index)
        if self._known[self._lattice.index(levels)] > self._largest_loss:
            return False
        (summary,) = yield self.ask([levels])
        return self.learn(summary)

    def _mirrored(self, levels: Levels) -> Index:
        """Convert levels to steps from the top, or back."""
        return tuple(most - level for most, level in zip(self._lattice.top, levels, strict=True))

    def _most_private(self) -> list[NodeSummary]:
        """Return the nodes of most privacy: the best first, the others in lexicographic order."""
        candidates = [summary for summary in self._satisfying if self.maximal is None or summary.levels in self.maximal]
        if not candidates:
            return []
        most = max(map(_attainable, candidates))
        ties = sorted(
            (summary for summary in candidates if _attainable(summary) >= most - margin(most)),
            key=lambda summary: summary.levels,
        )
        loss = min(map(self._problem.loss, ties))
        best = next(summary for summary in ties if self._problem.loss(summary) <= loss + margin(loss))
        ties.remove(best)
        return [best, *ties]


def _attainable(summary: NodeSummary) -> float:
    assert summary.attainable is not None
    return summary.attainable


def datafly(problem: SearchProblem) -> Search:
    """Generalize the quasi-identifier with the most distinct labels until a node satisfies.

    The paper stops when at most k rows would be suppressed; here the suppression limit of the policy decides, as in
    every search. Only the failure of the top can prove that no node satisfies.

    Source: Sweeney 1997 and 2002.
    """
    knowledge = Knowledge(problem, region_of(problem))
    with suppress(SearchStopped):
        for levels in _walk(problem.context):
            (summary,) = yield knowledge.ask([levels])
            if knowledge.learn(summary):
                break
    return knowledge.outcome()


def _walk(context: LossContext) -> Iterator[Levels]:
    """Yield nodes from the bottom to the top; of equal counts of labels, the first quasi-identifier goes up first.

    The paper leaves ties open, and the thesis draws. Labels are counted before suppression.
    """
    levels, top = context.lattice.bottom, context.lattice.top
    yield levels
    while levels != top:
        labels = [
            counts[level] if level < most else 0
            for counts, level, most in zip(context.losses.distinct_labels, levels, top, strict=True)
        ]
        chosen = labels.index(max(labels))
        levels = (*levels[:chosen], levels[chosen] + 1, *levels[chosen + 1 :])
        yield levels


def samarati(problem: SearchProblem) -> Search:
    """Find the satisfying nodes of least height, and choose the one with the least loss.

    The paper takes any of them, or follows a preference of the user; we take the loss. As in the paper, the search
    leaves a height at its first satisfying node; the rest of the least height is checked at the end, to compare losses.
    The node need not be optimal: a higher one may lose less. A stopped search returns the best of the checked nodes.

    Source: Samarati 2001. All heights above a satisfying node have one, too, if privacy models are monotonic.
    """
    knowledge = Knowledge(problem, region_of(problem), monotonic=True)
    bottom, top = problem.context.lattice.bottom, problem.context.lattice.top
    satisfying: dict[int, list[NodeSummary]] = defaultdict(list)  # by height
    unchecked: dict[int, Iterator[list[Levels]]] = {}

    def check(height: int, *, to_the_end: bool) -> Part:
        """Check the unchecked nodes of a height, all of them or until a batch has a satisfying one."""
        for batch in unchecked.setdefault(height, batches(at_height(bottom, top, height))):
            for summary in (yield knowledge.ask(batch)):
                if knowledge.learn(summary):
                    satisfying[height].append(summary)
            if satisfying[height] and not to_the_end:
                return

    least, most = sum(bottom), sum(top)
    with suppress(SearchStopped):
        while least < most:
            middle = (least + most) // 2
            yield from check(middle, to_the_end=False)
            if satisfying[middle]:
                most = middle
            else:
                least = middle + 1
        yield from check(least, to_the_end=True)
        return knowledge.outcome(satisfying[least])
    return knowledge.outcome()


def incognito(problem: SearchProblem) -> Search:
    """Find the minimal satisfying nodes, and choose the best.

    A node of a subset is checked as the node of the whole lattice with all other quasi-identifiers at their maximum.
    So every node of the lattice belongs to one subset, the quasi-identifiers below their maximum, and no check is
    repeated. The top, the only node of the empty subset, comes first. The properties of the paper are tags of this one
    lattice:

    - subset property and a-priori join: a failing node rules out all below it, also in the lattices of larger subsets;
      a subset keeps what the join of the smaller ones leaves;
    - generalization property: a satisfying node marks all above it; the paper's listing marks the direct ones.

    The lattice of a subset is searched breadth-first from below, as in the paper's roll-up; subsets of one size advance
    together. The paper leaves the choice among satisfying nodes open; here the loss and the tie rule of all searches
    decide.

    Source: LeFevre, DeWitt and Ramakrishnan 2005, section 3.
    """
    lattice = problem.context.lattice
    knowledge = Knowledge(problem, DenseRegion(problem), monotonic=True)
    tags = Tags(lattice.shape)
    satisfying: dict[Levels, NodeSummary] = {}
    with suppress(SearchStopped):
        for group in _breadth_first(lattice.shape):
            for batch in batches(lattice.node(index) for index in indexes(group & tags.open())):
                for summary in (yield knowledge.ask(batch)):
                    holds = knowledge.learn(summary)
                    tags.set(lattice.index(summary.levels), holds=holds)
                    if holds:
                        satisfying[summary.levels] = summary
        minimal = tuple(lattice.node(index) for index in tags.minimal())
        return knowledge.outcome([satisfying[levels] for levels in minimal], minimal)
    return knowledge.outcome()


def _breadth_first(shape: tuple[int, ...]) -> Iterator[Mask]:
    """Yield all nodes in groups of incomparable ones, by the size of their subset, then by height."""
    subset_sizes = reduce(np.add.outer, [(np.arange(count) < count - 1).astype(np.int64) for count in shape])
    heights = reduce(np.add.outer, [np.arange(count) for count in shape])
    for size in range(len(shape) + 1):
        of_size = subset_sizes == size
        for height in np.unique(heights[of_size]):
            yield of_size & (heights == height)


def exhaustive(problem: SearchProblem) -> Search:
    """Check every node, in lexicographic order, and choose the best."""
    knowledge = Knowledge(problem, DenseRegion(problem))
    with suppress(SearchStopped):
        for batch in batches(problem.context.lattice.nodes()):
            for summary in (yield knowledge.ask(batch)):
                knowledge.learn(summary)
    return knowledge.outcome()
