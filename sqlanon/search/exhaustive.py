"""Exhaustive search: every node of the lattice is checked."""

from __future__ import annotations

import itertools
from contextlib import suppress

from sqlanon.search.knowledge import Knowledge
from sqlanon.search.problem import BATCH_SIZE, Search, SearchProblem, SearchStopped


def exhaustive(problem: SearchProblem) -> Search:
    """Check every node, in lexicographic order, and take the best."""
    knowledge = Knowledge(problem)
    nodes = problem.context.lattice.nodes()
    with suppress(SearchStopped):
        while batch := list(itertools.islice(nodes, BATCH_SIZE)):
            for summary in (yield batch):
                knowledge.learn(summary)
    return knowledge.outcome()
