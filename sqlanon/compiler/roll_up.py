"""Cells → fewer cells: all that the nodes above a node need, grouped by the labels of that node."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.compiler.encoding import WEIGHT, Encoding, row_sum
from sqlanon.compiler.grouping import Grouping, by_key
from sqlanon.compiler.nodes import Relation, aliased, column, count_rows, grouped, select, subquery
from sqlanon.model.lattice import Levels


def rolled_up(plan: Encoding, levels: Levels, cells: Relation) -> exp.Query:
    """The cells of a node, from the cells of one below it, in the order of their keys."""
    grouping = by_key(plan, levels, cells)
    if not any(levels):
        # Cells differ at the bottom: there is nothing to group.
        return _in_order(select([*grouping.columns(), *map(column, plan.carried)], grouping.cells()), grouping)
    told_apart = [*grouping.columns(), *map(column, plan.told_apart)]
    labels = [aliased(exp.AnyValue(this=column(name)), name) for name in plan.sensitive_labels]
    sums = [row_sum()]
    if plan.bound.policy.row_weight is not None:
        sums.append(aliased(exp.Sum(this=column(WEIGHT)), WEIGHT))
    query = grouped(select([*told_apart, *labels, *sums], grouping.cells()), [key.copy() for key in told_apart])
    return _in_order(query, grouping)


def counted_rows(relation: Relation) -> exp.Query:
    """One row, ``rows``: how many rows a relation has."""
    return select([aliased(count_rows(), "rows")], relation.table)


def distinct_others(plan: Encoding) -> exp.Query | None:
    """One row, ``others``: how many combinations tell cells apart besides quasi-identifiers; None if nothing does."""
    if not plan.told_apart:
        return None
    distinct = select(map(column, plan.told_apart), plan.cells.table).distinct(copy=False)
    return select([aliased(count_rows(), "others")], subquery(distinct, "anon_others"))


def _in_order(query: exp.Select, grouping: Grouping) -> exp.Select:
    return query.order_by(*grouping.columns(), copy=False) if grouping.keys else query
