"""The report of a run that publishes noisy counts of a node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlanon.binding.bound import BoundPolicy
from sqlanon.methods.noisy_node.shared.algorithm import Draws
from sqlanon.methods.shared.private.chance import Chance
from sqlanon.methods.shared.private.report import private_report_of
from sqlanon.model.lattice import Levels
from sqlanon.model.release import PrivateReport, Spent


@dataclass(frozen=True)
class Published:
    """What is published, once it is drawn: the node, the charges, and the numbers of what is left."""

    levels: Levels
    draws: Draws
    thresholds: Mapping[str, int]
    rows: int
    groups: int


def private_report(
    bound: BoundPolicy,
    published: Published,
    chance: Chance,
    into: str,
    seconds: Mapping[str, float],
    found: dict[str, float | None] | None = None,
) -> PrivateReport:
    """The numbers of a run; ``found`` are its diagnostics."""
    wanted, lattice = published.draws.method, bound.lattice
    return private_report_of(
        PrivateReport,
        bound,
        chance,
        into,
        seconds,
        spent=tuple(
            Spent(step=step, budget=charge.budget, position=charge.position)
            for step, charge in published.draws.charges.items()
        ),
        thresholds=dict(published.thresholds),
        rows=published.rows,
        groups=published.groups,
        node=lattice.named(published.levels),
        heights=lattice.named(lattice.heights),
        node_is_public=not wanted.chooses_node,
        lattice_nodes=lattice.size if wanted.chooses_node else 1,
        diagnostics=found,
    )
