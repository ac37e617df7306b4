"""What is looked at in CSV files that are read as texts: see ``sql/macros/97_csv.sql``."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import (
    aliased,
    all_of,
    c,
    column,
    count_rows,
    f,
    filtered,
    names,
    number,
    select,
    string,
    subquery,
)


def first_rows(relation: exp.Expr, count: int) -> exp.Subquery:
    """Some of the first rows of a relation."""
    return subquery(select([exp.Star()], relation.copy()).limit(number(count)), "anon_first_rows")


def written(relation: exp.Expr, columns: Sequence[str], names: Sequence[str], whole: Sequence[str]) -> exp.Select:
    """One row about files: the type that each column is written in, and the numbers of rows that may be none.

    Args:
        relation: the files, as texts.
        columns: those whose types are ``type_0`` …
        names: those whose names are values in ``named_0`` … rows, which a first line of names does not explain.
        whole: the columns of the lines; in ``empty_rows`` nothing stands.
    """
    types = [scalar_call("written_type_of_all", column(name)) for name in columns]
    repeated = [filtered(count_rows(), column(name).eq(string(name))) for name in names]
    return select(
        [
            *(aliased(each, f"type_{place}") for place, each in enumerate(types)),
            *(aliased(each, f"named_{place}") for place, each in enumerate(repeated)),
            aliased(filtered(count_rows(), all_empty(whole)), "empty_rows"),
        ],
        relation.copy(),
    )


def types_of_names(names: Sequence[str]) -> exp.Select:
    """One row: the types that the names of some columns are written in."""
    written = (scalar_call("written_type", string(name)) for name in names)
    return exp.select(*(aliased(each, f"type_{place}") for place, each in enumerate(written)))


def written_type(values: Sequence[str]) -> exp.Select:
    """The one type that some texts are written in."""
    listed = exp.select(aliased(exp.func("unnest", names([*values])), "anon_value"))
    return select([scalar_call("written_type_of_all", c.anon_value)], subquery(listed, "anon_values"))


def number_as_text(name: str) -> exp.Expr:
    """A column of texts with numbers as taxonomies have them."""
    return scalar_call("number_as_text", column(name))


def day_as_text(name: str, order: str) -> exp.Expr:
    """A column of texts with days as taxonomies have them."""
    return scalar_call("day_as_text", column(name), string(order))


def written_days(relation: exp.Expr, names: Sequence[str], orders: tuple[str, str]) -> exp.Select:
    """One row: how many texts of each column spell a day in each order, ``dmy_0`` …, and two days, ``two_0`` …"""
    counts = []
    for place, name in enumerate(names):
        one, other = (scalar_call("written_day", column(name), string(order)) for order in orders)
        counts += [
            aliased(f.count(one), f"{orders[0]}_{place}"),
            aliased(f.count(other), f"{orders[1]}_{place}"),
            aliased(filtered(count_rows(), exp.NEQ(this=one.copy(), expression=other.copy())), f"two_{place}"),
        ]
    return select(counts, relation.copy())


def all_empty(columns: Sequence[str]) -> exp.Expr:
    """Whether nothing stands in any of some columns."""
    return all_of([column(name).is_(exp.null()) for name in columns])
