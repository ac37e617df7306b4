"""Exhaustive search: every node of the lattice is checked."""

from __future__ import annotations

import itertools

from sqlanon.search.problem import BATCH_SIZE, Incumbent, Search, SearchProblem


def exhaustive(problem: SearchProblem) -> Search:
    """Check every node, in lexicographic order, and take the best."""
    incumbent = Incumbent(problem)
    nodes = problem.context.lattice.nodes()
    while batch := list(itertools.islice(nodes, BATCH_SIZE)):
        summaries = yield batch
        for summary in summaries:
            incumbent.offer(summary)
    return incumbent.outcome()
