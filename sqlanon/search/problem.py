"""The problem of a search, its inquiries, and its outcome.

A search is a generator that asks for batches of nodes and receives their summaries in order. It doesn't depend on a
database, so it runs against DuckDB, another engine, or a dictionary in a test. A driver that runs out of time throws
:class:`SearchStopped` where the search yields; the search then returns what it knows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sqlanon.model.lattice import Asked, Levels, LossContext, NodeSummary, Table
from sqlanon.model.quality import Bounds, Columns, QualityModel, totals

BATCH_SIZE = 32
"""Nodes per query: enough to share its fixed cost, few enough to learn from (tests.benchmarks.tuning)."""

TOLERANCE = 1e-12
"""Losses that differ by less, relative to the larger of 1 and the loss, are equal: floats add up in any order."""


class SearchStopped(Exception):  # noqa: N818 - a request, as GeneratorExit is one
    """A request to end a search early, thrown into it: it returns its outcome so far."""


@dataclass(frozen=True)
class SearchProblem:
    """The search for a satisfying node of least loss; with ``max_loss`` for the most private one within it."""

    quality: QualityModel
    context: LossContext
    max_loss: float | None = None
    has_proofs: bool = False  # whether proofs about intervals of nodes say more than single nodes do

    # guarded: tests/unit/test_guarded_releases.py
    def satisfies(self, summary: NodeSummary) -> bool:
        """Return whether a node suppresses few enough rows, publishes some, and no model rejects it."""
        within = summary.suppressed_rows <= self.context.allowed_rows
        return within and summary.kept_class_count > 0 and not summary.rejected

    def loss(self, summary: NodeSummary) -> float:
        if self.quality.label_losses and not self.needs_labels(summary):
            return self.quality.bound_above(summary, self.context)
        return self.quality.loss_of(summary, self.context)

    def needs_labels(self, summary: NodeSummary) -> bool:
        """Return whether a loss needs more than what labels lose in all rows: in suppressed ones, or by class."""
        return bool(self.quality.label_losses) and (summary.suppressed_rows > 0 or bool(self.quality.class_losses))

    def least_loss(self, summary: NodeSummary) -> float:
        """Return a lower bound of the loss of a checked node that doesn't need the loss of labels."""
        if not self.quality.counts_suppression(self.context):
            return self.quality.bound_above(summary, self.context)
        share = np.array([summary.suppressed_rows / self.context.row_count])
        return float(self.quality.bounds_with_suppression(np.array([summary.levels]).T, share, self.context)[0])

    def least_loss_from(self, levels: Levels, suppressed_rows: int) -> float:
        """Return a lower bound of the loss of a node, and of more general ones, given suppressed rows."""
        return float(self.least_losses_from(np.array([levels]).T, [suppressed_rows])[0])

    def least_losses_from(self, nodes: Columns, suppressed_rows: ArrayLike) -> Bounds:
        """Bound the loss of nodes, and of more general ones, that suppress at least these rows."""
        known: Bounds = self.quality.combined(totals(self._known, nodes))
        if not self.quality.counts_suppression(self.context):
            return known
        shares = np.asarray(suppressed_rows) / self.context.row_count
        return np.maximum(known, self.quality.bounds_with_suppression(nodes, shares, self.context))

    def known_terms(self) -> Table:
        """Return the terms of :meth:`QualityModel.known_bounds` by quasi-identifier and allowed level."""
        lattice = self.context.lattice
        return tuple(
            terms[least : most + 1] for terms, least, most in zip(self._known, lattice.bottom, lattice.top, strict=True)
        )

    def known_bounds(self) -> Bounds:
        """Return the lower bounds of losses that follow from levels without a check, an entry per allowed node."""
        terms = [np.asarray(losses, dtype=np.float64) for losses in self.known_terms()]
        return self.quality.combined(reduce(np.add.outer, terms))

    @cached_property
    def _known(self) -> Table:
        return self.quality.known_bounds(self.context)

    def rules_out_below(self, summary: NodeSummary) -> bool:
        """Return whether all less general nodes fail, too: they suppress too many rows, or all."""
        certain = summary.certain_suppressed_rows
        return certain > self.context.allowed_rows or certain == self.context.row_count


@dataclass(frozen=True)
class SearchOutcome:
    """The answer of a search, or what it knew when it was stopped."""

    best: NodeSummary | None  # the node to publish
    loss: float | None
    ties: tuple[Levels, ...]  # all nodes of equal loss, or privacy in Inverse OLA: ``best``, then lexicographically
    checked_nodes: int
    closest: NodeSummary | None = None  # the checked node with the fewest suppressed rows, for messages of failed runs
    proven_optimal: bool = False  # no satisfying node loses less; in Inverse OLA, no acceptable one is more private
    # At most the loss of any satisfying node, proven; equal to ``loss`` if that is optimal. None if no node satisfies,
    # in Inverse OLA, and without a search.
    lower_bound: float | None = None
    unsatisfiable: bool = False  # proven: no node satisfies; in Inverse OLA, no acceptable one does
    minimal_nodes: tuple[Levels, ...] | None = None  # that satisfy, if the search found them all; they include ties
    maximal_nodes: tuple[Levels, ...] | None = None  # of acceptable loss, if the search found them all
    least_suppressed_rows: int = 0  # by any node, proven, but for nodes that a model rejects as a whole
    searched: bool = True  # whether a search found the node; a given node is only checked


@dataclass(frozen=True)
class Inquiry:
    """A question of a search about nodes or intervals, and what it knows already."""

    nodes: Sequence[Levels]  # to check
    loss: float | None  # of the best node so far
    # Returns a proven lower bound of the loss of every satisfying node; None in Inverse OLA. It costs a pass over the
    # arrays of the search.
    lower_bound: Callable[[], float | None]
    asks: Asked = "everything"
    intervals: Sequence[tuple[Levels, Levels]] = ()  # from the lowest to the highest node, for proofs


Answers = Sequence[Any]
"""The summary of each node, or the proof of each interval, in the order of the inquiry."""

Part = Generator[Inquiry, Answers, None]  # a part of a search
Answer = Generator[Inquiry, Answers, bool]  # a part of a search for a yes or no

Search = Generator[Inquiry, Answers, SearchOutcome]


def margin(loss: float) -> float:
    """Return the largest difference at which losses still count as equal."""
    return TOLERANCE * max(1.0, abs(loss))


def batches(nodes: Iterable[Levels], size: int | None = None) -> Iterator[list[Levels]]:
    """Yield nodes in batches, by default as large as a search asks for at once."""
    remaining = iter(nodes)
    while batch := list(itertools.islice(remaining, BATCH_SIZE if size is None else size)):
        yield batch


@dataclass(frozen=True)
class Proof:
    """A proof about all nodes of an interval."""

    suppressed_rows: int  # by every node at least
    summary: NodeSummary  # of the most general node, without its loss
