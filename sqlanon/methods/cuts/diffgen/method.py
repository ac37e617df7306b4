"""DiffGen: labels give way to their children by chance, and all combinations get noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from pydantic import Field
from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.relations import ResolvedSource
from sqlanon.mechanisms.accountant import Portions
from sqlanon.methods.base import TakesEnums
from sqlanon.methods.cuts.diffgen import queries
from sqlanon.methods.cuts.diffgen.draws import LEAVES, Draws, draw_leaves
from sqlanon.methods.cuts.diffgen.encode import checked, encode, settings_of, target_of
from sqlanon.methods.cuts.diffgen.specialize import CountedRows, specialized
from sqlanon.methods.cuts.shared import labels
from sqlanon.methods.cuts.shared.labels import recorded_cut
from sqlanon.methods.shared.private.chance import bounded_source, row_count
from sqlanon.methods.shared.private.run import PrivateRun
from sqlanon.methods.shared.publishing import released_sizes, row_mismatches
from sqlanon.methods.stages import Stages
from sqlanon.model.budget import Budget
from sqlanon.model.labels import LabelsRecord
from sqlanon.model.methods.cuts import CUTS, DiffGen
from sqlanon.model.release import PrivateReport, Report, Spent

MAX_RECORDED_LABELS = 10_000
"""The labels of a cut, at most, that is in the record of its release; a companion table holds any number."""

WITHIN = "everybody may know that all numbers are within their ranges: that a run is refused says that some are not"


class DiffGenReport(PrivateReport):
    """The numbers of a run of DiffGen.

    Attributes:
        combinations: how many there are of labels and class, whether any row has them or not.
    """

    specialized: tuple[str, ...] = Field((), title="quasi-identifiers in the order in which they were specialized")
    combinations: int = Field(title="combinations of labels and class")


class DiffGenRun(PrivateRun):
    """Publish noisy counts of labels that were drawn, paid for from the budget of the data set."""

    takes_far_rows = True
    report_class = DiffGenReport
    about_rows = "There are as many rows of each combination of labels as a noisy count says: none stands for a person."
    instead_of_node = "it draws labels of several levels"
    instead_of_time_limit = "it makes all draws that its policy says; take fewer specializations"
    theorem = (
        "permute-and-flip (McKenna and Sheldon 2020) and the exponential mechanism on all splits of a public range; "
        "geometric mechanism on all combinations of the domain; adaptive composition, in which what is left is spent "
        "last"
    )

    @property
    def settings(self) -> DiffGen:
        """The settings of the method."""
        return settings_of(self.bound)

    @property
    def companions(self) -> Sequence[str]:
        return (CUTS,) if CUTS in self.request.tables else ()

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        return checked(bound)

    @property
    def released_types(self) -> Mapping[str, str]:
        sets, added = (
            dict.fromkeys(self.settings.sets, "VARCHAR[]"),
            dict.fromkeys(self.settings.added_columns, "BIGINT"),
        )
        return {**super().released_types, **sets, **added}

    def encode(self) -> None:
        self.points = encode(self.engine, self.bound, bounded_source(self.engine, self.bound, self.chance.source))

    def charge(self) -> None:
        self.portions = self.accountant.charge_in_portions(self.settings.name, self.settings.budget)

    def search(self, stages: Stages) -> None:
        points, settings = self.points, self.settings
        with stages.stage("search"):
            evidence = CountedRows(self.engine, settings.utility)
            draws = Draws(settings, self.chance.source, self.portions)
            self.chosen = specialized(points.axes, points.classes, settings.specializations, evidence, draws)

    def make(self) -> None:
        engine, points, cut = self.engine, self.points, self.chosen.cut
        charge = self.portions.rest(LEAVES)
        self.combinations, self.threshold = draw_leaves(
            engine, cut, points.classes, self.settings, self.chance.source, charge
        )
        engine.put(labels.GIVEN, labels.given_pieces(cut, points.ranges))
        engine.put(queries.PLACES, queries.places(cut))
        engine.run(labels.SQL.step(labels.CUT, "labelled_cut"))
        engine.run(queries.equal_rows(cut, points.classes, self.bound.published_columns, target_of(self.bound)))
        self.sizes = released_sizes(engine)

    def released_rows(self, takes_enums: TakesEnums) -> exp.Query:
        return labels.released(self.bound.published_columns, self.settings.count_column)

    def companion_rows(self) -> Mapping[str, exp.Query]:
        return {name: labels.SQL.query("cut_rows") for name in self.companions}

    def differences(self, written: ResolvedSource, companions: Mapping[str, ResolvedSource]) -> list[str]:
        columns, counts = self.bound.published_columns, self.settings.count_column
        problems = row_mismatches(self.engine, labels.unlike_what_was_made(columns, written.relation, counts))
        if CUTS in companions:
            query = labels.unlike_cut(companions[CUTS].relation)
            if unlike := self.engine.fetch(query, "the cut that was written")[0]["unlike"]:
                problems.append(f"the table of cuts differs in {unlike:,} rows from the cut of the release")
        return problems

    def report(self, into: str, seconds: Mapping[str, float]) -> Report:
        names = [axis.name for axis in self.points.axes]
        return self.private_report(
            DiffGenReport,
            into,
            seconds,
            spent=tuple(_spent(self.portions)),
            thresholds={LEAVES: self.threshold},
            labels=dict(zip(names, self.chosen.cut.widths, strict=True)),
            specialized=tuple(names[each.piece.position] for each in self.chosen.specializations),
            combinations=self.combinations,
        )

    def labels_record(self, report: Report) -> LabelsRecord | None:
        if row_count(self.engine, labels.CUT) > MAX_RECORDED_LABELS:
            return None
        return recorded_cut(self.engine, self.settings.sets)

    @property
    def conditions(self) -> Sequence[str]:
        return [WITHIN] if self.settings.outside == "refuse" else ()


def _spent(portions: Portions) -> list[Spent]:
    spent: dict[str, Fraction] = {}
    for charge in portions.given:
        spent[charge.purpose] = spent.get(charge.purpose, Fraction(0)) + charge.budget.epsilon
    position = portions.given[-1].position
    return [Spent(step=purpose, budget=Budget(epsilon), position=position) for purpose, epsilon in spent.items()]
