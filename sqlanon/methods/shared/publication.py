"""What a method publishes of the rows of a source, as far as its findings need it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlanon.binding.bound import BoundPolicy
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.model.lattice import NodeSummary
from sqlanon.model.release import FinerNode

SIEVED_ROWS = 100_000
"""Rows by whose values identifiers are found that repeat; of more, one value in several. Where fewer values than that
repeat, which hardly changes what classes count, they can be missed. Measured by tests.benchmarks.findings."""


@dataclass(frozen=True)
class PublishedNode:
    """A node at which rows of the source are published, each at its own labels or suppressed.

    Attributes:
        table: the cells of the source.
        summary: the node.
        suppresses: whether rows of classes that violate a privacy model are suppressed there.
        finer: nodes that would have kept a quasi-identifier finer.
    """

    table: EncodedTable
    summary: NodeSummary
    suppresses: bool
    finer: tuple[FinerNode, ...] = ()


@dataclass(frozen=True)
class Publication:
    """Rows in groups of equal ones (``EQUAL_ROWS``), and what they are made from.

    A private method has none: whatever is counted of rows for the custodian would be outside its budget.

    Attributes:
        bound: the policy, bound to the source.
        source_rows: rows of the source that were read, without those that are left out for unknown values.
        labels: the columns of ``EQUAL_ROWS`` with the labels of the quasi-identifiers, which tell classes apart.
        identifier_counts: those of identifiers (``queries.release.findings``) that were counted where the rows of the
            source were read for something else; None if that was not so.
        node: the node that is published. None if there is none, or if rows stand there that are not those of the
            source: what holds of these alone would tell them from the others.
    """

    bound: BoundPolicy
    source_rows: int
    labels: tuple[str, ...]
    identifier_counts: Mapping[str, int] | None = None
    node: PublishedNode | None = None

    @property
    def counted_identifiers(self) -> tuple[str, ...]:
        """The identifiers whose values are counted: none if the policy names the column of individuals."""
        policy = self.bound.policy
        return () if policy.individual is not None else policy.identifiers

    @property
    def one_in(self) -> int:
        """One value of an identifier in how many is counted."""
        return max(self.source_rows // SIEVED_ROWS, 1)
