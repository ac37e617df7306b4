"""Guarantees of releases, and the numbers of the runs that made them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pydantic import Field

from sqlanon.model.budget import Budget
from sqlanon.model.methods.full_domain import INVERSE_OLA
from sqlanon.model.names import enumerated
from sqlanon.model.release.findings import Findings
from sqlanon.model.release.joint import JointClasses
from sqlanon.model.release.measurement import Exposure, ModelResult, PartialResult, Result, RowCounts, models_table
from sqlanon.report.document import Part, Table, count, facts, figure, notes, paragraph, percent

REPORTED_TIES = 100  # nodes of a tie set that a report lists; it always gives their number

CUSTODIAN_FIELDS = frozenset({"source", "into", "joint", "loss_alone", "findings", "before", "after"})
"""The fields of a report that do not travel with a release: where the run took place, and facts of suppressed rows and
of what earlier releases show."""


class Guarantee(Result):
    """What the release promises, by which definition, and what it does not.

    Attributes:
        claims: one sentence per privacy model.
        conditions: what the claims rest on.
        not_covered: what an attacker may still do.
    """

    claims: tuple[str, ...]
    conditions: tuple[str, ...]
    not_covered: tuple[str, ...]

    @property
    def heading(self) -> str:
        return "Guarantee"

    def parts(self) -> Iterator[Part]:
        yield from notes("Guarantee", self.claims)
        yield from notes("As long as", self.conditions)
        yield from notes("Not covered", self.not_covered)


class Report(PartialResult):
    """The numbers of a run; no cell value among them.

    What does not apply to a method is None or empty, and left out of JSON. A method that has figures of its own adds
    them as fields, each with a title.

    Attributes:
        source, into: in words.
        method: the name of the method.
        domains: whether each taxonomy's domain was declared, stated by a file or observed.
        seconds: wall time of each stage.
        notes: anything that a reader should know, such as masked rows that had to be dropped, quasi-identifiers that
            are at the top level, and kept columns that are nearly unique.
        node, heights: the level chosen for each quasi-identifier, and the height of its taxonomy.
        labels: how many labels, or sets of labels, each quasi-identifier has in a cut.
        specialized: the quasi-identifier of each specialization of a cut, in their order.
        models: every privacy model, measured on the written release.
        rows: what became of the rows.
        suppression_limit: the share of rows that was allowed to be suppressed.
        suppressed_rows: rows in classes that violate a privacy model, dropped or masked.
        unknown_rows: by column, rows with a value that its taxonomy does not have, left out or labelled at the top.
        class_count, min_class_size: of the release, in rows.
        individuals: the fewest individuals of a class, where the policy names them and asks for k of them.
        quality, loss: the measure that was minimized, and its value.
        losses: every loss that was computed for the node: ``prec``, ``entropy`` (bits), ``dm_star``, ``dm``,
            ``aecs``, and ``lm`` and ``ncp`` if they were asked for.
        search, lattice_nodes, checked_nodes: how the node was found, and among how many.
        minimal_nodes: how many satisfying nodes have no satisfying node below them (the k-minimal nodes); None if the
            search does not look for them.
        proven_optimal: whether it is proven that no node of less loss satisfies the policy (with Inverse OLA, that no
            node within the loss is more private); false for a heuristic, and for a search that was stopped.
        lower_bound: proven to be at most the loss of every satisfying node. None with Inverse OLA.
        gap: ``loss - lower_bound``, which bounds what is lost by stopping early or by a heuristic; 0 if it is proven
            that nothing is.
        tie_count, ties: satisfying nodes of equal loss, the chosen one first; up to 100 are listed.
        joint: what the release shows of persons together with the earlier ones that it is held together with.
        loss_alone: the loss that it would have without these; None if there are none.
        before, after: how exposed the rows of the source are, and those of the release, for the custodian alone; None
            where that was not counted.
        findings: what the policy leaves open, for the custodian alone; None for a release of an earlier run, with which
            they do not travel.
    """

    source: str
    into: str
    method: str
    domains: dict[str, str]
    seconds: dict[str, float]
    notes: tuple[str, ...] = ()
    node: dict[str, int] = Field(default_factory=dict)
    heights: dict[str, int] = Field(default_factory=dict)
    labels: dict[str, int] = Field(default_factory=dict)
    specialized: tuple[str, ...] = ()
    models: tuple[ModelResult, ...] = ()
    rows: RowCounts | None = None
    suppression_limit: float | None = None
    suppressed_rows: int | None = None
    unknown_rows: dict[str, int] = Field(default_factory=dict)
    class_count: int | None = None
    min_class_size: int | None = None
    individuals: int | None = None
    quality: str | None = None
    loss: float | None = None
    losses: dict[str, float | None] = Field(default_factory=dict)
    search: str | None = None
    lattice_nodes: int | None = None
    checked_nodes: int | None = None
    minimal_nodes: int | None = None
    proven_optimal: bool | None = None
    lower_bound: float | None = None
    gap: float | None = None
    tie_count: int | None = None
    ties: tuple[dict[str, int], ...] = ()
    joint: JointClasses | None = None
    loss_alone: float | None = None
    before: Exposure | None = None
    after: Exposure | None = None
    findings: Findings | None = None

    @property
    def generalization(self) -> dict[str, str]:
        """Say how general each quasi-identifier is."""
        if self.labels:
            return {name: f"{width:,} labels" if width > 1 else "one label" for name, width in self.labels.items()}
        return {name: f"level {level} of {self.heights[name]}" for name, level in self.node.items()}

    @property
    def rows_in_words(self) -> str:
        """Say how many rows were released, and how many not."""
        rows = self.rows
        assert rows is not None
        suppressed = self.suppressed_rows or 0
        share = 100 * (suppressed + rows.unknown) / rows.source
        unknown = f" and {rows.unknown:,} left out for unknown values" if rows.unknown else ""
        masked = f", {rows.masked:,} of them masked" if rows.masked else ""
        return (
            f"{rows.released:,} of {rows.source:,} rows{masked}; {suppressed:,} suppressed{unknown} "
            f"({share:.1f} %; the limit is {100 * (self.suppression_limit or 0):g} %)."
        )

    @property
    def search_in_words(self) -> str:
        """Say how the node was found, and at what loss."""
        tied = 0 if self.tie_count is None else self.tie_count - 1
        loss = f"{figure(self.loss)}{f', tied with {tied} more' if tied > 0 else ''}"
        seconds = f"{sum(self.seconds.values()):.2f} s"
        if self.lattice_nodes is None:
            return f"No lattice was searched: {self.quality} loss {loss}, in {seconds}."
        checked = f"{count(self.checked_nodes)} of {count(self.lattice_nodes)} nodes in {seconds}"
        if not self.proven_optimal:
            found = f"{self.quality} loss {loss}, found by checking {checked}"
            return f"Not proven optimal: {found}{self._gap_in_words}."
        goal = "Most private within max_loss, with a" if self.search == INVERSE_OLA else "Least"
        return f"{goal} {self.quality} loss ({loss}), proven by checking {checked}."

    @property
    def _gap_in_words(self) -> str:
        if self.gap is None:
            return ""
        share = f" ({percent(self.gap / self.loss)} of it)" if self.loss else ""
        return f"; at most {figure(self.gap)}{share} more than the least"

    @property
    def joint_in_words(self) -> str:
        """Say how many persons share what the releases show of them, and at what cost."""
        joint = self.joint
        assert joint is not None
        *earlier, _ = joint.releases
        loss = "" if self.loss_alone is None else f" The {self.quality} loss would be {figure(self.loss_alone)} alone."
        return (
            f"Together with {enumerated(earlier)}, {count(joint.person_count)} persons stand in "
            f"{count(joint.class_count)} joint classes of {count(joint.k)} at least.{loss}"
        )

    def summary(self) -> Iterator[Part]:
        """Show how the node was found, the labels, the privacy models, and what the method adds."""
        yield paragraph(self.search_in_words)
        if self.joint is not None:
            yield paragraph(self.joint_in_words)
        yield levels_table(self.node, self.heights) if self.node else labels_table(self.generalization)
        yield models_table(self.models)
        yield from self.of_method()

    def of_method(self) -> Iterator[Table]:
        """Show what the method adds: its own fields that have a title, under its name."""
        titles = {name: field.title for name, field in type(self).model_fields.items() if field.title is not None}
        own = [(title, getattr(self, name)) for name, title in titles.items() if getattr(self, name) is not None]
        if own:
            yield facts(own, self.method)


def levels_table(node: Mapping[str, int], heights: Mapping[str, int]) -> Table:
    """Show the level of each quasi-identifier."""
    rows = [(name, str(level), str(heights[name])) for name, level in node.items()]
    return Table(("quasi-identifier", "level", "of"), rows, numbers=(1, 2))


def labels_table(generalization: Mapping[str, str]) -> Table:
    """Show how general each quasi-identifier is."""
    return Table(("quasi-identifier", "generalized to"), list(generalization.items()))


class PrivateGuarantee(Guarantee):
    """The guarantee of a private release.

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


class Spent(Result):
    """The budget that a step of a private method spent, and its row in the ledger (None if none is kept)."""

    step: str
    budget: Budget
    position: int | None


def spent_table(spent: Iterable[Spent], thresholds: Mapping[str, int]) -> Table:
    """Show what each step spent, and the least noisy count that it shows, if it has such a bound."""
    rows = []
    for each in spent:
        budget, least = each.budget.model_dump(mode="json"), thresholds.get(each.step)
        rows.append((each.step, budget["epsilon"], budget["delta"], "" if least is None else count(least)))
    return Table(("step", "ε", "δ", "shows counts from"), rows, numbers=(1, 2, 3))


class PrivateReport(Report):
    """The numbers of a run of a private method: without diagnostics they reveal no more of the data than the release.

    Attributes:
        stamp: ``NOT PRIVATE`` if the release must not be taken for a private one, else None.
        node_is_public: whether the node was given; else it was drawn among ``lattice_nodes``.
        spent: by step.
        thresholds: the least noisy count that a step shows.
        rows_per_individual: how many rows of an individual were counted at most.
        released_rows, released_groups: of the release, which shows them itself; groups of equal rows are None where
            nobody counts them.
        opened_account: the account that the run opened in the ledger, as it had no row there; None if it had. It may be
            the path of files, so it is not written with the release.
        seconds: wall time of each stage; it can depend on the data, so it is not written with the release.
        diagnostics: how far the release is from the data, if that was asked for, which voids the guarantee.
    """

    stamp: str | None
    node_is_public: bool | None = None
    spent: tuple[Spent, ...]
    thresholds: dict[str, int]
    rows_per_individual: int
    released_rows: int
    released_groups: int | None = None
    opened_account: str | None = None
    diagnostics: dict[str, float | None] | None = Field(None, title="distance from the data, which voids the guarantee")

    def summary(self) -> Iterator[Part]:
        yield labels_table(self.generalization)
        yield spent_table(self.spent, self.thresholds)
        yield from self.of_method()

    @property
    def rows_in_words(self) -> str:
        if self.released_groups is None:
            return f"{self.released_rows:,} rows."
        return f"{self.released_rows:,} rows, {self.released_groups:,} of them different."
