"""Bind a source and a policy: refuse everything that can be refused before a row is read.

One cell of a CSV file, or a missing value of a frame, changes the type of its whole column, which shows in the release
whatever the noise. So private methods read such columns as texts, bins with integral edges hold integers, and CSV files
have a fixed form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.binding import stored_taxonomies
from sqlanon.binding.bound import BoundPolicy, bind
from sqlanon.binding.coding import coded, refuse_texts
from sqlanon.binding.unknown_values import known_values
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError, TaxonomyError
from sqlanon.model.methods.synthetic import Synthetic
from sqlanon.model.names import folded, spelled_like
from sqlanon.model.policy.policy import Policy
from sqlanon.model.policy_value import did_you_mean, unknown_names
from sqlanon.queries import taxonomies
from sqlanon.queries.kit.macros import text
from sqlanon.queries.kit.nodes import column
from sqlanon.queries.source import (
    SourceColumn,
    TaxonomyShape,
    fractional_types,
    number_of,
    spelled,
    spelled_taxonomy,
    text_of,
    typed,
)
from sqlanon.queries.taxonomies import leaves_of

PLAIN = re.compile(r"[A-Za-z0-9_.~-]+")  # names that DuckDB does not encode in names of folders; it never decodes any

FORM = (
    "private methods read CSV in a fixed form, since guessing another would depend on its rows: commas (tabs in .tsv) "
    'between cells, double quotes, and names in the first line; set what differs in [csv], such as delim = ";"'
)


def prepare(engine: Engine, source: ResolvedSource, policy: Policy, *, has_earlier: bool = False) -> BoundPolicy:
    """Bind a policy to a source; ``has_earlier`` if the caller has found the policy's earlier releases.

    Raises:
        PolicyError: columns and roles do not match one to one, the lattice is too large for its search, or the caller
            has not looked for earlier releases.
        TaxonomyError: a quasi-identifier has no taxonomy, or a malformed one.
        EngineError: the connection has a default collation.
    """
    if policy.held_with and not has_earlier:
        raise PolicyError(
            "only anonymize and explain look at earlier releases: remove earlier from the policy here; the results "
            "then hold for this release by itself"
        )
    engine.refuse_collation()  # before the taxonomies are checked, which look malformed under a collation
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
    """Spell columns like their taxonomies, since the macros know one name for both."""
    attributes = stored_taxonomies.attributes(engine)
    needed = policy.columns_with_taxonomy
    others = [name for name in needed if name not in attributes]
    names = [spelled_like(name, attributes) for name in others]
    return policy.spelled_like(names) if names != others else policy


def with_present_taxonomies(engine: Engine, bound: BoundPolicy) -> BoundPolicy:
    """Bind to the taxonomies in the run's transaction, which another connection may have changed.

    So a release always has the hashes of the taxonomies that it was made with.
    """
    found = stored_taxonomies.shapes(engine, tuple(bound.all_shapes))
    if found == bound.all_shapes:
        return bound
    policy, shapes = bound.policy, _shapes(engine, bound.policy)
    roots, known, leaves = _roots(engine, policy, shapes), bound.known, bound.leaves
    bound = bind(policy, bound.whole, bound.description, bound.columns, shapes, bound.taxonomy, bound.population, roots)
    return _with_notes(engine, replace(bound, known=known, leaves=leaves))


def _with_notes(engine: Engine, bound: BoundPolicy) -> BoundPolicy:
    policy = bound.policy
    by_prefix = [name for name, rule in policy.taxonomies.items() if rule.kind in ("prefixes", "zip")]
    uneven = {} if policy.has_private_method else stored_taxonomies.uneven_digits(engine, by_prefix)
    return replace(bound, ambiguous=stored_taxonomies.ambiguous_labels(engine, bound.all_shapes), uneven=uneven)


def _shapes(engine: Engine, policy: Policy) -> dict[str, TaxonomyShape]:
    attributes = policy.columns_with_taxonomy
    shapes = stored_taxonomies.shapes(engine, attributes)
    found = stored_taxonomies.malformed_of(engine, shapes)
    problems = [line for name in attributes for line in found.get(name, [])]
    if problems:
        raise TaxonomyError("stored taxonomies are malformed; load them anew:", problems)
    return shapes


def _roots(engine: Engine, policy: Policy, shapes: Mapping[str, TaxonomyShape]) -> dict[str, str]:
    """Find the top label by column whose unknown values get it; refuse labels that also stand below the top."""
    names = [name for name in policy.columns_with("top") if name in shapes]
    if not names:
        return {}
    flat = [f'"{name}": it has no level above the values' for name in names if shapes[name].height == 0]
    found = engine.fetch(taxonomies.roots(engine.taxonomy, names), "labels of the top", "node")
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
    """Return the sources of a run, by role; its target must not replace them."""
    if policy.population is None:
        return {"source": source}
    return {"source": source, "population": engine.resolve(policy.population, restricted=True)}


def resolve_population(engine: Engine, policy: Policy) -> exp.Expr | None:
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
    """Refuse a private method where privacy models are needed."""
    if policy.has_private_method:
        raise PolicyError(
            f"there is nothing to {doing} by a policy with the {policy.method}: what it promises is a property of how "
            "a release was made, which its provenance records, not of its rows"
        )


def refuse_columns(policy: Policy, columns: Sequence[SourceColumn], partition_by: Sequence[str]) -> None:
    """Refuse to partition by columns that are not released, or whose values cannot name a folder."""
    problems = []
    for name in partition_by:
        if name in policy.identifiers:
            problems.append(f'column "{name}" is an identifier, which is not released')
        elif name not in policy.released_columns:
            problems.append(f'column "{name}" is not in the release{did_you_mean(name, policy.released_columns)}')
    nested = {found.name: found.type for found in columns if not found.traits.has_name}
    problems += [
        f'column "{name}" is of type {nested[name]}, whose values are no names of folders'
        for name in partition_by
        if name in nested and name not in policy.quasi_identifiers and name in policy.released_columns
    ]
    problems += [
        f'column "{name}" has a name that readers of folders misread; rename it in a view, using only ASCII '
        "letters, digits and _ - . ~"
        for name in partition_by
        if name in policy.released_columns and not PLAIN.fullmatch(name)
    ]
    if partition_by and policy.released_columns <= set(partition_by):
        problems.append("no column would be left in the files")
    if problems:
        raise PolicyError("the release cannot be partitioned:", problems)


def unguessed(engine: Engine, source: ResolvedSource, policy: Policy) -> tuple[ResolvedSource, Sequence[SourceColumn]]:
    """Return a source that fits a policy, and its columns; private methods read CSV files in a fixed form."""
    found = engine.unguessed(source) if policy.has_private_method else source
    columns = engine.describe(found.relation)
    try:
        policy.check_columns([column.name for column in columns], source.description)
    except PolicyError as error:
        if found.relation is source.relation:
            raise
        raise PolicyError(f"{error.heading.removesuffix(':')}, as {FORM}:", error.problems) from None
    return found, columns


def as_policy_says(engine: Engine, source: ResolvedSource, policy: Policy) -> ResolvedSource:
    """Apply the policy's types and bounds to the columns of a source."""
    if not (policy.has_private_method and source.follows_rows):
        return coded(engine, source, policy)
    numeric = policy.method.without_taxonomy
    columns = engine.describe(source.relation)
    numbers = [*_named(columns, (*numeric, *policy.coded_columns))]
    refuse_texts(engine, source, [found.name for found in numbers if found.traits.is_text])
    read = {found.name: number_of(found.name) for found in numbers}
    source = coded(engine, replace(source, relation=typed(source.relation, read)), policy)
    columns = engine.describe(source.relation)
    whole = [found for found in _named(columns, numeric) if _is_whole(policy, found.name)]
    texts = _named(columns, {*policy.quasi_identifiers, *policy.sensitive} - {*numeric})
    read = {found.name: number_of(found.name, is_whole=True) for found in whole}
    read |= {found.name: text_of(found) for found in texts}
    return replace(source, relation=typed(source.relation, read))


def _named(columns: Sequence[SourceColumn], names: Iterable[str]) -> list[SourceColumn]:
    wanted = {*map(folded, names)}
    return [found for found in columns if folded(found.name) in wanted]


def _is_whole(policy: Policy, name: str) -> bool:
    """Return whether the published numbers of a column are integers, by its step or else the edges of its bins."""
    if not isinstance(policy.method, Synthetic):
        return False
    own = next(each for each in policy.method.numeric if folded(each) == folded(name))
    step = policy.method.step.get(own)
    return all(edge % 1 == 0 for edge in (policy.method.numeric[own].edges if step is None else (step,)))
