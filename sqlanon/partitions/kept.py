"""Which classes of a partition are published together with what was published before, and how many rows they have."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.partitions.increment import (
    COUNTS,
    NEW_CELLS,
    OLD_CELLS,
    PUBLISHED_CELLS,
    UNION_CELLS,
    Increment,
    by_name,
    cell_columns,
    cells_of,
    named,
)
from sqlanon.queries.cells.encoding import ROW_COUNT
from sqlanon.queries.classes import summaries as evaluate
from sqlanon.queries.classes.classes import class_relation, within
from sqlanon.queries.classes.grouping import CLASS_ROWS
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    column,
    count_rows,
    filtered,
    grouped,
    number,
    select,
    subquery,
)


def kept_classes(increment: Increment, *, every_partition: bool) -> exp.Query:
    """The codes of the classes that meet the policy with the new rows in them, and in the partition alone if asked."""
    kept = evaluate.kept_keys(increment.classes(UNION_CELLS))
    if not every_partition:
        return kept
    alone = evaluate.kept_keys(increment.classes(NEW_CELLS))
    names = increment.keys or (evaluate.ALL_ROWS,)
    on = all_of([column(name, "anon_alone").eq(column(name, "anon_together")) for name in names])
    query = select([column(name, "anon_together") for name in names], subquery(kept, "anon_together"))
    return query.join(subquery(alone, "anon_alone"), on=on, copy=False)


def kept_counts(increment: Increment, kept: Relation) -> exp.Query:
    """The counts of the partition's rows in kept classes: labels, protected values and ``anon_row_count``."""
    names = (*increment.encoding.spec.quasi_identifiers, *increment.protected, ROW_COUNT)
    return _kept(increment, [column(name, COUNTS.name) for name in names], COUNTS, kept)


def kept_rows(increment: Increment, kept: Relation) -> exp.Query:
    """One row: ``new_rows`` of the partition, and ``kept_rows`` of them in kept classes."""
    rows = exp.func("coalesce", exp.Sum(this=column(ROW_COUNT)), number(0))
    return select(
        [
            aliased(exp.Subquery(this=select([rows.copy()], NEW_CELLS.table)), "new_rows"),
            aliased(rows, "kept_rows"),
        ],
        subquery(_kept(increment, [column(ROW_COUNT, NEW_CELLS.name)], NEW_CELLS, kept), "anon_kept_cells"),
    )


def blocked_rows(increment: Increment, cells: Relation) -> exp.Query:
    """One row, ``blocked_<model>``: the partition's rows in classes of some cells that violate each privacy model."""
    grouping = increment.classes(cells)
    rows = grouped(
        select([*grouping.columns(), aliased(exp.Sum(this=column(ROW_COUNT)), "anon_new_rows")], NEW_CELLS.table),
        grouping.columns(),
    )
    blocked = [
        aliased(_rows_outside(column("anon_new_rows"), within(grouping.encoding, model.bounds)), f"blocked_{index}")
        for index, model in enumerate(increment.encoding.criteria.models)
    ]
    on = all_of([column(key, "anon_rows").eq(column(key, "anon_classes")) for key in grouping.keys])
    classes = subquery(class_relation(grouping, with_keys=True), "anon_classes")
    return select(blocked, classes).join(subquery(rows, "anon_rows"), on=on, copy=False)


def published_cells(increment: Increment, kept: Relation) -> Step:
    """What is published once the partition is: the cells from before, and the new ones of kept classes."""
    names = cell_columns(increment)
    new = _kept(increment, [column(name, NEW_CELLS.name) for name in names], NEW_CELLS, kept)
    return Step(PUBLISHED_CELLS, by_name([cells_of(OLD_CELLS), new]), "cells published then")


def left_short(increment: Increment) -> exp.Query:
    """One row: ``classes`` that are to be published and violate a privacy model, and the ``rows`` in them."""
    grouping = increment.classes(PUBLISHED_CELLS)
    met = within(grouping.encoding, increment.encoding.criteria.bounds)
    rows = exp.func("coalesce", exp.Sum(this=column(CLASS_ROWS)), number(0))
    query = select(
        [aliased(count_rows(), "classes"), aliased(rows, "rows")],
        subquery(class_relation(grouping, with_keys=True), "anon_classes"),
    )
    return query.where(exp.Not(this=exp.Paren(this=met)), copy=False)


def _kept(increment: Increment, columns: Sequence[exp.Expr], cells: Relation, kept: Relation) -> exp.Select:
    on = all_of([column(key, kept.name).eq(column(key, cells.name)) for key in increment.keys])
    query = select(columns, named(cells.name, cells.table))
    return query.join(named(kept.name, kept.table), on=on, copy=False)


def _rows_outside(rows: exp.Expr, met: exp.Expr) -> exp.Expr:
    outside = filtered(exp.Sum(this=rows), exp.Not(this=exp.Paren(this=met)))
    return exp.func("coalesce", outside, number(0))
