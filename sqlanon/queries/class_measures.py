"""Cells → equivalence classes at a node, each with every measure that privacy models bound.

A class relation has one row per class: its rows, its weight, and a column per measure.
Measures come from *views* of a class, each a query of its own over the cells: its size, the rows of each value of a
sensitive column, the values in their order, the labels above them, the people that it matches in the population, and
what an attacker may know. The public macros turn a view into a measure.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import prod

from sqlglot import exp

from sqlanon.model.criteria import Bound, Measure
from sqlanon.queries.encoding import INDIVIDUAL, WEIGHT, Encoding, row_sum
from sqlanon.queries.grouping import (
    CLASS_ROWS,
    CLASS_WEIGHT,
    INDIVIDUALS,
    NODE,
    ROWS,
    Grouping,
    as_measure,
    measure_column,
    sum_of,
)
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    added,
    aliased,
    all_of,
    c,
    column,
    count_distinct,
    f,
    grouped,
    left_join,
    number,
    select,
    subquery,
)
from sqlanon.queries.sensitive_values import SensitiveValues

SQL = Queries("cells")

KEPT = "anon_kept"  # whether a class keeps the bounds of the privacy models


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


def measure_of(encoding: Encoding, bound: Bound) -> exp.Column:
    return column(measure_column(encoding, bound.measure))


def within(encoding: Encoding, bounds: Iterable[Bound]) -> exp.Expr:
    """Whether a class keeps all of these bounds."""
    comparisons = {">=": exp.GTE, "<=": exp.LTE, "<": exp.LT}
    return all_of(
        [
            comparisons[bound.comparison](this=measure_of(encoding, bound), expression=number(bound.threshold))
            for bound in bounds
        ]
    )


def _merged_values(grouping: Grouping) -> SensitiveValues | None:
    """The values of a sensitive column that give the rows of a class as well, so that cells are grouped once less."""
    spec = grouping.encoding.spec
    if spec.individual is not None:
        return None
    found = (SensitiveValues(grouping, name, is_weighted=spec.row_weight is not None) for name in spec.protected)
    return next((values for values in found if values.are_measured and values.have_all_rows), None)


def _whole(grouping: Grouping, merged: SensitiveValues | None, *, with_keys: bool) -> exp.Select:
    """Classes as a whole: rows, individuals, weight."""
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


def concealing_view(grouping: Grouping, measure: Measure) -> exp.Select:
    """The largest risk of a row: its mean over what an attacker may know, spec/mconcealing.md (b)."""
    assert isinstance(measure.argument, tuple)
    prior = dict(measure.argument)
    secrets = [column(grouping.encoding.sensitive(name)) for name in prior]
    chances = {
        known: prod(p if knows else 1 - p for p, knows in zip(prior.values(), known, strict=True))
        for known in itertools.product((False, True), repeat=len(prior))
    }
    # Where nothing is known all records of a class match: that is added to the largest of their other risks, but not if
    # these are sums themselves, whose last digits would depend on it.
    guess = chances.pop((False,)) if len(prior) == 1 else 0
    risks: list[exp.Expr] = []
    for known, chance in chances.items():
        # The rows of a class that agree on the secrets that are known: where all are, those of the record itself.
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
    """The people that each class matches in the population, which has at least those of the class."""
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
