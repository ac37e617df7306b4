"""Which classes of a partition are published together with what was published before, and how many rows they have."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.partitions.counts import SQL
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
)
from sqlanon.queries.cells.encoding import ROW_COUNT
from sqlanon.queries.classes import summaries as evaluate
from sqlanon.queries.classes.classes import class_relation, within
from sqlanon.queries.kit.nodes import Relation, Step, aliased, c, f, filtered


def kept_classes(increment: Increment, *, every_partition: bool) -> exp.Query:
    """The codes of the classes that meet the policy with the new rows in them, and in the partition alone if asked."""
    kept = evaluate.kept_keys(increment.classes(UNION_CELLS))
    if not every_partition:
        return kept
    alone = evaluate.kept_keys(increment.classes(NEW_CELLS))
    return SQL.query("classes_kept_twice", kept=kept, alone=alone, keys=increment.keys or (evaluate.ALL_ROWS,))


def kept_counts(increment: Increment, kept: Relation) -> exp.Query:
    """The counts of the partition's rows in kept classes: labels, protected values and ``anon_row_count``."""
    names = (*increment.encoding.spec.quasi_identifiers, *increment.protected, ROW_COUNT)
    return _kept(increment, names, COUNTS, kept)


def kept_rows(increment: Increment, kept: Relation) -> exp.Query:
    """One row: ``new_rows`` of the partition, and ``kept_rows`` of them in kept classes."""
    return SQL.query("kept_rows", cells=NEW_CELLS, kept_cells=_kept(increment, [ROW_COUNT], NEW_CELLS, kept))


def blocked_rows(increment: Increment, cells: Relation) -> exp.Query:
    """One row, ``blocked_<model>``: the partition's rows in classes of some cells that violate each privacy model."""
    grouping = increment.classes(cells)
    blocked = []
    for index, model in enumerate(increment.encoding.criteria.models):
        is_violated = exp.Not(this=exp.Paren(this=within(grouping.encoding, model.bounds)))
        rows = filtered(f.sum(c.anon_new_rows), is_violated)
        blocked.append(aliased(f.coalesce(rows, 0), f"blocked_{index}"))
    classes = class_relation(grouping, with_keys=True)
    return SQL.query("blocked_rows", classes=classes, cells=NEW_CELLS, keys=grouping.keys, blocked=blocked)


def published_cells(increment: Increment, kept: Relation) -> Step:
    """What is published once the partition is: the cells from before, and the new ones of kept classes."""
    names = cell_columns(increment)
    new = _kept(increment, names, NEW_CELLS, kept)
    return Step(PUBLISHED_CELLS, by_name([cells_of(OLD_CELLS), new]), "cells published then")


def left_short(increment: Increment) -> exp.Query:
    """One row: ``classes`` that are to be published and violate a privacy model, and the ``rows`` in them."""
    grouping = increment.classes(PUBLISHED_CELLS)
    met = within(grouping.encoding, increment.encoding.criteria.bounds)
    return SQL.query("left_short", classes=class_relation(grouping, with_keys=True), is_met=met)


def _kept(increment: Increment, columns: Sequence[str], cells: Relation, kept: Relation) -> exp.Select:
    return SQL.query("kept_cells", cells=cells, kept=kept, keys=increment.keys, columns=columns)
