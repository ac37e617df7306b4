"""Values in CSV files: types of texts that are read, and formulas that are written: see ``sql/macros/97_csv.sql``.

Cells that a spreadsheet would compute are counted, and quoted with an apostrophe.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from sqlanon.queries.kit.macros import as_read, scalar_call, text
from sqlanon.queries.kit.nodes import (
    aliased,
    c,
    column,
    count_rows,
    f,
    filtered,
    grouped,
    listed,
    number,
    select,
    string,
    subquery,
    try_cast,
    unpivoted,
)


def written(
    relation: exp.Expr, texts: Sequence[exp.Expr], names: Sequence[str] = (), whole: Sequence[str] = ()
) -> exp.Select:
    """Rows about files, by ``place``: the ``type`` that all texts are written in, and how many rows are ``filled``.

    Args:
        relation: the files, as texts.
        texts: what the first places are about.
        names: what the next ones are about: columns, filled in rows whose value is the name, which a first line of
            names does not explain.
        whole: the columns of the lines; the last place is filled in rows with nothing in any of them. There is none
            if no columns are given.
    """
    asked = [*texts, *(text_where(column(name).eq(name)) for name in names)]
    if whole:
        # Without the copies that sqlglot's builders make.
        first, *others = map(column, whole)
        is_empty = exp.Is(this=exp.Coalesce(this=first, expressions=others), expression=exp.null())
        asked.append(text_where(is_empty))
    found = {
        "place": c.anon_place,
        "type": scalar_call("written_type_of_all", c.anon_value),
        "filled": f.count(c.anon_value),
    }
    cells = subquery(unpivoted(relation, dict(enumerate(asked))), "anon_cells")
    return grouped(select([aliased(each, name) for name, each in found.items()], cells), [c.anon_place])


def text_where(condition: exp.Expr) -> exp.Case:
    """A text in some rows, NULL in the others."""
    return exp.Case(ifs=[exp.If(this=condition, true=string(""))])


def written_type(values: Sequence[str]) -> exp.Select:
    """The one type that some texts are written in."""
    return select([scalar_call("written_type_of_all", c.anon_value)], listed(values, "anon_value"))


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
            aliased(filtered(count_rows(), one.neq(other)), f"two_{place}"),
        ]
    return select(counts, relation.copy())


def future_days(relation: exp.Expr, names: Sequence[str]) -> exp.Select:
    """One row: how many values of each column are days, ``days_0`` …, and how many are to come, ``future_0`` …"""
    counts = []
    for place, name in enumerate(names):
        day = try_cast(as_read(column(name)), "DATE")
        is_future = day > exp.CurrentDate()
        counts += [
            aliased(f.count(day), f"days_{place}"),
            aliased(filtered(count_rows(), is_future), f"future_{place}"),
        ]
    return select(counts, relation.copy())


def formula_counts(query: exp.Query, columns: Sequence[str]) -> exp.Query:
    """The ``count`` of cells that are formulas, or need an apostrophe, by the ``place`` of a column that has any."""
    cells = unpivoted(subquery(query.copy(), "anon_written"), dict(enumerate(map(column, columns))))
    is_quoted = scalar_call("quoted_formula", c.anon_value).neq(c.anon_value)
    counted = select(
        [aliased(c.anon_place, "place"), aliased(count_rows(), "count")], subquery(cells, "anon_cells")
    ).where(is_quoted, copy=False)
    return grouped(counted, [c.anon_place])


def quoted_names(columns: Sequence[str]) -> exp.Select:
    """The ``name`` of each column and how it is ``written``, as a cell of a header."""
    return select([c.name, aliased(scalar_call("quoted_formula", c.name), "written")], listed(columns, "name"))


def with_quoted_formulas(query: exp.Query, names: Mapping[str, str], quoted: Collection[str]) -> exp.Select:
    """A query with its columns under other names, and with an apostrophe before the formulas of some of them."""
    cells: dict[str, exp.Expr] = {name: column(name) for name in names}
    cells |= {name: scalar_call("quoted_formula", text(column(name))) for name in quoted}
    columns = [aliased(cells[name], written) for name, written in names.items()]
    return select(columns, subquery(query.copy(), "anon_written"))
