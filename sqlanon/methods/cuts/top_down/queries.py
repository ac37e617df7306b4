"""What top-down specialization asks of points: the classes of a cut, and what they would be after another step."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.methods.cuts.shared.labels import CUT
from sqlanon.methods.cuts.shared.pieces import Cut
from sqlanon.methods.cuts.shared.points import (
    CANDIDATE,
    CHILDREN,
    CLASS,
    MARGINALS,
    POINTS,
    child_counts,
    value_column,
    value_counts,
    values_in,
)
from sqlanon.queries.cells.encoding import ROW_COUNT
from sqlanon.queries.kit.macros import cast_value, table_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    ascending,
    column,
    copies,
    count_rows,
    filtered,
    grouped,
    number,
    select,
    subquery,
    union_all,
)
from sqlanon.queries.release.rows import EQUAL_ROWS
from sqlanon.queries.source import SourceColumn

ROWS = Relation("anon_rows_in_parts", "row")
"""The points with the number of their class (``anon_part``): it is set anew where a label gives way to its children.

The table is kept and changed: a table that is dropped within a transaction takes its space until the end of that.
"""

SQL = Queries("top_down", {"rows": ROWS, "points": POINTS, "marginals": MARGINALS, "cut": CUT})


def null_counts(source: exp.Table | exp.Subquery, names: Sequence[str]) -> exp.Query:
    """One row: the ``rows``, and how many have NULL in each column, ``null_<place>``."""
    nulls = [
        aliased(filtered(count_rows(), column(name).is_(exp.null())), f"null_{place}")
        for place, name in enumerate(names)
    ]
    return select([aliased(count_rows(), "rows"), *nulls], source.copy())


def set_parts(position: int, last: int) -> exp.Expr:
    """The statement that gives the rows under a label, alone in :data:`~.scores.CHILDREN`, the classes of its children.

    Args:
        position: that of its predictor.
        last: the largest number of a class so far, behind which those of the new ones come.
    """
    children = values_in(CHILDREN, position, ["child"])
    return SQL.query("set_parts", children=children, value=value_column(position), last=last)


def least_rows(positions: Sequence[int], last: int) -> exp.Query:
    """``candidate`` and ``rows``: of the smallest class that there would be, of rows whose class has a new number.

    Args:
        positions: those of the predictors that the candidates are of, which are in :data:`~.scores.CHILDREN`.
        last: the largest number of a class that is not new.
    """
    found = {position: values_in(CHILDREN, position, [CANDIDATE, "child"]) for position in positions}
    classes = union_all(
        SQL.query("classes_after", children=children, value=value_column(position), last=last)
        for position, children in found.items()
    )
    return SQL.query("least_rows", classes=classes)


def gains() -> exp.Query:
    """``candidate`` and ``gain``: bits that children give about the class of a row, unless all rows are alike."""
    scored = table_call("specialization_scores", subquery(child_counts(), "anon_counts"))
    return SQL.query("gains", scored=scored, counts=child_counts())


def splits() -> exp.Query:
    """``candidate`` (the place of an interval) and ``at``: where it is best split; of none that has one value only."""
    scored = table_call("split_scores", subquery(value_counts(), "anon_counts"))
    return Queries("cuts").query("best_splits", scored=scored)


def equal_rows(cut: Cut, columns: Sequence[SourceColumn]) -> Step:
    """The step that makes :data:`EQUAL_ROWS`: columns by name, in the order of the source, and their number.

    Args:
        cut: the cut, whose labels are in :data:`CUT`.
        columns: the columns of the source that are published.
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
    query = query.select(target, aliased(count_rows(), ROW_COUNT), copy=False)
    return grouped(query, [*copies(keys), target.copy()])


def _first(position: int) -> str:
    return f"anon_first_{position}"
