"""Top and bottom coding: numbers beyond public bounds become the bounds before anything else is done with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from sqlglot import exp

from sqlanon.binding.written_values import with_written_values
from sqlanon.engines.duckdb import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.model.names import folded
from sqlanon.model.policy.policy import Policy
from sqlanon.queries.source import SourceColumn
from sqlanon.queries.tables import coding as queries


def coded(engine: Compute, source: ResolvedSource, policy: Policy) -> ResolvedSource:
    """A source with the texts of CSV files read as its policy takes them, and the numbers coded that the policy bounds.

    Raises:
        PolicyError: a column is not of numbers, or its type does not hold a bound; or as
            :func:`sqlanon.binding.written_values.with_written_values`.
    """
    source = with_written_values(engine, source, policy)
    if not policy.coded_columns:
        return source
    columns = engine.describe(source.relation)
    bounds = _bounds(policy, (found.name for found in columns))
    if problems := [*_misfits(engine, columns, bounds)]:
        raise PolicyError(f"top and bottom coding do not fit {source.description}:", problems)
    types = {found.name: found.type for found in columns}
    return replace(source, relation=queries.coded(source.relation, bounds, types)) if bounds else source


def beyond_bounds(engine: Compute, relation: exp.Expr, policy: Policy, columns: Iterable[str]) -> Iterator[str]:
    """A sentence for each of some columns of a release that has values beyond its bounds."""
    bounds = _bounds(policy, columns)
    if not bounds:
        return
    found = engine.fetch(queries.beyond_bounds(relation, bounds), "values beyond their bounds")[0]
    for place, name in enumerate(bounds):
        if found[f"beyond_{place}"]:
            yield f'"{name}" has {found[f"beyond_{place}"]:,} values beyond its bounds (bottom_coding, top_coding)'


def _bounds(policy: Policy, columns: Iterable[str]) -> dict[str, queries.Bounds]:
    """The bounds of those columns that have some, by their names in a table."""
    spelled = {folded(name): name for name in policy.coded_columns}
    named = {name: spelled[folded(name)] for name in columns if folded(name) in spelled}
    return {name: (policy.bottom_coding.get(own), policy.top_coding.get(own)) for name, own in named.items()}


def _misfits(engine: Compute, columns: Iterable[SourceColumn], bounds: Mapping[str, queries.Bounds]) -> Iterator[str]:
    numbers = {}
    for found in (found for found in columns if found.name in bounds):
        if found.traits.is_number:
            numbers[found.name] = found
        else:
            yield f'"{found.name}" is of type {found.type}, not of numbers: cast it in a view or a query'
    # A floating-point number is near every bound.
    exact = {name: found.type for name, found in numbers.items() if not found.traits.is_float}
    if not exact:
        return
    held = engine.fetch(queries.representable({name: bounds[name] for name in exact}, exact), "bounds of columns")[0]
    for place, (name, type_name) in enumerate(exact.items()):
        if not held[f"fits_{place}"]:
            yield f'"{name}" is of type {type_name}, which does not hold its bounds as they are written'
