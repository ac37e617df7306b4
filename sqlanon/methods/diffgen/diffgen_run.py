"""DiffGen: labels are specialized at random, and all combinations get noise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pydantic import Field
from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.stored_taxonomies import leaf_of
from sqlanon.chance.accountant import Portions
from sqlanon.chance.scales import difference_sensitivity, scale_for
from sqlanon.engines.duckdb import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.methods import points
from sqlanon.methods.base import Comparison, Measured, TakesEnums
from sqlanon.methods.chance import SELECTIONS, bounded_source, refuse_observed, row_count
from sqlanon.methods.cut_pieces import ItemAxis
from sqlanon.methods.diffgen import diffgen_queries as queries
from sqlanon.methods.diffgen import draws
from sqlanon.methods.diffgen.diffgen_queries import SQL
from sqlanon.methods.diffgen.draws import Chosen
from sqlanon.methods.points import Points
from sqlanon.methods.private import PrivatePublication, PrivateRun, no_category, refusing_small_budgets
from sqlanon.methods.stages import Stages
from sqlanon.model.budget import Budget
from sqlanon.model.labels import LabelsRecord
from sqlanon.model.methods.cut_methods import CUTS, DiffGen
from sqlanon.model.release import PrivateReport, Report, Spent
from sqlanon.queries.kit.nodes import column, try_cast
from sqlanon.release.publishing import released_sizes, row_mismatches

MAX_RECORDED_LABELS = 10_000
"""The most labels of a cut that the record of its release lists; a companion table holds any number."""

WITHIN = "everybody may know that all numbers are within their ranges: that a run is refused says that some are not"

MAX_CHILDREN = 12  # per label of items: all 2^12 combinations of them are counted


class DiffGenReport(PrivateReport):
    """The numbers of a run of DiffGen.

    Attributes:
        combinations: the number of combinations of labels and class, with or without rows.
    """

    specialized: tuple[str, ...] = Field((), title="quasi-identifiers in the order in which they were specialized")
    combinations: int = Field(title="combinations of labels and class")


@dataclass(frozen=True)
class PaidPoints:
    points: Points
    portions: Portions


@dataclass(frozen=True, kw_only=True)
class DiffGenPublication(PrivatePublication):
    table: PaidPoints
    chosen: Chosen
    combinations: int
    threshold: int


class DiffGenRun(PrivateRun[Points, PaidPoints, Chosen, DiffGenPublication]):
    takes_far_rows = True
    report_class = DiffGenReport
    about_rows = "There are as many rows of each combination of labels as a noisy count says: none stands for a person."
    instead_of_node = "it draws labels of several levels"
    instead_of_time_limit = "it makes all draws that its policy says; take fewer specializations"

    @property
    def theorem(self) -> str:
        return (
            f"{SELECTIONS[self.settings.selection]} and the exponential mechanism on all splits of a public range; "
            "geometric mechanism on all combinations of the domain; adaptive composition, in which what is left is "
            "spent last"
        )

    @property
    def settings(self) -> DiffGen:
        return DiffGen.of(self.bound.policy)

    @property
    def companions(self) -> Sequence[str]:
        return (CUTS,) if CUTS in self.request.tables else ()

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        return checked(bound)

    @property
    def released_types(self) -> Mapping[str, str]:
        sets = dict.fromkeys(self.settings.sets, "VARCHAR[]")
        return {**super().released_types, **sets, **dict.fromkeys(self.settings.added_columns, "BIGINT")}

    def encode(self) -> Points:
        return encode(self.engine, self.bound, bounded_source(self.engine, self.bound, self.chance.source))

    def charge(self, table: Points) -> PaidPoints:
        return PaidPoints(table, self.accountant.charge_in_portions(self.settings.name, self.settings.budget))

    def search(self, table: PaidPoints, stages: Stages) -> Chosen:
        read, settings = table.points, self.settings
        with stages.stage("search"):
            evidence = draws.CountedRows(self.engine, settings.utility)
            drawing = draws.Draws(settings, self.chance.source, table.portions)
            return draws.specialized(read.axes, read.classes, settings.specializations, evidence, drawing)

    def make(self, table: PaidPoints, choice: Chosen) -> DiffGenPublication:
        engine, bound, read, cut = self.engine, self.bound, table.points, choice.cut
        charge = table.portions.rest(draws.LEAVES)
        combinations, threshold = draws.draw_leaves(
            engine, cut, read.classes, self.settings, self.chance.source, charge
        )
        engine.put(points.GIVEN_PIECES, points.given_pieces(cut, read.ranges))
        engine.put(queries.PLACES, queries.places(cut))
        engine.run(points.SQL.step(points.CUT, "labelled_cut"))
        engine.run(queries.equal_rows(cut, read.classes, bound.published_columns, target_of(bound)))
        rows, groups = released_sizes(engine)
        return DiffGenPublication(
            bound=bound,
            row_count=rows,
            group_count=groups,
            table=table,
            chosen=choice,
            combinations=combinations,
            threshold=threshold,
        )

    def released_rows(self, made: DiffGenPublication, takes_enums: TakesEnums) -> exp.Query:
        return points.rows_at_cut(made.bound.published_columns, self.settings.count_column)

    def companion_rows(self, made: DiffGenPublication) -> Mapping[str, exp.Query]:
        return {name: points.SQL.query("cut_rows") for name in self.companions}

    def compare(
        self, made: DiffGenPublication, written: ResolvedSource, companions: Mapping[str, ResolvedSource]
    ) -> Comparison:
        columns, counts = made.bound.published_columns, self.settings.count_column
        differences = row_mismatches(self.engine, points.unlike_what_was_made(columns, written.relation, counts))
        if CUTS in companions:
            rows = points.SQL.query("cut_rows")
            rows.set("order", None)
            query = points.SQL.query("cut_mismatches", rows=rows, written=companions[CUTS].relation)
            if unlike := self.engine.fetch(query, "the cut that was written")[0]["unlike"]:
                differences.append(f"the table of cuts differs in {unlike:,} rows from the cut of the release")
        return Comparison(differences)

    def report(self, made: DiffGenPublication, measured: Measured, into: str, seconds: Mapping[str, float]) -> Report:
        names = [axis.name for axis in made.table.points.axes]
        given, spent = made.table.portions.given, dict[str, Fraction]()
        for charge in given:
            spent[charge.purpose] = spent.get(charge.purpose, Fraction(0)) + charge.budget.epsilon
        return self.private_report(
            DiffGenReport,
            made,
            into,
            seconds,
            spent=tuple(
                Spent(step=purpose, budget=Budget(epsilon), position=given[-1].position)
                for purpose, epsilon in spent.items()
            ),
            thresholds={draws.LEAVES: made.threshold},
            labels=dict(zip(names, made.chosen.cut.widths, strict=True)),
            specialized=tuple(names[each.piece.position] for each in made.chosen.specializations),
            combinations=made.combinations,
        )

    def labels_record(self, made: DiffGenPublication, report: Report) -> LabelsRecord | None:
        if row_count(self.engine, points.CUT) > MAX_RECORDED_LABELS:
            return None
        return points.recorded_cut(self.engine, self.settings.sets)

    @property
    def conditions(self) -> Sequence[str]:
        return [WITHIN] if self.settings.outside == "refuse" else ()


def target_of(bound: BoundPolicy) -> tuple[int, str]:
    """Return the position of the taxonomy of classes, behind all predictors, and their column."""
    (target,) = bound.policy.sensitive
    return len(bound.policy.quasi_identifiers), target


def encode(engine: Compute, bound: BoundPolicy, source: exp.Table | exp.Subquery) -> Points:
    settings, target = DiffGen.of(bound.policy), target_of(bound)
    found = points.found_axes(engine, bound, settings.numeric, settings.sets, [target])
    problems = [
        f'the taxonomy of the items of "{axis.name}" has a label with {most:,} children, more than {MAX_CHILDREN}: '
        "put a level between"
        for axis in found.axes
        if isinstance(axis, ItemAxis) and (most := _most_children(axis)) > MAX_CHILDREN
    ]
    if found.classes < 2:
        problems.append(f'the taxonomy of "{target[1]}" has {found.classes} class: all rows are equal in it')
    if problems:
        raise PolicyError("the policy does not fit the taxonomies:", problems)
    _refuse_classes(engine, bound)
    points.read_rows(engine, found, source, leaf_of(*target), refuses_outside=settings.outside == "refuse")
    return found


def _refuse_classes(engine: Compute, bound: BoundPolicy) -> None:
    """Refuse a type that cannot hold all classes: any may be drawn."""
    position, target = target_of(bound)
    kind = next(found.traits.released_as for found in bound.columns if found.name == target)
    query = SQL.query("classes_of_no_type", position=position, held=try_cast(column("value"), kind))
    if kind != "VARCHAR" and engine.fetch(query, "classes of no type")[0]["classes"]:
        raise PolicyError(
            f"the policy does not fit {bound.description}:",
            [f'"{target}" is {kind}, and not all values of its taxonomy are: cast it to VARCHAR in a view'],
        )


def _most_children(axis: ItemAxis) -> int:
    most, open_pieces = 0, [axis.root]
    while open_pieces:
        children = axis.children(open_pieces.pop())
        most = max(most, len(children))
        open_pieces += children
    return most


def checked(bound: BoundPolicy) -> BoundPolicy:
    """Refuse observed taxonomies, columns of unfit types and too small a budget, or return the policy."""
    refuse_observed(bound)
    if problems := list(_misfits(bound)):
        raise PolicyError(f"the policy does not fit {bound.description}:", problems)
    settings = DiffGen.of(bound.policy)
    with refusing_small_budgets(settings):
        change, monotonic = draws.sensitivity(settings), draws.is_monotonic(settings)
        scale_for(settings.step, difference_sensitivity(change, monotonic=monotonic))
    return bound


def _misfits(bound: BoundPolicy) -> Iterator[str]:
    settings = DiffGen.of(bound.policy)
    (target,) = bound.policy.sensitive
    for found in bound.columns:
        if found.name in settings.numeric and not found.traits.is_number:
            yield f"{found.no_number}, or give it a taxonomy"
        elif found.name in settings.sets and not found.traits.is_list:
            yield points.no_list(found)
        elif found.name in bound.policy.quasi_identifiers and found.name not in settings.sets and found.traits.is_list:
            yield f'"{found.name}" is {found.type}: name it in sets of the method'
        elif found.name == target and not found.traits.can_be_rebuilt:
            yield no_category(found)
