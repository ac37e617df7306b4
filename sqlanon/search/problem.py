"""The problem of a search, its inquiries, and its outcome.

A search is a generator that asks for batches of nodes and receives their summaries in the same order. It knows no
database, so the same search runs against DuckDB, another engine, or a dictionary in a test. A driver that has no
more time throws :class:`SearchStopped` where the search yields; the search then returns what it knows so far.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sqlanon.model.lattice import Asked, Levels, LossContext, NodeSummary, Table
from sqlanon.model.quality import Bounds, Columns, QualityModel, totals

BATCH_SIZE = 32
"""Nodes per query: enough to share its fixed cost, few enough to learn from the answer.

Measured by tests.benchmarks.tuning.
"""

TOLERANCE = 1e-12
"""Losses that differ by less, relative to the larger of 1 and the loss, are equal: sums of floats in any order."""


class SearchStopped(Exception):  # noqa: N818 - a request, as GeneratorExit is one
    """Thrown into a search to end it early: it returns its outcome so far."""


@dataclass(frozen=True)
class SearchProblem:
    """Find the node with the least loss among those that satisfy the policy."""

    quality: QualityModel  # the loss
    context: LossContext  # the lattice and what is known of it
    max_loss: float | None = None  # acceptable, for Inverse OLA alone: it asks for the most private node instead
    has_proofs: bool = False  # whether what is proven of intervals of nodes says more than single nodes do

    # guarded: tests/unit/test_guarded_releases.py
    def satisfies(self, summary: NodeSummary) -> bool:
        """Whether the suppressed rows stay within the limit, anything is left to publish, and no model rejects it."""
        within = summary.suppressed_rows <= self.context.allowed_rows
        return within and summary.kept_class_count > 0 and not summary.rejected

    def loss(self, summary: NodeSummary) -> float:
        """The loss of a checked node."""
        if self.quality.label_losses and not self.needs_labels(summary):
            return self.quality.bound_above(summary, self.context)
        return self.quality.loss(summary, self.context)

    def needs_labels(self, summary: NodeSummary) -> bool:
        """Whether the loss of a node takes what its labels lose, of the rows that it suppresses: of all it is known."""
        return bool(self.quality.label_losses) and summary.suppressed_rows > 0

    def least_loss(self, summary: NodeSummary) -> float:
        """A lower bound of the loss of a checked node that does not need what its labels lose."""
        if not self.quality.counts_suppression(self.context):
            return self.quality.bound_above(summary, self.context)
        share = np.array([summary.suppressed_rows / self.context.row_count])
        return float(self.quality.bounds_with_suppression(np.array([summary.levels]).T, share, self.context)[0])

    def least_loss_from(self, levels: Levels, suppressed_rows: int) -> float:
        """A lower bound of the loss of a node, and of more general ones, that suppress as many rows at least."""
        return float(self.least_losses_from(np.array([levels]).T, [suppressed_rows])[0])

    def least_losses_from(self, nodes: Columns, suppressed_rows: ArrayLike) -> Bounds:
        """Bound the loss of several nodes, and of more general ones, that suppress as many rows at least."""
        known: Bounds = self.quality.combined(totals(self._known, nodes))
        if not self.quality.counts_suppression(self.context):
            return known
        shares = np.asarray(suppressed_rows) / self.context.row_count
        return np.maximum(known, self.quality.bounds_with_suppression(nodes, shares, self.context))

    def known_terms(self) -> Table:
        """Per quasi-identifier, the terms of :meth:`QualityModel.known_bounds` of its allowed levels."""
        lattice = self.context.lattice
        return tuple(
            terms[least : most + 1] for terms, least, most in zip(self._known, lattice.bottom, lattice.top, strict=True)
        )

    @cached_property
    def _known(self) -> Table:
        return self.quality.known_bounds(self.context)

    def rules_out_below(self, summary: NodeSummary) -> bool:
        """Whether no less general node can satisfy the policy either: it would suppress too much, or everything."""
        certain = summary.certain_suppressed_rows
        return certain > self.context.allowed_rows or certain == self.context.row_count


@dataclass(frozen=True)
class SearchOutcome:
    """The answer of a search, or what is known of it when the search was stopped.

    Attributes:
        best: the node to publish; None if the search found none.
        loss: its loss.
        ties: every node found that is as good, ``best`` first, then in lexicographic order. Nodes are as good if they
            have the same loss; in Inverse OLA, if they are as private.
        checked_nodes: how many nodes were checked with a query.
        closest: the checked node with the fewest suppressed rows, for the message of a failed run.
        proven_optimal: whether it is proven that no satisfying node has less loss; in Inverse OLA, that no node
            within the acceptable loss is more private.
        lower_bound: proven to be at most the loss of every satisfying node, and equal to ``loss`` if that is optimal,
            so that ``loss - lower_bound`` is a proven gap. None if no node satisfies, in Inverse OLA, and where nothing
            was searched.
        unsatisfiable: whether it is proven that no node satisfies the policy; in Inverse OLA, none within the
            acceptable loss.
        minimal_nodes: the satisfying nodes with no satisfying node below them, if the search finds these and was not
            stopped; then ``ties`` are among them.
        maximal_nodes: the nodes of acceptable loss with no such node above them, if the search finds these and was
            not stopped before; then ``ties`` are among them. There is none if the loss of the bottom is too large.
        least_suppressed_rows: proven to be at most what any node suppresses, checked or not, of those that no model
            rejects as a whole.
        searched: whether the node was searched for; one that was given is checked alone.
    """

    best: NodeSummary | None
    loss: float | None
    ties: tuple[Levels, ...]
    checked_nodes: int
    closest: NodeSummary | None = None
    proven_optimal: bool = False
    lower_bound: float | None = None
    unsatisfiable: bool = False
    minimal_nodes: tuple[Levels, ...] | None = None
    maximal_nodes: tuple[Levels, ...] | None = None
    least_suppressed_rows: int = 0
    searched: bool = True


@dataclass(frozen=True)
class Inquiry:
    """A question of a search: the nodes that it asks about, and what it knows already."""

    nodes: Sequence[Levels]  # to check; none if proofs are asked for
    loss: float | None  # of the best node found before them, None while there is none
    # Returns a proven lower bound of the loss of every satisfying node; None in Inverse OLA. Costs a pass over the
    # arrays that the search holds.
    lower_bound: Callable[[], float | None]
    asks: Asked = "everything"  # what is asked of the nodes; proofs are asked of intervals
    intervals: Sequence[tuple[Levels, Levels]] = ()  # the lowest and the highest node of each, in place of nodes


Answers = Sequence[Any]
"""What a search is given: the summary of each node, or the proof of each interval, in the order of the inquiry."""

Part = Generator[Inquiry, Answers, None]  # a part of a search that leaves what it finds with its knowledge
Answer = Generator[Inquiry, Answers, bool]  # a part of a search that finds out whether something holds

Search = Generator[Inquiry, Answers, SearchOutcome]


def margin(loss: float) -> float:
    """Return the difference at which two losses still count as equal."""
    return TOLERANCE * max(1.0, abs(loss))


def batches(nodes: Iterable[Levels], size: int | None = None) -> Iterator[list[Levels]]:
    """The nodes in their order, ``size`` at a time, or as many as a search asks for at once."""
    remaining = iter(nodes)
    while batch := list(itertools.islice(remaining, BATCH_SIZE if size is None else size)):
        yield batch


@dataclass(frozen=True)
class Proof:
    """A proof about all nodes of an interval."""

    suppressed_rows: int  # rows that every node of it suppresses at least
    summary: NodeSummary  # its most general node, without what it loses
