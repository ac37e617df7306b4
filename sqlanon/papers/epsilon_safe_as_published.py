"""ε-safe anonymization as it was published, for comparison: it does not keep what it says, and claims nothing.

Each row is in a sample or not. On the sample a node is drawn by the exponential mechanism, with a utility of
1 / (Prec + penalty), and its classes of k rows or more are shown.

What is wrong with it: the thesis takes for the sensitivity of the utility that of the penalty, but one row that flips
the penalty p of a node that loses a precision of P changes 1 / P to 1 / (P + p). And what a choice on the sample costs
does not add up with what the sample costs (spec/epsafe.md S1 to S4).

Source: Mazzone 2019, sections 4.5 and 6.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from sqlanon.chance.exact import Floats, Integers
from sqlanon.engines.duckdb import Compute
from sqlanon.methods.noisy_node.epsilon_safe import (
    EpsilonSafeRun,
    drawn_on_sample,
    precision_losses,
    rows_of_nodes,
)
from sqlanon.methods.noisy_node.shared import DrawnNode, Draws, sums
from sqlanon.model.lattice import Lattice, Levels
from sqlanon.model.methods.noisy import NODE
from sqlanon.nodes.roll_up import RollUps
from sqlanon.nodes.table import EncodedTable
from sqlanon.papers.methods import EpsilonSafeAsPublished, Penalty
from sqlanon.queries.noise import WHOLE
from sqlanon.search.problem import batches


class AsPublishedRun(EpsilonSafeRun):
    """Publish what the algorithm of the thesis makes of a table: it chooses on the sample, in floating point."""

    @staticmethod
    def public_domains(engine: Compute, table: EncodedTable) -> None:
        """Nothing is known, and nothing refused."""

    @staticmethod
    def drawn_nodes(
        engine: Compute, table: EncodedTable, draws: Draws, domains: None, runs: int = 1
    ) -> Iterator[DrawnNode]:
        yield from drawn_on_sample(engine, table, draws, runs, chosen_nodes)


SUPPRESSED_ROWS = "suppressed_rows"  # the query that counts the rows of classes that are not shown

TOLERATED: Mapping[Penalty, float] = {"k-anonymity": 0, "suppression": 5}
"""The percentage of the rows that may be suppressed without a penalty, as spec/epsafe.md S2 to S4 reads the thesis.

It says that 5 % "was applied to all runs, to increase the pool of penalty-free nodes", and not how.
"""


def chosen_nodes(
    engine: Compute, table: EncodedTable, draws: Draws, threshold: int, runs: int
) -> list[tuple[Levels, int]]:
    """Draw nodes on a sample, each with the number of runs that it is drawn in."""
    method = table.bound.policy.method
    assert isinstance(method, EpsilonSafeAsPublished)
    penalty, factor = method.penalty, float(method.factor)
    lattice, row_count = table.context.lattice, table.context.row_count
    suppressed = suppressed_rows(engine, table, threshold)
    weights = log_weights(
        utilities(precision(lattice), penalties(suppressed, row_count, penalty, factor)),
        sensitivity(row_count, penalty, factor),
        float(draws.charges[NODE].budget.epsilon),
    )
    places, times = np.unique(draws.source.softmax_choice(weights, runs=runs), return_counts=True)
    nodes = list(lattice.nodes())
    return [(nodes[place], int(count)) for place, count in zip(places, times, strict=True)]


def suppressed_rows(engine: Compute, table: EncodedTable, k: int) -> Integers:
    """Count, of all nodes in lexicographic order, the rows in classes of fewer than k; shape (nodes,)."""
    lattice = table.context.lattice
    found = np.zeros(lattice.shape, dtype=np.int64)
    with engine.scratch():
        roll_ups = RollUps.of(engine, table)
        for nodes in batches(lattice.nodes()):
            for levels, rows in rows_of_nodes(engine, table, roll_ups, SUPPRESSED_ROWS, k, nodes):
                found[lattice.index(levels)] = rows
    suppressed: Integers = found.ravel()
    return suppressed


def precision(lattice: Lattice) -> Floats:
    """Return, of all nodes in lexicographic order, the precision that they lose, in [0, 1]; shape (nodes,)."""
    lost: Integers = sums(lattice, precision_losses(lattice)).ravel()
    return lost.astype(np.float64) / WHOLE


def penalties(
    suppressed: Integers, row_count: int, penalty: Penalty, factor: float, tolerated: float | None = None
) -> Floats:
    """Return the penalties on the precision that nodes lose, by their rows in classes of fewer than k; shape (nodes,).

    The factor p is charged once, or for each percent of suppressed rows, above a tolerated percentage.
    """
    percent = 100 * suppressed / max(1, row_count)
    charged = factor if penalty == "k-anonymity" else factor * percent
    return np.where(percent > (TOLERATED[penalty] if tolerated is None else tolerated), charged, 0.0)


def sensitivity(row_count: int, penalty: Penalty, factor: float) -> float:
    """Return the sensitivity of the utility by the thesis: that of the penalty, and of a row's percentage."""
    return factor if penalty == "k-anonymity" else factor * 100 / max(1, row_count)


def utilities(losses: Floats, penalties: Floats) -> Floats:
    """Return 1 / (Prec + penalty), infinite for a node that loses nothing and has no penalty."""
    with np.errstate(divide="ignore"):
        found: Floats = 1 / (losses + penalties)
    return found


def log_weights(utilities: Floats, sensitivity: float, epsilon: float) -> Floats:
    """Return the logarithms of weights that nodes are drawn by; what is worth infinitely much is drawn for certain."""
    is_infinite = np.isinf(utilities)
    if is_infinite.any():
        return np.where(is_infinite, 0.0, -np.inf)
    return epsilon * utilities / (2 * sensitivity)
