"""Optimal search: branch and bound over boxes of a lattice, with the answer of exhaustive search.

All nodes between two make a box. The bound of a box is the loss of its lowest node with the rows suppressed that all
its nodes suppress. A box is dropped if its bound exceeds the loss of the best node so far, or if these rows exceed the
suppression limit; otherwise it is split in two.

- Ruling out (:class:`sqlanon.search.optimal.boxes.Facts`): by rows that a checked node certainly suppresses, as then
  does every less general one: rows that violate *monotonic* privacy models, and rows proven by classes for the others
  (``sql/macros/57_certain_rows.sql``). If cells prove more about all nodes of a box at once, each box is asked for it.
- Bounding (:mod:`sqlanon.search.optimal.boxes`): by what the quality model knows about every node without a check
  (Prec, Entropy, LM, NCP), or about the nodes above a checked one (DM*, DM, AECS).
- Branching (:mod:`sqlanon.search.optimal.branching`): it affects only the time.

Nodes of equal loss are never dropped, so the tie set is complete. The least bound of the open boxes bounds the loss of
every unchecked node, so a stopped search has a proven gap.

Source: Land and Doig 1960; for proofs of boxes spec/bounds2.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from sqlanon.model.lattice import Levels, is_below
from sqlanon.search.forecast import ExpectedRows
from sqlanon.search.knowledge import Knowledge, check
from sqlanon.search.optimal.boxes import Batch, Boxes, Facts
from sqlanon.search.optimal.branching import Branching, as_nodes
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
        self._checked: set[Levels] = set()

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

    def _ruling_out(self, boxes: Batch, ceiling: float) -> list[Levels]:
        """Choose nodes to check above boxes, where that is worth it; one serves all boxes below it."""
        nodes = self._branching.lifted(boxes.high, boxes.low, ceiling)
        worth = self._branching.are_worth(nodes, boxes, ceiling) | boxes.are_single
        asked: list[Levels] = []
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

    def _check(self, nodes: Iterable[Levels]) -> Part:
        new = [node for node in dict.fromkeys(nodes) if node not in self._checked]
        self._checked.update(new)
        if new:
            yield from check(self._knowledge, new)
        else:
            yield self._knowledge.ask(())
