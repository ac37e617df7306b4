"""What the cells of a table prove of an interval of nodes."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.model.lattice import NodeSummary


@dataclass(frozen=True)
class Proof:
    """What is known of an interval.

    Attributes:
        suppressed_rows: rows that every node of it suppresses at least.
        summary: its most general node, without what it loses.
    """

    suppressed_rows: int
    summary: NodeSummary
