"""The report of a run at a node, and notes on the choice of the node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.reports import report_at_node
from sqlanon.model.events import proven_gap
from sqlanon.model.lattice import Lattice, Levels, NodeSummary
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import Measurement, Report, RowCounts
from sqlanon.search import SearchOutcome

GIVEN = "given"
"""How a node was found that was not searched for."""

NOT_COMPARED = "the node was given: it is not known how much less another one would lose"


@dataclass(frozen=True)
class Decision:
    """What is to be published: the node, what becomes of suppressed rows, and what the kept classes attain."""

    outcome: SearchOutcome
    node: NodeSummary
    masked: bool
    rows: RowCounts
    attained: list[float]
    notes: tuple[str, ...]


def report(
    table: EncodedTable,
    decision: Decision,
    measurement: Measurement,
    into: str,
    seconds: Mapping[str, float],
) -> Report:
    policy, node, outcome = table.bound.policy, decision.node, decision.outcome
    return report_at_node(
        Report,
        table,
        node.levels,
        outcome,
        measurement,
        into,
        seconds,
        quality=policy.quality.measure,
        loss=policy.quality.loss(node, table.context),
        losses={**node.class_losses, "lm": node.lm, "ncp": node.ncp},
        rows=decision.rows,
        suppressed_rows=node.suppressed_rows,
        search=found_by(policy, outcome),
        minimal_nodes=None if outcome.minimal_nodes is None else len(outcome.minimal_nodes),
        notes=decision.notes,
        after=measurement.exposure,
    )


def found_by(policy: Policy, outcome: SearchOutcome) -> str:
    """How a node was found: the name of the search."""
    return policy.algorithm if outcome.searched else GIVEN


def doubts(policy: Policy, outcome: SearchOutcome) -> tuple[str, ...]:
    """What is not proven of the node that was chosen."""
    if outcome.proven_optimal:
        return ()
    if not outcome.searched:
        return (NOT_COMPARED,)
    if policy.max_loss is not None:
        return ("the release is not proven to be the most private within max_loss: the search was stopped",)
    gap = proven_gap(outcome.loss, outcome.lower_bound)
    assert gap is not None
    assert outcome.loss is not None
    share = f", {100 * gap / outcome.loss:.3g} % of it" if outcome.loss else ""
    return (
        f"the release is not proven optimal: its {policy.quality.measure} loss, {outcome.loss:.6g}, exceeds the least "
        f"that meets the policy by at most {gap:.6g}{share}",
    )


def columns_at_the_top(lattice: Lattice, levels: Levels) -> tuple[str, ...]:
    """A note on the quasi-identifiers that have one label for all rows, unless the policy demanded it."""
    places = zip(lattice.quasi_identifiers, levels, lattice.heights, lattice.bottom, strict=True)
    at_top = [name for name, level, height, least in places if level == height > least]
    if not at_top:
        return ()
    columns = _listed(at_top)
    reached, say = ("is", "it says") if len(at_top) == 1 else ("are", "they say")
    return (
        f"{columns} {reached} at the top level, where all rows have one label, so that {say} nothing any more; what "
        "can help: maximum_levels below the top, more levels in between, fewer quasi-identifiers, a larger "
        "suppression_limit, or another quality model",
    )


def _listed(names: Sequence[str]) -> str:
    *others, last = [f'"{name}"' for name in names]
    return f"{', '.join(others)} and {last}" if others else last
