"""Microaggregation: rows are grouped with those of the nearest numbers, and published with the means of groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import Field
from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.methods.base import Comparison, Measured, TakesEnums
from sqlanon.methods.microaggregation.grouping import Grouped, Grouping, named
from sqlanon.methods.points import rows_at_cut, unlike_what_was_made
from sqlanon.methods.stages import Stages
from sqlanon.methods.syntactic import SyntacticPublication, SyntacticRun, report_of_classes
from sqlanon.model.labels import LabelsRecord
from sqlanon.model.methods.microaggregation import Microaggregation
from sqlanon.model.names import counted, in_quotes
from sqlanon.model.release import Guarantee, Report, RowCounts
from sqlanon.model.release.measurement import models_table
from sqlanon.queries.encoding import ROW_COUNT, encoding_for, row_sum
from sqlanon.queries.kit.nodes import (
    Step,
    aliased,
    all_of,
    ascending,
    called,
    cast,
    column,
    copies,
    grouped,
    number,
    same,
    select,
    subquery,
)
from sqlanon.queries.published_rows import EQUAL_ROWS, can_be_grouped, kept_columns
from sqlanon.queries.source import SourceColumn
from sqlanon.release.guarantee import CHOSEN_NODE
from sqlanon.release.publishing import GroupedRows, key_blocks, refuse_repeated, row_mismatches
from sqlanon.report.document import Part, Table, figure, paragraph, percent

NUMERIC = "{} is compared as a category, though its texts are numbers: give it a number's type to compare distances"
STOPPED = "the search was stopped: rows that were in no group by then joined the last one of their block"


class MicroaggregationReport(Report):
    """The numbers of a run of microaggregation; ``loss`` is SSE/SST over all columns.

    SSE/SST is the share of variance that groups lose; of categories, the share of rows that show another.

    Attributes:
        il1s: the mean change of a value: of a number, in √2 standard deviations of its column; of a category, 0 or 1.
        alike_groups: the share of groups whose rows were all equal, so that their values are those of the source.
        column_losses: by quasi-identifier, SSE/SST and IL1s per value.
    """

    il1s: float = Field(title="mean change, in √2 standard deviations; 1 for another category (IL1s)")
    alike_groups: float = Field(title="share of groups whose rows were equal")
    column_losses: dict[str, tuple[float, float]]

    @property
    def search_in_words(self) -> str:
        seconds = f"{sum(self.seconds.values()):.2f} s"
        return f"A heuristic: {self.class_count:,} groups lose {percent(self.loss)} (SSE/SST), in {seconds}."

    def summary(self) -> Iterator[Part]:
        """Show what groups lose, by column, and the privacy models."""
        yield paragraph(self.search_in_words)
        rows = [(name, figure(square), figure(change)) for name, (square, change) in self.column_losses.items()]
        yield Table(("quasi-identifier", "SSE/SST", "IL1s per value"), rows, numbers=(1, 2))
        yield models_table(self.models)
        yield from self.of_method()


@dataclass(frozen=True)
class CountedNumbers:
    """Counts of the rows, whose cells are in a table."""

    grouping: Grouping
    rows: int
    left_out: int  # rows with NULL where fewer than k rows have it
    numeric: tuple[str, ...]  # the categories whose texts are all numbers


@dataclass(frozen=True, kw_only=True)
class GroupsPublication(SyntacticPublication):
    choice: Grouped


def is_category(found: SourceColumn) -> bool:
    """Return whether values are equal if and only if their texts are."""
    return found.traits.is_text or found.traits.is_enum or found.traits.has_one_text


class MicroaggregationRun(SyntacticRun[CountedNumbers, bool, GroupsPublication]):
    is_repeatable = True
    instead_of_node = "each group has values of its own"
    report_class = MicroaggregationReport
    about_rows = "Quasi-identifiers are means, medians or modes of groups of rows."

    @property
    def settings(self) -> Microaggregation:
        return Microaggregation.of(self.bound.policy)

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        wrong = [each for each in self._quasi_identifiers(bound) if not (each.traits.is_number or is_category(each))]
        if wrong:
            what_helps = "cast them in a view, or make them sensitive or insensitive"
            others = "neither a number nor a text, enum, boolean, UUID, date or time without a zone"
            kinds = [f"{in_quotes(each.name)} is {each.type}, {others}" for each in wrong]
            method, problems = bound.policy.method, [*kinds, f"what can help: {what_helps}"]
            raise PolicyError(
                f"{method} groups numbers and categories, and does not fit {bound.description}:", problems
            )
        return bound

    def _quasi_identifiers(self, bound: BoundPolicy) -> list[SourceColumn]:
        return [each for each in bound.columns if each.name in bound.policy.quasi_identifiers]

    def encode(self) -> CountedNumbers:
        bound, policy = self.bound, self.bound.policy
        categories = [each.name for each in self._quasi_identifiers(bound) if not each.traits.is_number]
        columns, weight = policy.quasi_identifiers, policy.row_weight
        grouping = Grouping(self.engine, bound.source, columns, categories, weight, self.settings)
        found = grouping.read()
        rows, left_out, k = int(found["rows"]), int(found["pattern_rows"]), self.settings.k
        if rows and rows < k:
            lines = [f"rows: {rows:,}", *([f"k = {rows:,} is the largest that would do"] * (rows > 1))]
            raise UnsatisfiableError(f"no group of {self.bound.description} can have {k:,} rows:", lines)
        self._refuse_values(found)
        if left_out > policy.allowed_rows(rows) or (left_out and left_out == rows):
            raise UnsatisfiableError(
                f"{left_out:,} of {rows:,} rows have NULL in the same columns as fewer than {k:,} rows, and would be "
                f"left out ({policy.allowed_rows(rows):,} may be, suppression_limit {policy.suppression_limit:g}):",
                [
                    f"combinations of such columns: {found['patterns']:,}",
                    "what can help: numbers in place of NULL in a view, fewer quasi-identifiers, a smaller k, or a "
                    "larger suppression_limit",
                ],
            )
        numeric = (name for place, name in enumerate(columns) if found.get(f"anon_numeric_{place}"))
        return CountedNumbers(grouping, rows, left_out, tuple(numeric))

    def _refuse_values(self, found: Mapping[str, int]) -> None:
        policy, names = self.bound.policy, self.bound.policy.quasi_identifiers
        wrong = dict(zip(names, named("wrong", range(len(names))), strict=True))
        what = "with NaN, an infinity or a number beyond 1e100; make them NULL in a view"
        problems = [
            f'"{name}": {counted(found[count], "row")} {what}' for name, count in wrong.items() if found.get(count)
        ]
        if found["unweighed"]:
            rows = counted(found["unweighed"], "row")
            problems.append(f'"{policy.row_weight}": {rows} with NULL, or not between 1e-12 and 1e12')
        if found["rows"] and not any(found[each] for each in named("varying", range(len(names)))):
            problems.append("no quasi-identifier varies, so that all rows are alike: there is nothing to group")
        if problems:
            raise PolicyError(f"{policy.method} cannot group the rows of {self.bound.description}:", problems)

    def refuse_rows(self, table: CountedNumbers) -> None:
        if not table.rows:
            raise PolicyError(f"{self.bound.description} has no rows: there is nothing to anonymize")

    def search(self, table: CountedNumbers, stages: Stages) -> bool:
        with stages.stage("search"):
            return table.grouping.group(self.stopped)

    def make(self, table: CountedNumbers, choice: bool) -> GroupsPublication:
        bound, released, made = self.bound, table.rows - table.left_out, table.grouping.values()
        blocks = key_blocks(bound.policy, self.request.pseudonym_key)
        self.engine.run(Step(EQUAL_ROWS, self._equal_rows(table.grouping), "equal rows"), blocks)
        refuse_repeated(self.engine, bound.policy)
        return GroupsPublication(
            bound=bound,
            groups=GroupedRows(bound, released, bound.policy.quasi_identifiers),
            rows=RowCounts(source=table.rows, released=released, masked=0, dropped=table.left_out, unknown=0),
            notes=(*map(NUMERIC.format, map(in_quotes, table.numeric)), *([] if choice else [STOPPED])),
            choice=made,
        )

    def _equal_rows(self, grouping: Grouping) -> exp.Query:
        """Select the rows with the values of their groups, equal ones once, in the order of their own columns."""
        bound, names = self.bound, self.bound.policy.quasi_identifiers
        kept = kept_columns(encoding_for(bound.cells, bound.policy.criteria, label_losses=()), of_cells=False)
        places = range(len(names))
        pairs = zip(named("x", places), names, strict=True)
        on = all_of([same(column(x, "anon_shown"), grouping.value(name, "anon_source")) for x, name in pairs])
        released = {each.name: each.traits.released_as for each in bound.columns if each.name in grouping.categories}
        shown = [
            aliased(cast(column(y, "anon_shown"), released.get(name, "DOUBLE")), name)
            for y, name in zip(named("y", places), names, strict=True)
        ]
        values = [*(aliased(each.value, each.name) for each in kept), *(key for each in kept for key in each.keys)]
        rows = select([*shown, *values, aliased(number(1), ROW_COUNT)], called(bound.source, "anon_source"))
        rows = rows.join(subquery(grouping.points, "anon_shown"), on=on, copy=False)
        keys = {name: [column(name)] for name in names}
        keys |= {each.name: [column(name) for name in each.key_names] for each in kept}
        if can_be_grouped(kept):
            alike = [key for of_column in keys.values() for key in of_column]
            any_value = [aliased(exp.AnyValue(this=column(each.name)), each.name) for each in kept if each.keys]
            counted = select([*copies(alike), *any_value, row_sum()], subquery(rows, "anon_rows"))
            rows = grouped(counted, copies(alike))
        published = [found.name for found in bound.published_columns]
        query = select(map(column, [*published, ROW_COUNT]), subquery(rows, "anon_published"))
        query.set("order", ascending(*(key.copy() for name in published for key in keys[name])))
        return query

    def released_rows(self, made: GroupsPublication, takes_enums: TakesEnums) -> exp.Query:
        return rows_at_cut(made.bound.published_columns)

    def verify(
        self, made: GroupsPublication, written: ResolvedSource, companions: Mapping[str, ResolvedSource]
    ) -> Measured:
        """Measure the written groups; refuse those that do not protect sensitive values as the policy asks."""
        measured = super().verify(made, written, companions)
        failed = [each for each in measured.measurement.models if each.met is False and each.column is not None]
        if failed:
            raise UnsatisfiableError(
                "groups of rows with close numbers do not meet privacy models of sensitive columns, and nothing is "
                "published:",
                [
                    *(f"{each.model}: attained {figure(each.attained)}" for each in failed),
                    'what can help: a larger k, a weaker model, or method = "mondrian", which sees sensitive values',
                ],
            )
        return measured

    def compare(
        self, made: GroupsPublication, written: ResolvedSource, companions: Mapping[str, ResolvedSource]
    ) -> Comparison:
        unlike = unlike_what_was_made(made.bound.published_columns, written.relation)
        return Comparison(row_mismatches(self.engine, unlike))

    def report(self, made: GroupsPublication, measured: Measured, into: str, seconds: Mapping[str, float]) -> Report:
        lost, policy = made.choice, made.bound.policy
        return report_of_classes(
            MicroaggregationReport,
            made.bound,
            measured.measurement,
            into,
            seconds,
            quality="sse_over_sst",
            loss=lost.loss,
            losses={"sse_over_sst": lost.loss, "il1s": lost.mean_change},
            rows=made.rows,
            suppressed_rows=made.rows.dropped,
            search=policy.method.name,
            notes=made.notes,
            after=measured.measurement.exposure,
            il1s=lost.mean_change,
            alike_groups=lost.alike / max(lost.groups, 1),
            column_losses=dict(zip(policy.quasi_identifiers, lost.by_column, strict=True)),
        )

    def labels_record(self, made: GroupsPublication, report: Report) -> LabelsRecord | None:
        return None

    def guarantee(self, made: GroupsPublication, report: Report) -> Guarantee:
        plain, k = super().guarantee(made, report), self.settings.k
        value: str = self.settings.value
        if value != "mode" and not all(each.traits.is_number for each in self._quasi_identifiers(self.bound)):
            value = f"{value} or mode"
        columns = ", ".join(map(in_quotes, self.bound.policy.quasi_identifiers))
        return Guarantee(
            claims=(
                *plain.claims,
                f"{k:,} rows of the source or more have the same values of {columns}, taken together: the {value} of "
                "their group",
            ),
            conditions=plain.conditions,
            not_covered=(
                *(each for each in plain.not_covered if each != CHOSEN_NODE),
                f"the {value} of equal values is the value: it is that of every row of such a group",
                "whoever knows all values of a group but one can work out the last one, or narrow it down",
                "which rows are close to each other was found in the data, and says something about it",
                "numbers are not those of one row: the variance of a column shrinks, and correlations grow",
            ),
        )
