"""Synthetic rows: noisy marginals, a model of them, and rows that are drawn from it.

The conversation with the database: up go cells and marginals, down come rows.

Why it is private. Neighbours differ by the rows of one individual; at most m of them are counted, so that a marginal
differs by m in L1 and in L2 norm, and a score by m times the largest weight, as whole numbers of a public grid. Noise
and choices cost what :func:`sqlanon.chance.scales.scale_in_rho` says, whatever was drawn before, and all together
no more than ρ (:class:`sqlanon.chance.accountant.RhoPortions`). The model and the rows are made of what was drawn
alone.

Source: McKenna, Mullins, Sheldon & Miklau 2022, as in spec/synthetic.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field
from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.chance.accountant import RhoPortions
from sqlanon.engines.relations import ResolvedSource
from sqlanon.methods.base import Comparison, Measured, TakesEnums
from sqlanon.methods.private import PrivatePublication, PrivateRun
from sqlanon.methods.stages import Stages
from sqlanon.methods.synthetic import domain
from sqlanon.methods.synthetic import drawn_rows as rows
from sqlanon.methods.synthetic.choosing import Chosen, ErrorEstimate
from sqlanon.methods.synthetic.domain import ModelledColumn
from sqlanon.methods.synthetic.drawn_rows import Drawing
from sqlanon.methods.synthetic.measuring import Counted, checked, counted, fractions_to_declare, measured
from sqlanon.model.labels import LabelsRecord
from sqlanon.model.methods.synthetic import Synthetic
from sqlanon.model.release import PrivateReport, Report, Spent
from sqlanon.model.release.pictures import LabelCounts, MeasuredMarginal, measured_tables
from sqlanon.model.release.reports import spent_table
from sqlanon.report.document import Part


class SyntheticReport(PrivateReport):
    """The numbers of a run for synthetic rows.

    Attributes:
        rho: ρ of the budget.
        measured: the measured marginals, in the order of columns.
        model_cells: how many cells the model has.
        mean_error: noisy mean over the workload of the rows that the model counts in other places than the table: half
            the sum of all differences of a marginal. None if nothing was spent on it.
        error_sigma: the scale of that noise.
    """

    rho: float
    measured: tuple[MeasuredMarginal, ...]
    model_cells: int = Field(title="cells of the model")
    mean_error: float | None = Field(None, title="rows in other places than in the table, a mean with noise")
    error_sigma: float | None = Field(None, title="the scale of that noise")

    def summary(self) -> Iterator[Part]:
        yield from (spent_table(self.spent, self.thresholds), *measured_tables(self.measured), *self.of_method())


MARGINALS = "marginals"

WITHIN = (
    "everybody may know that all values are within the domain, and no row is impossible: that a run is refused says "
    "that some are not"
)


@dataclass(frozen=True)
class PaidTable:
    counted: Counted
    portions: RhoPortions


@dataclass(frozen=True)
class FittedModel:
    chosen: Chosen
    error: ErrorEstimate | None


@dataclass(frozen=True, kw_only=True)
class SyntheticPublication(PrivatePublication):
    table: PaidTable
    fitted: FittedModel
    drawing: Drawing


class SyntheticRun(PrivateRun[Counted, PaidTable, FittedModel, SyntheticPublication]):
    report_class = SyntheticReport
    about_rows = "The rows are drawn from a model of noisy counts: none stands for a person."
    instead_of_node = "it models each column at a public level: name it in levels of the method"
    instead_of_time_limit = "it measures what its budget pays for; take fewer rounds, or fewer cells"
    theorem = (
        "discrete Gaussian mechanism (Canonne, Kamath and Steinke 2020) and the exponential mechanism by Gumbel noise, "
        "which has a bounded range (Dong, Durfee and Rogers 2020); zero-concentrated privacy (Bun and Steinke 2016), "
        "in portions that depend on what was drawn (Feldman and Zrnic 2021)"
    )

    @property
    def settings(self) -> Synthetic:
        return Synthetic.of(self.bound.policy)

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        return checked(bound)

    @property
    def released_types(self) -> Mapping[str, str]:
        levels = self.settings.levels
        return {
            found.name: "VARCHAR" if levels.get(found.name) else domain.published_type(found)
            for found in self.bound.published_columns
        }

    def encode(self) -> Counted:
        return counted(self.engine, self.bound, self.chance.source)

    def charge(self, table: Counted) -> PaidTable:
        return PaidTable(table, self.accountant.charge_in_rho(MARGINALS, self.settings.budget))

    def search(self, table: PaidTable, stages: Stages) -> FittedModel:
        with stages.stage("search"):
            return FittedModel(*measured(table.counted, self.settings, table.portions, self.chance.source))

    def make(self, table: PaidTable, choice: FittedModel) -> SyntheticPublication:
        model, modelled = choice.chosen.model, table.counted.columns
        found = {each.name: each for each in self.bound.columns}
        count = self.settings.rows or round(model.total)
        weights = {
            column: rows.weights_within(counts, modelled[column].fine_codes, sigma)
            for column, (counts, sigma) in choice.chosen.fine.items()
        }
        columns = [
            rows.DrawnColumn(each, found[each.name], column, weights.get(column))
            for column, each in enumerate(modelled)
        ]
        drawing = rows.Drawing(columns, model.beliefs, count, self.chance.source.generator())
        self.engine.put(rows.DRAWN, drawing.reader())
        return SyntheticPublication(bound=self.bound, row_count=count, table=table, fitted=choice, drawing=drawing)

    def released_rows(self, made: SyntheticPublication, takes_enums: TakesEnums) -> exp.Query:
        return rows.released(made.drawing.columns, self._published)

    def compare(
        self, made: SyntheticPublication, written: ResolvedSource, companions: Mapping[str, ResolvedSource]
    ) -> Comparison:
        drawn = rows.released(made.drawing.columns, self._published)
        here, there = (
            self.engine.fetch(rows.content(each, self._published), "what was written")[0]
            for each in (exp.Subquery(this=drawn), written.relation)
        )
        return Comparison([] if here == there else ["the rows differ from those that were drawn"])

    def report(self, made: SyntheticPublication, measured: Measured, into: str, seconds: Mapping[str, float]) -> Report:
        portions, chosen, error = made.table.portions, made.fitted.chosen, made.fitted.error
        return self.private_report(
            SyntheticReport,
            made,
            into,
            seconds,
            fractions_to_declare(self.bound),
            spent=(Spent(step=MARGINALS, budget=portions.whole, position=portions.given[-1].position),),
            thresholds={},
            rho=float(portions.rho),
            measured=tuple(_measured_marginals(made.table.counted.columns, chosen, made.drawing)),
            model_cells=chosen.model.beliefs.tree.cells,
            mean_error=None if error is None else error.rows / 2,
            error_sigma=None if error is None else error.sigma / 2,
        )

    def labels_record(self, made: SyntheticPublication, report: Report) -> LabelsRecord | None:
        return None

    @property
    def conditions(self) -> Sequence[str]:
        return [WITHIN] if self.settings.outside == "refuse" else ()

    @property
    def _published(self) -> list[str]:
        return [found.name for found in self.bound.published_columns]


def _measured_marginals(
    columns: Sequence[ModelledColumn], chosen: Chosen, drawing: Drawing
) -> Iterator[MeasuredMarginal]:
    """List the measured marginals in the order of columns; single columns stand beside the drawn rows."""
    for places, found in sorted(chosen.measurements.items()):
        counts: list[LabelCounts] = []
        if len(places) == 1:
            column = columns[places[0]]
            labels = (*column.labels, None) if column.has_null else column.labels
            by_label = zip(labels, found.counts.tolist(), drawing.counts[places[0]].tolist(), strict=True)
            counts = [LabelCounts(label=label, measured=noisy, drawn=drawn) for label, noisy, drawn in by_label]
        yield MeasuredMarginal(
            columns=tuple(columns[place].name for place in places),
            times=len(chosen.measured(places)),
            sigma=found.precision**-0.5,
            error_at_most=chosen.measured(places)[-1].largest_distance(chosen.model.counts(places)) / 2,
            labels=tuple(counts),
        )
