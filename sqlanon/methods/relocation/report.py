"""What a run of relocation reports and promises: how many rows are not true any more, to the recipients as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import Field

from sqlanon.methods.relocation.moving import Moves
from sqlanon.methods.shared import reports as full_domain
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.guarantee import guarantee as of_full_domain
from sqlanon.methods.shared.reports import Decision
from sqlanon.model.lattice import NodeSummary
from sqlanon.model.methods.full_domain import Relocation
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import CUSTODIAN_FIELDS, Guarantee, Measurement, Report

PRIVATE = CUSTODIAN_FIELDS | {"relocated_classes", "mean_distance"}
"""What does not travel with a release.

How many rows are untruthful does: whoever analyses them has to know by how much any count may be off, and who knows
which rows are in the table could compute as much without. How far they were moved may be about a single row.
"""


class RelocationReport(Report):
    """The numbers of a run of relocation.

    ``loss`` is what the node was chosen by, in which rows that were moved count as suppressed; ``losses`` are of the
    labels as they are published, which do not show that some are not true.

    Attributes:
        limit: the share of rows that was allowed to be moved.
        relocated_rows: how many rows have quasi-identifiers that are not theirs.
        untruthful_share: their share of all rows, in [0, 1].
        relocated_classes: how many classes they were in, each of fewer than k rows.
        mean_distance: how far such a row was moved, as a mean, in [0, 1]: what the labels would lose that are true of
            the row as well as of the class that it went to. None if no row was moved.
    """

    limit: float = Field(title="share of rows that may be untruthful")
    relocated_rows: int = Field(title="rows that were moved")
    untruthful_share: float = Field(title="share of rows that are untruthful")
    relocated_classes: int = Field(title="classes of rows that were moved")
    mean_distance: float | None = Field(title="mean distance of rows that were moved")

    @property
    def rows_in_words(self) -> str:
        """How many rows were released, and how many of them are not true."""
        assert self.rows is not None
        moved = (
            f"{self.relocated_rows:,} of them untruthful ({100 * self.untruthful_share:.1f} %; the limit is "
            f"{100 * self.limit:g} %)"
        )
        if self.mean_distance is None:
            return f"{self.rows.released:,} rows, {moved}."
        return (
            f"{self.rows.released:,} rows, {moved}: they are shown in other classes, at a mean distance of "
            f"{self.mean_distance:.3g}."
        )


def untold(moves: Moves) -> tuple[str, ...]:
    """A note on what the losses do not see, and on what was not compared."""
    if not moves.rows:
        return ()
    found = [
        f"losses are of the labels as published and do not see that {moves.rows:,} rows are not true; the loss that "
        "the node was chosen by counts these as suppressed"
    ]
    if not moves.is_exact:
        found.append(
            "there are too many classes to compare all: each that is too small went to the nearest of those that stand "
            "close to it in the order of their labels"
        )
    return tuple(found)


# More than six parameters: what was chosen, what became of it, and what was measured of that.
def report(
    table: EncodedTable,
    decision: Decision,
    moves: Moves,
    published: NodeSummary,
    measured: Measurement,
    into: str,
    seconds: Mapping[str, float],
) -> RelocationReport:
    """The report of a run; ``published`` is the node as its rows were moved."""
    settings = table.bound.policy.method
    assert isinstance(settings, Relocation)
    found = full_domain.report(table, decision, measured, into, seconds)
    losses = {**found.losses, **published.class_losses, "lm": published.lm, "ncp": published.ncp}
    return RelocationReport(
        **{**found.model_dump(), "losses": losses, "suppressed_rows": 0},
        limit=settings.limit,
        relocated_rows=moves.rows,
        untruthful_share=moves.rows / max(measured.row_count, 1),
        relocated_classes=moves.classes,
        mean_distance=moves.mean_distance,
    )


def guarantee(policy: Policy, report: Report) -> Guarantee:
    """The claims of a release: those of a full-domain release of k-anonymity, without its truth."""
    settings = policy.method
    assert isinstance(report, RelocationReport)
    assert isinstance(settings, Relocation)
    plain = of_full_domain(policy, report)
    return Guarantee(
        claims=(
            *plain.claims,
            f"every class has {settings.k} rows or more that belong there, besides those that were moved to it",
            "every row of the source stands for one row of the release, and its values of "
            f"{_listed(policy.sensitive, policy.insensitive)} are true",
        ),
        conditions=plain.conditions,
        not_covered=tuple(_not_covered(policy, report)),
    )


def _not_covered(policy: Policy, report: RelocationReport) -> Iterator[str]:
    if report.relocated_rows:
        yield (
            f"the release is not truthful: {report.relocated_rows:,} rows ({100 * report.untruthful_share:.1f} %) have "
            "quasi-identifiers of other rows, and nothing shows which; a count by these may be off by as many"
        )
        yield (
            "nothing is drawn at random: who knows the quasi-identifiers of all rows can work out which classes were "
            "too small, and where their rows are"
        )
        yield "a row that was moved stands out in a class whose rows would never have its other values"
    yield "syntactic models bound no attacker's inference: this is not differential privacy"
    yield "that the node was chosen from the data says something about the data"
    if policy.sensitive:
        yield f"values of {_listed(policy.sensitive)} that all rows of a class share are disclosed"


def _listed(*columns: tuple[str, ...]) -> str:
    return ", ".join(f'"{name}"' for names in columns for name in names)
