"""Fits: a node, or classes, found once, and the partitions released there."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from sqlanon.errors import PolicyError
from sqlanon.model.cost_benefit import Profitability
from sqlanon.model.mean_risks import MeanModel
from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import MConcealing, PopulationModel, TCloseness
from sqlanon.model.record import sha256_of_json
from sqlanon.model.release import Findings, Guarantee, ModelResult, Published, Result, RowCounts
from sqlanon.model.release.measurement import models_table
from sqlanon.model.release.reports import levels_table
from sqlanon.report.document import Part, count, figure, notes, paragraph, percent, strong


class Fit(Result):
    """A node, or classes, for all partitions of a table, with everything needed to release them alike.

    Attributes:
        source: the source of the fit, in words.
        rows, suppressed_rows: its rows, and the rows in classes that violate a privacy model at the node, or in no
            class of the list.
        unknown_rows: by column, the rows with a value that its taxonomy lacks.
        policy: the policy of every release; after Inverse OLA with the k or m that was found.
        policy_sha256: its hash.
        every_partition: whether each partition must meet the privacy models on its own, too.
        node, heights: the level of each quasi-identifier, and the height of its taxonomy. Local recoding has no node.
        class_count: the number of classes in the file, each at its own levels; None at a node.
        domains: whether each taxonomy's domain was declared, stated by a file or observed.
        taxonomy_sha256: the hash of every taxonomy in use, including those of sensitive columns.
        types: the type of each column that is published unchanged, or compared.
        quality, loss: the measure that was minimized, and its value on the source.
        search: the search for the node; ``given`` without one.
        lattice_nodes, checked_nodes, proven_optimal, gap: as in :class:`Report`.
        version: the version of this package.
        seconds: wall time of each stage.
        notes: remarks for readers.
        findings: risks that the policy leaves open on the source, as in :class:`Report`; the file of the fit doesn't
            keep them.
    """

    source: str
    rows: int
    suppressed_rows: int
    unknown_rows: dict[str, int] = Field(default_factory=dict)
    policy: Policy
    policy_sha256: str
    every_partition: bool
    node: dict[str, int]
    heights: dict[str, int]
    class_count: int | None = None
    domains: dict[str, str]
    taxonomy_sha256: dict[str, str]
    types: dict[str, str]
    quality: str
    loss: float
    search: str
    lattice_nodes: int
    checked_nodes: int
    proven_optimal: bool
    gap: float | None = None
    version: str
    seconds: dict[str, float]
    notes: tuple[str, ...] = ()
    findings: Findings | None = None

    @property
    def sha256(self) -> str:
        """The hash of everything its file keeps, including the time it took, so that no two fits share it."""
        return sha256_of_json(self.model_dump(mode="json", exclude={"findings"}))

    @property
    def heading(self) -> str:
        return f"Fit on {self.source}"

    def parts(self) -> Iterator[Part]:
        share = percent(self.suppressed_rows / self.rows)
        checked = f"{count(self.checked_nodes)} of {count(self.lattice_nodes)} nodes"
        if self.class_count is not None:
            checked = f"{count(self.class_count)} classes at levels of their own"
        yield paragraph(
            f"On its source, {count(self.suppressed_rows)} of {count(self.rows)} rows would be suppressed ({share}); "
            f"{self.quality} loss {figure(self.loss)}, {checked} in {sum(self.seconds.values()):.2f} s."
        )
        if self.node:
            yield levels_table(self.node, self.heights)
        yield from notes("Notes", self.notes)
        if self.findings is not None:
            yield from self.findings.parts()


class PartitionReport(Result):
    """The numbers of a partition's release, without any cell value."""

    source: str
    into: str
    release: str  # the identity of the release, also in its provenance
    partitions: int  # published with the fit so far, including this one
    rows: RowCounts
    unknown_rows: dict[str, int] = Field(default_factory=dict)  # by column; empty if nothing was written
    union: RowCounts  # the rows of all partitions
    suppression_limit: float  # the share of all rows that may be suppressed
    models: tuple[ModelResult, ...]  # measured on all partitions published so far
    class_count: int  # in all partitions
    min_class_size: int
    seconds: dict[str, float]  # wall time of each stage
    notes: tuple[str, ...] = ()


class PartitionRelease(Published):
    """A published partition.

    Attributes:
        into: the table or file.
        node: the level of each quasi-identifier; empty after local recoding.
        guarantee: the guarantee for all partitions that were published with the fit.
        report: the numbers.
    """

    node: dict[str, int]
    guarantee: Guarantee
    report: PartitionReport

    @property
    def heading(self) -> str:
        return f"Release {self.into}"

    def parts(self) -> Iterator[Part]:
        report, rows, union = self.report, self.report.rows, self.report.union
        unknown = f" and {count(union.unknown)} left out for unknown values" if union.unknown else ""
        released = f": {count(rows.released)} of {count(rows.source)} rows."
        yield paragraph(strong("Published "), strong(self.into), released)
        yield paragraph(
            f"Together with what was published before: {count(union.released)} of {count(union.source)} rows in "
            f"{count(report.partitions)} partitions; {count(union.dropped)} suppressed{unknown} "
            f"({percent(1 - union.released / union.source)}; the limit is {100 * report.suppression_limit:g} %)."
        )
        yield models_table(report.models)
        yield from self.guarantee.parts()
        yield from notes("Notes", report.notes)


def _unfit_columns(policy: Policy) -> Iterator[str]:
    for name in policy.pseudonyms:
        yield (
            f'pseudonyms of "{name}": a value in several partitions would have the same pseudonym there, which links '
            "its rows, and values of earlier partitions are not kept; name the column among the identifiers"
        )
    for name in policy.perturbation:
        yield f'perturbation of "{name}": values are changed among all rows, and a partition has few; take it out'
    for name in getattr(policy.method, "aggregate", {}):
        yield f'aggregate of "{name}": the classes of one partition may have few rows, whose values it would give away'
    if policy.weighs_risks:
        yield f'weights of "{policy.row_weight}": of earlier partitions only counts are kept, without risks'


def _unfit_models(policy: Policy) -> Iterator[str]:
    for model in policy.privacy:
        if isinstance(model, PopulationModel):
            yield f"{model}: the population can change between partitions"
        elif isinstance(model, MConcealing) and model.grain == "node":
            yield f'{model}: grain "node" gives up a whole partition for one class; take "class"'
        elif isinstance(model, MeanModel):
            yield f"{model} gives up a whole partition if the mean of all published rows is too large"
        elif isinstance(model, Profitability):
            yield f"{model}: classes are counted without what their labels lose"
        elif isinstance(model, TCloseness) and model.distance == "ordered":
            yield (
                f"{model}: a new value moves all distances, those of classes that are published too; "
                'take distance "equal" or "hierarchical"'
            )


def refuse_unfit(policy: Policy) -> None:
    """Refuse a policy that can't be verified from counts of earlier partitions.

    Counts are kept by class and protected values. The measures of a class must follow from its own counts, so that a
    class that doesn't grow stays as good as it was.
    """
    problems = [*_unfit_columns(policy)]
    if policy.individual is not None:
        problems.append(
            f'individual "{policy.individual}": distinct individuals of several partitions cannot be counted from '
            "counts; give partitions with one row per individual, and no individual column"
        )
    if policy.suppression == "mask":
        problems.append('suppression "mask": masked rows of several partitions make one class; take "drop"')
    problems += _unfit_models(policy)
    if problems:
        raise PolicyError("the policy cannot be applied to one partition after another:", problems)
