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
from sqlanon.model.release.perturbed import PerturbedColumn
from sqlanon.report.document import Part, Table, count, facts, figure, notes, paragraph, percent

GIVEN = "given"  # the name of the search for a node that the policy or the caller names
REPORTED_TIES = 100  # listed nodes of a tie set; reports always have their number

CUSTODIAN_FIELDS = frozenset({"source", "into", "joint", "loss_alone", "findings", "before", "after", "perturbed"})
"""The fields of a report that don't travel with a release: the place of the run, and facts about suppressed rows and
earlier releases."""


class Guarantee(Result):
    """The guarantee of a release, with its definitions and limits.

    Attributes:
        claims: one sentence per privacy model.
        conditions: the assumptions of the claims.
        not_covered: attacks that remain possible.
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
    """The numbers of a run, without any cell value.

    Fields that don't apply to a method are None or empty, and left out of JSON. Methods add their own figures as
    fields, each with a title.

    Attributes:
        source, into: in words.
        method: the name of the method.
        domains: whether each taxonomy's domain was declared, stated by a file or observed.
        seconds: wall time of each stage.
        notes: remarks for readers, such as masked rows that had to be dropped, quasi-identifiers at the top level, and
            kept columns that are nearly unique.
        node, heights: the level chosen for each quasi-identifier, and the height of its taxonomy.
        labels: the number of labels, or sets of labels, of each quasi-identifier in a cut.
        specialized: the quasi-identifier of each specialization of a cut, in order.
        models: every privacy model, measured on the written release.
        rows: counts of rows.
        suppression_limit: the share of rows that may be suppressed.
        suppressed_rows: rows in classes that violate a privacy model, dropped or masked.
        unknown_rows: by column, rows with a value that its taxonomy lacks, left out or labelled at the top.
        class_count, min_class_size: of the release, in rows.
        individuals: the fewest individuals of a class, if the policy names them and requires k of them.
        quality, loss: the measure that was minimized, and its value.
        losses: every loss that was computed for the node: ``prec``, ``entropy`` (bits), ``dm_star``, ``dm``,
            ``aecs``, and ``lm`` and ``ncp`` if asked.
        search, lattice_nodes, checked_nodes: the search, or ``"given"`` for a node that the policy or the caller names;
            the size of the lattice, and the number of checked nodes.
        minimal_nodes: the number of satisfying nodes with no satisfying node below them (the k-minimal nodes); None if
            the search doesn't find them.
        proven_optimal: whether it is proven that no node of less loss satisfies the policy (with Inverse OLA, that no
            node within the loss is more private); false for a heuristic, and for a stopped search.
        lower_bound: a proven lower bound of the loss of every satisfying node. None with Inverse OLA.
        gap: ``loss - lower_bound``, a bound on the loss by stopping early or by a heuristic; 0 if proven optimal.
        tie_count, ties: satisfying nodes of equal loss, the chosen one first; up to 100 are listed.
        joint: joint classes of persons in the release and the earlier ones that it is held together with.
        loss_alone: the loss without earlier releases, if there are any.
        before, after: the exposure of the rows of the source, and of the release, only for the custodian; None if not
            counted.
        perturbed: what was changed in perturbed columns, only for the custodian.
        findings: risks that the policy leaves open, only for the custodian; None for a release of an earlier run, since
            they don't travel with it.
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
    perturbed: tuple[PerturbedColumn, ...] = ()
    findings: Findings | None = None

    @property
    def generalization(self) -> dict[str, str]:
        """The generalization of each quasi-identifier in words."""
        if self.labels:
            return {name: f"{width:,} labels" if width > 1 else "one label" for name, width in self.labels.items()}
        return {name: f"level {level} of {self.heights[name]}" for name, level in self.node.items()}

    @property
    def rows_in_words(self) -> str:
        """The numbers of released and suppressed rows in a sentence."""
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
        """The search and its loss in a sentence."""
        tied = 0 if self.tie_count is None else self.tie_count - 1
        loss = f"{figure(self.loss)}{f', tied with {tied} more' if tied > 0 else ''}"
        seconds = f"{sum(self.seconds.values()):.2f} s"
        if self.lattice_nodes is None:
            return f"No lattice was searched: {self.quality} loss {loss}, in {seconds}."
        checked = f"{count(self.checked_nodes)} of {count(self.lattice_nodes)} nodes in {seconds}"
        if self.search == GIVEN:
            return f"No search: the node was given. It has {self.quality} loss {loss}, in {seconds}."
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
        """The joint classes and their cost in a sentence."""
        joint = self.joint
        assert joint is not None
        *earlier, _ = joint.releases
        loss = "" if self.loss_alone is None else f" The {self.quality} loss would be {figure(self.loss_alone)} alone."
        return (
            f"Together with {enumerated(earlier)}, {count(joint.person_count)} persons stand in "
            f"{count(joint.class_count)} joint classes of {count(joint.k)} at least.{loss}"
        )

    def summary(self) -> Iterator[Part]:
        """Show the search, the labels, the privacy models, and further figures of the method."""
        yield paragraph(self.search_in_words)
        if self.joint is not None:
            yield paragraph(self.joint_in_words)
        yield levels_table(self.node, self.heights) if self.node else labels_table(self.generalization)
        yield models_table(self.models)
        yield from self.of_method()

    def of_method(self) -> Iterator[Table]:
        """Show figures of the method: its own fields with a title."""
        titles = {name: field.title for name, field in type(self).model_fields.items() if field.title is not None}
        own = [(title, getattr(self, name)) for name, title in titles.items() if getattr(self, name) is not None]
        if own:
            yield facts(own, self.method)


def levels_table(node: Mapping[str, int | str], heights: Mapping[str, int]) -> Table:
    rows = [(name, str(level), str(heights[name])) for name, level in node.items()]
    return Table(("quasi-identifier", "level", "of"), rows, numbers=(1, 2))


def labels_table(generalization: Mapping[str, str]) -> Table:
    return Table(("quasi-identifier", "generalized to"), list(generalization.items()))


class PrivateGuarantee(Guarantee):
    """The guarantee of a private release.

    Attributes:
        budget: (ε, δ), which bounds the probabilities of any set of releases for neighbours D and D':
            P(M(D) in S) <= exp(ε) P(M(D') in S) + δ. None if nothing is guaranteed.
        neighbours: the definition of neighbours.
        theorem: the source of the proof.
        void: why nothing is guaranteed although the method could; None if it is.
    """

    budget: Budget | None
    neighbours: str
    theorem: str
    void: str | None = None


class Spent(Result):
    """The budget that a step of a private method spent, and its row in the ledger, if one is kept."""

    step: str
    budget: Budget
    position: int | None


def spent_table(spent: Iterable[Spent], thresholds: Mapping[str, int]) -> Table:
    """Show the budget of each step, and the least noisy count that it shows, if there is one."""
    rows = []
    for each in spent:
        budget, least = each.budget.model_dump(mode="json"), thresholds.get(each.step)
        rows.append((each.step, budget["epsilon"], budget["delta"], "" if least is None else count(least)))
    return Table(("step", "ε", "δ", "shows counts from"), rows, numbers=(1, 2, 3))


class PrivateReport(Report):
    """The numbers of a run of a private method, which without diagnostics reveal no more than the release.

    Attributes:
        stamp: ``NOT PRIVATE`` if the release must not be taken for a private one, otherwise None.
        node_is_public: whether the node was given; otherwise it was drawn among ``lattice_nodes``.
        spent: the budget by step.
        thresholds: the least noisy count that a step shows.
        rows_per_individual: the maximum number of counted rows of an individual.
        released_rows, released_groups: rows of the release, and groups of equal ones, which anyone can count; groups
            are None if not counted.
        opened_account: the account that the run opened in the ledger, if it had no row there. It may be the path of
            files, so it is not written with the release.
        seconds: wall time of each stage; it can depend on the data, so it is not written with the release.
        diagnostics: the distance of the release from the data, if requested, which voids the guarantee.
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
