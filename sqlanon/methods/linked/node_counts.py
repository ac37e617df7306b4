"""The counts of a node of linked tables, and the search for the node of least loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.methods.linked.keyed_rows import ShownRows, TableCounts
from sqlanon.methods.linked.linked_loss import UNITS
from sqlanon.model.lattice import Levels, NodeSummary
from sqlanon.nodes.choice import Observer, answered
from sqlanon.search import SEARCHES, Inquiry, SearchOutcome, SearchProblem, margin


@dataclass(frozen=True)
class NodeCounts:
    levels: Levels
    tables: Mapping[str, TableCounts]
    class_count: int = 0  # of persons, before suppression; 0 at several levels
    kept_class_count: int = 0


def is_within_limits(encoded: EncodedLinked, counts: NodeCounts) -> bool:
    return all(table.left_out <= encoded.allowed(name) for name, table in counts.tables.items())


class LinkedCounter(Protocol):
    """Counts what nodes of linked tables leave out under a privacy model, and shows the rows of one.

    Attributes:
        counted: the tables whose rows that are left out bound the loss in a search.
    """

    counted: tuple[str, ...]

    def bounds(self, nodes: Sequence[Levels]) -> list[NodeCounts]:
        """Return lower bounds of what nodes leave out, in order, which take less time than their counts."""

    def counts(self, nodes: Sequence[Levels], *, with_losses: bool) -> list[NodeCounts]:
        """Return the counts of nodes, in order."""

    def show(self, levels: Levels) -> Mapping[str, ShownRows]:
        """Make the rows that a node releases, by table; a new counter is asked for them."""


@dataclass(frozen=True)
class LinkedChoice:
    """What to release: a node, or rows at several levels.

    ``levels`` are the node; those of a table with ``rungs`` are of its first rung.
    """

    counts: NodeCounts  # with losses
    loss: float
    outcome: SearchOutcome
    rungs: Mapping[str, Sequence[Levels]] = field(default_factory=dict)  # by table, the levels of its own columns


class SearchedNodes:
    """Answers the inquiries of a search by the counts of all tables, or by bounds of them for nodes that lose more."""

    def __init__(self, encoded: EncodedLinked, counter: LinkedCounter, problem: SearchProblem) -> None:
        self._encoded = encoded
        self._counter = counter
        self._problem = problem

    def answer(self, inquiry: Inquiry) -> Sequence[NodeSummary]:
        has_loss = inquiry.asks != "counts"
        found: dict[Levels, NodeSummary] = {}
        if not has_loss:
            bounds = (self._summary(counts) for counts in self._counter.bounds(inquiry.nodes))
            found = {bound.levels: bound for bound in bounds if self._is_worse(bound, inquiry.loss)}
        others = [levels for levels in inquiry.nodes if levels not in found]
        for counts in self._counter.counts(others, with_losses=has_loss) if others else ():
            found[counts.levels] = self._summary(counts, has_loss=has_loss)
        return [found[levels] for levels in inquiry.nodes]

    def _is_worse(self, bound: NodeSummary, loss: float | None) -> bool:
        """Return whether a node fails, or loses more than the best one, by a bound of what it leaves out."""
        return bound.rejected or (loss is not None and self._problem.least_loss(bound) > loss + margin(loss))

    def _summary(self, counts: NodeCounts, *, has_loss: bool = False) -> NodeSummary:
        """Return the summary of a node in the units of the search.

        The limits of tables are its own: a node beyond one is rejected, and if it certainly is, with all nodes below.
        """
        tables = counts.tables
        is_certain = any(each.certain > self._encoded.allowed(name) for name, each in tables.items())
        certain = self._units({name: each.certain for name, each in tables.items()})
        return NodeSummary(
            levels=counts.levels,
            class_count=counts.class_count,
            kept_class_count=counts.kept_class_count,
            suppressed_rows=self._units({name: each.left_out for name, each in tables.items()}),
            # Not all units: from these numbers the search expects what other nodes leave out.
            certain_suppressed_rows=max(certain, self._problem.context.allowed_rows + 1) if is_certain else certain,
            rejected=not is_within_limits(self._encoded, counts),
            combined_loss=loss_of(self._encoded, counts) if has_loss else None,
        )

    def _units(self, left_out: Mapping[str, int]) -> int:
        """Return the share of the loss that rows which are left out can cost, rounded down but never to 0."""
        encoded = self._encoded
        shares = (encoded.weights[name] * left_out[name] / encoded.rows(name) for name in self._counter.counted)
        return max(int(UNITS * sum(shares)) - 1, int(any(left_out.values())))


def loss_of(encoded: EncodedLinked, counts: NodeCounts) -> float:
    """Return the loss of a node, by the losses of its tables."""
    return sum(encoded.weights[name] * loss for name, loss in table_losses(encoded, counts).items())


def table_losses(encoded: EncodedLinked, counts: NodeCounts) -> dict[str, float]:
    """Return the mean losses of tables over their rows and quasi-identifiers."""
    return {
        name: encoded.known_mean(name, counts.levels) if each.loss is None else each.loss
        for name, each in counts.tables.items()
    }


def choose_linked_node(
    encoded: EncodedLinked, counter: LinkedCounter, observer: Observer, stopped: Callable[[], bool]
) -> SearchOutcome:
    """Search for the node of least loss within the limits of all tables."""
    context = replace(encoded.context, allowed_rows=_allowed_units(encoded, counter.counted))
    places = tuple(place for place, name in enumerate(encoded.tables) if name in counter.counted)
    problem = SearchProblem(encoded.quality.model_copy(update={"counted": places}), context)
    nodes = SearchedNodes(encoded, counter, problem)
    return answered(nodes, problem, SEARCHES["optimal"](problem), observer, stopped)


def _allowed_units(encoded: EncodedLinked, counted: Sequence[str]) -> int:
    """Return the units that tables together may leave out, which limits no node that meets the limits of each."""
    limits = {name: min(max(encoded.allowed(name), 0), encoded.rows(name)) for name in counted}
    shares = (encoded.weights[name] * rows / encoded.rows(name) for name, rows in limits.items())
    return min(int(UNITS * sum(shares)) + 1, UNITS)
