"""Views of a class from outside: what an attacker may know of its rows, and the people of the population it matches."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from math import prod

from sqlglot import exp

from sqlanon.model.privacy import Measure
from sqlanon.queries.cells.encoding import PEOPLE, ROW_COUNT
from sqlanon.queries.classes.grouping import NODE, Grouping
from sqlanon.queries.classes.measured import ROWS, as_measure, sum_of
from sqlanon.queries.kit.nodes import aliased, column, filtered, number, select, subquery, union_all


def concealing_view(grouping: Grouping, measure: Measure) -> exp.Select:
    """The largest risk of a row: its mean over what an attacker may know, spec/mconcealing.md (b)."""
    assert isinstance(measure.argument, tuple)
    prior = dict(measure.argument)
    secrets = [column(grouping.encoding.sensitive(name)) for name in prior]
    records = grouping.select([aliased(sum_of(ROW_COUNT), ROWS)], grouping.cells(), *secrets)
    risks: list[exp.Expr] = []
    for known in itertools.product((False, True), repeat=len(prior)):
        probability = prod(p if knows else 1 - p for p, knows in zip(prior.values(), known, strict=True))
        if probability > 0:
            shown = [secret.copy() for secret, knows in zip(secrets, known, strict=True) if knows]
            matches = exp.Window(this=sum_of(ROWS), partition_by=[*grouping.columns(), *shown])
            risks.append(exp.Div(this=number(probability), expression=matches))
    total = functools.reduce(lambda left, right: exp.Add(this=left, expression=right), risks)
    # The probabilities of all states may sum to a last digit more than 1.
    risk = exp.func("least", total, number(1.0))
    exposed = select([*grouping.columns(), aliased(risk, "anon_risk")], subquery(records, "anon_records"))
    worst = as_measure(grouping, measure, exp.Max(this=column("anon_risk")))
    return grouping.select([worst], subquery(exposed, "anon_exposed"))


def population_view(grouping: Grouping, measures: Sequence[Measure]) -> exp.Select:
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
        [aliased(sum_of(ROW_COUNT), "anon_class_rows"), aliased(sum_of(PEOPLE), PEOPLE)],
        subquery(both, "anon_both"),
    )
    columns = [as_measure(grouping, measure, expressions[measure.name].copy()) for measure in measures]
    counts = select([exp.Star(), aliased(absent, "anon_absent")], subquery(matched, "anon_matched"))
    present = exp.GT(this=column("anon_class_rows"), expression=number(0))
    return select([*grouping.columns(), *columns], subquery(counts, "anon_counts")).where(present, copy=False)
