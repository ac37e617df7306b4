"""Top and bottom coding: a relation whose numbers beyond public bounds are these bounds."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import (
    DIALECT,
    aliased,
    all_of,
    cast,
    column,
    count_rows,
    filtered,
    number,
    same,
    select,
    subquery,
)

Bounds = tuple[int | float | None, int | float | None]
"""The bottom and the top of a column, None if there is none."""


def coded(relation: exp.Expr, bounds: Mapping[str, Bounds], types: Mapping[str, str]) -> exp.Subquery:
    """All columns of a relation, those with bounds coded, in their own types."""
    replaced = [aliased(cast(_coded(name, bounds[name]), types[name]), name) for name in bounds]
    return subquery(select([exp.Star(replace=replaced)], relation.copy()), "anon_coded")


def representable(bounds: Mapping[str, Bounds], types: Mapping[str, str]) -> exp.Select:
    """One row, ``fits_0`` …: whether the type of each column holds its bounds as they are written."""
    fits = []
    for place, (name, of_column) in enumerate(bounds.items()):
        kind = exp.DataType.build(types[name], dialect=DIALECT)
        given = (number(bound) for bound in of_column if bound is not None)
        held = [same(exp.TryCast(this=bound, to=kind.copy()), bound.copy()) for bound in given]
        fits.append(aliased(all_of(held), f"fits_{place}"))
    return exp.select(*fits, copy=False)


def beyond_bounds(relation: exp.Expr, bounds: Mapping[str, Bounds]) -> exp.Select:
    """One row, ``beyond_0`` …: how many values of each column are beyond its bounds."""
    counts = []
    for place, (name, of_column) in enumerate(bounds.items()):
        is_beyond = exp.not_(same(_coded(name, of_column), column(name)))
        counts.append(aliased(filtered(count_rows(), is_beyond), f"beyond_{place}"))
    return select(counts, relation.copy())


def _coded(name: str, bounds: Bounds) -> exp.Expr:
    value: exp.Expr = column(name)
    for macro, bound in zip(("bottom_coded", "top_coded"), bounds, strict=True):
        if bound is not None:
            value = scalar_call(macro, value, number(bound))
    return value
