"""Cells → fewer cells: all that the nodes above a node need, grouped by the labels of that node."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.compiler.classes import node_keys
from sqlanon.compiler.encoding import INDIVIDUAL, ROW_COUNT, WEIGHT, Encoding
from sqlanon.compiler.nodes import Relation, aliased, cast, column, count_rows, grouped, select, subquery
from sqlanon.model.lattice import Levels

GROUPS = "anon_groups"


def rolled_up(plan: Encoding, levels: Levels, cells: Relation) -> exp.Query:
    """The cells of a node, from the cells of one below it, with the codes of every level that nodes above it can have.

    The codes of higher levels are looked up once the cells are grouped: there are fewer of them then.
    """
    query = select(
        [column(key, GROUPS) for _, key in node_keys(plan, levels)], subquery(_groups(plan, levels, cells), GROUPS)
    )
    for position, depth in enumerate(levels):
        higher = [plan.code(position, above) for above in range(depth + 1, plan.bound.shapes[position].height)]
        if higher:
            alias, code = f"anon_codes_{position}", plan.code(position, depth)
            columns = [column(name) for name in (code, *higher)]
            codes = select(columns, plan.codes[position].table).distinct(copy=False)
            query = query.join(
                subquery(codes, alias), on=column(code, alias).eq(column(code, GROUPS)), join_type="left", copy=False
            )
            query = query.select(*(column(name, alias) for name in higher), copy=False)
    return query.select(*(column(name, GROUPS) for name in _carried(plan)), copy=False)


def counted_rows(relation: Relation) -> exp.Query:
    """One row, ``rows``: how many rows a relation has."""
    return select([aliased(count_rows(), "rows")], relation.table)


def distinct_others(plan: Encoding) -> exp.Query | None:
    """One row, ``others``: how many combinations tell cells apart besides quasi-identifiers; None if nothing does."""
    others = [column(name) for name in told_apart(plan)]
    if not others:
        return None
    distinct = select(others, plan.cells.table).distinct(copy=False)
    return select([aliased(count_rows(), "others")], subquery(distinct, "anon_others"))


def _groups(plan: Encoding, levels: Levels, cells: Relation) -> exp.Select:
    """The cells by their codes at the node, and by everything but quasi-identifiers that tells them apart."""
    keys = [column(key) for _, key in node_keys(plan, levels)]
    others = [column(name) for name in told_apart(plan)]
    labels = [aliased(exp.AnyValue(this=column(name)), name) for name in _sensitive_labels(plan)]
    sums = [aliased(cast(exp.Sum(this=column(ROW_COUNT)), "BIGINT"), ROW_COUNT)]
    if plan.bound.policy.row_weight is not None:
        sums.append(aliased(exp.Sum(this=column(WEIGHT)), WEIGHT))
    return grouped(select([*keys, *others, *labels, *sums], cells.table), [key.copy() for key in (*keys, *others)])


def _carried(plan: Encoding) -> list[str]:
    """The columns of cells that no quasi-identifier has."""
    weight = () if plan.bound.policy.row_weight is None else (WEIGHT,)
    return [*told_apart(plan), *_sensitive_labels(plan), ROW_COUNT, *weight]


def told_apart(plan: Encoding) -> list[str]:
    """The columns that tell cells apart besides those of quasi-identifiers."""
    individual = () if plan.bound.policy.individual is None else (INDIVIDUAL,)
    return [*(plan.sensitive(name) for name in plan.bound.policy.protected_columns), *individual]


def _sensitive_labels(plan: Encoding) -> list[str]:
    return [
        plan.sensitive_label(name, depth)
        for name in plan.bound.sensitive_shapes
        for depth in plan.sensitive_depths(name)
    ]
