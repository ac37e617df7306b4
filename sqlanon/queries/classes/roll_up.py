"""Cells → fewer cells: all that the nodes above a node need, grouped by the labels of that node."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.model.lattice import Levels
from sqlanon.queries.cells.encoding import WEIGHT, Encoding, row_sum
from sqlanon.queries.classes.grouping import by_key
from sqlanon.queries.kit.nodes import Relation, aliased, column, count_rows, grouped, select, subquery


def rolled_up(encoding: Encoding, levels: Levels, cells: Relation) -> exp.Query:
    """The cells of a node, from the cells of one below it: in an order nearly as good, if these are in order."""
    grouping = by_key(encoding, levels, cells)
    distinguishing = [*grouping.columns(), *map(column, encoding.distinguishing)]
    labels = [aliased(exp.AnyValue(this=column(name)), name) for name in encoding.sensitive_labels]
    sums = [row_sum()]
    if encoding.spec.row_weight is not None:
        sums.append(aliased(exp.Sum(this=column(WEIGHT)), WEIGHT))
    return grouped(select([*distinguishing, *labels, *sums], grouping.cells()), [key.copy() for key in distinguishing])


def counted_rows(relation: Relation) -> exp.Query:
    """One row, ``rows``: how many rows a relation has."""
    return select([aliased(count_rows(), "rows")], relation.table)


def distinct_others(encoding: Encoding) -> exp.Query | None:
    """One row, ``others``: how many combinations tell cells apart besides quasi-identifiers; None if nothing does."""
    if not encoding.distinguishing:
        return None
    distinct = select(map(column, encoding.distinguishing), encoding.cells.table).distinct(copy=False)
    return select([aliased(count_rows(), "others")], subquery(distinct, "anon_others"))
