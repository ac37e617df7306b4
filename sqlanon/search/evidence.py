"""What the cells of a node prove of intervals of nodes; whoever has the cells implements it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sqlanon.model.lattice import Levels, NodeSummary


@dataclass(frozen=True)
class Proof:
    """What is known of an interval.

    Attributes:
        suppressed_rows: rows that every node of it suppresses at least.
        summary: its most general node, without what it loses.
    """

    suppressed_rows: int
    summary: NodeSummary


class Evidence(Protocol):
    """The cells of a node."""

    @property
    def levels(self) -> Levels:
        """The node."""

    def at(self, levels: Levels) -> Evidence:
        """The cells of a more general node."""

    def up_to(self, high: Levels, allowed: int) -> Proof:
        """What is proven of the nodes between this one and a more general one.

        ``allowed`` is how many rows may be suppressed: what rules all of these nodes out need not be any stronger.
        """
