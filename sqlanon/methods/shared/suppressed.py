"""How unevenly suppression falls on the values of each quasi-identifier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlanon.engines.base import Compute
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.publication import PublishedNode
from sqlanon.model.release import SuppressedGroup, Suppression
from sqlanon.queries.classes import examination as queries

MAX_GROUPS = 20
"""Labels that the level has at most at which a quasi-identifier is looked at."""

MIN_GROUP_ROWS = 30
"""Rows of a label, at least: the share of fewer says little."""


def suppression(engine: Compute, published: PublishedNode) -> Iterator[Suppression]:
    """By quasi-identifier, the labels with the largest and the smallest share of rows that a node suppresses.

    They are those of the finest level with at most ``MAX_GROUPS`` labels, whatever level is published.
    """
    table, node = published.table, published.summary
    depths = _depths(table)
    if not (published.suppresses and node.suppressed_rows and depths):
        return
    engine.run(queries.judged_cells(table.encoding, node.levels))
    found = engine.fetch(queries.rows_by_label(table.encoding, depths, MIN_GROUP_ROWS), "suppressed rows by label")
    engine.drop(queries.JUDGED_CELLS)
    for position, level in depths.items():
        groups = sorted((row for row in found if row["position"] == position), key=_share_rows_and_label)
        if len(groups) > 1:
            shape = table.bound.shapes[position]
            # A value that was read off the data stays there unless the user wants to see values.
            is_named = level > 0 or shape.domain != "observed" or engine.shows_values
            yield Suppression(
                quasi_identifier=table.bound.policy.quasi_identifiers[position],
                level=level,
                groups=len(groups),
                most=_group(groups[-1], is_named=is_named),
                least=_group(groups[0], is_named=is_named),
            )


def _depths(table: EncodedTable) -> dict[int, int]:
    """By position, the finest level with few labels, if it has any to compare."""
    found: dict[int, int] = {}
    for position, labels in enumerate(table.context.losses.distinct_labels):
        level = next((level for level, count in enumerate(labels) if 2 <= count <= MAX_GROUPS), None)
        if level is not None:
            found[position] = level
    return found


def _share_rows_and_label(row: dict[str, Any]) -> tuple[float, int, str]:
    return row["suppressed_rows"] / row["rows"], row["rows"], str(row["label"])


def _group(row: dict[str, Any], *, is_named: bool) -> SuppressedGroup:
    return SuppressedGroup(
        label=row["label"] if is_named else None, rows=row["rows"], suppressed_rows=row["suppressed_rows"]
    )
