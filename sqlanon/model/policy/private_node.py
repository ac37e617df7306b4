"""The settings of the private methods that publish the labels of one node: of the lattice, drawn or public."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sqlanon.model.base import Level
from sqlanon.model.budget import Budget
from sqlanon.model.policy.private import PrivateMethod

if TYPE_CHECKING:
    from sqlanon.model.policy.policy import Policy

NODE = "node"
"""The step that draws a node, as budgets and ledgers name it."""


class NodeMethod(PrivateMethod):
    """A private method that publishes what rows have in common at a node."""

    node: dict[str, Level] | None = None

    @property
    def chooses_node(self) -> bool:
        """Whether the node is drawn from the data."""
        return False

    @property
    def budgets(self) -> dict[str, Budget]:
        """What each step may cost; together they are the budget."""
        raise NotImplementedError

    def misfits(self, policy: Policy) -> Iterable[str]:
        yield from super().misfits(policy)
        if self.node is not None and self.node.keys() != set(policy.quasi_identifiers):
            yield "method.node must give every quasi-identifier its level, and nothing else"
