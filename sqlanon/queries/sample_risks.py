"""Risks of a sample in its population: the macros over its classes, which are counted once. See ``sql/risk.sql``.

Columns of the verb have names of their own: ``key_1``, ``key_2``, ..., ``weight`` and ``household``. Privacy models
take the classes of nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.model.criteria import Measure
from sqlanon.queries.encoding import ROW_COUNT, Encoding
from sqlanon.queries.encoding import WEIGHT as CELL_WEIGHT
from sqlanon.queries.grouping import CLASS_ROWS, CLASS_WEIGHT, NODE, Grouping, as_measure
from sqlanon.queries.kit.macros import cast_value, scalar_call, table_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    bits,
    column,
    copies,
    f,
    names,
    number,
    select,
    string,
    subquery,
)

ROWS = Relation("anon_risk_rows", "row")
CELLS = Relation("anon_risk_cells", "class")
SPECIAL = Relation("anon_risk_special", "cell")
SQL = Queries("risk", {"cells": CELLS, "special": SPECIAL})

WEIGHT, HOUSEHOLD = "weight", "household"


def key_names(keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"key_{place}" for place, _ in enumerate(keys, start=1))


def sampled(source: exp.Expr, keys: Sequence[str], weight: str | float, household: str | None) -> exp.Subquery:
    """Select keys, weights and households of a source; a number is the weight of every row."""
    columns: list[exp.Expr] = [aliased(column(key), name) for key, name in zip(keys, key_names(keys), strict=True)]
    given = column(weight) if isinstance(weight, str) else number(weight)
    home = exp.null() if household is None else column(household)
    columns += [aliased(cast_value(given, "DOUBLE"), WEIGHT), aliased(home, HOUSEHOLD)]
    return subquery(select(columns, source.copy()), "anon_sampled")


def copied(rows: exp.Subquery) -> Step:
    return Step(ROWS, select([exp.Star()], rows), "read the source")


def light_classes(rows: exp.Expr, keys: Sequence[str], size: str | int = 1, weight: str = WEIGHT) -> exp.Query:
    """Select one row, ``class_count``: the classes that stand for fewer people than they have rows."""
    return SQL.query("light_classes", source=rows.copy(), keys=keys, rows=size, weight=weight)


def cells(rows: exp.Expr, keys: Sequence[str], nulls: str) -> Step:
    """Make :data:`CELLS` of the classes of a sample, where NULL is a value, or fits any."""
    listed = names([*keys])
    classes = table_call("weighted_classes", rows.copy(), listed, string(WEIGHT))
    if nulls == "any":
        classes = table_call("fitting_classes", subquery(classes, "anon_classes"), listed)
    query = table_call("risk_classes", subquery(classes, "anon_classes"), listed, exp.convert(nulls == "value"))
    return Step(CELLS, query, "classes of the sample, with both estimates of their risk")


def bracket() -> exp.Query:
    return table_call("risk_sums", CELLS.table)


def uniques(population: float) -> exp.Query:
    """Select one row: pitman, zayatz, snb, estimate, estimator."""
    estimates = map(column, ("pitman", "zayatz", "snb", "estimate", "estimator"))
    found = table_call("uniques_of_classes", CELLS.table, number(float(population)))
    return select([*estimates], subquery(found, "anon_uniques"))


def matches(row_count: int, weight_sum: float, least: float, greatest: float) -> exp.Query:
    """Select one row: anon_others, anon_correct_match; NULL where weights differ by too much."""
    odds = scalar_call("odds_by_weights", *map(number, (row_count, weight_sum, least, greatest)))
    return table_call("matches_of_classes", CELLS.table, odds)


def special(keys: Sequence[str], max_size: int, nulls: str) -> Step:
    """Make :data:`SPECIAL`: the rows that at most ``max_size`` keys single out, without NULL if it fits any value."""
    alike = subquery(SQL.query("alike_rows", keys=keys), "anon_alike")
    query = table_call("special_rows", alike, names([*keys]), number(max_size), exp.convert(nulls == "any"))
    return Step(SPECIAL, query, "special rows of the sample")


def contributions(keys: Sequence[str]) -> exp.Query:
    """Select attribute, set_count, score and contribution of each key."""
    return table_call("key_contributions", SPECIAL.table, names([*keys]))


def households(rows: exp.Expr, keys: Sequence[str]) -> exp.Query:
    """Select one row: households, those that are found by single members, and by all members together."""
    cells, listed = CELLS.table, names([*keys])
    members = table_call("household_members", rows.copy(), cells, listed, string(WEIGHT), string(HOUSEHOLD))
    return table_call("risk_of_households", subquery(members, "anon_members"))


# Classes of nodes


def light_cells(encoding: Encoding) -> exp.Query:
    return light_classes(encoding.cells.table, encoding.word_columns, ROW_COUNT, CELL_WEIGHT)


def with_risks(grouping: Grouping, whole: exp.Select, measures: Sequence[Measure]) -> exp.Select:
    """Add the risks of classes of a sample, whose weights are summed: those of labels over all rows of the node."""
    encoding, classes = grouping.encoding, "anon_weighed"
    # No class stands for fewer people than it has rows, but for rounding.
    rows, people = column(CLASS_ROWS, classes), f.greatest(column(CLASS_WEIGHT, classes), column(CLASS_ROWS, classes))
    node = [column(NODE, classes)] if NODE in grouping.keys else []

    def people_by(*labels: exp.Expr) -> exp.Window:
        return exp.Window(this=exp.Sum(this=people.copy()), partition_by=[*copies(node), *labels])

    expected: exp.Expr = people_by()
    for position in range(len(encoding.spec.quasi_identifiers)):
        masks = encoding.keys.label_masks(position, 0)
        words = {encoding.key(word): mask for word, mask in masks.items()}
        label = [bits(column(word, classes), number(mask)) for word, mask in words.items() if word in grouping.keys]
        expected = exp.Mul(this=expected, expression=exp.Div(this=people_by(*label), expression=people_by()))
    sampled = exp.Div(this=rows.copy(), expression=people.copy())
    unsampled = exp.Mul(this=expected, expression=exp.Paren(this=exp.Sub(this=number(1), expression=sampled)))
    by_weights = scalar_call("negative_binomial_risk", rows, people)
    by_margins = scalar_call("poisson_mean_risk", rows.copy(), unsampled)
    columns = []
    for measure in measures:
        risk = (by_margins if measure.name.endswith("poisson_risk") else by_weights).copy()
        columns.append(
            as_measure(grouping, measure, exp.Mul(this=rows.copy(), expression=risk) if measure.is_mean else risk)
        )
    return select([*(column(name, classes) for name in whole.named_selects), *columns], subquery(whole, classes))
