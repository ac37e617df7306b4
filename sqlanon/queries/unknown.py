"""Values that the taxonomy of their column does not have: the rows that are left out, and those labelled at the top.

Rows that are left out are so from the source of a run, before anything is read. Values that are labelled at the top are
leaves of their own below the top: their label is that of the top at every level, and loses what the top loses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.queries import taxonomies
from sqlanon.queries.kit.macros import exact_text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    aliased,
    column,
    count_rows,
    filtered,
    grouped,
    number,
    select,
    string,
    subquery,
    union_all,
    values,
)
from sqlanon.queries.source import TaxonomyShape
from sqlanon.queries.spelled import Taxonomies

UNKNOWN = Relation("anon_unknown_rows", "cell")
"""Rows with unknown values, by these: a column for each column that may have some, NULL for a value that is known."""

ROWS = "anon_row_count"


@dataclass(frozen=True)
class UnknownValues:
    """The columns of a run that may have values which their taxonomies do not have.

    Attributes:
        source: all rows, those that are left out included.
        suppressed: the columns whose unknown values have their rows left out.
        roots: by column whose unknown values are labelled at the top, that label.
    """

    source: exp.Table | exp.Subquery
    suppressed: tuple[str, ...]
    roots: Mapping[str, str]

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.suppressed, *self.roots)


def known_rows(
    source: exp.Table | exp.Subquery, names: Sequence[str], taxonomy: Taxonomies
) -> exp.Table | exp.Subquery:
    """The rows of a source without those that have an unknown value in some columns; the source itself without any."""
    return without_unknown(source, names, taxonomy) if names else source


def without_unknown(rows: exp.Expr, names: Sequence[str], taxonomy: Taxonomies) -> exp.Subquery:
    """Rows without those that have an unknown value in some columns.

    By one condition: DuckDB expects each of several to leave a fifth of the rows, and keeps what it takes for few.
    """
    unknown = exp.or_(*(_is_unknown(name, taxonomy) for name in names), copy=False)
    is_known = exp.case().when(unknown, exp.false()).else_(exp.true())
    return subquery(select([exp.Star()], rows.copy()).where(is_known, copy=False), "anon_known_rows")


def unknown_rows(unknown: UnknownValues, taxonomy: Taxonomies) -> exp.Query:
    """The query that makes :data:`UNKNOWN`."""
    found = [
        exp.Case(ifs=[exp.If(this=_is_unknown(name, taxonomy), true=exact_text(column(name)))])
        for name in unknown.columns
    ]
    names = [_unknown(place) for place in range(len(found))]
    columns = [aliased(each, name) for each, name in zip(found, names, strict=True)]
    rows = subquery(select(columns, unknown.source.copy()), "anon_unknown")
    any_found = exp.or_(*(exp.Not(this=column(name).is_(exp.null())) for name in names), copy=False)
    keys = [column(name) for name in names]
    query = select([*keys, aliased(count_rows(), ROWS)], rows).where(any_found, copy=False)
    return grouped(query, [key.copy() for key in keys])


def unknown_counts(unknown: UnknownValues) -> exp.Query:
    """One row: ``suppressed`` rows, and by the place of each column ``rows_<place>`` with an unknown value there."""
    places = range(len(unknown.columns))
    is_left_out = exp.or_(*(_has(place) for place in range(len(unknown.suppressed))), exp.false(), copy=False)
    counts = {"suppressed": is_left_out, **{f"rows_{place}": _has(place) for place in places}}
    rows = exp.Sum(this=column(ROWS))
    return select(
        [
            aliased(exp.func("coalesce", filtered(rows.copy(), condition), number(0)), name)
            for name, condition in counts.items()
        ],
        UNKNOWN.table,
    )


def with_unknown_labels(
    labels: exp.Query, unknown: UnknownValues, shapes: Mapping[str, TaxonomyShape], taxonomy: Taxonomies
) -> exp.Query:
    """Labels as ``anon.taxonomy_labels`` has them, with those of unknown values.

    The label of the top is a value, too, unless the taxonomy has it: a part of a table may have no unknown value, and
    be compared with one that has some.
    """
    first = len(unknown.suppressed)
    found = [
        select([aliased(string(name), "attribute"), aliased(column(_unknown(first + place)), "value")], UNKNOWN.table)
        for place, name in enumerate(unknown.roots)
    ]
    roots = [
        [string(name), number(shapes[name].height), string(root), number(shapes[name].domain_size)]
        for name, root in unknown.roots.items()
    ]
    query = Queries("cells").query(
        "labels_of_unknown",
        taxonomy_labels=labels,
        roots=values("anon_roots", ("attribute", "height", "root", "domain_size"), roots),
        unknown_values=union_all(found),
    )
    return taxonomies.at(query, taxonomy)


def _is_unknown(name: str, taxonomy: Taxonomies) -> exp.Expr:
    of_column = column("attribute").eq(string(name)), column("level").eq(number(0))
    known = select([column("value")], taxonomy.copy()).where(
        *of_column, exp.Not(this=column("value").is_(exp.null())), copy=False
    )
    is_known = exp.In(this=exact_text(column(name)), query=exp.Subquery(this=known))
    is_there = exp.Not(this=column(name).is_(exp.null()))
    return exp.Paren(this=exp.and_(is_there, exp.Not(this=is_known), copy=False))


def _has(place: int) -> exp.Expr:
    return exp.Not(this=column(_unknown(place)).is_(exp.null()))


def _unknown(place: int) -> str:
    return f"anon_unknown_{place}"
