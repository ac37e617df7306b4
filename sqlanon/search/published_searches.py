"""Searches as published, for comparison, and exhaustive search.

Samarati's search and Incognito are sound only for monotonic privacy models, Incognito also needs monotonic losses.
Datafly is a heuristic, which over-generalizes.

Source: Mazzone 2019, section 4.3.4; and what each names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import reduce

import numpy as np

from sqlanon.model.lattice import Levels, LossContext, NodeSummary
from sqlanon.search.arrays import Mask, indexes
from sqlanon.search.knowledge import DenseRegion, Knowledge, region_of
from sqlanon.search.ola import Tags, at_height
from sqlanon.search.problem import Part, Search, SearchProblem, SearchStopped, batches


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
    """Find the satisfying nodes of least height, and choose the one of least loss.

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
