"""The report of a run for synthetic rows: what was measured, and how wrong the rows are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import Field

from sqlanon.methods.synthetic.choosing import Chosen
from sqlanon.model.release import PrivateReport
from sqlanon.model.release.measurement import Result
from sqlanon.model.release.reports import spent_table
from sqlanon.report.document import Part, Table, count, figure

SHOWN_MARGINALS = 20
"""The marginals of several columns that a page lists, those with the least noise first; JSON has all."""


class MeasuredMarginal(Result):
    """A marginal that was measured.

    Attributes:
        columns: whose it is.
        times: how often it was measured.
        sigma: the scale of the noise of a count, of all measurements together.
    """

    columns: tuple[str, ...]
    times: int
    sigma: float


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
        return spent_table(self.spent, self.thresholds), self._measured_table(), *self.sections

    def _measured_table(self) -> Table:
        several = sorted((each for each in self.measured if len(each.columns) > 1), key=lambda each: each.sigma)
        rows = [(", ".join(each.columns), count(each.times), figure(each.sigma)) for each in several[:SHOWN_MARGINALS]]
        if left := len(several) - len(rows):
            rows.append((f"and {left:,} others", "", ""))
        return Table(("measured together", "times", "scale of noise"), rows, numbers=(1, 2))


def measured_marginals(names: Sequence[str], chosen: Chosen) -> Iterator[MeasuredMarginal]:
    """What was measured, in the order of columns."""
    for columns, found in sorted(chosen.measurements.items()):
        yield MeasuredMarginal(
            columns=tuple(names[each] for each in columns), times=chosen.log.count(columns), sigma=found.precision**-0.5
        )
