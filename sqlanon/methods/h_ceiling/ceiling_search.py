"""Search for the node below the ceiling that needs the fewest counterfeits.

Among equals, the node that suppresses the fewest rows wins, if suppression is allowed, then the one of least
reconstruction error, which is known of every node without counting its classes.

Reconstruction error by itself would always pick the least general node, with a counterfeit for nearly every row:
without a catalog it does not count these (spec/hceiling.md, H13). With a catalog it decides between the first few
nodes, see :mod:`sqlanon.methods.h_ceiling.catalogs`.

Not all nodes are counted. A more general node merges classes, so it never needs more counterfeits, and no node needs
fewer than the most general nodes below the ceiling. A node above the ceiling that needs many rules out all of these
below it, so some such nodes are counted, too, chosen by a forecast. If small classes are suppressed, a less general
node may need fewer counterfeits, but at most by what it saves through suppression.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from sqlanon.engines.duckdb import Compute
from sqlanon.errors import UnsatisfiableError
from sqlanon.methods.stages import Stopped
from sqlanon.model.criteria import Criteria
from sqlanon.model.lattice import NodeSummary
from sqlanon.model.methods.counterfeiting import HCeiling
from sqlanon.model.privacy import KAnonymity
from sqlanon.nodes.choice import Observer
from sqlanon.nodes.counting import NodeCounter, node_summaries
from sqlanon.nodes.table import EncodedTable
from sqlanon.search import BATCH_SIZE, Inquiry, SearchOutcome
from sqlanon.search.arrays import (
    Bounds,
    Counts,
    Index,
    Mask,
    above,
    below,
    count_below,
    indexes,
    most_informative,
    spread_downwards,
)
from sqlanon.search.boxes import POWER, forecast_of, lost_information

DIGITS = 12  # digits of compared losses: equal runs choose equal nodes in whatever order terms were added


def choose_node(
    engine: Compute, table: EncodedTable, allowed: Mask, errors: Bounds, observer: Observer, stopped: Stopped
) -> tuple[SearchOutcome, list[NodeSummary]]:
    """Choose a node among the ``allowed`` ones, which keep to the ceiling; there must be one.

    Among equal needs, the mean reconstruction error decides. A stop ends the search with the best node so far.

    Returns:
        the outcome, whose loss is the number of counterfeits, and the checked nodes below the ceiling and within the
            suppression limit, best first.

    Raises:
        UnsatisfiableError: every node below the ceiling suppresses too many rows.
    """
    with engine.scratch():
        return node_below(Needs(engine, table), {}, allowed, errors, observer, stopped)


# More than six parameters: those of choose_node, and what nodes are known to need.
def node_below(
    needs: Needs, found: dict[Index, Need], allowed: Mask, errors: Bounds, observer: Observer, stopped: Stopped
) -> tuple[SearchOutcome, list[NodeSummary]]:
    """Choose a node as :func:`choose_node`, which adds to what is found of nodes and asks for none of these again."""
    table = needs.table
    lattice = table.context.lattice
    search = FewestCounterfeits(allowed, ranked(table, errors), lost_information(table.context))
    for index, need in found.items():
        search.learn(index, need.cost, need.cost_below)

    def needed() -> float | None:
        best = search.best
        return None if best is None or found[best].cost == OUT_OF_LIMIT else float(found[best].counterfeits)

    for proposed in search.batches():
        if batch := [index for index in proposed if index not in found]:
            nodes = [lattice.node(index) for index in batch]
            inquiry = Inquiry(nodes, needed(), lambda: float(needs.counterfeits(search.fewest())), "counts")
            observer(len(found), lattice.size, inquiry)
            found |= zip(batch, needs.of(inquiry), strict=True)
        for index in batch:
            search.learn(index, found[index].cost, found[index].cost_below)
        if needed() is not None and stopped():
            break
    assert search.best is not None
    if found[search.best].cost == OUT_OF_LIMIT:
        fewest = min(need.suppressed for index, need in found.items() if search.keeps_to_ceiling(index))
        raise UnsatisfiableError(
            f"every node below the ceiling suppresses more than the {table.context.allowed_rows:,} rows allowed:",
            [
                f"the one that suppresses the fewest leaves out {fewest:,} of {table.context.row_count:,} rows, in "
                "classes of fewer than fewest_true_rows; raise suppression_limit or h, or lower fewest_true_rows"
            ],
        )
    best = found[search.best].node
    outcome = SearchOutcome(
        best=best,
        loss=found[search.best].counterfeits,
        ties=(best.levels,),
        checked_nodes=len(found),
        closest=best,
        proven_optimal=not search.open_nodes().any(),
        lower_bound=float(needs.counterfeits(search.fewest())),
    )
    below = [index for index in filter(search.keeps_to_ceiling, found) if found[index].cost != OUT_OF_LIMIT]
    return outcome, [found[index].node for index in sorted(below, key=search.order)]


def in_place_of(outcome: SearchOutcome, other: NodeSummary, counterfeits: int) -> SearchOutcome:
    if other == outcome.best:
        return outcome
    return replace(outcome, best=other, loss=float(counterfeits), ties=(other.levels,), proven_optimal=False)


def ranked(table: EncodedTable, errors: Bounds) -> Counts:
    lattice = table.context.lattice
    by_level = zip(table.context.losses.lm, lattice.bottom, lattice.top, strict=True)
    lm = reduce(np.add.outer, [np.array(found)[least : most + 1] for found, least, most in by_level])
    order = np.lexsort((np.round(lm, DIGITS).ravel(), np.round(errors, DIGITS).ravel()))
    ranks: Counts = np.empty(lattice.size, dtype=np.int64)
    ranks[order] = np.arange(lattice.size)
    return ranks.reshape(lattice.shape)


UNKNOWN = -1

OUT_OF_LIMIT = 2**62  # the need of a node that suppresses too many rows, as do all below it; exceeds all others

AT_ONCE = 4
"""Nodes to count before choosing the next ones.

With the needs in tests.benchmarks.runs, 1,000,000 rows, h = 0.15, 0.2, ... 0.45, and a simpler forecast: 841 nodes
in all, 902 by 8 at once, and 1,900 if all of the most general nodes below a ceiling are counted.
"""

CAUTION = 1.5  # the exponent of a node's chance to rule out others in its worth, above the ceiling; 1 takes 1,088 nodes
MIN_ERROR = 1e-3  # the minimum assumed error of a forecast
MOST = 50.0  # this many errors apart are as good as certain


class FewestCounterfeits:
    def __init__(self, allowed: Mask, ranks: Counts, lost: Sequence[Bounds]) -> None:
        self.best: Index | None = None  # of the counted nodes below the ceiling
        self._allowed = allowed  # nodes that keep to the ceiling; downward closed
        self._ranks = ranks  # the order of nodes with equal needs, best first
        self._lost = lost  # by quasi-identifier and level, the information lost by labels, the basis of forecasts
        self._at_least: Counts = np.zeros(allowed.shape, dtype=np.int64)
        self._known: Counts = np.full(allowed.shape, UNKNOWN, dtype=np.int64)

    def batches(self) -> Iterator[list[Index]]:
        """Yield the nodes to count in batches; :meth:`learn` the needs of each before the next."""
        # The allowed nodes with none above them; all below an allowed node are allowed.
        has_above = np.zeros_like(self._allowed)
        for axis in range(self._allowed.ndim):
            levels, marks = np.moveaxis(self._allowed, axis, 0), np.moveaxis(has_above, axis, 0)
            marks[:-1] |= levels[1:]
        most_general: Mask = self._allowed & ~has_above

        def lost_at(index: Index) -> float:
            return float(sum(lost[step] for lost, step in zip(self._lost, index, strict=True)))

        yield sorted(indexes(most_general), key=lost_at, reverse=True)[:AT_ONCE]
        while (left := self.open_nodes() & most_general).any():
            yield self._ruling_out(left)
        while nodes := most_informative(self.open_nodes(), self._ranks, BATCH_SIZE):
            yield nodes

    def learn(self, index: Index, cost: int, cost_below: int) -> None:
        self._known[index] = cost
        self._at_least[index] = max(self._at_least[index], cost_below)
        if self.keeps_to_ceiling(index) and (self.best is None or self.order(index) < self.order(self.best)):
            self.best = index

    def fewest(self) -> int:
        spread_downwards(self._at_least)
        at_least = np.where(self._known == UNKNOWN, self._at_least, self._known)
        return int(at_least[self._allowed].min())

    def keeps_to_ceiling(self, index: Index) -> bool:
        return bool(self._allowed[index])

    def order(self, index: Index) -> tuple[int, int]:
        return int(self._known[index]), int(self._ranks[index])

    def open_nodes(self) -> Mask:
        assert self.best is not None
        spread_downwards(self._at_least)
        needed, rank = self.order(self.best)
        better = (self._at_least < needed) | ((self._at_least == needed) & (self._ranks < rank))
        is_open: Mask = self._allowed & (self._known == UNKNOWN) & better & (self._at_least < OUT_OF_LIMIT)
        return is_open

    def _ruling_out(self, left: Mask) -> list[Index]:
        """Return incomparable nodes that are expected to rule out most of those left, or to be the best.

        A node among those left rules out itself; one above the ceiling rules out all below it if it needs more than the
        best.
        """
        needs_more, many = self._needs_more(), count_below(left)
        others = (self._known == UNKNOWN) & ~self._allowed & (many > 1)
        gain = np.where(left, 1 + 3 * (1 - needs_more), np.where(others, needs_more**CAUTION * many, 0))
        batch: list[Index] = []
        while len(batch) < AT_ONCE and gain[best := np.unravel_index(int(gain.argmax()), gain.shape)] >= 1:
            index = tuple(int(step) for step in best)
            batch.append(index)
            gain[below(index)] = 0
            gain[above(index)] = 0
        return batch

    def _needs_more(self) -> Bounds:
        """Estimate each node's probability of needing more than the best one."""
        known = np.argwhere(self._known != UNKNOWN)
        most = self._known[self._known < OUT_OF_LIMIT].max()
        needed = np.clip(self._known, 0.5, max(most, 0.5))  # a root of 0 is far from all others
        shares = needed / needed.max()
        target = float(shares[self.best])
        forecast = forecast_of(known, shares[tuple(known.T)], target, self._lost)
        apart = (forecast.everywhere() - target ** (1 / POWER)) / max(forecast.error, MIN_ERROR)
        likely: Bounds = 1 / (1 + np.exp(-np.clip(apart, -MOST, MOST)))
        return likely


@dataclass(frozen=True)
class Need:
    node: NodeSummary
    counterfeits: int
    suppressed: int  # rows of classes with fewer true rows than the policy demands
    cost: int  # orders by counterfeits, then suppressed rows; OUT_OF_LIMIT if it suppresses too many
    cost_below: int  # a lower bound for less general nodes


class Needs:
    def __init__(self, engine: Compute, table: EncodedTable) -> None:
        self._engine = engine
        self.table = table
        self._counter = NodeCounter(engine, table)
        self._fewest = HCeiling.of(table.bound.policy).fewest_true_rows
        # Whatever the limit, never all rows: something must be left to publish.
        self._allowed = min(table.context.allowed_rows, table.context.row_count - 1) if self._fewest > 1 else 0

    def of(self, inquiry: Inquiry) -> list[Need]:
        found, k = self._counter.answer(inquiry), self.table.context.k
        small: Sequence[NodeSummary | None] = [None] * len(found)
        if self._fewest > 1:
            # Summarize the same nodes by the classes that are suppressed.
            criteria = Criteria(models=(KAnonymity(self._fewest),))
            table = replace(self.table, encoding=replace(self.table.encoding, criteria=criteria))
            small = node_summaries(self._engine, table, [node.levels for node in found], asked="counts")
        return [need_of(node, other, k, self._fewest, self._allowed) for node, other in zip(found, small, strict=True)]

    def counterfeits(self, cost: int) -> int:
        return cost // (self._allowed + 1)


# guarded: tests/unit/h_ceiling/test_needs.py
def need_of(node: NodeSummary, small: NodeSummary | None, k: int, fewest: int, allowed: int) -> Need:
    """Return the need of a node whose classes of fewer than ``fewest`` true rows are suppressed, at most ``allowed``.

    A less general node suppresses the same rows, and maybe more. It splits the classes that are filled here: one of n
    true rows still needs k - n counterfeits if some part is not suppressed, or else n more rows are suppressed, which
    saves (k - n) / n per row, at most (k - fewest) / fewest.

    ``node`` is summarized by its classes of fewer than k rows, ``small`` by those of fewer than ``fewest``, if any.
    """
    counterfeits, suppressed = k * _dropped(node) - node.suppressed_rows, 0
    if small is not None:
        suppressed = small.suppressed_rows
        counterfeits -= k * _dropped(small) - suppressed
    if suppressed > allowed:
        return Need(node, counterfeits, suppressed, OUT_OF_LIMIT, OUT_OF_LIMIT)
    saved = (allowed - suppressed) * (k - fewest) // fewest
    cost, cost_below = (needed * (allowed + 1) + suppressed for needed in (counterfeits, max(0, counterfeits - saved)))
    return Need(node, counterfeits, suppressed, cost, cost_below)


def _dropped(summary: NodeSummary) -> int:
    return summary.class_count - summary.kept_class_count
