"""Cells → equivalence classes at a node, each with every measure that privacy models bound.

A class relation has one row per class: its rows, its weight, and a column per measure.
Measures come from *views* of a class, each a query of its own over the cells: its size, the rows of each value of a
sensitive column, the values in their order, the labels above them, the people that it matches in the population, and
what an attacker may know. The public macros turn a view into a measure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlglot import exp

from sqlanon.model.privacy import CLASS_SIZE, Bound
from sqlanon.queries.cells.encoding import INDIVIDUAL, WEIGHT, Encoding, row_sum
from sqlanon.queries.classes.grouping import CLASS_ROWS, CLASS_WEIGHT, INDIVIDUALS, Grouping, measure_column
from sqlanon.queries.classes.measured import sum_of
from sqlanon.queries.classes.outside_views import concealing_view, population_view
from sqlanon.queries.classes.sensitive_values import SensitiveValues
from sqlanon.queries.kit.nodes import (
    aliased,
    all_of,
    column,
    count_distinct,
    grouped,
    left_join,
    number,
    select,
    subquery,
)

KEPT = "anon_kept"
"""Whether a class keeps the bounds of the privacy models."""


def class_relation(
    grouping: Grouping, *, with_keys: bool = False, proving: bool = False, measured_from: int = 1
) -> exp.Select:
    """The classes of a grouping: rows, weight, measures, and, if they are wanted, keys and what they prove.

    Measures of classes with fewer rows than ``measured_from`` may be NULL.
    """
    grouping = replace(grouping, proving=proving, measured_from=measured_from)
    merged = _merged_values(grouping)
    views = _views(grouping, merged)
    whole = _whole(grouping, merged, with_keys=with_keys or bool(views))
    if not views:
        return whole
    names = [item.alias_or_name for item in whole.expressions]
    shown = [name for name in names if with_keys or name not in grouping.keys]
    query = select([column(name, "anon_whole") for name in shown], subquery(whole, "anon_whole"))
    if merged is not None and merged.are_sized:
        query.set("with_", exp.With(expressions=merged.steps()))
    for index, view in enumerate(views):
        alias = f"anon_view_{index}"
        own = [item.alias_or_name for item in view.expressions if item.alias_or_name not in grouping.keys]
        same = all_of([column(key, "anon_whole").eq(column(key, alias)) for key in grouping.keys])
        query = left_join(query, subquery(view, alias), same)
        query = query.select(*(column(name, alias) for name in own), copy=False)
    return query


def judged_classes(grouping: Grouping, *, with_keys: bool = True) -> exp.Select:
    """Classes with what they prove, and with the measures that tell whether they keep the bounds of the models.

    Classes of too few rows do not, whatever their values are: most values of a node with many classes stand in such.
    """
    criteria = grouping.encoding.criteria
    sizes = [int(bound.required) for bound in criteria.certain_bounds if bound.measure == CLASS_SIZE]
    least = 1 if criteria.counts_individuals else max(sizes, default=1)
    return class_relation(grouping, with_keys=with_keys, proving=True, measured_from=least)


def measure_of(encoding: Encoding, bound: Bound) -> exp.Column:
    """The measure of a class that a bound is on."""
    return column(measure_column(encoding, bound.measure))


def within(encoding: Encoding, bounds: Iterable[Bound]) -> exp.Expr:
    """Whether a class keeps all of these bounds."""
    return all_of([_kept(measure_of(encoding, bound), bound) for bound in bounds])


def _kept(measure: exp.Expr, bound: Bound) -> exp.Expr:
    comparison = {">=": exp.GTE, "<=": exp.LTE, "<": exp.LT}[bound.comparison]
    return comparison(this=measure, expression=number(bound.threshold))


def _merged_values(grouping: Grouping) -> SensitiveValues | None:
    """The values of a sensitive column that give the rows of a class as well, so that cells are grouped once less."""
    spec = grouping.encoding.spec
    if spec.individual is not None:
        return None
    found = (SensitiveValues(grouping, name, is_weighted=spec.row_weight is not None) for name in spec.protected)
    return next((values for values in found if values.are_measured), None)


def _whole(grouping: Grouping, merged: SensitiveValues | None, *, with_keys: bool) -> exp.Select:
    """What a class is as a whole: rows, individuals, weight."""
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
    """One query for each view of a class that some measure needs and the whole does not give already."""
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
