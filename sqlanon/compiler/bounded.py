"""How many rows an individual has: no more than a bound, chosen at random, before anything is counted."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.compiler.nodes import aliased, ascending, column, count_rows, number, select, string, subquery, text


def anonymous_rows(source: exp.Table | exp.Subquery, individual: str) -> exp.Query:
    """One row, ``rows``: how many belong to nobody."""
    nobody = column(individual).is_(exp.null())
    return select([aliased(count_rows(), "rows")], source.copy()).where(nobody, copy=False)


def bounded_rows(source: exp.Table | exp.Subquery, individual: str, most: int, seed: int) -> exp.Subquery:
    """A source with at most so many rows of each individual.

    Which ones depends on the rows of that individual and on the seed alone, so that those of others stay the same when
    an individual comes or goes.
    """
    row = text(column("anon_source"))
    drawn = exp.func("md5", exp.DPipe(this=string(f"{seed} "), expression=row))
    place = exp.Window(this=exp.RowNumber(), partition_by=[column(individual)], order=ascending(drawn))
    rows = select([exp.Star()], exp.alias_(source.copy(), "anon_source", table=True))
    rows.set("qualify", exp.Qualify(this=exp.LTE(this=place, expression=number(most))))
    return subquery(rows, "anon_bounded")
