"""Cells → equivalence classes at a node, with every measure that privacy models bound.

A class relation has one row per class: its rows, its weight, and a column per measure.

Measures come from *views* of a class, each a query over the cells: its size, the rows of each sensitive value, the
values in order, the labels above them, its matches in the population, and the knowledge of an attacker. Public macros
turn a view into a measure.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from sqlglot import exp

from sqlanon.model.criteria import Bound, Measure, View
from sqlanon.queries.encoding import INDIVIDUAL, WEIGHT, Encoding, counted, row_sum
from sqlanon.queries.grouping import (
    CLASS_ROWS,
    CLASS_WEIGHT,
    INDIVIDUALS,
    NODE,
    ROWS,
    VALUE_SIZE,
    Grouping,
    as_measure,
    certainties,
    has_certainties,
    measure_column,
    measure_of,
    passing,
    sum_of,
)
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    added,
    aliased,
    all_columns,
    all_of,
    ascending,
    c,
    called,
    cast,
    column,
    copies,
    count_distinct,
    equal_in,
    f,
    grouped,
    identifier,
    left_join,
    made_once,
    number,
    select,
    subquery,
    union_all,
)
from sqlanon.queries.sample_risks import with_risks

SQL = Queries("cells")

KEPT = "anon_kept"  # whether a class keeps the bounds of the privacy models


def class_relation(
    grouping: Grouping, *, with_keys: bool = False, proving: bool = False, measured_from: int = 1
) -> exp.Select:
    """Select the classes of a grouping: rows, weight, measures, and optionally keys and certain shares.

    Measures of classes with fewer rows than ``measured_from`` may be NULL.
    """
    grouping = replace(grouping, proving=proving, measured_from=measured_from)
    spec = grouping.encoding.spec
    # The values of a sensitive column can also count the rows of a class, which saves grouping the cells once more.
    sensitive = spec.protected if spec.individual is None else ()
    found = (SensitiveValues(grouping, name, is_weighted=spec.row_weight is not None) for name in sensitive)
    merged = next((values for values in found if values.give_whole), None)
    views = _views(grouping, merged)
    of_sample = [measure for measure in grouping.encoding.measures if measure.view == "sample"]
    whole = _whole(grouping, merged, with_keys=with_keys or bool(views or of_sample))
    if of_sample:
        whole = with_risks(grouping, whole, of_sample)
    elif not views:
        return whole
    shown = [name for name in whole.named_selects if with_keys or name not in grouping.keys]
    query = select([column(name, "anon_whole") for name in shown], subquery(whole, "anon_whole"))
    if merged is not None and merged.are_sized:
        query.set("with_", exp.With(expressions=merged.steps()))
    for index, view in enumerate(views):
        alias = f"anon_view_{index}"
        own = [item.alias_or_name for item in view.expressions if item.alias_or_name not in grouping.keys]
        query = left_join(query, subquery(view, alias), equal_in(grouping.keys, "anon_whole", alias))
        query = query.select(*(column(name, alias) for name in own), copy=False)
    return query


def within(encoding: Encoding, bounds: Iterable[Bound]) -> exp.Expr:
    return all_of([passing(bound, measure_of(encoding, bound)) for bound in bounds])


def _whole(grouping: Grouping, merged: SensitiveValues | None, *, with_keys: bool) -> exp.Select:
    keys = grouping.columns() if with_keys else []
    if merged is not None:
        return merged.whole(keys)
    columns = [row_sum(name=CLASS_ROWS)]
    if grouping.encoding.spec.individual is not None:
        columns.append(aliased(count_distinct(column(INDIVIDUAL)), INDIVIDUALS))
    if grouping.encoding.spec.row_weight is not None:
        columns.append(aliased(sum_of(WEIGHT), CLASS_WEIGHT))
    return grouped(select([*keys, *columns], grouping.cells()), grouping.columns())


def _views(grouping: Grouping, merged: SensitiveValues | None) -> list[exp.Select]:
    """Select each view of a class that some measure needs and the whole doesn't include."""
    measures = grouping.encoding.measures
    views: list[exp.Select] = []
    for name in grouping.encoding.spec.protected:
        values = SensitiveValues(grouping, name)
        if merged is None or name != merged.name:
            views += values.views(alone=True)
        elif merged.are_sized:
            views += merged.views()
    views += [concealing_view(grouping, measure) for measure in measures if measure.view == "attacker"]
    of_population = [measure for measure in measures if measure.view == "population"]
    if of_population:
        views.append(population_view(grouping, of_population))
    return views


def concealing_view(grouping: Grouping, measure: Measure) -> exp.Select:
    """Select the largest risk of a row: its mean over the knowledge of an attacker, spec/mconcealing.md (b)."""
    assert isinstance(measure.argument, tuple)
    prior = dict(measure.argument)
    secrets = [column(grouping.encoding.sensitive(name)) for name in prior]
    chances = {
        known: prod(p if knows else 1 - p for p, knows in zip(prior.values(), known, strict=True))
        for known in itertools.product((False, True), repeat=len(prior))
    }
    # Without knowledge all records of a class match: this is added to the largest of the other risks, unless they are
    # sums themselves, whose last digits would depend on it.
    guess = chances.pop((False,)) if len(prior) == 1 else 0
    risks: list[exp.Expr] = []
    for known, chance in chances.items():
        # The rows of a class that agree on the known secrets: if all are known, the rows of the record itself.
        matches: exp.Expr = column(ROWS)
        if not all(known):
            shown = [secret.copy() for secret, knows in zip(secrets, known, strict=True) if knows]
            matches = exp.Window(this=sum_of(ROWS), partition_by=[*grouping.columns(), *shown])
        if chance > 0:
            risks.append(exp.Div(this=number(chance), expression=matches))
    total = added(risks or [number(0.0)])
    roles = SQL.given(cells=grouping.cells(), keys=grouping.keys, secrets=secrets, risk=total, guess=guess)
    return roles.query("largest_risks", measure=measure_column(grouping.encoding, measure))


def population_view(grouping: Grouping, measures: Sequence[Measure]) -> exp.Select:
    """Select the people that each class matches in the population, which includes the class."""
    population = f.greatest(c.anon_class_rows, c.anon_people)
    expressions = {
        "population_size": population,
        "presence": exp.Div(this=c.anon_class_rows, expression=population),
        "absent_classes": c.anon_absent,
    }
    return SQL.query(
        "matched_people",
        cells=grouping.cells(),
        people=grouping.people(),
        keys=grouping.keys,
        node=[NODE] if NODE in grouping.keys else [],
        measures=[as_measure(grouping, measure, expressions[measure.name].copy()) for measure in measures],
    )


SHARE = "anon_share"
VALUES = "anon_values"
WORK_BETWEEN = "anon_work_between"
OF_REFERENCE = ("reference_rows", "position", "work_below", "work_above", "most_work")
"""Columns of a value of the reference, see macro ``reference_work``."""

OF_WORK_BETWEEN = (
    "anon_rows_up_to",
    VALUE_SIZE,
    "reference_rows",
    "position",
    "anon_next_position",
    "work_below",
    "anon_next_work_below",
    "crossing",
    "crossing_work",
)
"""The arguments of macro ``work_between``."""

OF_VALUES: Mapping[View, tuple[str, ...]] = {
    "values": (ROWS,),
    "shares": (ROWS, SHARE),
    "sized shares": (ROWS, VALUE_SIZE, SHARE),
    "ordered": (ROWS, WORK_BETWEEN, "work_below", "work_above", "most_work"),
}
"""The columns that measures take, by view that consists of rows of values; one query has them all."""

PROVING: Mapping[View, tuple[str, ...]] = {**OF_VALUES, "shares": OF_VALUES["sized shares"]}
"""The columns that certainties take."""


@dataclass(frozen=True)
class SensitiveValues:
    """The values and labels of a sensitive column in the classes of a grouping."""

    grouping: Grouping
    name: str
    is_weighted: bool = False  # whether values carry the weight of their rows

    @property
    def give_whole(self) -> bool:
        """Whether a measure reads all rows of a class; joining a reference drops rows without a value."""
        have_all_rows = not self.grouping.gaps or all(measure.view == "values" for measure in self._measures)
        return have_all_rows and bool(self._of_values or self._of_labels)

    @cached_property
    def are_sized(self) -> bool:
        """Whether a measure compares the rows of values with the rows of their class."""
        taken = {name for measure in self._of_values for name in self._taken(measure)}
        return bool(self._of_labels) or not taken.isdisjoint({VALUE_SIZE, WORK_BETWEEN})

    def steps(self) -> list[exp.CTE]:
        """Make the rows of values and of classes, on which everything else builds if values are sized."""
        keys = self.grouping.columns()
        sizes = [row_sum(ROWS, VALUE_SIZE), *self._weight(CLASS_WEIGHT)]
        classes = grouped(select([*keys, *sizes], self._made(self._rows)), copies(keys))
        return [made_once(self._rows, self._value_rows()), made_once(self._sizes, classes)]

    def whole(self, keys: list[exp.Expr]) -> exp.Select:
        """Select classes with some keys, rows, weight, and, unless values are sized, measures."""
        if self.are_sized:
            weight = [column(CLASS_WEIGHT)] if self.is_weighted else []
            return select([*keys, aliased(column(VALUE_SIZE), CLASS_ROWS), *weight], self._made(self._sizes))
        whole = [row_sum(ROWS, CLASS_ROWS), *self._weight(CLASS_WEIGHT)]
        columns = [*keys, *whole, *self._measure_columns()]
        return grouped(select(columns, subquery(self._compared(), VALUES)), self.grouping.columns())

    def views(self, *, alone: bool = False) -> list[exp.Select]:
        """Select the measures of classes: of values in one query, and of labels in one query each.

        With ``alone`` each query includes the steps; otherwise the whole has them.
        """
        views = list(map(self._hierarchical, self._of_labels))
        if self._of_values:
            views.insert(0, self.grouping.select(self._measure_columns(), subquery(self._compared(), VALUES)))
        for view in views if alone and self.are_sized else ():
            own = view.args.get("with_")
            view.set("with_", exp.With(expressions=[*self.steps(), *(own.expressions if own else ())]))
        return views

    @property
    def _code(self) -> str:
        return self.grouping.encoding.sensitive(self.name)

    @property
    def _rows(self) -> str:
        return f"{self._code}_rows"

    @property
    def _sizes(self) -> str:
        return f"{self._code}_sizes"

    @property
    def _of_values(self) -> list[Measure]:
        return [measure for measure in self._measures if measure.view in OF_VALUES]

    @property
    def _of_labels(self) -> list[Measure]:
        return [measure for measure in self._measures if measure.view == "hierarchical"]

    @property
    def _measures(self) -> list[Measure]:
        return [measure for measure in self.grouping.encoding.measures if measure.column == self.name]

    def _taken(self, measure: Measure) -> set[str]:
        proving = PROVING[measure.view] if has_certainties(self.grouping, [measure]) else ()
        return {*OF_VALUES[measure.view], *proving}

    def _measure_columns(self) -> list[exp.Alias]:
        """Return the measures of values, and their certainties."""
        columns = []
        for measure in self._of_values:
            assert measure.of_class is not None
            arguments = [] if measure.argument is None else [exp.convert(measure.argument)]
            value = scalar_call(measure.of_class, *map(column, OF_VALUES[measure.view]), *copies(arguments))
            proving = [*map(column, PROVING[measure.view]), *arguments]
            columns += [as_measure(self.grouping, measure, value), *certainties(self.grouping, measure, proving)]
        return columns

    def _compared(self) -> exp.Select:
        """Select the rows of each value in each class, and the reference values of measures."""
        looked_at = {measure.view for measure in self._of_values}
        if not self.are_sized and looked_at <= {"values"}:
            return self._value_rows()
        query = self._sized() if self.are_sized else select([all_columns(VALUES)], subquery(self._value_rows(), VALUES))
        if looked_at & {"shares", "sized shares"}:
            query = self._with_known(query).select(column(SHARE, "anon_known"), copy=False)
        return self._in_order(query) if "ordered" in looked_at else query

    def _in_order(self, values: exp.Select) -> exp.Select:
        """Add the reference of each value, and the work of moving rows to the next value."""
        encoding, code = self.grouping.encoding, column(self._code, VALUES)

        def up_to_here(aggregate: exp.Expr) -> exp.Window:
            rows = exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW")
            keys = self.grouping.columns(VALUES)
            return exp.Window(this=aggregate, partition_by=keys, order=ascending(code.copy()), spec=rows)

        work = called(encoding.reference_work(self.name).table, "anon_work")
        values = values.join(work, on=column("position", "anon_work").eq(code), copy=False).select(
            *(column(each, "anon_work") for each in OF_REFERENCE),
            aliased(cast(up_to_here(exp.Sum(this=column(ROWS, VALUES))), "BIGINT"), "anon_rows_up_to"),
            *(
                aliased(up_to_here(f.lead(column(each, "anon_work"))), f"anon_next_{each}")
                for each in ("position", "work_below")
            ),
            copy=False,
        )
        share = exp.Div(this=column("anon_rows_up_to"), expression=column(VALUE_SIZE))
        on = [
            column("slot", "anon_crossings").eq(scalar_call("share_slot", share)),
            exp.LTE(this=column("least_share", "anon_crossings"), expression=share.copy()),
            exp.GT(this=column("next_share", "anon_crossings"), expression=share.copy()),
        ]
        between = aliased(scalar_call("work_between", *map(column, OF_WORK_BETWEEN)), WORK_BETWEEN)
        query = select([all_columns("anon_in_order"), between], subquery(values, "anon_in_order"))
        crossings = called(encoding.reference_crossings(self.name).table, "anon_crossings")
        return left_join(query, crossings, all_of(on))

    def _sized(self) -> exp.Select:
        grouping = self.grouping
        query = select([all_columns(VALUES), column(VALUE_SIZE, "anon_sizes")], self._made(self._rows, VALUES))
        same = equal_in(grouping.keys, "anon_sizes", VALUES)
        query = query.join(self._made(self._sizes, "anon_sizes"), on=same, copy=False)
        if grouping.measured_from > 1:
            query = query.where(column(VALUE_SIZE, "anon_sizes") >= grouping.measured_from, copy=False)
        return query

    def _with_known(self, query: exp.Select) -> exp.Select:
        known = called(self.grouping.encoding.values(self.name).table, "anon_known")
        same_value = column(self._code, "anon_known").eq(column(self._code, VALUES))
        return query.join(known, on=same_value, copy=False)

    def _value_rows(self) -> exp.Select:
        grouping = self.grouping
        rows = aliased(cast(counted(grouping.encoding), "BIGINT"), ROWS)
        return grouping.select([rows, *self._weight(WEIGHT)], grouping.cells(), column(self._code))

    def _weight(self, name: str) -> list[exp.Alias]:
        return [aliased(sum_of(WEIGHT), name)] if self.is_weighted else []

    def _hierarchical(self, measure: Measure) -> exp.Select:
        """Select the mean of the equal distance between labels, over the levels below the top."""
        assert measure.of_class is not None
        encoding = self.grouping.encoding
        height = encoding.sensitive_height(self.name)
        labelled = f"{self._code}_labelled"
        # Cells are grouped once, and their few values once per level; the label at the bottom is the value.
        known = [
            *(encoding.sensitive_label(self.name, depth) for depth in range(1, height)),
            *map(encoding.label_share, range(height)),
        ]
        values = self._with_known(self._sized()).select(*(column(each, "anon_known") for each in known), copy=False)
        levels = union_all(self._label_shares(level, labelled) for level in range(height))
        shares = [column(ROWS), column(VALUE_SIZE), column(SHARE)]
        distance = exp.Div(this=scalar_call(measure.of_class, *copies(shares)), expression=number(height))
        proven = certainties(self.grouping, measure, [*shares, number(height)])
        columns = [as_measure(self.grouping, measure, distance), *proven]
        query = self.grouping.select(columns, subquery(levels, "anon_labels"))
        query.set("with_", exp.With(expressions=[made_once(labelled, values)]))
        return query

    def _label_shares(self, level: int, labelled: str) -> exp.Select:
        """Select the rows of each label at a level in each class, the rows of the class, and the label's share."""
        encoding = self.grouping.encoding
        size, share = column(VALUE_SIZE), column(encoding.label_share(level))
        keys = self.grouping.columns()
        if level == 0:
            return select([*keys, column(ROWS), size, share], self._made(labelled))
        of_label = {ROWS: sum_of(ROWS), VALUE_SIZE: exp.AnyValue(this=size), SHARE: exp.AnyValue(this=share)}
        columns = [aliased(value, name) for name, value in of_label.items()]
        label = column(encoding.sensitive_label(self.name, level))
        return grouped(select([*keys, *columns], self._made(labelled)), [*copies(keys), label])

    @staticmethod
    def _made(name: str, alias: str | None = None) -> exp.Expr:
        table = exp.Table(this=identifier(name))
        return table if alias is None else exp.alias_(table, alias, table=True, quoted=True)
