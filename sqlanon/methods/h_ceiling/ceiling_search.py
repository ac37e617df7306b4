"""The choice of a node: of those below the ceiling, the one that needs the fewest counterfeits.

Of several that need equally few the one that suppresses the fewest rows is taken, if it may suppress any, and of these
the one of least reconstruction error, which is known of every node without a look at its classes.

By reconstruction error alone the least general node would be taken always, with a counterfeit for nearly every row:
without a catalog counterfeits cost it nothing (spec/hceiling.md, H13). With a catalog it decides between the first few
of these nodes, see :mod:`sqlanon.methods.h_ceiling.catalogs`.

Not all nodes are looked at. A more general node needs no more counterfeits than a less general one, since its classes
are theirs put together. So none needs fewer than the most general nodes below the ceiling do. One above the ceiling
that needs many rules out all of these that it is above, which is why some of them are looked at, too; which ones is a
guess from what is known. Where small classes are suppressed, a less general node may need fewer, but not by more than
what it suppresses saves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from sqlanon.engines.duckdb import Compute
from sqlanon.errors import UnsatisfiableError
from sqlanon.methods.h_ceiling.counterfeits import settings_of
from sqlanon.methods.progress import Stopped
from sqlanon.model.criteria import Criteria
from sqlanon.model.lattice import NodeSummary
from sqlanon.model.privacy import KAnonymity
from sqlanon.nodes.choice import Observer
from sqlanon.nodes.counting import NodeCounter, node_summaries
from sqlanon.nodes.table import EncodedTable
from sqlanon.search import Inquiry, SearchOutcome
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
from sqlanon.search.forecast import POWER, forecast_of, lost_information
from sqlanon.search.problem import BATCH_SIZE

DIGITS = 12
"""Nodes are compared to this many digits: a database adds in any order, and equal runs are to choose equal nodes."""


def choose_node(
    engine: Compute, table: EncodedTable, allowed: Mask, errors: Bounds, observer: Observer, stopped: Stopped
) -> tuple[SearchOutcome, list[NodeSummary]]:
    """Choose a node of those that keep to the ceiling, which are allowed; there must be one.

    Of nodes that need equally many counterfeits, the mean reconstruction error decides. The search makes do with the
    best node so far if it is stopped after a batch.

    Returns:
        the outcome, whose loss is the number of counterfeits, and the nodes below the ceiling and within the limit of
        suppression that were checked, the best first.

    Raises:
        UnsatisfiableError: every node below the ceiling suppresses too many rows.
    """
    lattice = table.context.lattice
    search = FewestCounterfeits(allowed, ranked(table, errors), lost_information(table.context))
    found: dict[Index, Need] = {}
    with engine.scratch():
        needs = Needs(engine, table)

        def needed() -> float | None:
            best = search.best
            return None if best is None or found[best].cost == OUT_OF_LIMIT else float(found[best].counterfeits)

        for batch in search.batches():
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
            f"no node below the ceiling suppresses {table.context.allowed_rows:,} rows or fewer, as many as may be:",
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
    """Return the outcome with another node than the best one; what is known of the best one holds."""
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

OUT_OF_LIMIT = 2**62  # what a node needs that suppresses more rows than it may, as all below it do: more than any other

AT_ONCE = 4
"""How many nodes are looked at before it is thought again which ones to look at.

With what nodes need in tests.benchmarks.ceilings, 1,000,000 rows, h = 0.15, 0.2, ... 0.45, and a simpler forecast: 841
nodes in all, 902 by 8 at once, and 1,900 if all of the most general nodes below a ceiling are looked at.
"""

CAUTION = 1.5  # the worth of a node above the ceiling is its chance of ruling nodes out to this power: by 1 it is 1,088
MIN_ERROR = 1e-3  # by how much a forecast is taken to be off at least
MOST = 50.0  # this many errors apart are as good as certain


class FewestCounterfeits:
    """A search for the node below the ceiling that needs the fewest counterfeits, by what others are known to need."""

    def __init__(self, allowed: Mask, ranks: Counts, lost: Sequence[Bounds]) -> None:
        self.best: Index | None = None  # of the nodes below the ceiling that were looked at
        self._allowed = allowed  # the nodes that keep to the ceiling; with a node, all that are less general
        self._ranks = ranks  # the order of nodes that need equally many, the best one first
        self._lost = lost  # by quasi-identifier and level, the information that labels lose: needs are forecast by it
        self._at_least: Counts = np.zeros(allowed.shape, dtype=np.int64)
        self._known: Counts = np.full(allowed.shape, UNKNOWN, dtype=np.int64)

    def batches(self) -> Iterator[list[Index]]:
        """Yield the nodes to look at, in batches; the needs of a batch are to be learnt before the next."""
        # The allowed nodes with none above them; everything below an allowed node is allowed.
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
        """Return a lower bound of the costs of all nodes below the ceiling."""
        spread_downwards(self._at_least)
        at_least = np.where(self._known == UNKNOWN, self._at_least, self._known)
        return int(at_least[self._allowed].min())

    def keeps_to_ceiling(self, index: Index) -> bool:
        return bool(self._allowed[index])

    def order(self, index: Index) -> tuple[int, int]:
        """Return the key that nodes that were looked at are compared by: less is better."""
        return int(self._known[index]), int(self._ranks[index])

    def open_nodes(self) -> Mask:
        """Return the nodes below the ceiling that were not looked at and may be better than the best one."""
        assert self.best is not None
        spread_downwards(self._at_least)
        needed, rank = self.order(self.best)
        better = (self._at_least < needed) | ((self._at_least == needed) & (self._ranks < rank))
        is_open: Mask = self._allowed & (self._known == UNKNOWN) & better & (self._at_least < OUT_OF_LIMIT)
        return is_open

    def _ruling_out(self, left: Mask) -> list[Index]:
        """Return nodes, no two comparable, that are expected to rule out most of those left, or to be the best.

        One of those that are left rules out itself, whatever it needs; one above the ceiling all below it if it needs
        more than the best one.
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
        """Guess by what others need how likely each node is to need more than the best one."""
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
    """The counterfeits that a node needs, and the rows that it suppresses."""

    node: NodeSummary
    counterfeits: int
    suppressed: int  # the rows of classes of fewer true rows than the policy asks for
    cost: int  # first counterfeits, then suppressed rows; OUT_OF_LIMIT if it suppresses too many
    cost_below: int  # the least cost of a less general node


class Needs:
    """Counts what nodes need, with tables that are made for it in the scratch scope around it."""

    def __init__(self, engine: Compute, table: EncodedTable) -> None:
        self._engine = engine
        self._table = table
        self._counter = NodeCounter(engine, table)
        self._fewest = settings_of(table).fewest_true_rows
        # Not all rows, whatever the limit is: there is something to publish.
        self._allowed = min(table.context.allowed_rows, table.context.row_count - 1) if self._fewest > 1 else 0

    def of(self, inquiry: Inquiry) -> list[Need]:
        found, k = self._counter.answer(inquiry), self._table.context.k
        small: Sequence[NodeSummary | None] = [None] * len(found)
        if self._fewest > 1:
            # The same nodes by their classes of fewer true rows than the policy asks for, which are suppressed.
            criteria = Criteria(models=(KAnonymity(self._fewest),))
            table = replace(self._table, encoding=replace(self._table.encoding, criteria=criteria))
            small = node_summaries(self._engine, table, [node.levels for node in found], asked="counts")
        return [need_of(node, other, k, self._fewest, self._allowed) for node, other in zip(found, small, strict=True)]

    def counterfeits(self, cost: int) -> int:
        return cost // (self._allowed + 1)


# guarded: tests/unit/h_ceiling/test_needs.py
def need_of(node: NodeSummary, small: NodeSummary | None, k: int, fewest: int, allowed: int) -> Need:
    """Return the need of a node whose classes of fewer than ``fewest`` true rows are suppressed, at most ``allowed``.

    A less general node suppresses the same rows, and maybe more. It parts the classes that are filled up here: one of n
    true rows needs k - n counterfeits at least if some part of it is not suppressed, or else n rows more are, which
    saves (k - n) / n a row, at most (k - fewest) / fewest.

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
