"""Mazzone 2019, section 6.2: δ of classes of k sampled rows, and the probability of a good node of UCI Adult.

δ, and the least k for one, are computed again, beside the printed figures. A node is good in the thesis if it loses
less than half of the precision and suppresses less than 5 % of the rows. The thesis does not name the columns of its
108 nodes; these columns have 108 nodes, too.
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
from sqlanon.chance.random_source import SeededSource
from sqlanon.engines.duckdb import Compute
from sqlanon.evaluation.results import Row
from sqlanon.methods.noisy_node.epsilon_safe import sampled_table, samples, scores
from sqlanon.methods.noisy_node.shared import prepared
from sqlanon.model.lattice import Levels
from sqlanon.model.methods.sampled_methods import EpsilonSafe
from sqlanon.model.policy.policy import Policy
from sqlanon.model.sampled_classes import delta, delta_on_sample, minimum_k
from sqlanon.nodes.table import EncodedTable, encode_table
from sqlanon.papers import epsilon_safe_as_published as as_published
from sqlanon.papers.experiments import of_parts, table_rows
from sqlanon.papers.methods import Penalty
from sqlanon.queries.noise import WHOLE

if TYPE_CHECKING:
    from sqlanon.api.session import Session

DELTA = "δ of classes of k sampled rows"
MINIMUM_K = "Least k for a δ, with β = 1 - exp(-ε)"

CHOICE = "probability of a good node"
GOOD_NODES = "good_nodes"  # in the row of UNIFORM, for releases to be counted by

QUASI_IDENTIFIERS = ("workclass", "marital_status", "occupation", "native_country")
K = 50
BETA = Fraction(3, 4)
EPSILON_SAMPLING = 2
EPSILONS = ("0.01", "0.05", "0.1", "0.5", "2")  # ε of the choice, in the range of the thesis
WEIGHTS = (1, 4, 5, 10)
SAMPLE_WEIGHT = 5  # weight of a suppressed row if the node is drawn on the sample

FACTORS: Mapping[Penalty, tuple[str, ...]] = {
    "suppression": ("0.01", "0.02", "0.04", "0.1", "0.2", "0.5"),
    "k-anonymity": ("0.1", "0.3", "0.5", "0.7", "0.9"),
}
TOLERATED = (0, 5)  # percent suppressed without a penalty; the thesis can be read both ways

UNIFORM = "uniform"
AS_PUBLISHED = "as published"
ON_TABLE = "drawn on the table"
ON_SAMPLE = "drawn on the sample"

MAX_LOSS, MAX_SUPPRESSED = 0.5, 0.05  # a good node is below both


# The numbers beside which both are computed again were computed apart: spec/epsafe.md (b).
def deltas() -> Iterator[Row]:
    """Compute δ of Li, Qardaji and Su 2012, and the exact one."""
    for row in table_rows("sampled_class_deltas"):
        k, beta, epsilon = row["k"], row["beta"], row["epsilon"]
        yield {
            "part": DELTA,
            "beta": beta,
            "epsilon_sampling": epsilon,
            "k": k,
            "computed": f"{delta(k, beta, epsilon):.6e}",
            "printed": f"{row['delta']:.6e}",
            "computed_tight": f"{delta(k, beta, epsilon, tight=True):.6e}",
            "printed_tight": None if row["exact_delta"] is None else f"{row['exact_delta']:.6e}",
        }


def least_k() -> Iterator[Row]:
    for row in table_rows("sampled_class_sizes"):
        epsilon, limit = row["epsilon"], row["delta"]
        beta = 1 - math.exp(-epsilon)
        yield {
            "part": MINIMUM_K,
            "beta": beta,
            "epsilon_sampling": epsilon,
            "delta": f"{limit:.0e}",
            "computed": minimum_k(beta, epsilon, limit),
            "printed": row["k"],
            "computed_tight": minimum_k(beta, epsilon, limit, tight=True),
            "printed_tight": row["exact_k"],
        }


@dataclass(frozen=True)
class Nodes:
    """All nodes of a table in lexicographic order; arrays have the shape (nodes,)."""

    levels: Sequence[Levels]
    row_count: int  # of the table
    precision: Floats  # loss in [0, 1]
    suppressed: Integers  # rows in small classes
    scores: Mapping[int, Floats]  # in rows, by the weight of a suppressed row

    @property
    def suppressed_shares(self) -> Floats:
        return self.suppressed / max(1, self.row_count)

    @property
    def is_good(self) -> NDArray[np.bool_]:
        good: NDArray[np.bool_] = (self.precision < MAX_LOSS) & (self.suppressed_shares < MAX_SUPPRESSED)
        return good

    @property
    def good(self) -> list[str]:
        return [" ".join(map(str, each)) for each, is_good in zip(self.levels, self.is_good, strict=True) if is_good]

    def figures(self, chances: Floats) -> dict[str, float]:
        """Compute the probability of a good node, and mean losses, from the probability of each node."""
        return {
            "good": float(chances[self.is_good].sum()),
            "precision": float(chances @ self.precision),
            "suppressed": float(chances @ self.suppressed_shares),
        }

    def by_softmax(self, weights: Floats) -> dict[str, float]:
        """Compute figures of the exponential mechanism from log weights."""
        chances = np.exp(weights - weights.max())
        return self.figures(chances / chances.sum())

    def by_score(self, weight: int, epsilon: str) -> dict[str, float]:
        """Compute figures of permute-and-flip, as releases draw, and of softmax."""
        scaled = float(epsilon) * self.scores[weight] / (2 * weight)
        drawn = self.figures(np.array(permute_and_flip(scaled.tolist(), 1)))
        return {**drawn, "good_by_softmax": self.by_softmax(scaled)["good"]}

    def as_published(self, penalty: Penalty, factor: str, tolerated: float, epsilon: str) -> dict[str, float]:
        """Compute figures by the utilities and sensitivities of the thesis."""
        p = float(factor)
        charged = as_published.penalties(self.suppressed, self.row_count, penalty, p, tolerated)
        sensitivity = as_published.sensitivity(self.row_count, penalty, p)
        worth = as_published.utilities(self.precision, charged)
        return self.by_softmax(as_published.log_weights(worth, sensitivity, float(epsilon)))


def table_and_samples(session: Session, source: str, seeds: Sequence[int]) -> tuple[Nodes, list[Nodes]]:
    """Count the nodes of the whole table, and of a sample per seed.

    On the table, a class counts as suppressed if fewer than k of its rows are expected in a sample.
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
                sampled.append(_nodes(engine, sampled_table(engine, table, sample), K, (SAMPLE_WEIGHT,)))
    return whole, sampled


def _nodes(engine: Compute, table: EncodedTable, least: int, weights: Sequence[int]) -> Nodes:
    lattice, row_count = table.context.lattice, table.context.row_count
    return Nodes(
        [*lattice.nodes()],
        row_count,
        as_published.precision(lattice),
        as_published.suppressed_rows(engine, table, least),
        {
            # With this reach, all scores are exact.
            weight: scores(engine, table, threshold=least, weight=weight, reach=weight * WHOLE * row_count) / WHOLE
            for weight in weights
        },
    )


def rows(whole: Nodes, sampled: Sequence[Nodes]) -> Iterator[Row]:
    """Yield a row per way to choose; figures of samples are means."""
    count = len(whole.precision)
    yield {**_row(UNIFORM, None, whole.figures(np.full(count, 1 / count))), GOOD_NODES: whole.good}
    on_table = delta(K, float(BETA), EPSILON_SAMPLING)
    for weight, epsilon in itertools.product(WEIGHTS, EPSILONS):
        yield _row(ON_TABLE, epsilon, whole.by_score(weight, epsilon), weight=weight, delta=f"{on_table:.4g}")
    for epsilon in EPSILONS:
        found = [nodes.by_score(SAMPLE_WEIGHT, epsilon) for nodes in sampled]
        spent = float(epsilon)
        needed = delta_on_sample(K, float(BETA), spent, spent + EPSILON_SAMPLING, count)
        yield _row(ON_SAMPLE, epsilon, *found, weight=SAMPLE_WEIGHT, delta=f"{needed:.4g}")
    for penalty, tolerated in itertools.product(FACTORS, TOLERATED):
        for factor, epsilon in itertools.product(FACTORS[penalty], EPSILONS):
            found = [nodes.as_published(penalty, factor, tolerated, epsilon) for nodes in sampled]
            settings = {"penalty": penalty, "tolerated": tolerated, "penalty_factor": float(factor)}
            yield _row(AS_PUBLISHED, epsilon, *found, **settings)


def findings(rows: Sequence[Row]) -> Iterator[str]:
    """Count the printed numbers that agree, and compare rows with the thesis, and private choices with others."""
    for part in (DELTA, MINIMUM_K):
        of_part = of_parts(rows, part)
        for kind, words in (("", "as Li et al. have it"), ("_tight", "exact")):
            printed = [row for row in of_part if row[f"printed{kind}"] is not None]
            same = sum(row[f"computed{kind}"] == row[f"printed{kind}"] for row in printed)
            yield f"{part}: {same} of {len(printed)} are as printed ({words})"
    of_choice = of_parts(rows, CHOICE)
    ((uniform,), on_table, on_sample, thesis) = (
        [row for row in of_choice if row["method"] == method] for method in (UNIFORM, ON_TABLE, ON_SAMPLE, AS_PUBLISHED)
    )
    yield f"Of all nodes a share of {uniform['good']:.4f} is good"
    for penalty, tolerated in itertools.product(FACTORS, TOLERATED):
        of_penalty = [row for row in thesis if row["penalty"] == penalty and row["tolerated"] == tolerated]
        best = max(of_penalty, key=lambda row: row["good"])
        yield (
            f"{AS_PUBLISHED.capitalize()}, penalty for {penalty}, {tolerated} % tolerated: good with a probability of "
            f"{best['good']:.4f} at most, with p = {best['penalty_factor']:g} and ε' = {best['epsilon_node']:g}"
        )
    for found in (on_table, on_sample):
        for weight in dict.fromkeys(row["weight"] for row in found):
            best = max((row for row in found if row["weight"] == weight), key=lambda row: row["good"])
            yield (
                f"{best['method'].capitalize()}, weight {weight}: good with a probability of {best['good']:.4f} at "
                f"most, with ε' = {best['epsilon_node']:g}"
            )
    needed = ", ".join(f"{row['delta']} for ε' = {row['epsilon_node']:g}" for row in on_sample)
    yield f"{ON_SAMPLE.capitalize()} δ is {needed}; {ON_TABLE} it is {on_table[0]['delta']}"


def _row(method: str, epsilon: str | None, *found: Mapping[str, float], **settings: str | float) -> Row:
    node = None if epsilon is None else float(epsilon)
    means = {name: fmean(each[name] for each in found) for name in found[0]}
    return {"part": CHOICE, "method": method, "epsilon_node": node, **settings, **means}
