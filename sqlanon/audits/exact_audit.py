"""Exact computations: the distance of two finite distributions, and the probability of each node.

A mechanism is (ε, δ)-differentially private if and only if H_ε(P || Q) = max over events S of P(S) - e^ε Q(S) is at
most δ for its outputs P, Q on all neighbours, both ways (Barthe & Olmedo 2013, theorem 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.audits.mechanisms import AuditedPolicy
from sqlanon.binding.bound import BoundPolicy
from sqlanon.chance.accountant import Accountant, Charge
from sqlanon.chance.exact import Floats, Integers
from sqlanon.chance.random_source import SeededSource
from sqlanon.chance.scales import difference_sensitivity, scale_for
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import Source
from sqlanon.errors import PolicyError
from sqlanon.model.methods.noisy import NodeMethod, Selection
from sqlanon.model.methods.sampled_methods import EpsilonSafe
from sqlanon.model.policy.policy import GivenPolicy, Policy, policy_of
from sqlanon.model.release import Result
from sqlanon.queries.noise import WHOLE

if TYPE_CHECKING:
    from sqlanon.api.session import Session

Distribution = Mapping[Any, float]  # probabilities of outputs; the rest to 1 belongs to unlisted outputs
ROUNDING = 1e-13  # error of a sum of probabilities in floating point


@dataclass(frozen=True)
class Bounds:
    """Bounds on a number, equal up to rounding if no tail was cut off."""

    lower: float
    upper: float


def hockey_stick(first: Distribution, second: Distribution, epsilon: float) -> Bounds:
    """Bound H_ε(first || second) in one direction; exchange the arguments for the other.

    If tails were cut off, ``lower`` assumes that they hide no difference, and ``upper`` that they are all different.
    """
    if not epsilon >= 0:
        raise PolicyError("the divergence cannot be computed:", ["epsilon must not be negative"])
    hidden, shown = _aligned(first, second)
    return Bounds(_divergence(*hidden, epsilon), min(1.0, _divergence(*shown, epsilon)))


def smallest_epsilon(first: Distribution, second: Distribution, delta: float) -> Bounds:
    """Find the smallest ε >= 0 for which H_ε(first || second) is at most δ < 1, in one direction; inf if there is none.

    ``lower`` is rounded down by the error of sums of floats, so that it can be compared with a claim.
    """
    if not 0 <= delta < 1:
        raise PolicyError("the smallest epsilon cannot be computed:", ["delta must be at least 0 and below 1"])
    hidden, shown = _aligned(first, second)
    return Bounds(_tightest(*hidden, delta, -ROUNDING), _tightest(*shown, delta, ROUNDING))


def _aligned(first: Distribution, second: Distribution) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Return the probabilities of common events, once favourable to the mechanism and once unfavourable.

    An output that one distribution lacks may have all of its missing probability, or none.
    """
    first_lacks, second_lacks = _lacking(first, "first"), _lacking(second, "second")
    both = [output for output in first if output in second]
    alone = math.fsum(probability for output, probability in first.items() if output not in second)
    shared = np.array([[first[output] for output in both], [second[output] for output in both]], dtype=float)
    certain = alone if alone > ROUNDING else 0.0
    hidden = np.append(shared[0], certain), np.append(shared[1], min(1.0, second_lacks))
    return hidden, (np.append(shared[0], alone + first_lacks), np.append(shared[1], 0.0))


def _lacking(distribution: Mapping[Hashable, float], name: str) -> float:
    total = math.fsum(distribution.values())
    problem = None
    if not min(distribution.values(), default=0.0) >= 0:
        problem = f"the {name} distribution has probabilities that are not at least 0"
    elif not total <= 1 + ROUNDING:
        problem = f"the probabilities of the {name} distribution add up to {total:.9g}, which is more than 1"
    if problem is not None:
        raise PolicyError("the divergence cannot be computed:", [problem])
    return 1 - total if 1 - total > ROUNDING else 0.0


def _divergence(first: Floats, second: Floats, epsilon: float) -> float:
    with np.errstate(over="ignore", divide="ignore"):
        scaled = np.exp(epsilon + np.log(second))
    return math.fsum(np.maximum(0.0, first - scaled).tolist())


def _tightest(first: Floats, second: Floats, delta: float, rounding: float) -> float:
    """Find the greatest ln((P(S) - δ) / Q(S)), over events that take the outputs by likelihood ratio, descending."""
    kept = first > 0
    with np.errstate(divide="ignore"):
        order = np.argsort(-(np.log(first[kept]) - np.log(second[kept])), kind="stable")
    event_first, event_second = np.cumsum(first[kept][order]), np.cumsum(second[kept][order])
    excess = event_first * (1 + rounding) - delta * (1 - rounding)
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = np.where(excess > 0, np.log(excess) - np.log(event_second * (1 - rounding)), -np.inf)
    return float(max(0.0, losses.max(initial=0.0)))


def permute_and_flip(scores: Sequence[float], scale: float) -> list[float]:
    """Compute the probability of each candidate, as :meth:`RandomSource.permute_and_flip` chooses.

    Candidates flip coins in random order, and the first is chosen whose coin succeeds, with probability q = e^((score -
    largest) / scale) (McKenna & Sheldon 2020, algorithm 1). A random order arises if each candidate comes at an
    independent time, uniform between 0 and 1. So candidate i is chosen with a probability of q_i times the integral,
    over its time t, of the product of (1 - t q_j) over all others j. That is a polynomial in t of a degree below the
    number of candidates n, which ⌈n / 2⌉ points of Gauss and Legendre integrate exactly. All summands are positive, so
    that small probabilities are as precise as large ones. Errors of the points' weights are nearly the same for all
    candidates, and the known sum corrects them: with 1,000 candidates, 14 digits are right.

    Scores are integers of any size, or floats; a score that is larger by the scale is e times as likely to succeed.
    """
    problems = ["there is nothing to choose from"] if not scores else []
    problems += [] if scale > 0 else ["the scale must be above 0"]
    if problems:
        raise PolicyError("the distribution cannot be computed:", problems)
    top = max(scores)
    passing = np.exp([(score - top) / scale for score in scores])
    points, weights = np.polynomial.legendre.leggauss((len(scores) + 1) // 2)
    missed = 1 - (points[:, None] + 1) / 2 * passing
    chosen = weights / 2 @ (missed.prod(axis=1, keepdims=True) / missed) * passing
    probabilities: list[float] = (chosen / chosen.sum()).tolist()
    return probabilities


def softmax(scores: Sequence[float], scale: float) -> list[float]:
    """Compute the probability of each candidate by the exponential mechanism: in proportion to e^(score / scale)."""
    weights = np.exp([(score - max(scores)) / scale for score in scores])
    probabilities: list[float] = (weights / weights.sum()).tolist()
    return probabilities


PROBABILITIES: Mapping[Selection, Callable[[Sequence[float], float], list[float]]] = {
    "permute-and-flip": permute_and_flip,
    "exponential": softmax,
}

MAX_NODES = 2000  # largest lattice: time and memory grow with the square of its nodes


class NodeProbability(Result):
    """A node, and its probability to be drawn.

    Attributes:
        node: the level of every quasi-identifier.
        probability: the probability.
        score: in rows, at most 0; an upper bound for a node of negligible probability.
    """

    node: dict[str, int]
    probability: float
    score: float


def node_probabilities(
    session: Session, table: Source, policy: GivenPolicy, *, is_public: bool = False
) -> tuple[NodeProbability, ...]:
    """Compute how likely a private method is to draw each node of a table, exactly, likeliest first.

    Nothing is drawn or charged. The probabilities are computed from the data without noise and reveal what a release
    never does: they are for a table that everybody may know, such as a synthetic one to choose ε by.

    Args:
        session: the session that has the table.
        table: the table.
        policy: with a method that draws a node on the whole table.
        is_public: states that everybody may know all rows of the table, which cannot be checked.

    Raises:
        PolicyError: the table was not stated to be public; the policy draws no node, or not on the whole table; or
            there are more than :data:`MAX_NODES` nodes.
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
    """A source of chance that records the scores of a choice and the probabilities of the candidates."""

    def __init__(self) -> None:
        super().__init__(0)
        self.scores: list[int] = []
        self.probabilities: list[float] = []

    def choice(
        self,
        scores: Integers,
        charge: Charge,
        *,
        by: Selection,
        sensitivity: int,
        monotonic: bool = False,
        runs: int = 1,
    ) -> Integers:
        self.scores = scores.tolist()
        scale = scale_for(charge.budget.epsilon, difference_sensitivity(sensitivity, monotonic=monotonic))
        self.probabilities = PROBABILITIES[by](self.scores, scale)
        return super().choice(scores, charge, by=by, sensitivity=sensitivity, monotonic=monotonic, runs=runs)


class _ChosenOnce(AuditedPolicy):
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
