"""Errors of counts by several columns, as a release at one node lets them be estimated: Lee et al. 2017, figure 10."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from statistics import fmean
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.queries import taxonomies
from sqlanon.queries.kit.macros import table_call, text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    aliased,
    all_of,
    column,
    count_rows,
    double,
    grouped,
    identifier,
    same,
    select,
    string,
    subquery,
)

if TYPE_CHECKING:
    from sqlanon.api.session import Session

SQL = Queries("papers")


def errors_by_count(
    session: Session, original: str, released: str, names: Sequence[str], sensitive: str
) -> dict[int, float]:
    """Return the mean relative error of ``COUNT(*) WHERE sensitive = v GROUP BY`` one column, two, and so on.

    Each is a mean over all values v and over as many choices of columns as there are columns: runs of neighbours, where
    the first one follows the last one.
    """
    count = len(names)
    runs = {n: [[*names, *names][at : at + n] for at in range(count if n < count else 1)] for n in range(1, count + 1)}
    engine = session._engine
    found = {}
    for n, columns in runs.items():
        queries = (_answers(original, released, each, sensitive) for each in columns)
        errors = [SQL.query("errors_by_value", answers=query) for query in queries]
        rows = (engine.fetch(taxonomies.at(query, engine.taxonomy), "errors of combinations") for query in errors)
        found[n] = fmean(row["error"] for [row] in rows)
    return found


def _answers(original: str, released: str, names: Sequence[str], sensitive: str) -> exp.Query:
    """Select the true count of each combination, and that of its labels by the combinations that these stand for."""
    shares: list[exp.Expr] = [exp.func("coalesce", column("rows", "anon_shown"), double(0))]
    query = select(
        [column("value", "anon_true"), aliased(column("rows", "anon_true"), "truth")],
        subquery(_counts(original, names, sensitive), "anon_true"),
    )
    for name in names:
        spread = f"anon_spread_{name}"
        labels = table_call("spread_labels", exp.Table(this=identifier(released)), string(name))
        query = query.join(
            subquery(labels, spread), on=same(column("value", spread), column(name, "anon_true")), join_type="left"
        )
        shares.append(exp.func("coalesce", column("share", spread), double(0)))
    meets = [same(column(name, "anon_shown"), column("label", f"anon_spread_{name}")) for name in names]
    meets.append(same(column("value", "anon_shown"), column("value", "anon_true")))
    shown = subquery(_counts(released, names, sensitive), "anon_shown")
    answer = reduce(lambda left, right: exp.Mul(this=left, expression=right), shares)
    return query.join(shown, on=all_of(meets), join_type="left").select(aliased(answer, "answer"))


def _counts(table: str, names: Sequence[str], sensitive: str) -> exp.Select:
    keys = {**{name: text(column(name)) for name in names}, "value": text(column(sensitive))}
    columns = [*(aliased(key, name) for name, key in keys.items()), aliased(count_rows(), "rows")]
    return grouped(select(columns, exp.Table(this=identifier(table))), [key.copy() for key in keys.values()])
