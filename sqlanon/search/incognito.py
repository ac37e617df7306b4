"""Incognito: the minimal satisfying nodes, by subsets of the quasi-identifiers of growing size.

Source: LeFevre, DeWitt and Ramakrishnan 2005, section 3; Mazzone 2019, section 4.3.4. Sound for monotonic privacy
models and monotonic losses only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import reduce

import numpy as np

from sqlanon.model.lattice import Levels, NodeSummary
from sqlanon.search.arrays import Mask, indexes
from sqlanon.search.dense import DenseRegion
from sqlanon.search.knowledge import Knowledge
from sqlanon.search.ola import Tags
from sqlanon.search.problem import Search, SearchProblem, SearchStopped, batches


def incognito(problem: SearchProblem) -> Search:
    """Find the minimal satisfying nodes, and take the best of them.

    A node of a subset is checked as the node of the whole lattice that has the other quasi-identifiers at their
    maximum. So every node of the lattice belongs to one subset, that of the quasi-identifiers below their maximum, and
    no check is repeated. The top, the only node of the empty subset, comes first. The properties of the paper are tags
    of this one lattice:

    - subset property and a-priori join: a node that fails rules out all below it, in the lattices of larger subsets
      too; what is left for a subset is what the join of the smaller ones leaves;
    - generalization property: a node that satisfies marks all above it; the paper's listing marks the direct ones.

    The lattice of a subset is searched breadth-first from below, which is also the order of the paper's roll-up;
    subsets of one size advance together. The paper leaves the choice among the satisfying nodes to any criterion;
    here it is the loss, and the tie rule of all searches.
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
    """All nodes, in groups without comparable nodes: by the size of their subset, then by height."""
    subset_sizes = reduce(np.add.outer, [(np.arange(count) < count - 1).astype(np.int64) for count in shape])
    heights = reduce(np.add.outer, [np.arange(count) for count in shape])
    for size in range(len(shape) + 1):
        of_size = subset_sizes == size
        for height in np.unique(heights[of_size]):
            yield of_size & (heights == height)
