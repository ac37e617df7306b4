"""Exhaustive search: every node of the lattice is checked."""

from __future__ import annotations

from contextlib import suppress

from sqlanon.search.dense import DenseRegion
from sqlanon.search.knowledge import Knowledge
from sqlanon.search.problem import Search, SearchProblem, SearchStopped, batches


def exhaustive(problem: SearchProblem) -> Search:
    """Check every node, in lexicographic order, and take the best."""
    knowledge = Knowledge(problem, DenseRegion(problem))
    with suppress(SearchStopped):
        for batch in batches(problem.context.lattice.nodes()):
            for summary in (yield knowledge.ask(batch)):
                knowledge.learn(summary)
    return knowledge.outcome()
