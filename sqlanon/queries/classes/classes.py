"""Cells → equivalence classes at a node, each with every measure that privacy models bound.

A class relation has one row per class: its rows, its weight, and a column per measure.
Measures come from *views* of a class, each a query of its own over the cells: its size, the rows of each value of a
sensitive column, the values in their order, the labels above them, the people that it matches in the population, and
what an attacker may know. The public macros turn a view into a measure.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.model.privacy import Bound, Measure, View
from sqlanon.queries.cells.encoding import INDIVIDUAL, WEIGHT, Encoding, counted, row_sum
from sqlanon.queries.classes.grouping import CLASS_ROWS, INDIVIDUALS, Grouping, measure_column
from sqlanon.queries.classes.in_order import WORK_BETWEEN, in_order
from sqlanon.queries.classes.measured import ROWS, VALUE_SIZE, as_measure, certainties, has_certainties, sum_of
from sqlanon.queries.classes.outside_views import concealing_view, population_view
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import (
    aliased,
    all_columns,
    all_of,
    column,
    copies,
    count_distinct,
    grouped,
    identifier,
    made_once,
    number,
    select,
    subquery,
    union_all,
)

CLASS_WEIGHT = "anon_class_weight"
KEPT = "anon_kept"
"""Whether a class keeps the bounds of the privacy models."""

OF_VALUES: Mapping[View, tuple[str, ...]] = {
    "values": (ROWS,),
    "shares": (ROWS, "anon_share"),
    "sized shares": (ROWS, VALUE_SIZE, "anon_share"),
    "ordered": (ROWS, WORK_BETWEEN, "work_below", "work_above", "most_work"),
}
"""The views that are rows of values, and the columns that their measures take: one query has all of these."""


def class_relation(grouping: Grouping, *, with_keys: bool = False, proving: bool = False) -> exp.Select:
    """The classes of a grouping: rows, weight, measures, and, if they are wanted, keys and what they prove."""
    grouping = replace(grouping, proving=proving)
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
    measures = _columns_of_values(grouping, name)
    return grouped(select([*keys, *columns, *measures], subquery(values, "anon_values")), grouping.columns())


def _views(grouping: Grouping, merged: str | None) -> list[exp.Select]:
    """One query for each view of a class that some measure needs and the whole does not give already."""
    measures = grouping.encoding.measures
    views = []
    for name in grouping.encoding.spec.protected:
        if name != merged and _value_measures(grouping, name):
            views.append(_values_view(grouping, name))
        own = [measure for measure in measures if measure.column == name]
        views += [_hierarchical_view(grouping, measure) for measure in own if measure.view == "hierarchical"]
    views += [concealing_view(grouping, measure) for measure in measures if measure.view == "attacker"]
    of_population = [measure for measure in measures if measure.view == "population"]
    if of_population:
        views.append(population_view(grouping, of_population))
    return views


def _value_measures(grouping: Grouping, name: str) -> list[Measure]:
    """The measures that follow from the rows of the values of a sensitive column."""
    return [measure for measure in grouping.encoding.measures if measure.column == name and measure.view in OF_VALUES]


def _values_view(grouping: Grouping, name: str) -> exp.Select:
    measures = _columns_of_values(grouping, name)
    return grouping.select(measures, subquery(_values(grouping, name), "anon_values"))


def _columns_of_values(grouping: Grouping, name: str) -> list[exp.Alias]:
    """The measures that follow from the rows of the values of a sensitive column, and what they prove."""
    return list(
        itertools.chain.from_iterable(
            _columns_of_measure(grouping, measure) for measure in _value_measures(grouping, name)
        )
    )


def _columns_of_measure(grouping: Grouping, measure: Measure) -> list[exp.Alias]:
    assert measure.of_class is not None
    looked_at: list[exp.Expr] = [column(name) for name in OF_VALUES[measure.view]]
    sized = [column(name) for name in OF_VALUES["sized shares" if measure.view == "shares" else measure.view]]
    arguments = [] if measure.argument is None else [exp.convert(measure.argument)]
    value = scalar_call(measure.of_class, *copies([*looked_at, *arguments]))
    return [as_measure(grouping, measure, value), *certainties(grouping, measure, [*sized, *arguments])]


def _values(grouping: Grouping, name: str, carried: Sequence[exp.Alias] = ()) -> exp.Select:
    """The rows of each value of a sensitive column in each class, and what its measures compare them with."""
    rows = _value_rows(grouping, name, carried)
    looked_at = {measure.view for measure in _value_measures(grouping, name)}
    if looked_at <= {"values"}:
        return rows
    code = grouping.encoding.sensitive(name)
    query = select([all_columns("anon_values")], subquery(rows, "anon_values"))
    if looked_at & {"shares", "sized shares"}:
        known = exp.alias_(grouping.encoding.values(name).table, "anon_known", table=True)
        query = query.join(known, on=column(code, "anon_known").eq(column(code, "anon_values")), copy=False)
        query = query.select(column("anon_share", "anon_known"), copy=False)
    if looked_at & {"sized shares", "ordered"} or has_certainties(grouping, _value_measures(grouping, name)):
        size = exp.Window(this=sum_of(ROWS, "anon_values"), partition_by=grouping.columns("anon_values"))
        query = query.select(aliased(size, VALUE_SIZE), copy=False)
    return in_order(grouping, name, query) if "ordered" in looked_at else query


def _value_rows(grouping: Grouping, name: str, carried: Sequence[exp.Alias] = ()) -> exp.Select:
    """The rows (or individuals) of each value of a sensitive column in each class."""
    rows = aliased(counted(grouping.encoding), ROWS)
    return grouping.select([rows, *carried], grouping.cells(), column(grouping.encoding.sensitive(name)))


def _hierarchical_view(grouping: Grouping, measure: Measure) -> exp.Select:
    """The mean over the levels below the top of the equal distance between labels."""
    assert measure.column is not None
    height = grouping.encoding.sensitive_height(measure.column)
    values = f"{grouping.encoding.sensitive(measure.column)}_labelled"
    levels = union_all(_label_shares(grouping, measure.column, level, values) for level in range(height))
    assert measure.of_class is not None
    shares = [column(ROWS), column(VALUE_SIZE), column("anon_share")]
    distance = exp.Div(this=scalar_call(measure.of_class, *copies(shares)), expression=number(height))
    proven = certainties(grouping, measure, [*shares, number(height)])
    query = grouping.select([as_measure(grouping, measure, distance), *proven], subquery(levels, "anon_labels"))
    # Cells are grouped once, and their few values by every level.
    query.set("with_", exp.With(expressions=[made_once(values, _labelled_values(grouping, measure.column))]))
    return query


def _labelled_values(grouping: Grouping, name: str) -> exp.Select:
    """The rows of each value of a sensitive column in each class, those of the class, its labels and their shares."""
    encoding = grouping.encoding
    code, depths = encoding.sensitive(name), range(encoding.sensitive_height(name))
    known = exp.alias_(encoding.values(name).table, "anon_known", table=True)
    size = exp.Window(this=sum_of(ROWS, "anon_values"), partition_by=grouping.columns("anon_values"))
    columns = [
        *grouping.columns("anon_values"),
        column(ROWS, "anon_values"),
        aliased(size, VALUE_SIZE),
        *(column(encoding.sensitive_label(name, depth), "anon_known") for depth in depths),
        *(column(encoding.label_share(depth), "anon_known") for depth in depths),
    ]
    query = select(columns, subquery(_value_rows(grouping, name), "anon_values"))
    return query.join(known, on=column(code, "anon_known").eq(column(code, "anon_values")), copy=False)


def _label_shares(grouping: Grouping, name: str, level: int, values: str) -> exp.Select:
    """The rows of each label at a level in each class, those of the class, and the label's share, from its values."""
    size, share = column(VALUE_SIZE), column(grouping.encoding.label_share(level))
    relation = exp.Table(this=identifier(values))
    if level == 0:
        return select([*grouping.columns(), column(ROWS), size, share], relation)
    columns = [
        *grouping.columns(),
        aliased(sum_of(ROWS), ROWS),
        aliased(exp.AnyValue(this=size), VALUE_SIZE),
        aliased(exp.AnyValue(this=share), "anon_share"),
    ]
    label = column(grouping.encoding.sensitive_label(name, level))
    return grouped(select(columns, relation), [*grouping.columns(), label])


def _weight(grouping: Grouping, name: str) -> list[exp.Alias]:
    return [] if grouping.encoding.spec.row_weight is None else [aliased(sum_of(WEIGHT), name)]
