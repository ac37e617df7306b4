"""Values of a release that its source lacks, or that no perturbation gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.model.names import enumerated, in_quotes
from sqlanon.model.perturbation import GroupedValues
from sqlanon.model.policy.policy import Policy
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import column, names, select, struct, subquery, try_cast

SQL = Queries("perturbation")

LACKING = "that its source lacks, or has less often"


def added_values(
    engine: Engine, released: exp.Expr, policy: Policy, source: exp.Expr, kept: Sequence[str]
) -> Iterator[str]:
    """Find values of columns that were not perturbed that the source lacks."""
    if rows := _added(engine, released, source, [name for name in kept if name not in policy.perturbed_columns]):
        yield f"{rows:,} rows have sensitive and insensitive values {LACKING}"


def impossible_values(
    engine: Engine, released: exp.Expr, policy: Policy, source: exp.Expr, kept: Sequence[str]
) -> Iterator[str]:
    """Find values of perturbed columns that no draw and no group gives; ``source`` has all rows that were perturbed."""
    there = ((name, each) for name, each in policy.perturbation.items() if {name, *each.columns} <= {*kept})
    for name, each in there:
        columns, called = (name, *each.columns), in_quotes(name)
        if isinstance(each, GroupedValues):
            if rows := _of_no_group(engine, released, source, policy, name, each, kept):
                yield f"{rows:,} rows have a {each.value} of {called} that no group of the source has"
        elif each.keeps_multiset:
            if rows := _added(engine, released, source, columns):
                yield f"{rows:,} rows have values of {called} {LACKING}"
        elif each.keeps_domain:
            shown, true = (subquery(select(map(column, columns), rows).distinct(), "_") for rows in (released, source))
            if values := _added(engine, shown, true, columns):
                yield f"{values:,} values of {called} are not of its source"


def not_compared(policy: Policy) -> Iterator[str]:
    """Say which perturbed values are compared with little of the source, or with nothing."""
    changes = [(in_quotes(name), each) for name, each in policy.changes if not each.keeps_domain]
    if means := [name for name, each in changes if isinstance(each, GroupedValues)]:
        yield (
            f"values of {enumerated(means)} in strata that lack rows or are not shown as they are: they are compared "
            "with the range of their stratum or of the column only, others with groups of near values"
        )
    if noisy := [name for name, each in changes if name not in means]:
        yield f"values of {enumerated(noisy)}, which are perturbed: the source has others"


def _added(engine: Engine, released: exp.Expr, source: exp.Expr, columns: Sequence[str]) -> int:
    query = table_call("added_values", released.copy(), source.copy(), names([*columns]))
    return int(engine.fetch(query, "values of the source")[0]["added_rows"]) if columns else 0


# More than six parameters: a perturbation of a policy, and what it is compared in.
def _of_no_group(
    engine: Engine,
    released: exp.Expr,
    source: exp.Expr,
    policy: Policy,
    name: str,
    settings: GroupedValues,
    kept: Sequence[str],
) -> int:
    """Count the rows whose number no group of neighbours has; groups are known if all columns of strata are shown."""
    [kind] = [each.type for each in engine.describe(source) if each.name == name]
    strata = [each for each in settings.within if each in kept]
    # Rows of one value may have several weights, so that weighted means of groups are not known: they are within them.
    has_mean = policy.row_weight is None or settings.value == "median"
    stratum = struct({"anon_all": exp.true(), **{f"anon_{at}": column(each) for at, each in enumerate(strata)}})
    ranked = SQL.given(value=column(name), stratum=stratum)
    query = SQL.query(
        "ungrouped_values",
        true=ranked.query("ranked_numbers", source=source.copy(), number=column(name)),
        shown=ranked.query("ranked_numbers", source=released.copy(), number=try_cast(column(name), kind)),
        has_groups=exp.convert(len(strata) == len(settings.within)),
        fewest=settings.k,
        expected=try_cast(column(f"anon_{settings.value}"), kind) if has_mean else column("anon_number"),
    )
    return int(engine.fetch(query, "means of groups")[0]["rows"])
