"""The report of a run for synthetic rows: what was measured, and how wrong the rows are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import Field

from sqlanon.mechanisms.source import Integers
from sqlanon.methods.synthetic.beliefs import Floats
from sqlanon.methods.synthetic.choosing import Chosen
from sqlanon.methods.synthetic.domain import ModelledColumn
from sqlanon.methods.synthetic.rows import Drawing
from sqlanon.model.release import PrivateReport
from sqlanon.model.release.marginals import LabelCounts, MeasuredMarginal, measured_tables
from sqlanon.model.release.reports import spent_table
from sqlanon.report.document import Part


class SyntheticReport(PrivateReport):
    """The numbers of a run for synthetic rows.

    Attributes:
        rho: ρ of the budget.
        measured: what was measured, in the order of columns.
        model_cells: how many cells the model has.
        mean_error: how many rows, on average over the workload, the model counts in other places than the table, with
            noise: half the sum of all differences of a marginal. None if nothing was spent on it.
        error_sigma: the scale of that noise.
    """

    rho: float
    measured: tuple[MeasuredMarginal, ...]
    model_cells: int = Field(title="cells of the model")
    mean_error: float | None = Field(None, title="rows in other places than in the table, a mean with noise")
    error_sigma: float | None = Field(None, title="the scale of that noise")

    @property
    def parts(self) -> tuple[Part, ...]:
        return spent_table(self.spent, self.thresholds), *measured_tables(self.measured), *self.sections


def measured_marginals(
    columns: Sequence[ModelledColumn], chosen: Chosen, drawing: Drawing
) -> Iterator[MeasuredMarginal]:
    """What was measured, in the order of columns; of single columns beside the rows that were drawn."""
    for places, found in sorted(chosen.measurements.items()):
        yield MeasuredMarginal(
            columns=tuple(columns[place].name for place in places),
            times=len(chosen.measured(places)),
            sigma=found.precision**-0.5,
            error_at_most=chosen.measured(places)[-1].largest_distance(chosen.model.counts(places)) / 2,
            labels=tuple(_label_counts(columns[places[0]], found.counts, drawing.counts[places[0]]))
            if len(places) == 1
            else (),
        )


def _label_counts(column: ModelledColumn, measured: Floats, drawn: Integers) -> Iterator[LabelCounts]:
    labels = (*column.labels, None) if column.has_null else column.labels
    for label, noisy, rows in zip(labels, measured.tolist(), drawn.tolist(), strict=True):
        yield LabelCounts(label=label, measured=noisy, drawn=rows)
