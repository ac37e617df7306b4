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


def written(relation: exp.Expr, asked: Sequence[exp.Expr], names: Sequence[str], whole: Sequence[str]) -> exp.Select:
    """One row about files: what is asked of all values of columns, and the numbers of rows that may be none.

    Args:
        relation: the files, as texts.
        asked: aggregates, which are ``asked_0`` …
        names: the columns whose names are values in ``named_0`` … rows, which a first line of names does not explain.
        whole: the columns of the lines; in ``empty_rows`` nothing stands.
    """
    repeated = [filtered(count_rows(), column(name).eq(string(name))) for name in names]
    return select(
        [
            *(aliased(each, f"asked_{place}") for place, each in enumerate(asked)),
            *(aliased(each, f"named_{place}") for place, each in enumerate(repeated)),
            aliased(filtered(count_rows(), all_empty(whole)), "empty_rows"),
        ],
        relation.copy(),
    )


def type_of_all(value: exp.Expr) -> exp.Expr:
    """The one type that all values are written in."""
    return scalar_call("written_type_of_all", value)


def plain_type_of_all(value: exp.Expr, decimal: str, thousands: str) -> exp.Expr:
    """The one type that all values are written in as :func:`plain_number`; NULL if some are no numbers."""
    return scalar_call("plain_type_of_all", value, string(decimal), string(thousands))


def plain_number(value: exp.Expr, decimal: str, thousands: str) -> exp.Expr:
    """A text that has a number in the notation of a file, as SQL writes it; NULL for any other."""
    return scalar_call("plain_number", value, string(decimal), string(thousands))


def without_codes(value: exp.Expr, codes: Sequence[str]) -> exp.Expr:
    """A value, but NULL for texts that stand for missing ones."""
    if not codes:
        return value
    is_code = exp.In(this=value.copy(), expressions=[string(code) for code in codes])
    return exp.Case(ifs=[exp.If(this=is_code, true=exp.null())], default=value)


def unreadable(value: exp.Expr, read: exp.Expr) -> exp.Expr:
    """Whether a value that is there cannot be read; ``read`` is NULL then."""
    return all_of([exp.not_(value.copy().is_(exp.null())), read.copy().is_(exp.null())])


def listed(relation: exp.Expr, name: str, condition: exp.Expr) -> exp.Select:
    """The values of a column that meet a condition, and how many rows have each."""
    one = column(name)
    query = select([one, aliased(count_rows(), "rows")], relation).where(condition, copy=False)
    return query.group_by(one.copy(), copy=False)


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


def day_as_text(value: exp.Expr, order: str) -> exp.Expr:
    """A text with a day as taxonomies have it."""
    return scalar_call("day_as_text", value, string(order))


def in_century(value: exp.Expr, first_year: int | None) -> exp.Expr:
    """A text that spells a day with all digits of its year; as it is if nothing says in which hundred years it is."""
    return value if first_year is None else scalar_call("in_century", value, number(first_year))


def written_days(relation: exp.Expr, names: Sequence[str], orders: tuple[str, str], century: int | None) -> exp.Select:
    """One row: how many texts of each column spell a day in each order, ``dmy_0`` …, and two days, ``two_0`` …"""
    counts = []
    for place, name in enumerate(names):
        value = in_century(column(name), century)
        one, other = (scalar_call("written_day", value.copy(), string(order)) for order in orders)
        counts += [
            aliased(f.count(one), f"{orders[0]}_{place}"),
            aliased(f.count(other), f"{orders[1]}_{place}"),
            aliased(filtered(count_rows(), exp.NEQ(this=one.copy(), expression=other.copy())), f"two_{place}"),
        ]
    return select(counts, relation.copy())


def all_empty(columns: Sequence[str]) -> exp.Expr:
    """Whether nothing stands in any of some columns."""
    return all_of([column(name).is_(exp.null()) for name in columns])
