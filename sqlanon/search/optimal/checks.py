"""Checks of nodes that ask of few of them what their labels lose, which takes as long again as to count them."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from sqlanon.model.lattice import Levels, NodeSummary
from sqlanon.search.knowledge import Knowledge
from sqlanon.search.problem import Inquiry


def check(
    knowledge: Knowledge, nodes: Sequence[Levels]
) -> Generator[Inquiry, Sequence[NodeSummary], list[NodeSummary]]:
    """Count some nodes, and ask what labels lose only where that decides.

    It is asked of one node after another, the most promising first: that one may rule out the rest.

    Returns:
        what was learned of each node.
    """
    labels_lose = bool(knowledge.problem.quality.label_losses)
    learned: list[NodeSummary] = []
    waiting: list[NodeSummary] = []
    for summary in (yield knowledge.ask(nodes, "counts" if labels_lose else None)):
        if knowledge.problem.needs_labels(summary) and knowledge.may_be_best(summary):
            waiting.append(summary)
        else:
            learned.append(summary)
            knowledge.learn(summary)
    for counted in sorted(waiting, key=knowledge.problem.least_loss):
        summary = counted
        if knowledge.may_be_best(counted):
            (summary,) = yield knowledge.ask([counted.levels], "loss")
        learned.append(summary)
        knowledge.learn(summary)
    return learned
