"""Optimal search: branch and bound over boxes of a lattice, with the answer of exhaustive search.

All nodes between two make a box. The bound of a box is the loss of its lowest node with the rows suppressed that all
its nodes suppress. A box is dropped if its bound exceeds the loss of the best node so far, or if these rows exceed the
suppression limit; otherwise it is split in two.

- Ruling out (:class:`sqlanon.search.boxes.Facts`): by rows that a checked node certainly suppresses, as then does every
  less general one: rows that violate *monotonic* privacy models, and rows proven by classes for the others
  (``sql/macros/57_certain_rows.sql``). If cells prove more about all nodes of a box at once, each box is asked for it.
- Bounding (:mod:`sqlanon.search.boxes`): by what the quality model knows about every node without a check
  (Prec, Entropy, LM, NCP), or about the nodes above a checked one (DM*, DM, AECS).
- Branching (:class:`Branching`): it affects only the time.

Nodes of equal loss are never dropped, so the tie set is complete. The least bound of the open boxes bounds the loss of
every unchecked node, so a stopped search has a proven gap.

Source: Land and Doig 1960; for proofs of boxes spec/bounds2.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from sqlanon.model.lattice import Levels as Node
from sqlanon.model.lattice import Table, is_below
from sqlanon.model.quality import padded
from sqlanon.search.arrays import Bounds, Mask
from sqlanon.search.boxes import Batch, Boxes, ExpectedRows, Facts, Levels, Places, steps_of
from sqlanon.search.knowledge import Knowledge, check
from sqlanon.search.problem import BATCH_SIZE, Part, Search, SearchProblem, SearchStopped, margin

FEW_NODES = 16  # remaining nodes that are all checked at once: choosing among them would take more queries

PROMISING_NODES = 4  # nodes per step that are checked because they are expected to beat the best

FIRST_STEPS = 8  # parts of the path from bottom to top; the first checks are at its ends, from the middle up


def optimal(problem: SearchProblem) -> Search:
    """Find all nodes of least loss by ruling out the rest of the lattice."""
    facts = Facts(problem)
    boxes = Boxes(problem, facts)
    knowledge = Knowledge(problem, boxes)
    course = _Course(problem, knowledge, boxes, facts)
    with suppress(SearchStopped):
        if not problem.has_proofs and problem.context.lattice.size > FEW_NODES:
            yield from course.begin()
        while len(boxes):
            yield from course.proceed_by_proofs() if problem.has_proofs else course.proceed()
    return knowledge.outcome()


class _Course:
    """The course of one search: which boxes to split, and which nodes to check."""

    def __init__(self, problem: SearchProblem, knowledge: Knowledge, boxes: Boxes, facts: Facts) -> None:
        self._problem = problem
        self._knowledge = knowledge
        self._boxes = boxes
        self._facts = facts
        self._expected = ExpectedRows(problem.context, facts)
        self._branching = Branching(problem, boxes, self._expected)
        self._checked: set[Node] = set()

    @property
    def _ceiling(self) -> float:
        return self._knowledge.loss + margin(self._knowledge.loss)

    def begin(self) -> Part:
        """Check the top and nodes on the way to it, to have something to learn from."""
        lattice = self._problem.context.lattice
        bottom, top = np.array(lattice.bottom), np.array(lattice.top)
        shares = np.arange(FIRST_STEPS, FIRST_STEPS // 2 - 1, -1) / FIRST_STEPS
        yield from self._check(as_nodes(np.rint(bottom + np.outer(shares, top - bottom)).astype(np.int64)))

    def proceed(self) -> Part:
        """Split the boxes of the least bounds, and check nodes to rule out the lower halves."""
        ceiling = self._ceiling
        boxes = self._boxes.narrowed(Batch.of(self._boxes.take(BATCH_SIZE)), ceiling)
        if not len(self._boxes) and boxes.sizes.sum() <= FEW_NODES:
            yield from self._check(node for box in boxes.boxes() for node in box.nodes())
            self._boxes.put([])
            return
        self._expected.learn()
        single, others = boxes.only(boxes.are_single), boxes.only(~boxes.are_single)
        lower, upper = self._branching.halves(others, ceiling)
        parts = Batch.joined(lower, single)
        asked = [*self._ruling_out(parts, ceiling)]
        # Nodes that are expected to beat the best.
        nodes, losses = self._branching.promising(others)
        order = np.argsort(losses.round(12), kind="stable")
        better = as_nodes(nodes[order[losses[order] < ceiling]])
        asked += [node for node in dict.fromkeys(better) if node not in self._checked][:PROMISING_NODES]
        yield from self._check([*asked, *as_nodes(upper.low)] if self._facts.inherits else asked)
        self._put(Batch.joined(parts, upper))

    def _ruling_out(self, boxes: Batch, ceiling: float) -> list[Node]:
        """Choose nodes to check above boxes, where that is worth it; one serves all boxes below it."""
        nodes = self._branching.lifted(boxes.high, boxes.low, ceiling)
        worth = self._branching.are_worth(nodes, boxes, ceiling) | boxes.are_single
        asked: list[Node] = []
        for node, high in zip(as_nodes(nodes[worth]), as_nodes(boxes.high[worth]), strict=True):
            chosen = high if node in self._checked else node
            if chosen not in self._checked and not any(is_below(high, other) for other in asked):
                asked.append(chosen)
        return asked

    def proceed_by_proofs(self) -> Part:
        """Ask for proofs about the boxes of the least bounds, and split the ones that aren't ruled out."""
        boxes = self._boxes.narrowed(Batch.of(self._boxes.take(BATCH_SIZE)), self._ceiling)
        intervals = list(zip(as_nodes(boxes.low), as_nodes(boxes.high), strict=True))
        if not intervals:
            self._boxes.put([])
            return
        proofs = yield replace(self._knowledge.ask((), "proofs"), intervals=intervals)
        rows = np.array([proof.suppressed_rows for proof in proofs], dtype=np.float64)
        boxes = boxes._replace(suppressed_rows=np.maximum(boxes.suppressed_rows, rows))
        # Check the highest nodes of boxes only if they may be the best; proofs say enough about the others.
        asked = []
        for (_, high), proof in zip(intervals, proofs, strict=True):
            if self._knowledge.may_be_best(proof.summary):
                asked.append(high)
            elif high not in self._checked:
                self._checked.add(high)
                self._knowledge.note(proof.summary)
        yield from self._check(asked)
        boxes = self._boxes.narrowed(boxes, self._ceiling)
        # A box that was narrowed to a single node may be one that was not asked.
        single, others = boxes.only(boxes.are_single), boxes.only(~boxes.are_single)
        self._put(Batch.joined(single, *self._branching.halves(others, self._ceiling)))

    def _put(self, boxes: Batch) -> None:
        left = self._boxes.narrowed(boxes, self._ceiling).boxes()
        self._boxes.put(box for box in left if box.low != box.high or box.low not in self._checked)

    def _check(self, nodes: Iterable[Node]) -> Part:
        new = [node for node in dict.fromkeys(nodes) if node not in self._checked]
        self._checked.update(new)
        if new:
            yield from check(self._knowledge, new)
        else:
            yield self._knowledge.ask(())


SAFETY = 0.9  # the part of the expected rows to rely on
MIN_GAIN = 1e-2  # the minimum gain of a half, relative to the gain of ruling it out
WORTH = 0.2  # how far a check must raise the bound of a box, relative to ruling it out


class Branching:
    """Where to split boxes, and which nodes to check, by losses, as far as known, and by expected suppressed rows.

    A box is split between two levels of a quasi-identifier. The value of a split is the product of the gains of both
    halves in their bounds (the product rule of Achterberg 2007): the upper half gains by the loss of its lowest node,
    the lower half by the rows that its highest node is expected to suppress. The node that is checked for this is the
    highest one that is expected to rule out the lower half: a higher node proves more about other boxes, and has fewer
    classes.

    Proofs can't be forecast. Where a search asks for them, it splits the quasi-identifier with the largest product of
    entropy and loss between its ends, at the step of most entropy.
    """

    def __init__(self, problem: SearchProblem, boxes: Boxes, expected: ExpectedRows) -> None:
        lattice = problem.context.lattice
        self._top = np.array(lattice.top)
        self._boxes = boxes
        self._expected = expected
        self._steps = steps_of(lattice)
        self._known = shares_of(problem.quality.known_bounds(problem.context))
        self._is_blind = not self._known.any()
        self._entropies = shares_of(problem.context.losses.entropy)
        if self._is_blind:
            self._known = self._entropies
        self._has_proofs = problem.has_proofs

    def halves(self, boxes: Batch, ceiling: float) -> tuple[Batch, Batch]:
        """Split each box of two or more nodes into a lower and an upper half."""
        each, step, lower, upper = boxes.splits(self._steps)
        if self._has_proofs:
            gains, entropies = self._spreads(boxes, each, step)
        else:
            gains, entropies = self._gains(boxes, each, lower, upper, ceiling), np.zeros(len(each))
        # The first of equal splits.
        order = np.lexsort((step, -entropies.round(12), -gains.round(12), each))
        chosen = order[np.flatnonzero(np.diff(each[order], prepend=-1))]
        return boxes._replace(high=lower[chosen]), boxes._replace(low=upper[chosen])

    def _spreads(self, boxes: Batch, each: Places, step: Places) -> tuple[Bounds, Bounds]:
        """Return entropy times loss between the ends of boxes in a quasi-identifier, and the entropy of steps."""
        axes, levels = (places[step] for places in self._steps)
        low, high = boxes.low[each, axes], boxes.high[each, axes]
        entropies = self._entropies[axes, high] - self._entropies[axes, low]
        spreads = entropies * (self._known[axes, high] - self._known[axes, low])
        return spreads, self._entropies[axes, levels + 1] - self._entropies[axes, levels]

    def _gains(self, boxes: Batch, each: Places, lower: Levels, upper: Levels, ceiling: float) -> Bounds:
        low, rows = boxes.low[each], boxes.suppressed_rows[each]
        expected = np.maximum(self._expected.of(lower), rows)
        if self._is_blind:
            losses = [self._losses(nodes) for nodes in (low, lower, upper, boxes.high[each])]
            begins, ends, most = losses[0], losses[2], losses[3]
            fails = expected >= self._boxes.enough(boxes.low, ceiling)[each]
            of_lower, of_upper, most = np.where(fails, most - begins, most - losses[1]), ends - begins, most - begins
        else:
            bounds = boxes.bounds[each]
            worst = self._boxes.losses(self._top[np.newaxis], [0])
            most = (np.full(len(each), ceiling) if np.isfinite(ceiling) else worst) - bounds
            of_lower = np.minimum(self._boxes.losses(low, expected) - bounds, most)
            of_upper = np.minimum(self._boxes.losses(upper, rows) - bounds, most)
        least = MIN_GAIN * most + 1e-12
        gains: Bounds = np.maximum(of_lower, least) * np.maximum(of_upper, least) / np.maximum(most, 1e-12) ** 2
        return gains

    def lifted(self, nodes: Levels, low: Levels, ceiling: float) -> Levels:
        """Raise nodes, where the fewest rows come back, while a check is expected to rule out all down to ``low``."""
        enough = self._boxes.enough(low, ceiling)
        lifted, places = nodes.copy(), np.arange(len(nodes))
        going = np.ones(len(nodes), dtype=bool)
        while going.any():
            drops = np.where(lifted < self._top, self._expected.drops[np.arange(nodes.shape[1]), lifted], np.inf)
            axes = drops.argmin(axis=1)
            risen = lifted.copy()
            risen[places, axes] += 1
            going &= np.isfinite(drops[places, axes]) & (
                SAFETY * self._expected.of(np.minimum(risen, self._top)) >= enough
            )
            lifted[going] = risen[going]
        return lifted

    def are_worth(self, nodes: Levels, boxes: Batch, ceiling: float) -> Mask:
        """Return whether checks of nodes above boxes are expected to raise bounds, or to find a better node."""
        worth = boxes.bounds + (WORTH * (ceiling - boxes.bounds) if np.isfinite(ceiling) else 0.0)
        raises = self._boxes.losses(boxes.low, self._expected.of(nodes)) > worth
        return raises | (self._expected_losses(nodes) <= ceiling)

    def promising(self, boxes: Batch) -> tuple[Levels, Bounds]:
        """Find in each box the node on a path up that is expected to satisfy and to lose least, and its expected loss.

        Each step of the path goes where the most rows come back per loss.
        """
        node, axes, places = boxes.low.copy(), np.arange(boxes.low.shape[1]), np.arange(len(boxes.low))
        best, least = node.copy(), self._expected_losses(node)
        costs = np.diff(self._known, axis=1, append=self._known[:, -1:]) + 1e-9
        while (rises := node < boxes.high).any():
            worth = (self._expected.drops[axes, node] + 1e-4) / costs[axes, node]
            axis = np.where(rises, worth.round(9), -1.0).argmax(axis=1)
            goes = rises.any(axis=1)
            node[places[goes], axis[goes]] += 1
            losses = self._expected_losses(node)
            better = losses < least
            best[better], least[better] = node[better], losses[better]
        return best, least

    def _expected_losses(self, nodes: Levels) -> Bounds:
        losses = self._boxes.losses(nodes, self._expected.of(nodes))
        return np.where(np.isfinite(losses), self._losses(nodes), np.inf) if self._is_blind else losses

    def _losses(self, nodes: Levels) -> Bounds:
        losses: Bounds = self._known[np.arange(nodes.shape[1]), nodes].sum(axis=1)
        return losses


def as_nodes(levels: Levels) -> list[Node]:
    return [tuple(node) for node in levels.tolist()]


def shares_of(table: Table) -> Bounds:
    """Divide losses of levels by the loss at the top."""
    losses = padded(table)
    return losses / (losses[:, -1].sum() or 1.0)
