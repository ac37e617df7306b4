"""The rows that top-down specialization publishes: those of the source with the labels of the cut."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.methods.cuts.shared.labels import CUT
from sqlanon.methods.cuts.shared.pieces import Cut
from sqlanon.methods.cuts.shared.points import CLASS, POINTS, value_column, values_in
from sqlanon.queries.cells.encoding import ROW_COUNT, row_sum
from sqlanon.queries.kit.macros import cast_value
from sqlanon.queries.kit.nodes import (
    Step,
    aliased,
    ascending,
    column,
    copies,
    grouped,
    number,
    select,
    subquery,
)
from sqlanon.queries.release.rows import EQUAL_ROWS
from sqlanon.queries.source import SourceColumn


def equal_rows(cut: Cut, columns: Sequence[SourceColumn]) -> Step:
    """The step that makes :data:`EQUAL_ROWS` of a cut, whose labels are in :data:`CUT`, and their number.

    The columns are those of the source that are published, by name and in its order.
    """
    places = [column(_first(axis.position), "anon_groups") for axis in cut.axes]
    target = column(CLASS, "anon_groups")
    query = select([], subquery(_counted(cut), "anon_groups"))
    positions = {axis.name: axis.position for axis in cut.axes}
    for found in columns:
        position = positions.get(found.name)
        shown: exp.Expr = cast_value(target, found.traits.released_as)
        if position is not None:
            alias = f"anon_labels_{position}"
            on = exp.and_(
                column("position", alias).eq(number(position)),
                column("first", alias).eq(column(_first(position), "anon_groups")),
                copy=False,
            )
            query = query.join(exp.alias_(CUT.table, alias, table=True), on=on, copy=False)
            shown = column("label", alias)
        query = query.select(aliased(shown, found.name), copy=False)
    query = query.select(column(ROW_COUNT, "anon_groups"), copy=False)
    query.set("order", ascending(*places, target.copy()))
    return Step(EQUAL_ROWS, query, "equal rows")


def _counted(cut: Cut) -> exp.Select:
    """The rows by where the values of their labels begin, and by their class, with their number."""
    query = select([], exp.alias_(POINTS.table, "anon_points", table=True))
    keys: list[exp.Expr] = []
    for axis in cut.axes:
        first: exp.Expr = number(0)
        if len(cut.pieces[axis.position]) > 1:
            alias, value = f"anon_firsts_{axis.position}", value_column(axis.position)
            on = column("value", alias).eq(column(value, "anon_points"))
            query = query.join(subquery(values_in(CUT, axis.position, ["first"]), alias), on=on, copy=False)
            first = column("first", alias)
            keys.append(first)
        query = query.select(aliased(first, _first(axis.position)), copy=False)
    target = column(CLASS, "anon_points")
    query = query.select(target, row_sum(), copy=False)
    return grouped(query, [*copies(keys), target.copy()])


def _first(position: int) -> str:
    return f"anon_first_{position}"
