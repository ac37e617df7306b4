"""How likely a private method is to draw each node of a table that is public, as synthetic ones are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.base import Engine
from sqlanon.engines.relations import Source
from sqlanon.errors import PolicyError
from sqlanon.evaluation.exact import permute_and_flip
from sqlanon.evaluation.mechanisms import AuditedPolicy
from sqlanon.mechanisms.accountant import Accountant, Charge, difference_sensitivity, scale_for
from sqlanon.mechanisms.source import Integers
from sqlanon.mechanisms.sources import SeededSource
from sqlanon.model.methods.epsilon_safe import EpsilonSafe
from sqlanon.model.methods.noisy import NodeMethod
from sqlanon.model.policy.policy import GivenPolicy, Policy, policy_of
from sqlanon.model.release import Result
from sqlanon.queries.noise.scores import WHOLE

if TYPE_CHECKING:
    from sqlanon.api.session import Session

MAX_NODES = 2000
"""How large a lattice may be: time and memory grow with the square of its nodes."""


class NodeProbability(Result):
    """A node, and how likely it is to be drawn.

    Attributes:
        node: the level of every quasi-identifier.
        probability: that it is drawn.
        score: in rows, at most 0; of a node that is as good as never drawn, no less than its own.
    """

    node: dict[str, int]
    probability: float
    score: float


def node_probabilities(
    session: Session, table: Source, policy: GivenPolicy, *, is_public: bool = False
) -> tuple[NodeProbability, ...]:
    """How likely a private method is to draw each node of a table, computed exactly, the likeliest first.

    Nothing is drawn or charged. Probabilities are made from the data without noise, so that they reveal what a
    release never does: they are for a table that everybody may know, such as a synthetic one to choose ε by.

    Args:
        session: where the table is.
        table: whose nodes.
        policy: with a method that draws a node on the whole table, by permute-and-flip.
        is_public: that everybody may know all rows of the table, which nothing can check.

    Raises:
        PolicyError: the table is not said to be public; the policy draws no node, or not on the whole table; or there
            are more than :data:`MAX_NODES` nodes.
        TaxonomyError: the table does not fit its taxonomies.
    """
    policy = policy_of(policy)
    if problems := list(_problems(policy, is_public=is_public)):
        raise PolicyError("the probabilities of nodes cannot be shown:", problems)
    noted = _NotedScores()
    chosen = _ChosenOnce(session, policy, noted)
    chosen.outcomes(table, 1)
    nodes = [chosen.named(levels) for levels in chosen.nodes]
    found = (
        NodeProbability(node=node, probability=probability, score=score / WHOLE)
        for node, probability, score in zip(nodes, noted.probabilities, noted.scores, strict=True)
    )
    return tuple(sorted(found, key=lambda each: (-each.probability, *each.node.values())))


def _problems(policy: Policy, *, is_public: bool) -> Iterator[str]:
    if not is_public:
        yield "they reveal the rows without noise: say is_public=True if everybody may know all of them"
    method = policy.method
    if not isinstance(method, NodeMethod) or not method.chooses_node or not method.claims_privacy:
        yield f"{method} draws no node by its score"
    elif isinstance(method, EpsilonSafe) and method.select_on == "sample":
        yield "the node is drawn on a sample, and depends on which rows are in it"


class _NotedScores(SeededSource):
    """A source that notes between which scores it is to choose, and with which probabilities."""

    def __init__(self) -> None:
        super().__init__(0)
        self.scores: list[int] = []
        self.probabilities: list[float] = []

    def exponential_mechanism(
        self, scores: Integers, charge: Charge, *, sensitivity: int, monotonic: bool = False, runs: int = 1
    ) -> Integers:
        self.scores = scores.tolist()
        scale = scale_for(charge.budget.epsilon, difference_sensitivity(sensitivity, monotonic=monotonic))
        self.probabilities = permute_and_flip(self.scores, scale)
        return super().exponential_mechanism(scores, charge, sensitivity=sensitivity, monotonic=monotonic, runs=runs)


class _ChosenOnce(AuditedPolicy):
    """A policy whose node is drawn, and nothing else."""

    def _outcomes(
        self, engine: Engine, bound: BoundPolicy, accountant: Accountant, runs: int
    ) -> Iterator[tuple[object, int]]:
        if bound.lattice.size > MAX_NODES:
            raise PolicyError(
                f"the lattice has {bound.lattice.size:,} nodes, but at most {MAX_NODES:,} can be shown: give "
                "minimum_levels or maximum_levels"
            )
        next(self._drawn_nodes(engine, bound, accountant, runs))
        self.named, self.nodes = bound.lattice.named, list(bound.lattice.nodes())
        yield (), runs
