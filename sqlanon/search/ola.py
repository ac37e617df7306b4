"""OLA, optimal lattice anonymization: the k-minimal nodes by divide and conquer, then the best of them.

Source: El Emam et al. 2009; Mazzone 2019, section 4.3; exactly spec/ola.md (b). Sound for monotonic privacy models and
monotonic losses only: what is ruled out, and that the best node is a minimal one, follow from monotonicity.
"""

from __future__ import annotations

from contextlib import suppress

from sqlanon.model.lattice import Levels, NodeSummary
from sqlanon.search.arrays import Index
from sqlanon.search.dense import DenseRegion
from sqlanon.search.knowledge import Knowledge
from sqlanon.search.problem import Answer, Search, SearchProblem, SearchStopped
from sqlanon.search.sublattices import Sublattices


def ola(problem: SearchProblem) -> Search:
    """Find the k-minimal nodes, which satisfy the policy while no node below them does, and take the best of them.

    Yields one node at a time, because each answer decides what is asked next.
    """
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
        # A node that was only tagged follows from one below it, so the minimal ones were all checked.
        minimal = tuple(lattice.node(index) for index in sublattices.tags.minimal())
        return knowledge.outcome([checked[levels] for levels in minimal], minimal)
    return knowledge.outcome()
