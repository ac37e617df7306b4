"""What ε-safe anonymization asks: the rows at risk at a node, the sizes of classes, and the cells of a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.model.lattice import Levels
from sqlanon.queries.cells.encoding import Encoding, row_sum
from sqlanon.queries.classes.grouping import Grouping, of_all_nodes
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, Step, subquery
from sqlanon.queries.noise.combinations import COMBINATIONS

PLACED_CELLS = Relation("anon_placed_cells", "cell")
"""The cells with their place in the order of their keys."""

SAMPLE = Relation("anon_sample", "cell")
"""How many rows of the cells are in a sample, by place."""

SAMPLED_CELLS = Relation("anon_sampled_cells", "cell")
"""The cells of the sample."""

SQL = Queries("epsilon_safe", {"placed_cells": PLACED_CELLS, "sample": SAMPLE, "combinations": COMBINATIONS})


def rows_of_nodes(
    counted: str,
    encoding: Encoding,
    batch: Sequence[Levels],
    threshold: int,
    *,
    cells: Relation | None,
    apart: bool,
) -> exp.Query:
    """``node`` and, under its name, the rows that a named query counts at each node of a batch that has rows."""

    def sized(grouping: Grouping) -> exp.Select:
        return grouping.select([row_sum(name="anon_rows")], grouping.cells())

    classes = of_all_nodes(encoding, batch, cells, sized, apart=apart)
    return SQL.query(counted, classes=subquery(classes, "anon_classes"), threshold=threshold)


def placed_cells(encoding: Encoding) -> Step:
    """The step that makes :data:`PLACED_CELLS`."""
    keys = [encoding.key(word) for word in range(encoding.keys.word_count)]
    query = Queries("noise").query("placed", rows=encoding.cells, keys=keys)
    return Step(PLACED_CELLS, query, "cells in their order")


def of_sample(encoding: Encoding) -> Encoding:
    """The encoding of :data:`SAMPLED_CELLS`."""
    return replace(encoding, cells=SAMPLED_CELLS)
