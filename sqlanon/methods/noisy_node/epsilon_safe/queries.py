"""What ε-safe anonymization asks: the rows at risk at a node, the sizes of classes, and the cells of a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.model.lattice import Levels
from sqlanon.queries.cells.encoding import ROW_COUNT, Encoding, row_sum
from sqlanon.queries.classes.grouping import Grouping, of_all_nodes
from sqlanon.queries.kit.macros import template
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    ascending,
    column,
    identifier,
    number,
    over,
    select,
    subquery,
)
from sqlanon.queries.noise.combinations import COMBINATIONS, PLACE, placed

ROWS = "anon_rows"
SAMPLED = "anon_sampled_rows"

PLACED_CELLS = Relation("anon_placed_cells", "cell")
"""The cells with their place in the order of their keys."""

SAMPLE = Relation("anon_sample", "cell")
"""How many rows of the cells are in a sample, by place."""

SAMPLED_CELLS = Relation("anon_sampled_cells", "cell")
"""The cells of the sample."""


def rows_of_nodes(
    counted: str,
    encoding: Encoding,
    batch: Sequence[Levels],
    threshold: int,
    *,
    cells: Relation | None,
    apart: bool,
) -> exp.Query:
    """``node`` and, under the name of the template, the rows that it counts at each node of a batch that has rows."""

    def sized(grouping: Grouping) -> exp.Select:
        return grouping.select([row_sum(name=ROWS)], grouping.cells())

    classes = of_all_nodes(encoding, batch, cells, sized, apart=apart)
    known = [exp.Star(), aliased(number(threshold), "anon_threshold")]
    return over(template(counted), select(known, subquery(classes, "anon_sized")))


def class_sizes(k: int) -> exp.Select:
    """``place`` and ``rows`` of the classes of the node that have k rows or more, in their order."""
    columns = [aliased(column(PLACE), "place"), aliased(column(ROW_COUNT), "rows")]
    query = select(columns, COMBINATIONS.table)
    query.where(exp.GTE(this=column(ROW_COUNT), expression=number(k)), copy=False)
    query.set("order", ascending(column(PLACE)))
    return query


def placed_cells(encoding: Encoding) -> Step:
    """The step that makes :data:`PLACED_CELLS`."""
    keys = [encoding.key(word) for word in range(encoding.keys.word_count)]
    return Step(PLACED_CELLS, placed(select([exp.Star()], encoding.cells.table), keys), "cells in their order")


def cell_sizes() -> exp.Select:
    """``rows`` of the cells, in their order."""
    query = select([aliased(column(ROW_COUNT), "rows")], PLACED_CELLS.table)
    query.set("order", ascending(column(PLACE)))
    return query


def sampled_cells() -> Step:
    """The step that makes :data:`SAMPLED_CELLS`: those that have rows in the sample, with their number."""
    rows = exp.Star(replace=[aliased(column(SAMPLED), ROW_COUNT)], except_=[identifier(PLACE), identifier(SAMPLED)])
    query = select([rows], PLACED_CELLS.table).join(SAMPLE.table, using=[identifier(PLACE)], copy=False)
    query.where(exp.GT(this=column(SAMPLED), expression=number(0)), copy=False)
    return Step(SAMPLED_CELLS, query, "cells of the sample")


def of_sample(encoding: Encoding) -> Encoding:
    """The encoding of :data:`SAMPLED_CELLS`."""
    return replace(encoding, cells=SAMPLED_CELLS)
