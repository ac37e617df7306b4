"""What a release promises, and the numbers of the run that made it."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from sqlanon.model.budget import Budget
from sqlanon.model.release.document import Document
from sqlanon.model.release.findings import Findings
from sqlanon.model.release.measurement import Exposure, ModelResult, RowCounts

REPORTED_TIES = 100
"""Nodes of a tie set that a report lists; it always gives their number."""

CUSTODIAN_FIELDS = frozenset({"source", "into", "findings", "before", "after"})
"""The fields of a report that do not travel with a release: where the run took place, and facts of suppressed rows."""


class Guarantee(Document):
    """What the release promises, by which definition, and what it does not.

    Attributes:
        claims: one sentence per privacy model.
        conditions: what the claims rest on.
        not_covered: what an attacker may still do.
    """

    claims: tuple[str, ...]
    conditions: tuple[str, ...]
    not_covered: tuple[str, ...]


class Report(Document):
    """The numbers of a run; no cell value among them.

    Attributes:
        source, into: in words.
        node, heights: the level chosen for each quasi-identifier, and the height of its taxonomy.
        domains: whether each taxonomy's domain was declared, stated by a file or observed.
        quality, loss: the measure that was minimized, and its value.
        losses: every loss that was computed for the node: ``prec``, ``entropy`` (bits), ``dm_star``, ``dm``,
            ``aecs``, and ``lm`` and ``ncp`` if they were asked for.
        models: every privacy model, measured on the written release.
        rows: what became of the rows.
        suppression_limit: the share of rows that was allowed to be suppressed.
        suppressed_rows: rows in classes that violate a privacy model, dropped or masked.
        unknown_rows: by column, rows with a value that its taxonomy does not have, left out or labelled at the top.
        class_count, min_class_size: of the release.
        search, lattice_nodes, checked_nodes: how the node was found.
        minimal_nodes: how many satisfying nodes have no satisfying node below them (the k-minimal nodes); None if the
            search does not look for them.
        proven_optimal: whether it is proven that no node of less loss satisfies the policy (with Inverse OLA, that no
            node within the loss is more private); false for a heuristic, and for a search that was stopped.
        lower_bound: proven to be at most the loss of every satisfying node. None with Inverse OLA.
        gap: ``loss - lower_bound``, which bounds what is lost by stopping early or by a heuristic; 0 if it is proven
            that nothing is.
        tie_count, ties: satisfying nodes of equal loss, the chosen one first; up to 100 are listed.
        seconds: wall time of each stage.
        notes: anything that a reader should know, such as masked rows that had to be dropped, quasi-identifiers that
            are at the top level, and kept columns that are nearly unique.
        before, after: how exposed the rows of the source are, and those of the release, for the custodian alone; None
            where that was not counted.
        findings: what the policy leaves open, for the custodian alone; None for a release of an earlier run, with which
            they do not travel.
    """

    source: str
    into: str
    node: dict[str, int]
    heights: dict[str, int]
    domains: dict[str, str]
    quality: str
    loss: float
    losses: dict[str, float | None]
    models: tuple[ModelResult, ...]
    rows: RowCounts
    suppression_limit: float
    suppressed_rows: int
    unknown_rows: dict[str, int] = Field(default_factory=dict)
    class_count: int
    min_class_size: int
    search: str
    lattice_nodes: int
    checked_nodes: int
    minimal_nodes: int | None = None
    proven_optimal: bool
    lower_bound: float | None = None
    gap: float | None = None
    tie_count: int
    ties: tuple[dict[str, int], ...]
    seconds: dict[str, float]
    notes: tuple[str, ...] = ()
    before: Exposure | None = None
    after: Exposure | None = None
    findings: Findings | None = None

    @property
    def generalization(self) -> dict[str, str]:
        """How general each quasi-identifier is, in words."""
        return _levels_in_words(self.node, self.heights)

    @property
    def rows_in_words(self) -> str:
        """How many rows were released, and how many not."""
        rows = self.rows
        share = 100 * (self.suppressed_rows + rows.unknown) / rows.source
        unknown = f" and {rows.unknown:,} left out for unknown values" if rows.unknown else ""
        masked = f", {rows.masked:,} of them masked" if rows.masked else ""
        return (
            f"{rows.released:,} of {rows.source:,} rows{masked}; {self.suppressed_rows:,} suppressed{unknown} "
            f"({share:.1f} %; the limit is {100 * self.suppression_limit:g} %)."
        )


class PrivateGuarantee(Guarantee):
    """What a release of a private method promises.

    Attributes:
        budget: (ε, δ), by which the probability of any set of releases changes at most between neighbours D and D':
            P(M(D) in S) <= exp(ε) P(M(D') in S) + δ. None if nothing is promised.
        neighbours: which tables are neighbours.
        theorem: what proves it.
        void: why nothing is promised although the method could; None if it is.
    """

    budget: Budget | None
    neighbours: str
    theorem: str
    void: str | None = None


class Spent(Document):
    """What a step of a private method spent, and the row of the ledger that says so (None if none is kept)."""

    step: str
    budget: Budget
    position: int | None


class PrivateReport(Document):
    """The numbers of a run of a private method: without diagnostics none tells more of the data than the release does.

    Attributes:
        source, into: in words.
        method, variant: which one.
        stamp: ``NOT PRIVATE`` if the release must not be taken for a private one, else None.
        node, heights: the level chosen for each quasi-identifier, and the height of its taxonomy.
        node_is_public: whether it was given; else it was drawn.
        domains: whether each taxonomy's domain was declared, stated by a file or observed.
        spent: by step.
        thresholds: the least noisy count that a step shows.
        rows_per_individual: how many rows of an individual were counted at most.
        released_rows, released_groups: of the release, which tells them itself.
        lattice_nodes: between how many nodes the choice was.
        opened_account: the account that the run opened in the ledger, as it had no row there; None if it had. It may be
            the path of files, so it is not written with the release.
        seconds: wall time of each stage; it can depend on the data, so it is not written with the release.
        diagnostics: how far the release is from the data, if that was asked for, which voids the guarantee.
        notes: anything that a reader should know.
    """

    source: str
    into: str
    method: str
    variant: str
    stamp: str | None
    node: dict[str, int]
    heights: dict[str, int]
    node_is_public: bool
    domains: dict[str, str]
    spent: tuple[Spent, ...]
    thresholds: dict[str, int]
    rows_per_individual: int
    released_rows: int
    released_groups: int
    lattice_nodes: int
    opened_account: str | None = None
    seconds: dict[str, float]
    diagnostics: dict[str, float | None] | None = None
    notes: tuple[str, ...] = ()

    @property
    def generalization(self) -> dict[str, str]:
        """How general each quasi-identifier is, in words."""
        return _levels_in_words(self.node, self.heights)


def _levels_in_words(node: Mapping[str, int], heights: Mapping[str, int]) -> dict[str, str]:
    return {name: f"level {level} of {heights[name]}" for name, level in node.items()}
