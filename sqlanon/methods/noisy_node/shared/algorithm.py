"""How private methods that publish the labels of a node differ: how it is drawn, and what is shown of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.base import Compute
from sqlanon.mechanisms.accountant import Charge
from sqlanon.mechanisms.source import Integers, RandomSource
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.model.lattice import Levels
from sqlanon.model.methods.noisy import NodeMethod
from sqlanon.model.policy.policy import Policy
from sqlanon.model.recoding import Recoding, at_node
from sqlanon.queries.kit.nodes import Relation


def node_method(policy: Policy) -> NodeMethod:
    """The method of a policy that has one of these."""
    assert isinstance(policy.method, NodeMethod)
    return policy.method


def public_node(bound: BoundPolicy) -> Levels | None:
    """The node that the policy gives, None if it gives none."""
    given = node_method(bound.policy).node
    return None if given is None else tuple(given[name] for name in bound.policy.quasi_identifiers)


@dataclass(frozen=True)
class Draws:
    """What is drawn for a release: by which method, from which source of chance, and what was paid for each step."""

    method: NodeMethod
    source: RandomSource
    charges: Mapping[str, Charge]

    def noise(self, step: str, size: int) -> Integers:
        """Noise for ``size`` counts."""
        return self.source.discrete_laplace(size, self.charges[step], sensitivity=self.method.rows_per_individual)


@dataclass(frozen=True)
class DrawnNode:
    """A node, and how its counts are drawn.

    Attributes:
        levels: the node.
        runs: in how many runs it is drawn: a release is one, an audit makes a hundred thousand at once.
        draw_counts: draws them, and returns the relations that combinations are in.
        with_left_over: whether what they do not show is drawn as well.
        thresholds: the least count that a step shows.
    """

    levels: Levels
    runs: int
    draw_counts: Callable[[], list[Relation]]
    with_left_over: bool
    thresholds: Mapping[str, int]

    @property
    def recoding(self) -> Recoding:
        """The labels of the node."""
        return at_node(self.levels)


class Algorithm(ABC):
    """How a node is drawn, and what is shown of it."""

    label_losses: ClassVar[tuple[str, ...]] = ()
    """The losses of labels that its scores need."""

    @abstractmethod
    def public_domains(self, engine: Compute, table: EncodedTable) -> Any:
        """What is known of the domain, after a refusal of all that cannot be drawn; nothing is charged yet.

        Raises:
            PolicyError: something cannot be drawn.
        """

    @abstractmethod
    def drawn_nodes(
        self, engine: Compute, table: EncodedTable, draws: Draws, domains: Any, runs: int = 1
    ) -> Iterator[DrawnNode]:
        """Draw the node of each run, unless it is public; the counts of one node are drawn before the next comes."""
