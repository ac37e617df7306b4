"""Top-down specialization: search for a cut from the top down, and publish all rows at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy, refuse_inexact
from sqlanon.engines.duckdb import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.joint.beside import cells_beside, joint_shortfalls, keys_of
from sqlanon.joint.persons import cut_classes
from sqlanon.methods import points
from sqlanon.methods.base import Comparison, Measured, TakesEnums
from sqlanon.methods.cut_pieces import Cut
from sqlanon.methods.points import Points
from sqlanon.methods.stages import Stages
from sqlanon.methods.syntactic import SyntacticPublication, SyntacticRun, report_of_classes
from sqlanon.methods.top_down.specialize import (
    ROWS,
    SQL,
    Chosen,
    CountedParts,
    first_specialized,
    mean_loss,
    specialized,
)
from sqlanon.model.labels import CutRecord
from sqlanon.model.methods.cut_methods import TopDownSpecialization
from sqlanon.model.release import Guarantee, Report, RowCounts
from sqlanon.nodes.table import UnknownRows, find_unknown_rows, unknown_notes
from sqlanon.queries.encoding import EARLIER, ROW_COUNT, row_sum
from sqlanon.queries.joint_persons import persons_beside
from sqlanon.queries.kit.macros import cast_value
from sqlanon.queries.kit.nodes import (
    Step,
    aliased,
    ascending,
    column,
    copies,
    count_rows,
    filtered,
    grouped,
    number,
    select,
    subquery,
)
from sqlanon.queries.published_rows import EQUAL_ROWS
from sqlanon.queries.source import SourceColumn
from sqlanon.queries.source_rows import ABSENT, absent_persons
from sqlanon.release import guarantee as shared
from sqlanon.release.publishing import GroupedRows, row_mismatches

STOPPED = "the search was stopped: more labels could have given way to their children"


@dataclass(frozen=True)
class PointTable:
    points: Points
    row_count: int
    unknown: UnknownRows


@dataclass(frozen=True)
class CutChoice:
    chosen: Chosen
    alone: Chosen | None = None


@dataclass(frozen=True, kw_only=True)
class CutPublication(SyntacticPublication):
    table: PointTable
    chosen: Chosen
    cut: CutRecord
    loss: float
    loss_alone: float | None


class TopDownRun(SyntacticRun[PointTable, CutChoice, CutPublication]):
    takes_far_rows = True
    instead_of_node = "it chooses labels of several levels"

    @property
    def settings(self) -> TopDownSpecialization:
        return TopDownSpecialization.of(self.bound.policy)

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        numeric, problems = TopDownSpecialization.of(bound.policy).numeric, list[str]()
        for found in bound.columns:
            if found.name in numeric and not found.traits.is_number:
                problems.append(f"{found.no_number}, or give it a taxonomy")
            elif found.name in bound.policy.quasi_identifiers and found.traits.is_list:
                problems.append(
                    f'"{found.name}" is {found.type}: a set of items has no one label at a cut; the method "diffgen" '
                    "takes such predictors"
                )
        if problems:
            raise PolicyError(f"the policy does not fit {bound.description}:", problems)
        refuse_inexact(bound)
        return bound

    def encode(self) -> PointTable:
        engine, bound = self.engine, self.bound
        earlier = cells_beside(engine, bound, self.request.earlier).earlier
        (target,) = bound.policy.sensitive
        unknown = find_unknown_rows(engine, bound.cells)
        row_count = _row_count(engine, bound, target)
        found = points.found_axes(engine, bound, self.settings.numeric)
        points.read_rows(engine, found, bound.source, column(target), refuses_outside=True, earlier=earlier)
        if earlier is not None:
            engine.run(absent_persons(points.POINTS, column(EARLIER)))
        return PointTable(found, row_count, unknown)

    def refuse_rows(self, table: PointTable) -> None:
        rows, k = table.row_count, self.settings.k
        if rows == 0:
            raise PolicyError(f"{self.bound.description} has no rows: there is nothing to anonymize")
        if k > rows:
            raise UnsatisfiableError(
                f"no class can have {k:,} rows:",
                [f"there are {rows:,} rows", f"k = {rows:,} is the largest that would do"],
            )

    def search(self, table: PointTable, stages: Stages) -> CutChoice:
        engine, axes, is_joint = self.engine, table.points.axes, bool(self.request.earlier)
        with stages.stage("search"):
            evidence = CountedParts(engine, is_joint=is_joint)
            k, stopped = self.settings.k, self.stopped
            if not is_joint:
                return CutChoice(specialized(axes, table.row_count, k, evidence, stopped))
            chosen = specialized(axes, _smallest_joint_class(engine, self.bound), k, evidence, stopped)
            engine.drop(ROWS)
            return CutChoice(chosen, specialized(axes, table.row_count, k, CountedParts(engine), stopped))

    def choice_without_rows(self, table: PointTable) -> CutChoice:
        evidence = CountedParts(self.engine, is_joint=bool(self.request.earlier))
        return CutChoice(first_specialized(table.points.axes, evidence))

    def make(self, table: PointTable, choice: CutChoice) -> CutPublication:
        engine, bound, unknown, loss_alone = self.engine, self.bound, table.unknown.suppressed, None
        if choice.alone is not None:
            loss_alone = self._make_cut(table, choice.alone)
            for made in (points.GIVEN_PIECES, points.CUT):
                engine.drop(made)
        loss = self._make_cut(table, choice.chosen)
        engine.run(equal_rows(choice.chosen.cut, bound.published_columns))
        rows = table.row_count
        notes = () if choice.chosen.is_final else (STOPPED,)
        return CutPublication(
            bound=bound,
            groups=GroupedRows(bound, rows, bound.policy.quasi_identifiers),
            rows=RowCounts(source=rows + unknown, released=rows, masked=0, dropped=0, unknown=unknown),
            attained=[choice.chosen.smallest],
            notes=(*notes, *unknown_notes(bound.policy, table.unknown)),
            table=table,
            chosen=choice.chosen,
            cut=points.recorded_cut(engine),
            loss=loss,
            loss_alone=loss_alone,
        )

    def _make_cut(self, table: PointTable, chosen: Chosen) -> float:
        self.engine.put(points.GIVEN_PIECES, points.given_pieces(chosen.cut, table.points.ranges))
        self.engine.run(points.SQL.step(points.CUT, "labelled_cut"))
        return mean_loss(self.engine, table.points.axes, chosen, table.row_count)

    def released_rows(self, made: CutPublication, takes_enums: TakesEnums) -> exp.Query:
        return points.rows_at_cut(made.bound.published_columns)

    def compare(
        self, made: CutPublication, written: ResolvedSource, companions: Mapping[str, ResolvedSource]
    ) -> Comparison:
        bound, earlier = made.bound, self.request.earlier
        unlike = points.unlike_what_was_made(bound.published_columns, written.relation)
        differences = row_mismatches(self.engine, unlike)
        if not earlier:
            return Comparison(differences)
        present = cut_classes(self.engine, bound, made.cut, written.relation, len(earlier))
        persons = persons_beside(present, keys_of(bound, earlier[0].keys), as_text=earlier[0].as_text)
        joint, of_joint = joint_shortfalls(self.engine, earlier, bound, bound.cells, present, persons)
        return Comparison([*differences, *of_joint], joint)

    def report(self, made: CutPublication, measured: Measured, into: str, seconds: Mapping[str, float]) -> Report:
        """Make the report.

        ``loss`` is LM, the mean over rows and predictors of (values under the label - 1) / (values - 1), where the
        values of a number are the steps of its range. It measures generality, not how well labels predict.
        """
        bound, chosen = made.bound, made.chosen
        names = [axis.name for axis in made.table.points.axes]
        return report_of_classes(
            Report,
            bound,
            measured.measurement,
            into,
            seconds,
            heights=bound.lattice.named(bound.heights),
            quality="lm",
            loss=made.loss,
            losses={"lm": made.loss},
            rows=made.rows,
            suppressed_rows=0,
            unknown_rows=dict(made.table.unknown.by_column),
            search=bound.policy.method.name,
            notes=made.notes,
            labels=dict(zip(names, chosen.cut.widths, strict=True)),
            specialized=tuple(names[each.piece.position] for each in chosen.specializations),
            joint=measured.joint,
            loss_alone=made.loss_alone,
        )

    def labels_record(self, made: CutPublication, report: Report) -> CutRecord:
        return made.cut

    def guarantee(self, made: CutPublication, report: Report) -> Guarantee:
        (target,) = self.bound.policy.sensitive
        plain = shared.guarantee(self.bound.policy, report)
        not_covered = [
            f'labels were chosen because they predict "{target}", so that rows of a class have much the same value; '
            "values that all rows of a class share are disclosed",
            "which labels there are depends on the data, and says something about it beyond the rows",
            "syntactic models bound no attacker's inference: this is not differential privacy",
        ]
        if numeric := self.settings.numeric:
            columns = ", ".join(f'"{name}"' for name in numeric)
            not_covered.insert(
                0,
                f"bounds of the intervals of {columns} come from the data: each that is not an end of the range is a "
                "value that some row has",
            )
        return Guarantee(
            claims=(
                *plain.claims,
                f'every row of the source stands for one row of the release, whose labels and "{target}" are true of '
                "it",
            ),
            conditions=plain.conditions,
            not_covered=tuple(not_covered),
        )


def _row_count(engine: Compute, bound: BoundPolicy, target: str) -> int:
    """Count the rows; refuse NULL in any of them."""
    names = [*bound.policy.quasi_identifiers, target]
    nulls = [
        aliased(filtered(count_rows(), column(name).is_(exp.null())), f"null_{place}")
        for place, name in enumerate(names)
    ]
    query = select([aliased(count_rows(), "rows"), *nulls], bound.source.copy())
    counts = engine.fetch(query, "rows, and NULL among them")[0]
    problems = [
        f'"{name}" is NULL in {counts[f"null_{place}"]:,} rows'
        for place, name in enumerate(names)
        if counts[f"null_{place}"]
    ]
    if problems:
        raise PolicyError(
            f"{bound.policy.method} leaves no row out, and NULL has no label: give it a value in a view, such as "
            "coalesce(column, '?') with a taxonomy that has it, or leave such rows out there:",
            problems,
        )
    return int(counts["rows"])


def _smallest_joint_class(engine: Compute, bound: BoundPolicy) -> int:
    """Return the size of the smallest joint class when each predictor has one label.

    Refuses too small a class, and joint classes of earlier releases with too few persons without a row.
    """
    k = TopDownSpecialization.of(bound.policy).k
    counts = engine.fetch(SQL.query("joint_parts", absent=ABSENT, k=k), "joint classes")[0]
    problems = []
    if counts["short_classes"]:
        problems.append(
            f"joint classes that have fewer than {k:,} rows in {bound.description} at one label for all: "
            f"{counts['short_classes']:,} (the fewest: {counts['smallest']:,})"
        )
    if counts["left_classes"]:
        problems.append(
            f"joint classes of earlier releases that lack 1 to {k - 1:,} of their persons in {bound.description}: "
            f"{counts['left_classes']:,}"
        )
    if problems:
        can_help = 'what can help: method = "full-domain", which leaves rows out, or a smaller k'
        raise UnsatisfiableError(
            f"{bound.policy.method} leaves no row out, so that it cannot hold together with the earlier releases:",
            [*problems, can_help],
        )
    return int(counts["smallest"])


def equal_rows(cut: Cut, columns: Sequence[SourceColumn]) -> Step:
    places = [column(_first(axis.position), "anon_groups") for axis in cut.axes]
    target = column(points.CLASS, "anon_groups")
    query = select([], subquery(_grouped_points(cut), "anon_groups"))
    positions = {axis.name: axis.position for axis in cut.axes}
    for found in columns:
        position = positions.get(found.name)
        shown: exp.Expr = cast_value(target, found.traits.released_as)
        if position is not None:
            alias = f"anon_labels_{position}"
            on = exp.and_(
                column("position", alias).eq(number(position)),
                column("first", alias).eq(column(_first(position), "anon_groups")),
                copy=False,
            )
            query = query.join(exp.alias_(points.CUT.table, alias, table=True), on=on, copy=False)
            shown = column("label", alias)
        query = query.select(aliased(shown, found.name), copy=False)
    query = query.select(column(ROW_COUNT, "anon_groups"), copy=False)
    query.set("order", ascending(*places, target.copy()))
    return Step(EQUAL_ROWS, query, "equal rows")


def _grouped_points(cut: Cut) -> exp.Select:
    query = select([], exp.alias_(points.POINTS.table, "anon_points", table=True))
    keys: list[exp.Expr] = []
    for axis in cut.axes:
        first: exp.Expr = number(0)
        if len(cut.pieces[axis.position]) > 1:
            alias, value = f"anon_firsts_{axis.position}", points.value_column(axis.position)
            on = column("value", alias).eq(column(value, "anon_points"))
            firsts = points.values_in(points.CUT, axis.position, ["first"])
            query = query.join(subquery(firsts, alias), on=on, copy=False)
            first = column("first", alias)
            keys.append(first)
        query = query.select(aliased(first, _first(axis.position)), copy=False)
    target = column(points.CLASS, "anon_points")
    query = query.select(target, row_sum(), copy=False)
    return grouped(query, [*copies(keys), target.copy()])


def _first(position: int) -> str:
    return f"anon_first_{position}"
