"""The source of a run with perturbed columns: its rows are numbered once, and new values joined to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.duckdb import Compute
from sqlanon.errors import PolicyError
from sqlanon.methods.base import AnyRun
from sqlanon.methods.perturbation.change import ROW, SQL, Change, NumberedRows
from sqlanon.model.names import in_quotes
from sqlanon.model.release.perturbed import PerturbedColumn
from sqlanon.queries.kit.nodes import Relation, called, column, counted_rows, select, subquery
from sqlanon.queries.source_rows import known_rows
from sqlanon.satellites import imported

RunT = TypeVar("RunT", bound=AnyRun)

KINDS: Mapping[str, str] = {
    "pram": "sqlanon.methods.perturbation.pram:RandomizedValues",
    "microaggregation": "sqlanon.methods.perturbation.grouped_values:LeastSquaresGroups",
    "noise": "sqlanon.methods.perturbation.normal_noise:NormalNoise",
    "swap": "sqlanon.methods.perturbation.rank_swapping:SwappedRanks",
}
"""The change that carries out each kind of perturbation, imported when it is asked for."""


def with_perturbed_rows(run: RunT) -> tuple[RunT, tuple[PerturbedColumn, ...]]:
    """Return the run on rows with perturbed columns, and what was changed in them.

    Raises:
        PolicyError: columns or rows do not fit their perturbation; nothing was drawn.
    """
    engine, bound, policy = run.engine, run.bound, run.bound.policy
    if not policy.perturbation:
        return run, ()
    rows = _numbered(engine, bound)
    changes = [
        imported(KINDS[settings.kind])(engine, rows, name, settings, place)
        for place, (name, settings) in enumerate(policy.perturbation.items())
    ]
    if problems := [problem for each in changes for problem in _problems(each)]:
        raise PolicyError(f"columns of {bound.description} cannot be perturbed as the policy says:", problems)
    for each in changes:
        each.make(run.draws)
    whole = _joined(rows, changes)
    known = known_rows(whole, policy.columns_with("suppress"), bound.taxonomy)
    found = tuple(column for each in changes for column in _measured(each))
    perturbed = run.bound_to(replace(bound, whole=whole, source=known))
    perturbed.beside = {name: query for each in changes for name, query in each.beside().items()}
    return perturbed, found


def _numbered(engine: Compute, bound: BoundPolicy) -> NumberedRows:
    relation = Relation("anon_numbered_rows", "row")
    columns, policy = {each.name: each for each in bound.columns}, bound.policy
    engine.run(SQL.step(relation, "numbered_rows", source=bound.whole.copy(), columns=[*columns]))
    counted = engine.fetch(counted_rows(relation.table), "rows of the source")
    bounds = {name: (policy.bottom_coding.get(name), policy.top_coding.get(name)) for name in policy.coded_columns}
    return NumberedRows(relation, counted[0]["rows"], columns, policy.criteria.k, bounds, policy.row_weight)


def _problems(change: Change[Any]) -> Iterator[str]:
    """List problems of the types of columns, or of their values."""
    unfit = [name for name in change.columns if not (change.settings.keeps_domain or change.is_number(name))]
    for name in unfit:
        yield f"{in_quotes(name)} has type {change.rows.columns[name].type}, and {change.settings.kind} is for numbers"
    if not unfit and change.rows.count:
        yield from change.problems()


def _joined(rows: NumberedRows, changes: Sequence[Change[Any]]) -> exp.Subquery:
    """Join the new values to the rows; every row has one line in each table."""
    homes = {name: each.made.name for each in changes for name in each.columns}
    shown: list[exp.Expr] = [column(name, homes.get(name, "anon_rows")) for name in rows.columns]
    query = select(shown, called(rows.relation.table, "anon_rows"))
    for made in (each.made for each in changes):
        is_own = column(ROW, made.name).eq(column(ROW, "anon_rows"))
        query = query.join(called(made.table, made.name), on=is_own, copy=False)
    return subquery(query, "anon_perturbed")


def _measured(change: Change[Any]) -> Iterator[PerturbedColumn]:
    remarks = tuple(change.remarks())
    for place, name in enumerate(change.columns):
        query = SQL.query(
            "changed_values",
            rows=change.rows.relation,
            changed=change.made,
            was=column(name, "anon_rows"),
            shown=column(name, "anon_changed"),
            before=change.as_number(name, "anon_rows"),
            after=change.as_number(name, "anon_changed"),
        )
        found = change.engine.fetch(query, f"changes of {in_quotes(name)}")[0]
        yield PerturbedColumn(column=name, kind=change.settings.kind, remarks=remarks if place == 0 else (), **found)
