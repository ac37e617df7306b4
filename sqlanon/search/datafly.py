"""Datafly: a greedy walk from the bottom of the lattice.

Source: Sweeney 1997 and 2002; Mazzone 2019, section 4.3.4. A heuristic: it over-generalizes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from sqlanon.model.lattice import Levels, LossContext
from sqlanon.search.dense import region_of
from sqlanon.search.knowledge import Knowledge
from sqlanon.search.problem import Search, SearchProblem, SearchStopped


def datafly(problem: SearchProblem) -> Search:
    """Generalize the quasi-identifier with the most distinct labels until a node satisfies.

    The paper stops when at most k rows would be suppressed; here the suppression limit of the policy decides, as it
    does for every search. That no node satisfies is proven only if the failure of the top proves it.
    """
    knowledge = Knowledge(problem, region_of(problem))
    with suppress(SearchStopped):
        for levels in _walk(problem.context):
            (summary,) = yield knowledge.ask([levels])
            if knowledge.learn(summary):
                break
    return knowledge.outcome()


def _walk(context: LossContext) -> Iterator[Levels]:
    """The nodes from the bottom to the top, each one level above the one before.

    Labels are counted before suppression. Among equal counts the paper's choice is open, the thesis' random; the first
    quasi-identifier of the policy goes first here.
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
