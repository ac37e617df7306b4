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
    chances = {
        known: prod(p if knows else 1 - p for p, knows in zip(prior.values(), known, strict=True))
        for known in itertools.product((False, True), repeat=len(prior))
    }
    # Where nothing is known all records of a class match: that is added to the largest of their other risks, but not if
    # these are sums themselves, whose last digits would depend on it.
    guess = chances.pop((False,)) if len(prior) == 1 else 0
    risks = [_risk(chance, _matches(grouping, secrets, known)) for known, chance in chances.items() if chance > 0]
    total = functools.reduce(lambda left, right: exp.Add(this=left, expression=right), risks or [number(0.0)])
    exposed = select(
        [*grouping.columns(), column(ROWS), aliased(total, "anon_risk")], subquery(records, "anon_records")
    )
    largest = exp.Add(this=exp.Max(this=column("anon_risk")), expression=_risk(guess, sum_of(ROWS)))
    # The probabilities of all states may sum to a last digit more than 1.
    worst = as_measure(grouping, measure, exp.func("least", largest, number(1.0)))
    return grouping.select([worst], subquery(exposed, "anon_exposed"))


def _risk(chance: float, matches: exp.Expr) -> exp.Expr:
    """The risk of a row that matches so many, in a state of knowledge of this probability."""
    return exp.Div(this=number(chance), expression=matches)


def _matches(grouping: Grouping, secrets: Sequence[exp.Expr], known: Sequence[bool]) -> exp.Expr:
    """The rows of a class that agree on the secrets that are known: where all are, those of the record itself."""
    if all(known):
        return column(ROWS)
    shown = [secret.copy() for secret, knows in zip(secrets, known, strict=True) if knows]
    return exp.Window(this=sum_of(ROWS), partition_by=[*grouping.columns(), *shown])


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
