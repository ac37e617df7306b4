"""ε-safe anonymization as it was published, for comparison: it does not keep its promise, and claims nothing.

Each row is in a sample or not. On the sample, a node is drawn by the exponential mechanism, with a utility of
1 / (Prec + penalty), and its classes of k rows or more are shown.

Its errors: the thesis takes the penalty's sensitivity for the utility's, but one row that flips the penalty p of a node
that loses a precision of P changes 1 / P to 1 / (P + p). And the cost of a choice on the sample does not add up with
the cost of the sample (spec/epsafe.md S1 to S4).

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
from sqlanon.search import batches


class AsPublishedRun(EpsilonSafeRun):
    """The algorithm of the thesis, which chooses a node on the sample, in floating point."""

    @staticmethod
    def public_domains(engine: Compute, table: EncodedTable) -> None:
        """Return nothing: no domain is known, and none refused."""

    @staticmethod
    def drawn_nodes(
        engine: Compute, table: EncodedTable, draws: Draws, domains: None, runs: int = 1
    ) -> Iterator[DrawnNode]:
        yield from drawn_on_sample(engine, table, draws, runs, chosen_nodes)


SUPPRESSED_ROWS = "suppressed_rows"  # the query that counts rows of hidden classes

# The percentage of rows that may be suppressed without a penalty, by spec/epsafe.md S2 to S4. The thesis only states
# that 5 % "was applied to all runs, to increase the pool of penalty-free nodes".
TOLERATED: Mapping[Penalty, float] = {"k-anonymity": 0, "suppression": 5}


def chosen_nodes(
    engine: Compute, table: EncodedTable, draws: Draws, threshold: int, runs: int
) -> list[tuple[Levels, int]]:
    """Draw nodes on a sample, each with its number of runs."""
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
    """Count the rows in classes of fewer than k per node, in lexicographic order; shape (nodes,)."""
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
    """Return the precision that each node loses, in [0, 1], in lexicographic order; shape (nodes,)."""
    lost: Integers = sums(lattice, precision_losses(lattice)).ravel()
    return lost.astype(np.float64) / WHOLE


def penalties(
    suppressed: Integers, row_count: int, penalty: Penalty, factor: float, tolerated: float | None = None
) -> Floats:
    """Return the penalty of each node by its rows in classes of fewer than k; shape (nodes,).

    The factor is charged once, or per percent of suppressed rows, above a tolerated percentage.
    """
    percent = 100 * suppressed / max(1, row_count)
    charged = factor if penalty == "k-anonymity" else factor * percent
    return np.where(percent > (TOLERATED[penalty] if tolerated is None else tolerated), charged, 0.0)


def sensitivity(row_count: int, penalty: Penalty, factor: float) -> float:
    """Return the thesis's sensitivity of the utility: the penalty's, and that of a row's percentage."""
    return factor if penalty == "k-anonymity" else factor * 100 / max(1, row_count)


def utilities(losses: Floats, penalties: Floats) -> Floats:
    """Return 1 / (Prec + penalty), infinite for a node without loss and penalty."""
    with np.errstate(divide="ignore"):
        found: Floats = 1 / (losses + penalties)
    return found


def log_weights(utilities: Floats, sensitivity: float, epsilon: float) -> Floats:
    """Return log weights for drawing nodes; a node of infinite utility is certain."""
    is_infinite = np.isinf(utilities)
    if is_infinite.any():
        return np.where(is_infinite, 0.0, -np.inf)
    return epsilon * utilities / (2 * sensitivity)
