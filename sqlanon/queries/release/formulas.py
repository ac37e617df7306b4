"""Cells of a CSV that a spreadsheet would compute: counted, and quoted with an apostrophe."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import aliased, column, count_rows, filtered, select, string, subquery
from sqlanon.queries.kit.values import text


def formula_counts(query: exp.Query, names: Sequence[str]) -> exp.Query:
    """One row: how many cells of each column are formulas, or need an apostrophe, as columns ``0``, ``1`` and so on."""
    counts = [
        aliased(filtered(count_rows(), scalar_call("quoted_formula", cell).neq(cell)), str(place))
        for place, cell in enumerate(text(column(name)) for name in names)
    ]
    return select(counts, subquery(query.copy(), "anon_written"))


def quoted_names(names: Sequence[str]) -> exp.Select:
    """One row: the names of columns as cells of a header, as columns ``0``, ``1`` and so on."""
    cells = (scalar_call("quoted_formula", string(name)) for name in names)
    return exp.Select(expressions=[aliased(cell, str(place)) for place, cell in enumerate(cells)])


def with_quoted_formulas(query: exp.Query, names: Mapping[str, str], quoted: Collection[str]) -> exp.Select:
    """A query with its columns under other names, and with an apostrophe before the formulas of some of them."""
    cells: dict[str, exp.Expr] = {name: column(name) for name in names}
    cells |= {name: scalar_call("quoted_formula", text(column(name))) for name in quoted}
    columns = [aliased(cells[name], written) for name, written in names.items()]
    return select(columns, subquery(query.copy(), "anon_written"))
