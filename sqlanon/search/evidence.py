"""What the cells of a table prove of an interval of nodes."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.model.lattice import NodeSummary


@dataclass(frozen=True)
class Proof:
    """What is known of an interval."""

    suppressed_rows: int  # rows that every node of it suppresses at least
    summary: NodeSummary  # its most general node, without what it loses
