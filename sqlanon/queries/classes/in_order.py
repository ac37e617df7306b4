"""The values of classes in their order, and what it takes to move rows between them: the ordered distance."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.queries.classes.grouping import Grouping
from sqlanon.queries.classes.measured import ROWS, VALUE_SIZE
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import (
    aliased,
    all_columns,
    all_of,
    ascending,
    cast,
    column,
    left_join,
    select,
    subquery,
)

WORK_BETWEEN = "anon_work_between"
OF_REFERENCE = ("reference_rows", "position", "work_below", "work_above", "most_work")
"""What is known of a value of the reference, see macro ``reference_work``."""


def in_order(grouping: Grouping, name: str, values: exp.Select) -> exp.Select:
    """The values of classes with what the reference has beside each, and what it takes to move rows to the next one.

    Args:
        grouping: the classes.
        name: the sensitive column.
        values: a query of ``anon_values`` that has the rows of each value of a class, and those of the class.
    """
    encoding = grouping.encoding
    code = column(encoding.sensitive(name), "anon_values")
    work = exp.alias_(encoding.reference_work(name).table, "anon_work", table=True)
    values = values.join(work, on=column("position", "anon_work").eq(code), copy=False)
    size = column(VALUE_SIZE)
    rows_up_to = _up_to_here(grouping, code, exp.Sum(this=column(ROWS, "anon_values")))
    values = values.select(
        *(column(each, "anon_work") for each in OF_REFERENCE),
        aliased(cast(rows_up_to, "BIGINT"), "anon_rows_up_to"),
        *(
            aliased(_up_to_here(grouping, code, exp.func("lead", column(each, "anon_work"))), f"anon_next_{each}")
            for each in ("position", "work_below")
        ),
        copy=False,
    )
    crossings = exp.alias_(encoding.reference_crossings(name).table, "anon_crossings", table=True)
    share = exp.Div(this=column("anon_rows_up_to"), expression=size)
    on = [
        column("slot", "anon_crossings").eq(scalar_call("share_slot", share)),
        exp.LTE(this=column("least_share", "anon_crossings"), expression=share.copy()),
        exp.GT(this=column("next_share", "anon_crossings"), expression=share.copy()),
    ]
    between = scalar_call(
        "work_between",
        column("anon_rows_up_to"),
        size.copy(),
        column("reference_rows"),
        column("position"),
        column("anon_next_position"),
        column("work_below"),
        column("anon_next_work_below"),
        column("crossing"),
        column("crossing_work"),
    )
    query = select([all_columns("anon_in_order"), aliased(between, WORK_BETWEEN)], subquery(values, "anon_in_order"))
    return left_join(query, crossings, all_of(on))


def _up_to_here(grouping: Grouping, code: exp.Expr, aggregate: exp.Expr) -> exp.Window:
    """An aggregate over the values of a class up to each of them."""
    rows = exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW")
    return exp.Window(
        this=aggregate, partition_by=grouping.columns("anon_values"), order=ascending(code.copy()), spec=rows
    )
