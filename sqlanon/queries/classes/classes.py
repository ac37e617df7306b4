"""Cells → equivalence classes at a node, each with every measure that privacy models bound.

A class relation has one row per class: its rows, its weight, and a column per measure.
Measures come from *views* of a class, each a query of its own over the cells: its size, the rows of each value of a
sensitive column, the values in their order, the labels above them, the people that it matches in the population, and
what an attacker may know. The public macros turn a view into a measure.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence
from math import prod

from sqlglot import exp

from sqlanon.model.privacy import Bound, Measure, View
from sqlanon.queries.cells.encoding import INDIVIDUAL, PEOPLE, ROW_COUNT, WEIGHT, Encoding, counted, row_sum
from sqlanon.queries.classes.grouping import CLASS_ROWS, INDIVIDUALS, NODE, Grouping, measure_column
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import (
    aliased,
    all_of,
    column,
    count_distinct,
    filtered,
    grouped,
    number,
    select,
    subquery,
    union_all,
)

CLASS_WEIGHT = "anon_class_weight"
KEPT = "anon_kept"
"""Whether a class keeps the bounds of the privacy models."""

ROWS = "anon_rows"
VALUE_SIZE = "anon_value_size"

OF_VALUES: tuple[View, ...] = ("values", "shares", "sized shares")
"""The views that are rows of values: one query has all of their measures."""


def class_relation(grouping: Grouping, *, with_keys: bool = False) -> exp.Select:
    """The classes of a grouping: rows, weight, measures, and keys if they are wanted."""
    merged = _merged_column(grouping)
    views = _views(grouping, merged)
    keys = with_keys or bool(views)
    whole = _whole(grouping, keys) if merged is None else _whole_by_value(grouping, keys, merged)
    if not views:
        return whole
    names = [item.alias_or_name for item in whole.expressions]
    shown = [name for name in names if with_keys or name not in grouping.keys]
    query = select([column(name, "anon_whole") for name in shown], subquery(whole, "anon_whole"))
    for index, view in enumerate(views):
        alias = f"anon_view_{index}"
        own = [item.alias_or_name for item in view.expressions if item.alias_or_name not in grouping.keys]
        same = all_of([column(key, "anon_whole").eq(column(key, alias)) for key in grouping.keys])
        query = query.join(subquery(view, alias), on=same, copy=False)
        query = query.select(*(column(name, alias) for name in own), copy=False)
    return query


def measure_of(encoding: Encoding, bound: Bound) -> exp.Column:
    """The measure of a class that a bound is on."""
    return column(measure_column(encoding, bound.measure))


def within(encoding: Encoding, bounds: Iterable[Bound]) -> exp.Expr:
    """Whether a class keeps all of these bounds."""
    return all_of([_kept(measure_of(encoding, bound), bound) for bound in bounds])


def _kept(measure: exp.Expr, bound: Bound) -> exp.Expr:
    comparison = {">=": exp.GTE, "<=": exp.LTE, "<": exp.LT}[bound.comparison]
    return comparison(this=measure, expression=number(bound.threshold))


def _merged_column(grouping: Grouping) -> str | None:
    """The sensitive column whose view gives the rows of a class as well, so that cells are grouped once less."""
    spec = grouping.encoding.spec
    columns = [name for name in spec.protected if _value_measures(grouping, name)]
    return columns[0] if columns and spec.individual is None else None


def _whole(grouping: Grouping, with_keys: bool) -> exp.Select:
    """What a class is as a whole: rows, individuals, weight."""
    columns = [row_sum(name=CLASS_ROWS)]
    if grouping.encoding.spec.individual is not None:
        columns.append(aliased(count_distinct(column(INDIVIDUAL)), INDIVIDUALS))
    columns += _weight(grouping, CLASS_WEIGHT)
    keys = grouping.columns() if with_keys else []
    return grouped(select([*keys, *columns], grouping.cells()), grouping.columns())


def _whole_by_value(grouping: Grouping, with_keys: bool, name: str) -> exp.Select:
    """The same from the rows of the values of a sensitive column, with its measures."""
    values = _values(grouping, name, _weight(grouping, WEIGHT))
    columns = [row_sum(ROWS, CLASS_ROWS), *_weight(grouping, CLASS_WEIGHT)]
    keys = grouping.columns() if with_keys else []
    measures = [_value_measure(grouping, measure) for measure in _value_measures(grouping, name)]
    return grouped(select([*keys, *columns, *measures], subquery(values, "anon_values")), grouping.columns())


def _views(grouping: Grouping, merged: str | None) -> list[exp.Select]:
    """One query for each view of a class that some measure needs and the whole does not give already."""
    measures = grouping.encoding.measures
    views = []
    for name in grouping.encoding.spec.protected:
        if name != merged and _value_measures(grouping, name):
            views.append(_values_view(grouping, name))
        own = [measure for measure in measures if measure.column == name]
        views += [_ordered_view(grouping, measure) for measure in own if measure.view == "ordered"]
        views += [_hierarchical_view(grouping, measure) for measure in own if measure.view == "hierarchical"]
    views += [_concealing_view(grouping, measure) for measure in measures if measure.view == "attacker"]
    of_population = [measure for measure in measures if measure.view == "population"]
    if of_population:
        views.append(_population_view(grouping, of_population))
    return views


def _value_measures(grouping: Grouping, name: str) -> list[Measure]:
    """The measures that follow from the rows of the values of a sensitive column."""
    return [measure for measure in grouping.encoding.measures if measure.column == name and measure.view in OF_VALUES]


def _values_view(grouping: Grouping, name: str) -> exp.Select:
    measures = [_value_measure(grouping, measure) for measure in _value_measures(grouping, name)]
    return grouping.select(measures, subquery(_values(grouping, name), "anon_values"))


def _value_measure(grouping: Grouping, measure: Measure) -> exp.Alias:
    assert measure.of_class is not None
    arguments: list[exp.Expr] = [column(ROWS)]
    arguments += [column(VALUE_SIZE)] if measure.view == "sized shares" else []
    arguments += [] if measure.view == "values" else [column("anon_share")]
    arguments += [] if measure.argument is None else [exp.convert(measure.argument)]
    return _as_measure(grouping, measure, scalar_call(measure.of_class, *arguments))


def _values(grouping: Grouping, name: str, carried: Sequence[exp.Alias] = ()) -> exp.Select:
    """The rows of each value of a sensitive column in each class, and what its measures compare them with."""
    rows = _value_rows(grouping, name, carried)
    looked_at = {measure.view for measure in _value_measures(grouping, name)}
    if looked_at <= {"values"}:
        return rows
    code = grouping.encoding.sensitive(name)
    known = exp.alias_(grouping.encoding.values(name).table, "anon_known", table=True)
    everything = exp.Column(this=exp.Star(), table=exp.to_identifier("anon_values", quoted=True))
    query = select([everything, column("anon_share", "anon_known")], subquery(rows, "anon_values"))
    query = query.join(known, on=column(code, "anon_known").eq(column(code, "anon_values")), copy=False)
    if "sized shares" in looked_at:
        size = exp.Window(this=_sum(ROWS, "anon_values"), partition_by=grouping.columns("anon_values"))
        query = query.select(aliased(size, VALUE_SIZE), copy=False)
    return query


def _value_rows(grouping: Grouping, name: str, carried: Sequence[exp.Alias] = ()) -> exp.Select:
    """The rows (or individuals) of each value of a sensitive column in each class."""
    rows = aliased(counted(grouping.encoding), ROWS)
    return grouping.select([rows, *carried], grouping.cells(), column(grouping.encoding.sensitive(name)))


def _ordered_view(grouping: Grouping, measure: Measure) -> exp.Select:
    """Up to every value of the whole table, in its order: the shares of the class's rows and of the table's."""
    assert measure.column is not None
    code = grouping.encoding.sensitive(measure.column)
    rows = subquery(_value_rows(grouping, measure.column), "anon_values")
    known = exp.alias_(grouping.encoding.values(measure.column).table, "anon_known", table=True)
    reached = exp.LTE(this=column(code, "anon_values"), expression=column(code, "anon_known"))
    share = exp.Div(
        this=exp.func("coalesce", filtered(_sum(ROWS, "anon_values"), reached), number(0)),
        expression=_sum(ROWS, "anon_values"),
    )
    keys = grouping.columns("anon_values")
    positions = select(
        [
            *keys,
            aliased(share, "anon_reached"),
            aliased(exp.AnyValue(this=column("anon_cumulative", "anon_known")), "anon_cumulative"),
        ],
        rows,
    ).join(known, join_type="cross", copy=False)
    positions = grouped(positions, [*(key.copy() for key in keys), column(code, "anon_known")])
    assert measure.of_class is not None
    distance = scalar_call(measure.of_class, column("anon_reached"), column("anon_cumulative"))
    return grouping.select([_as_measure(grouping, measure, distance)], subquery(positions, "anon_positions"))


def _hierarchical_view(grouping: Grouping, measure: Measure) -> exp.Select:
    """The mean over the levels below the top of the equal distance between labels."""
    assert measure.column is not None
    height = grouping.encoding.sensitive_height(measure.column)
    levels = union_all(_label_shares(grouping, measure.column, level) for level in range(height))
    assert measure.of_class is not None
    distance = exp.Div(
        this=scalar_call(measure.of_class, column(ROWS), column(VALUE_SIZE), column("anon_share")),
        expression=number(height),
    )
    return grouping.select([_as_measure(grouping, measure, distance)], subquery(levels, "anon_labels"))


def _label_shares(grouping: Grouping, name: str, level: int) -> exp.Select:
    """The rows of each label of a sensitive column at a level, those of the class, and the label's share."""
    encoding = grouping.encoding
    code, label = encoding.sensitive(name), encoding.sensitive_label(name, level)
    known = exp.alias_(encoding.values(name).table, "anon_known", table=True)
    values = select(
        [
            *grouping.columns("anon_values"),
            column(ROWS, "anon_values"),
            column(label, "anon_known"),
            aliased(column(encoding.label_share(level), "anon_known"), "anon_share"),
        ],
        subquery(_value_rows(grouping, name), "anon_values"),
    ).join(known, on=column(code, "anon_known").eq(column(code, "anon_values")), copy=False)
    rows = _sum(ROWS)
    size = exp.Window(this=exp.Sum(this=_sum(ROWS)), partition_by=grouping.columns())
    return grouped(
        select(
            [
                *grouping.columns(),
                aliased(rows, ROWS),
                aliased(size, VALUE_SIZE),
                aliased(exp.AnyValue(this=column("anon_share")), "anon_share"),
            ],
            subquery(values, "anon_values"),
        ),
        [*grouping.columns(), column(label)],
    )


def _concealing_view(grouping: Grouping, measure: Measure) -> exp.Select:
    """The largest risk of a row: its mean over what an attacker may know, spec/mconcealing.md (b)."""
    assert isinstance(measure.argument, tuple)
    prior = dict(measure.argument)
    secrets = [column(grouping.encoding.sensitive(name)) for name in prior]
    records = grouping.select([aliased(_sum(ROW_COUNT), ROWS)], grouping.cells(), *secrets)
    risks: list[exp.Expr] = []
    for known in itertools.product((False, True), repeat=len(prior)):
        probability = prod(p if knows else 1 - p for p, knows in zip(prior.values(), known, strict=True))
        if probability > 0:
            shown = [secret.copy() for secret, knows in zip(secrets, known, strict=True) if knows]
            matches = exp.Window(this=_sum(ROWS), partition_by=[*grouping.columns(), *shown])
            risks.append(exp.Div(this=number(probability), expression=matches))
    total = functools.reduce(lambda left, right: exp.Add(this=left, expression=right), risks)
    # The probabilities of all states may sum to a last digit more than 1.
    risk = exp.func("least", total, number(1.0))
    exposed = select([*grouping.columns(), aliased(risk, "anon_risk")], subquery(records, "anon_records"))
    worst = _as_measure(grouping, measure, exp.Max(this=column("anon_risk")))
    return grouping.select([worst], subquery(exposed, "anon_exposed"))


def _population_view(grouping: Grouping, measures: Sequence[Measure]) -> exp.Select:
    """The people that each class matches in the population, which has at least those of the class."""
    zero = number(0)
    both = union_all(
        [
            select([*grouping.columns(), column(ROW_COUNT), aliased(zero.copy(), PEOPLE)], grouping.cells()),
            select([*grouping.columns(), aliased(zero, ROW_COUNT), column(PEOPLE)], grouping.people()),
        ]
    )
    rows, population = column("anon_class_rows"), exp.func("greatest", column("anon_class_rows"), column(PEOPLE))
    absent = exp.Window(
        this=filtered(exp.Count(this=exp.Star(), big_int=True), rows.copy().eq(number(0))),
        partition_by=[column(NODE)] if NODE in grouping.keys else [],
    )
    expressions: dict[str, exp.Expr] = {
        "population_size": population,
        "presence": exp.Div(this=rows.copy(), expression=population.copy()),
        "absent_classes": column("anon_absent"),
    }
    matched = grouping.select(
        [aliased(_sum(ROW_COUNT), "anon_class_rows"), aliased(_sum(PEOPLE), PEOPLE)],
        subquery(both, "anon_both"),
    )
    columns = [_as_measure(grouping, measure, expressions[measure.name].copy()) for measure in measures]
    counts = select([exp.Star(), aliased(absent, "anon_absent")], subquery(matched, "anon_matched"))
    present = exp.GT(this=column("anon_class_rows"), expression=number(0))
    return select([*grouping.columns(), *columns], subquery(counts, "anon_counts")).where(present, copy=False)


def _as_measure(grouping: Grouping, measure: Measure, value: exp.Expr) -> exp.Alias:
    return aliased(value, measure_column(grouping.encoding, measure))


def _weight(grouping: Grouping, name: str) -> list[exp.Alias]:
    return [] if grouping.encoding.spec.row_weight is None else [aliased(_sum(WEIGHT), name)]


def _sum(name: str, table: str | None = None) -> exp.Sum:
    return exp.Sum(this=column(name, table))
