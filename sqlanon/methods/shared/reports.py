"""The part of a report that methods have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from sqlanon.binding.bound import BoundPolicy
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.model.events import proven_gap
from sqlanon.model.lattice import Levels, total
from sqlanon.model.release import REPORTED_TIES, Measurement, Report
from sqlanon.search import SearchOutcome

AReport = TypeVar("AReport", bound=Report)


def report_of(
    kind: type[AReport], bound: BoundPolicy, into: str, seconds: Mapping[str, float], **facts: Any
) -> AReport:
    """The report of a run, with facts by the names of its fields; ``domains`` of all taxonomies unless given."""
    facts = {"domains": bound.domains, **facts}
    return kind(source=bound.description, into=into, method=bound.policy.method.name, seconds=dict(seconds), **facts)


def report_of_classes(
    kind: type[AReport],
    bound: BoundPolicy,
    measured: Measurement,
    into: str,
    seconds: Mapping[str, float],
    **facts: Any,
) -> AReport:
    """The report of a run whose release was measured against the privacy models of its policy."""
    return report_of(
        kind,
        bound,
        into,
        seconds,
        models=measured.models,
        class_count=measured.class_count,
        min_class_size=measured.k or 0,
        suppression_limit=bound.policy.suppression_limit,
        **facts,
    )


# More than six parameters: what was chosen, by which search, and what was measured of it.
def report_at_node(
    kind: type[AReport],
    table: EncodedTable,
    levels: Levels,
    outcome: SearchOutcome,
    measured: Measurement,
    into: str,
    seconds: Mapping[str, float],
    *,
    losses: Mapping[str, float | None],
    **facts: Any,
) -> AReport:
    """The report of a run that published at a node of the lattice; ``losses`` besides those by level."""
    bound, lattice, by_level = table.bound, table.context.lattice, table.context.losses
    return report_of_classes(
        kind,
        bound,
        measured,
        into,
        seconds,
        node=lattice.named(levels),
        heights=lattice.named(lattice.heights),
        domains={name: shape.domain for name, shape in zip(bound.policy.quasi_identifiers, bound.shapes, strict=True)},
        unknown_rows=dict(table.unknown.by_column),
        losses={"prec": total(by_level.prec, levels), "entropy": total(by_level.entropy, levels), **losses},
        lattice_nodes=lattice.size,
        checked_nodes=outcome.checked_nodes,
        proven_optimal=outcome.proven_optimal,
        lower_bound=outcome.lower_bound,
        gap=proven_gap(outcome.loss, outcome.lower_bound),
        tie_count=len(outcome.ties),
        ties=tuple(lattice.named(node) for node in outcome.ties[:REPORTED_TIES]),
        **facts,
    )
