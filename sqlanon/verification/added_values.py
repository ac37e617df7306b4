"""Values of a release that its source lacks, or that no perturbation gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.model.names import in_quotes
from sqlanon.model.policy.policy import Policy
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.nodes import column, names, select, subquery


def added_values(
    engine: Engine, released: exp.Expr, policy: Policy, source: exp.Expr, kept: Sequence[str]
) -> Iterator[str]:
    """Find values that the source lacks; of perturbed columns, those that no draw gives."""

    def added(columns: Sequence[str], *, as_often: bool = True) -> int:
        rows = [released.copy(), source.copy()]
        if not as_often:
            rows = [subquery(select(map(column, columns), each).distinct(), "anon_distinct") for each in rows]
        query = table_call("added_values", *rows, names([*columns]))
        return int(engine.fetch(query, "values of the source")[0]["added_rows"]) if columns else 0

    lacking = "that its source lacks, or has less often"
    if rows := added([name for name in kept if name not in policy.perturbed_columns]):
        yield f"{rows:,} rows have sensitive and insensitive values {lacking}"
    for name, each in policy.perturbation.items():
        if each.keeps_multiset and (rows := added((name, *each.columns))):
            yield f"{rows:,} rows have values of {in_quotes(name)} {lacking}"
        elif each.keeps_domain and (values := added((name, *each.columns), as_often=False)):
            yield f"{values:,} values of {in_quotes(name)} are not of its source"
