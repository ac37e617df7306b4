"""The labels of a cut, which values and intervals become, and the rows at it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

import pyarrow as pa
from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.cuts.shared import points
from sqlanon.methods.cuts.shared.cut_pieces import Cut, ItemAxis, Piece, TaxonomyAxis
from sqlanon.model.labels import CutRecord
from sqlanon.model.methods.cut_methods import Range, interval_label, written
from sqlanon.queries.encoding import ROW_COUNT
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, aliased, column, select
from sqlanon.queries.published_rows import EQUAL_ROWS, unlike_groups
from sqlanon.queries.source import SourceColumn

ALL = "*"
"""The label of all values of a taxonomy whose top level has several labels."""

GIVEN = Relation("anon_given_pieces", "node")
"""The pieces of the cut: position, attribute, where they begin and end; depth of their label, or its text and range."""

CUT = Relation("anon_cut", "node")
"""The same with their labels; that of no item is NULL."""

SQL = points.SQL.given(given=GIVEN, cut=CUT)


def given_pieces(cut: Cut, ranges: Mapping[int, Range]) -> pa.Table:
    types = {"position": pa.int64(), "attribute": pa.string(), "first": pa.int64(), "end": pa.int64()}
    types |= {"depth": pa.int64(), "text": pa.string(), "low": pa.float64(), "high": pa.float64()}
    pieces = {**cut.pieces, **{position: each.pieces for position, each in cut.partitions.items()}}
    rows = (_given(cut, ranges.get(axis.position), piece) for axis in cut.axes for piece in pieces[axis.position])
    return points.table(types, rows)


def unlike_cut(written: exp.Expr) -> exp.Query:
    """Count, as ``unlike``, the rows of a table that differ from those of the cut, or are missing there."""
    rows = SQL.query("cut_rows")
    rows.set("order", None)
    return SQL.query("cut_mismatches", rows=rows, written=written)


def released(columns: Sequence[SourceColumn], counts: str | None = None) -> exp.Query:
    """Select the published rows, from :data:`EQUAL_ROWS`: as many copies, or with a column of counts if named."""
    shown = [column(found.name) for found in columns]
    if counts is not None:
        return select([*shown, aliased(column(ROW_COUNT), counts)], EQUAL_ROWS.table)
    return Queries("release").query("repeated_rows", groups=select([*shown, column(ROW_COUNT)], EQUAL_ROWS.table))


def unlike_what_was_made(columns: Sequence[SourceColumn], written: exp.Expr, counts: str | None = None) -> exp.Query:
    """Count, as ``unlike``, groups of equal rows that are not in a release as often as in :data:`EQUAL_ROWS`."""
    return unlike_groups([found.name for found in columns], EQUAL_ROWS.table, written, counts)


def _given(cut: Cut, given: Range | None, piece: Piece) -> tuple[object, ...]:
    axis = cut.axes[piece.position]
    named = (piece.position, axis.name, piece.first, piece.end)
    if given is not None:
        low, high = given.at(piece.first), given.at(piece.end)
        return (*named, None, interval_label(low, high), float(low), float(high))
    assert isinstance(axis, TaxonomyAxis)
    if isinstance(axis, ItemAxis) and piece == axis.nothing:
        return (*named, None, None, None, None)
    depth = axis.depth(piece)
    return (*named, depth, ALL if depth is None else None, None, None)


def recorded_cut(engine: Compute, sets: Collection[str] = ()) -> CutRecord:
    """Make the record of the cut whose labels are in :data:`CUT`; ``sets`` are columns of sets of items."""
    labels: dict[str, list[object]] = defaultdict(list)
    intervals: dict[str, list[object]] = defaultdict(list)
    items: dict[str, list[object]] = defaultdict(list)
    for row in engine.fetch(SQL.query("cut_labels"), "labels of the cut", "node"):
        name = row["attribute"]
        if row["low"] is not None:
            intervals[name].append((written(row["low"]), written(row["high"])))
        else:
            (items if name in sets else labels)[name].append((row["depth"], row["label"]))
    return CutRecord.model_validate({"labels": labels, "intervals": intervals, "items": items})
