"""How many rows an individual has: no more than a bound, chosen at random, before anything is counted."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.queries.encoding import CellSpec
from sqlanon.queries.kit.macros import exact_text, text
from sqlanon.queries.kit.nodes import (
    aliased,
    ascending,
    column,
    count_distinct,
    count_rows,
    f,
    filtered,
    grouped,
    identifier,
    number,
    select,
    string,
    subquery,
    union_all,
)

PLACE = "anon_place_of_row"
"""The place of a row among those of its individual."""


def anonymous_rows(source: exp.Table | exp.Subquery, individual: str) -> exp.Query:
    """One row, ``rows``: how many belong to nobody."""
    nobody = column(individual).is_(exp.null())
    return select([aliased(count_rows(), "rows")], source.copy()).where(nobody, copy=False)


def crowded(source: exp.Table | exp.Subquery, individual: str, most: int) -> exp.Query:
    """One row, ``individuals``: how many have more rows than that."""
    owner = exact_text(column(individual))
    many = grouped(select([aliased(owner, "anon_owner")], source.copy()), [owner])
    many.set("having", exp.Having(this=exp.GT(this=count_rows(), expression=number(most))))
    return select([aliased(count_rows(), "individuals")], subquery(many, "anon_crowded"))


def differences(first: CellSpec, second: CellSpec) -> exp.Query:
    """One row, ``differing``: how many rows two sources differ by, or individuals if their column is specified.

    An individual that both have with different rows counts as two: one that leaves, and one that comes.
    """
    individual = () if first.individual is None else (first.individual,)
    names = [*first.quasi_identifiers, *first.protected, *individual]

    def signed(spec: CellSpec, sign: int) -> exp.Select:
        rows = [aliased(exact_text(column(name)), f"anon_{place}") for place, name in enumerate(names)]
        return select([*rows, aliased(number(sign), "anon_sign")], spec.source.copy())

    keys = [column(f"anon_{place}") for place in range(len(names))]
    total = aliased(exp.Sum(this=column("anon_sign")), "anon_more")
    changed = grouped(
        select([*keys, total], subquery(union_all([signed(first, 1), signed(second, -1)]), "anon_both")), keys
    )
    if not individual:
        counted: exp.Expr = exp.Sum(this=exp.Abs(this=column("anon_more")))
    else:
        last = column(f"anon_{len(names) - 1}")
        signs = exp.Tuple(expressions=[last, exp.func("sign", column("anon_more"))])
        moved = exp.NEQ(this=column("anon_more"), expression=number(0))
        counted = filtered(count_distinct(signs), moved)
    columns = [aliased(exp.func("coalesce", counted, number(0)), "differing")]
    return select(columns, subquery(changed, "anon_changed"))


def bounded_rows(
    source: exp.Table | exp.Subquery, individual: str, most: int, seed: int, names: Sequence[str]
) -> exp.Subquery:
    """A source with at most ``most`` rows of each individual.

    Which ones depends on the rows of that individual and on the seed alone, so that those of others stay the same when
    an individual comes or goes; ``names`` are the columns by whose texts rows are known. Individuals are compared as
    exact text, as :func:`differences` does: under the collation of a column two of them could share the bound, and one
    who leaves would make room for rows of the other.
    """
    texts = [text(column(name)) for name in names]
    parts = [part for each in texts for part in (f.strlen(each), string(":"), each.copy())]
    drawn = f.md5(f.concat(string(f"{seed} "), *parts))
    place = exp.Window(this=exp.RowNumber(), partition_by=[exact_text(column(individual))], order=ascending(drawn))
    placed = select([exp.Star(), aliased(place, PLACE)], source.copy())
    chosen = exp.LTE(this=column(PLACE), expression=number(most))
    return subquery(
        select([exp.Star(except_=[identifier(PLACE)])], subquery(placed, "anon_placed")).where(chosen, copy=False),
        "anon_bounded",
    )
