"""The probability that ε-safe anonymization chooses a good node of UCI Adult: Mazzone 2019, section 6.2.2.

The thesis calls a node good that loses less than half of the precision and suppresses less than 5 % of the rows, and
does not name the columns of its 108 nodes. These here make 108, too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sqlanon.audits.exact_audit import permute_and_flip
from sqlanon.chance.exact import Floats, Integers
from sqlanon.chance.word_sources import SeededSource
from sqlanon.engines.duckdb import Compute
from sqlanon.evaluation.results import Row
from sqlanon.methods.noisy_node.epsilon_safe import samples, scores
from sqlanon.methods.noisy_node.shared import prepared
from sqlanon.model.lattice import Levels
from sqlanon.model.methods.sampled_methods import EpsilonSafe
from sqlanon.model.policy.policy import Policy
from sqlanon.model.sampled_classes import delta, delta_on_sample
from sqlanon.nodes.table import EncodedTable, encode_table
from sqlanon.papers.methods import Penalty
from sqlanon.papers.thesis import epsilon_safe_as_published as published
from sqlanon.queries.noise import WHOLE

if TYPE_CHECKING:
    from sqlanon.api.session import Session

Mask = NDArray[np.bool_]

CHOICE = "probability of a good node"

QUASI_IDENTIFIERS = ("workclass", "marital_status", "occupation", "native_country")
K = 50
BETA = Fraction(3, 4)
EPSILON_SAMPLING = 2
EPSILONS = ("0.01", "0.05", "0.1", "0.5", "2")  # ε of the choice: the thesis has some from 0.01 to 2

WEIGHTS = (1, 4, 5, 10)
SAMPLE_WEIGHT = 5  # the weight of a suppressed row where the node is drawn on the sample

FACTORS: Mapping[Penalty, tuple[str, ...]] = {
    "suppression": ("0.01", "0.02", "0.04", "0.1", "0.2", "0.5"),
    "k-anonymity": ("0.1", "0.3", "0.5", "0.7", "0.9"),
}
TOLERATED = (0, 5)  # up to how many percent may be suppressed without a penalty: the thesis can be read both ways

UNIFORM = "uniform"
AS_PUBLISHED = "as published"
ON_TABLE = "drawn on the table"
ON_SAMPLE = "drawn on the sample"

MAX_LOSS, MAX_SUPPRESSED = 0.5, 0.05  # below both a node is good


@dataclass(frozen=True)
class Nodes:
    """All nodes in lexicographic order, as a table has them."""

    levels: Sequence[Levels]  # the nodes
    row_count: int  # rows of the table
    precision: Floats  # what nodes lose, in [0, 1]; shape (nodes,)
    suppressed: Integers  # their rows in classes of too few; shape (nodes,)
    scores: Mapping[int, Floats]  # in rows, by the weight of a suppressed one; shape (nodes,) each

    @property
    def suppressed_shares(self) -> Floats:
        """Of the rows; shape (nodes,)."""
        return self.suppressed / max(1, self.row_count)

    @property
    def is_good(self) -> Mask:
        """Mark the good nodes; shape (nodes,)."""
        good: Mask = (self.precision < MAX_LOSS) & (self.suppressed_shares < MAX_SUPPRESSED)
        return good

    @property
    def good(self) -> set[Levels]:
        """The nodes that are."""
        return {levels for levels, is_good in zip(self.levels, self.is_good, strict=True) if is_good}

    def figures(self, chances: Floats) -> dict[str, float]:
        """The probability of a good node, and what is lost on average, by the probability of each node."""
        return {
            "good": float(chances[self.is_good].sum()),
            "precision": float(chances @ self.precision),
            "suppressed": float(chances @ self.suppressed_shares),
        }

    def by_softmax(self, weights: Floats) -> dict[str, float]:
        """Compute the probabilities of the exponential mechanism, by the logarithms of weights."""
        chances = np.exp(weights - weights.max())
        return self.figures(chances / chances.sum())

    def by_score(self, weight: int, epsilon: str) -> dict[str, float]:
        """Compute the probabilities of permute-and-flip, as releases draw, beside those of softmax."""
        scaled = float(epsilon) * self.scores[weight] / (2 * weight)
        drawn = self.figures(np.array(permute_and_flip(scaled.tolist(), 1)))
        return {**drawn, "good_by_softmax": self.by_softmax(scaled)["good"]}

    def as_published(self, penalty: Penalty, factor: str, tolerated: float, epsilon: str) -> dict[str, float]:
        """Compute the probabilities by the utilities and sensitivities of the thesis."""
        p = float(factor)
        charged = published.penalties(self.suppressed, self.row_count, penalty, p, tolerated)
        sensitivity = published.sensitivity(self.row_count, penalty, p)
        worth = published.utilities(self.precision, charged)
        return self.by_softmax(published.log_weights(worth, sensitivity, float(epsilon)))


def table_and_samples(session: Session, source: str, seeds: Sequence[int]) -> tuple[Nodes, list[Nodes]]:
    """The nodes by the whole table, and by a sample for each seed.

    On the table a class counts as suppressed from which fewer than k rows are expected in a sample.

    Raises:
        EngineError: the database refused a step.
    """
    engine = session._engine
    method = EpsilonSafe(k=K, beta=BETA, epsilon_sampling=EPSILON_SAMPLING)
    bound = prepared(engine, engine.resolve(source), Policy(quasi_identifiers=QUASI_IDENTIFIERS, method=method))
    with engine.transaction(), engine.scratch():
        table = encode_table(engine, bound, label_losses=())
        whole = _nodes(engine, table, math.ceil(K / BETA), WEIGHTS)
        sampled = []
        for seed in seeds:
            with engine.scratch():
                ((sample, _),) = samples(engine, table, SeededSource(seed), BETA, 1)
                sampled.append(_nodes(engine, sample.table(engine, table), K, (SAMPLE_WEIGHT,)))
    return whole, sampled


def _nodes(engine: Compute, table: EncodedTable, least: int, weights: Sequence[int]) -> Nodes:
    lattice, row_count = table.context.lattice, table.context.row_count
    return Nodes(
        [*lattice.nodes()],
        row_count,
        published.precision(lattice),
        published.suppressed_rows(engine, table, least),
        {
            # Nothing is out of this reach: all scores are exact.
            weight: scores(engine, table, threshold=least, weight=weight, reach=weight * WHOLE * row_count) / WHOLE
            for weight in weights
        },
    )


def rows(whole: Nodes, sampled: Sequence[Nodes]) -> Iterator[Row]:
    """A row for each way to choose; of samples figures are means."""
    count = len(whole.precision)
    yield _row(UNIFORM, None, whole.figures(np.full(count, 1 / count)))
    on_table = delta(K, float(BETA), EPSILON_SAMPLING)
    for weight, epsilon in itertools.product(WEIGHTS, EPSILONS):
        yield _row(ON_TABLE, epsilon, whole.by_score(weight, epsilon), weight=weight, delta=f"{on_table:.4g}")
    for epsilon in EPSILONS:
        found = _mean([nodes.by_score(SAMPLE_WEIGHT, epsilon) for nodes in sampled])
        spent = float(epsilon)
        needed = delta_on_sample(K, float(BETA), spent, spent + EPSILON_SAMPLING, count)
        yield _row(ON_SAMPLE, epsilon, found, weight=SAMPLE_WEIGHT, delta=f"{needed:.4g}")
    for penalty, tolerated in itertools.product(FACTORS, TOLERATED):
        for factor, epsilon in itertools.product(FACTORS[penalty], EPSILONS):
            found = _mean([nodes.as_published(penalty, factor, tolerated, epsilon) for nodes in sampled])
            settings = {"penalty": penalty, "tolerated": tolerated, "penalty_factor": float(factor)}
            yield _row(AS_PUBLISHED, epsilon, found, **settings)


def findings(rows: Sequence[Row]) -> Iterator[str]:
    """Compare the rows with the thesis, and private choices with the others."""
    of_choice = [row for row in rows if row["part"] == CHOICE]
    ((uniform,), on_table, on_sample, thesis) = (
        [row for row in of_choice if row["method"] == method] for method in (UNIFORM, ON_TABLE, ON_SAMPLE, AS_PUBLISHED)
    )
    yield f"Of all nodes a share of {uniform['good']:.4f} is good"
    for penalty, tolerated in itertools.product(FACTORS, TOLERATED):
        of_penalty = [row for row in thesis if row["penalty"] == penalty and row["tolerated"] == tolerated]
        best = max(of_penalty, key=lambda row: row["good"])
        yield (
            f"{_capitalized(AS_PUBLISHED)}, penalty for {penalty}, {tolerated} % tolerated: good with a probability of "
            f"{best['good']:.4f} at most, with p = {best['penalty_factor']:g} and ε' = {best['epsilon_node']:g}"
        )
    for found in (on_table, on_sample):
        for weight in dict.fromkeys(row["weight"] for row in found):
            best = max((row for row in found if row["weight"] == weight), key=lambda row: row["good"])
            yield (
                f"{_capitalized(best['method'])}, weight {weight}: good with a probability of {best['good']:.4f} at "
                f"most, with ε' = {best['epsilon_node']:g}"
            )
    needed = ", ".join(f"{row['delta']} for ε' = {row['epsilon_node']:g}" for row in on_sample)
    yield f"{_capitalized(ON_SAMPLE)} δ is {needed}; {ON_TABLE} it is {on_table[0]['delta']}"


def _row(method: str, epsilon: str | None, found: Mapping[str, float], **settings: str | float) -> Row:
    node = None if epsilon is None else float(epsilon)
    return {"part": CHOICE, "method": method, "epsilon_node": node, **settings, **found}


def _mean(figures: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: fmean(each[name] for each in figures) for name in figures[0]}


def _capitalized(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"
