"""From a source and a policy to a bound policy: everything that can be refused before a row is read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.binding import taxonomies
from sqlanon.binding.bound import BoundPolicy, bind
from sqlanon.binding.policy_types import as_policy_says, unguessed
from sqlanon.binding.unknown_values import known_values
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError, TaxonomyError
from sqlanon.model.base import did_you_mean, unknown_names
from sqlanon.model.names import spelled_like
from sqlanon.model.policy.policy import Policy
from sqlanon.queries.kit.macros import text
from sqlanon.queries.kit.nodes import column
from sqlanon.queries.source import SourceColumn, TaxonomyShape
from sqlanon.queries.tables import taxonomies as queries
from sqlanon.queries.tables.spelled import fractional_types, spelled, spelled_taxonomy
from sqlanon.queries.tables.taxonomies import leaves_of
from sqlanon.queries.tables.typed import typed


def prepare(engine: Engine, source: ResolvedSource, policy: Policy, *, has_earlier: bool = False) -> BoundPolicy:
    """Bind a policy to a source; ``has_earlier`` says that the caller has found the earlier releases of the policy.

    Raises:
        PolicyError: columns and roles do not match one to one, the lattice is too large for its search, or there are
            earlier releases that the caller has not looked for.
        TaxonomyError: a quasi-identifier has no taxonomy, or a malformed one.
        EngineError: the connection has a default collation.
    """
    if policy.held_with and not has_earlier:
        raise PolicyError(
            "earlier releases are looked at by anonymize and explain alone: leave earlier out of the policy for this, "
            "and what is found holds for the present release by itself"
        )
    engine.refuse_collation()  # before the taxonomies are checked: under a collation they look malformed
    source, columns = unguessed(engine, source, policy)
    policy = spelled_like_taxonomies(engine, policy)
    read = as_policy_says(engine, source, policy).relation
    columns = columns if read is source.relation else engine.describe(read)
    if missing := {found.name: text(column(found.name)) for found in columns if found.traits.is_missing}:
        read = typed(read, missing)
        columns = engine.describe(read)
    relation, columns = spelled(read, columns, policy.columns)
    population = resolve_population(engine, policy)
    shapes = _shapes(engine, policy)
    types = fractional_types(columns, [name for name, shape in shapes.items() if shape.domain != "observed"])
    taxonomy, roots = spelled_taxonomy(engine.taxonomy, types), _roots(engine, policy, shapes)
    bound = bind(policy, relation, source.description, columns, shapes, taxonomy, population, roots)
    counted = any(name in engine.made_by and engine.made_by[name].shape for name in bound.all_shapes)
    leaves = leaves_of(engine.taxonomy) if counted else None
    known = known_values(engine, tuple(bound.all_shapes), types)
    return _with_notes(engine, replace(bound, known=known, leaves=leaves))


def spelled_like_taxonomies(engine: Engine, policy: Policy) -> Policy:
    """The policy with the columns that need taxonomies spelled as these are, since the macros know them by one name."""
    attributes = taxonomies.attributes(engine)
    needed = policy.columns_with_taxonomy
    others = [name for name in needed if name not in attributes]
    names = [spelled_like(name, attributes) for name in others]
    return policy.spelled_like(names) if names != others else policy


def with_present_taxonomies(engine: Engine, bound: BoundPolicy) -> BoundPolicy:
    """The same with the taxonomies as the transaction of the run has them: another connection may have changed them.

    What is published then has the hashes of the taxonomies that it was made with.

    Raises:
        PolicyError, TaxonomyError: as :func:`prepare`.
    """
    found = taxonomies.shapes(engine, tuple(bound.all_shapes))
    if found == bound.all_shapes:
        return bound
    policy, shapes = bound.policy, _shapes(engine, bound.policy)
    roots, known, leaves = _roots(engine, policy, shapes), bound.known, bound.leaves
    bound = bind(policy, bound.whole, bound.description, bound.columns, shapes, bound.taxonomy, bound.population, roots)
    return _with_notes(engine, replace(bound, known=known, leaves=leaves))


def _with_notes(engine: Engine, bound: BoundPolicy) -> BoundPolicy:
    """The same with what is to be noted of its taxonomies; all of them are well-formed."""
    policy = bound.policy
    by_prefix = [name for name, rule in policy.taxonomies.items() if rule.kind in ("prefixes", "zip")]
    uneven = {} if policy.has_private_method else taxonomies.uneven_digits(engine, by_prefix)
    return replace(bound, ambiguous=taxonomies.ambiguous_labels(engine, bound.all_shapes), uneven=uneven)


def _shapes(engine: Engine, policy: Policy) -> dict[str, TaxonomyShape]:
    """The shapes of the taxonomies that a policy uses, as far as there are any.

    Raises:
        TaxonomyError: some are malformed.
    """
    attributes = policy.columns_with_taxonomy
    shapes = taxonomies.shapes(engine, attributes)
    found = taxonomies.malformed_of(engine, shapes)
    problems = [line for name in attributes for line in found.get(name, [])]
    if problems:
        raise TaxonomyError("stored taxonomies are malformed; load them anew:", problems)
    return shapes


def _roots(engine: Engine, policy: Policy, shapes: Mapping[str, TaxonomyShape]) -> dict[str, str]:
    """By column whose unknown values are labelled at the top, the label of the top.

    Raises:
        TaxonomyError: a taxonomy has no level above the values, or its top label stands below another one.
    """
    names = [name for name in policy.columns_with("top") if name in shapes]
    if not names:
        return {}
    flat = [f'"{name}": it has no level above the values' for name in names if shapes[name].height == 0]
    found = engine.fetch(queries.roots(engine.taxonomy, names), "labels of the top", "node")
    problems = flat + [
        f'"{row["attribute"]}": the label of its top stands in {row["others"]:,} rows below another label'
        for row in found
        if row["others"]
    ]
    if problems:
        raise TaxonomyError(
            'unknown values cannot be labelled at the top (unknown = "top") of these taxonomies:', problems
        )
    labels = {row["attribute"]: row["root"] for row in found}
    return {name: labels[name] for name in names}


def read_by(engine: Engine, source: ResolvedSource, policy: Policy) -> dict[str, ResolvedSource]:
    """What a run reads, by role: what it writes may replace none of it."""
    if policy.population is None:
        return {"source": source}
    return {"source": source, "population": engine.resolve(policy.population, restricted=True)}


def resolve_population(engine: Engine, policy: Policy) -> exp.Expr | None:
    """The population of a policy as a relation, if it has one.

    Raises:
        PolicyError: it lacks a quasi-identifier.
    """
    if policy.population is None:
        return None
    resolved = engine.resolve(policy.population, restricted=True)
    relation, described = spelled(resolved.relation, engine.describe(resolved.relation), policy.quasi_identifiers)
    columns = [column.name for column in described]
    missing = [*unknown_names(policy.quasi_identifiers, columns)]
    if missing:
        raise PolicyError(
            f"the population, {resolved.description}, does not fit the policy:",
            [f'quasi-identifier "{name}" is not there{meant}' for name, meant in missing],
        )
    return relation


def refuse_method(policy: Policy, doing: str) -> None:
    """Refuse what is done with privacy models to a policy that has a private method in their place.

    Raises:
        PolicyError: it has one.
    """
    if policy.has_private_method:
        raise PolicyError(
            f"there is nothing to {doing} by a policy with the {policy.method}: what it promises is a property of how "
            "a release was made, which its provenance records, not of its rows"
        )


PLAIN = re.compile(r"[A-Za-z0-9_.~-]+")
"""Names of columns that are part of the name of a folder as they are: DuckDB encodes others, and never decodes them."""


def refuse_columns(policy: Policy, columns: Sequence[SourceColumn], partition_by: Sequence[str]) -> None:
    """Refuse to partition by what is not in the release, or cannot be the name of a folder.

    Args:
        policy: the policy of the release.
        columns: the columns of its source.
        partition_by: the columns to partition by.

    Raises:
        PolicyError: lists every problem.
    """
    problems = [*_unreleased(policy, partition_by)]
    nested = {found.name: found.type for found in columns if not found.traits.has_name}
    problems += [
        f'column "{name}" is of type {nested[name]}, whose values are no names of folders'
        for name in partition_by
        if name in nested and name not in policy.quasi_identifiers and name in policy.released_columns
    ]
    problems += [
        f'column "{name}" has a name that readers of folders misread; rename it in a view, with letters of ASCII, '
        "digits and _ - . ~ alone"
        for name in partition_by
        if name in policy.released_columns and not PLAIN.fullmatch(name)
    ]
    if partition_by and policy.released_columns <= set(partition_by):
        problems.append("no column would be left to stand in the files")
    if problems:
        raise PolicyError("the release cannot be partitioned:", problems)


def _unreleased(policy: Policy, partition_by: Sequence[str]) -> list[str]:
    found = []
    for name in partition_by:
        if name in policy.identifiers:
            found.append(f'column "{name}" is an identifier, which is not released')
        elif name not in policy.released_columns:
            found.append(f'column "{name}" is not in the release{did_you_mean(name, policy.released_columns)}')
    return found
