"""Optimal search: the same answer as exhaustive search from a fraction of the checks.

A node stays open until it is checked or ruled out. Two things rule nodes out, and both are proofs:

- a checked node whose classes prove that more rows are suppressed below it than may be rules out every less general
  node: rows in violation of *monotonic* privacy models, and what classes prove of the others
  (``sql/macros/57_certain_rows.sql``);
- a satisfying node rules out every node whose loss is bounded from below by more than its own loss. Bounds come
  from the quality model: known for every node beforehand (Prec, Entropy, LM, NCP), or inherited from the checked
  nodes below (DM*, DM, AECS).

Nodes of equal loss are never ruled out, so the tie set is complete. What comes next changes nothing but the time that
it takes: the nodes that rule out most others (:mod:`sqlanon.search.informative`), given whether they are likely to fail
(:mod:`sqlanon.search.optimal.forecast`), and, when few are left, those that are expected to settle what is open at the
least cost (:mod:`sqlanon.search.optimal.forecast`).

Where privacy models that are not monotonic suppress most, such proofs say little, and intervals of nodes are ruled out
in place of single ones (:mod:`sqlanon.search.optimal.intervals`).

Lattices of more than ``DENSE_NODES`` nodes are searched without an array of their size, by boxes of nodes
(:mod:`sqlanon.search.optimal.wide`): a good node early, and a proven gap that closes as long as it runs. What rules
nodes out is what does so in any optimal search, so it ends with the same node and the same ties.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from sqlanon.search.arrays import Bounds, Mask
from sqlanon.search.dense import DenseRegion, region_of
from sqlanon.search.informative import most_informative
from sqlanon.search.knowledge import Knowledge, check
from sqlanon.search.optimal.boxes import Boxes
from sqlanon.search.optimal.forecast import Foresight, Odds
from sqlanon.search.optimal.intervals import by_intervals
from sqlanon.search.optimal.wide import by_boxes
from sqlanon.search.problem import BATCH_SIZE, Search, SearchProblem, SearchStopped, margin

FORESEEN_ROWS = 200_000
"""Nothing is foreseen for fewer rows: a check takes less time then than to choose it well.

Whole runs over ARX's Adult and copies of it with redrawn columns (tests.benchmarks.lakes --adult, 5 % suppressed), with
and without foresight: 33,000 rows 1.17 and 1.04 CPU s; 1,000,000 rows 2.5 and 3.05 s; 10,000,000 rows 7.9 and 9.1 s.
"""

FORESEEN_NODES = 4096
"""The most open nodes whose suppression is foreseen.

Measured by tests.benchmarks.tuning.
"""

FORESEEN_SHARE = 1 / 8
"""The largest share of the lattice that may be open then: before, too little is known.

Measured by tests.benchmarks.tuning.
"""


def optimal(problem: SearchProblem) -> Search:
    """Find a node of least loss, and all its ties, by ruling out the rest of the lattice."""
    if problem.evidence is not None:
        return (yield from by_intervals(problem, problem.evidence))
    region = region_of(problem)
    if isinstance(region, Boxes):
        return (yield from by_boxes(problem, region))
    knowledge = Knowledge(problem, region)
    lattice = problem.context.lattice
    known = _without_noise(region.known)
    is_big = problem.context.row_count > FORESEEN_ROWS
    foresight = Foresight(problem) if is_big and Foresight.is_possible(problem) else None
    odds = Odds(problem.context)
    # Fewer are counted in vain if more are chosen by what was counted before.
    at_once = BATCH_SIZE if is_big else BATCH_SIZE // 2
    # What is likely is a guess, and of many rows a bad one where none may be suppressed: ARX's Adult blown up to
    # 10,000,000 rows, k = 5, geometric LM, takes 183 nodes, 356 unhedged. With 5 % suppressed it takes 113, 147 hedged.
    # The worse case is a guess as well where losses are unknown before a check.
    is_hedged = problem.context.allowed_rows == 0 and bool(known.any())
    foreseen = min(FORESEEN_NODES, int(FORESEEN_SHARE * lattice.size))
    with suppress(SearchStopped):
        while (open_nodes := _open_nodes(region, knowledge.loss)).any():
            if foresight is None or knowledge.loss == float("inf") or open_nodes.sum() > foreseen:
                failing = odds.of_failure(region.checked, region.too_bad(knowledge.loss))
                batch = most_informative(open_nodes, known, at_once, failing, is_hedged=is_hedged)
            else:
                batch = foresight.nodes(open_nodes, region.known, region.checked, region.suppressed, knowledge.loss)
            yield from check(knowledge, [lattice.node(index) for index in batch])
    return knowledge.outcome()


def _open_nodes(region: DenseRegion, loss: float) -> Mask:
    """The nodes that may satisfy the policy and lose no more than the best so far."""
    bounds = region.bounds()
    open_nodes: Mask = np.isfinite(bounds) & (bounds <= loss + margin(loss))
    return open_nodes


def _without_noise(known: Bounds) -> Bounds:
    """Known losses to twelve digits, so that the last bits of sums of floats do not steer the search.

    A database adds them in any order; equal runs are to check equal nodes.
    """
    rounded: Bounds = np.round(known / max(float(known.max()), 1e-300), 12)
    return rounded
