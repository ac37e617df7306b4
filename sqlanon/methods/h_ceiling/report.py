"""The report of a run, for who ran it, and the part that travels with the release, which the release shows itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import Field

from sqlanon.binding.bound import BoundPolicy
from sqlanon.methods.h_ceiling.catalogs import Cataloged
from sqlanon.methods.h_ceiling.counterfeits import Added
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.reports import report_at_node
from sqlanon.methods.shared.unknown import unknown_notes
from sqlanon.model.labels import NodeRecord
from sqlanon.model.lattice import Levels, total
from sqlanon.model.methods.h_ceiling import COUNTERFEITS, HCeiling
from sqlanon.model.record import Record, RowsRecord
from sqlanon.model.release import Measurement, Report, RowCounts
from sqlanon.publish.provenance import attained_bounds, record_by
from sqlanon.search import SearchOutcome

UNPROVEN = (
    "another node below the ceiling may need fewer counterfeits: it was not looked at, has no catalog, or a larger "
    "reconstruction error with it"
)

PUBLISHED = ("node", "heights", "domains", "ceiling", "degree", "class_count", "min_class_size")
"""What travels with a release: not how many of its rows are true, from which recipients could find these."""


class CeilingReport(Report):
    """The numbers of a run of h-ceiling: not to be published, for they reveal how many rows of the release are true.

    Attributes:
        ceiling: h, if there is one.
        degree: the largest degree of generalization of a row, at most the ceiling.
        allowed_nodes: how many nodes keep to the ceiling.
        counterfeits: how many rows were invented; ``loss`` is the same number.
        counterfeit_share: their share of the published rows.
        filled_classes: how many classes they are in.
        fewest_true_rows: how many true rows the class has that has the fewest: rows, not persons.
        reconstruction_error: its mean over true rows and published columns, each row as likely to be true as the
            catalog of values implies; without one each true row is taken to be known to be one.
        catalog: which catalog was published: ``none``, ``counts``, ``strict`` or ``paper``.
        groups: how many groups of classes it has.
        effective_k: the inverse of the probability, at most, that a row of these is that of a person whose class is
            known, to whoever has release and catalog and takes all ways that agree with them for equally likely.
    """

    ceiling: float | None = Field(title="ceiling h of the degree of generalization")
    degree: float = Field(title="largest degree of generalization of a row")
    allowed_nodes: int = Field(title="nodes below the ceiling")
    counterfeits: int = Field(title="counterfeits")
    counterfeit_share: float = Field(title="counterfeit share of the published rows")
    filled_classes: int = Field(title="classes with counterfeits")
    fewest_true_rows: int = Field(title="fewest true rows of a class")
    reconstruction_error: float = Field(title="mean reconstruction error")
    catalog: str = Field(title="catalog")
    groups: int | None = Field(title="groups of classes in the catalog")
    effective_k: float | None = Field(title="effective k, against release and catalog together")

    @property
    def rows_in_words(self) -> str:
        assert self.rows is not None
        assert self.suppressed_rows is not None
        share = 100 * self.suppressed_rows / max(self.rows.source, 1)
        limit = f"{share:.1f} %; the limit is {100 * (self.suppression_limit or 0):g} %"
        suppressed = f" {self.suppressed_rows:,} suppressed ({limit})." if self.suppression_limit else ""
        return (
            f"{self.rows.released:,} rows, {self.counterfeits:,} of them counterfeits "
            f"({100 * self.counterfeit_share:.1f} %) in {self.filled_classes:,} of {self.class_count:,} classes; the "
            f"class of the fewest true rows has {self.fewest_true_rows:,}.{suppressed}"
        )


@dataclass(frozen=True)
class Facts:
    """What is known of the node that was chosen.

    Attributes:
        outcome: how it was found.
        catalog: its catalog, if it has one.
        added: its counterfeits.
        degree: the largest degree of generalization of a row.
        error: the mean reconstruction error, with the catalog if there is one.
        allowed_nodes: how many nodes keep to the ceiling.
    """

    outcome: SearchOutcome
    catalog: Cataloged | None
    added: Added
    degree: float
    error: float
    allowed_nodes: int


@dataclass(frozen=True)
class Decision:
    """What is to be published: a node, what is known of it, what its classes attain by the policy's bounds, notes."""

    facts: Facts
    levels: Levels
    attained: tuple[float, ...]
    notes: tuple[str, ...]


def report(
    table: EncodedTable, decision: Decision, measured: Measurement, into: str, seconds: Mapping[str, float]
) -> CeilingReport:
    """The report of a run."""
    bound, facts = table.bound, decision.facts
    added, catalog = facts.added, facts.catalog
    policy, by_level = bound.policy, table.context.losses
    settings = policy.method
    assert isinstance(settings, HCeiling)
    unknown, released = table.unknown, measured.row_count
    doubts = () if facts.outcome.proven_optimal else (UNPROVEN,)
    return report_at_node(
        CeilingReport,
        table,
        decision.levels,
        facts.outcome,
        measured,
        into,
        seconds,
        quality=COUNTERFEITS,
        loss=added.count,
        losses={name: total(getattr(by_level, name), decision.levels) for name in ("lm", "ncp")},
        rows=RowCounts(
            source=table.context.row_count + unknown.suppressed,
            released=released,
            masked=0,
            dropped=added.suppressed,
            unknown=unknown.suppressed,
        ),
        suppressed_rows=added.suppressed,
        search=settings.name,
        notes=(*doubts, *decision.notes, *unknown_notes(policy, unknown)),
        ceiling=settings.h,
        degree=facts.degree,
        allowed_nodes=facts.allowed_nodes,
        counterfeits=added.count,
        counterfeit_share=added.count / max(released, 1),
        filled_classes=added.classes,
        fewest_true_rows=added.fewest_true_rows,
        reconstruction_error=facts.error,
        catalog=settings.catalog,
        groups=None if catalog is None else catalog.groups,
        effective_k=None if catalog is None else catalog.effective_k,
    )


def ceiling_record(bound: BoundPolicy, decision: Decision, report: Report) -> Record:
    """The record of a release, without what would distinguish counterfeits from true rows."""
    assert isinstance(report, CeilingReport)
    assert report.rows is not None
    policy = bound.policy
    return record_by(
        policy,
        taxonomy_sha256={name: bound.taxonomy_hashes[name] for name in policy.quasi_identifiers},
        labels=NodeRecord(levels=report.node),
        privacy=attained_bounds(policy, decision.attained),
        rows=RowsRecord(released=report.rows.released),
        report=report.model_dump(mode="json", include=set(PUBLISHED)),
    )
