"""Declared ranges that are too large to be listed: their taxonomies have rows for the values that occur in a source.

What a label loses still depends on all values of the range. They are generated and counted once, and stored nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.binding.loading import TaxonomyLoad, levels_of
from sqlanon.binding.taxonomies import shapes_of
from sqlanon.engines.base import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.policy.policy import Policy
from sqlanon.model.taxonomy.arguments import IntegerRange
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.queries.kit.nodes import aliased, column, select, string, subquery
from sqlanon.queries.source import MadeTaxonomy
from sqlanon.queries.tables import taxonomies

MAX_LISTED_VALUES = 10_000
"""Of a declared range: a taxonomy of more has rows for those alone that occur."""


def large_ranges(policy: Policy, made: Mapping[str, Taxonomy]) -> list[str]:
    """The quasi-identifiers whose ranges are not listed.

    Only full-domain generalization does without the other values. What a private method draws depends on all values
    of its domains, so that nobody learns from it which of them occur.
    """
    if not isinstance(policy.method, FullDomain):
        return []
    labelled_at_the_top = policy.columns_with("top")
    return [
        name
        for name, taxonomy in made.items()
        if isinstance(taxonomy.values, IntegerRange)
        and taxonomy.values.maximum - taxonomy.values.minimum >= MAX_LISTED_VALUES
        and name in policy.quasi_identifiers
        and name not in policy.sensitive_taxonomies
        and name not in labelled_at_the_top
    ]


def read_in(engine: Engine, source: ResolvedSource, policy: Policy) -> tuple[exp.Expr, ...]:
    """The relations whose values need labels."""
    people = () if policy.population is None else (engine.resolve(policy.population, restricted=True).relation,)
    return (source.relation, *people)


def count_ranges(engine: Engine, wanted: Sequence[TaxonomyLoad]) -> None:
    """Count the labels of whole ranges, once the taxonomies of what occurs in them are stored."""
    if not wanted:
        return
    listings = {each.attribute: _listing(engine, each) for each in wanted}
    for each in wanted:
        shape = shapes_of(engine, listings[each.attribute])[each.attribute]
        engine.made_by[each.attribute] = MadeTaxonomy(each.taxonomy, shape)
    counts = taxonomies.leaf_counts(engine.taxonomy, list(listings.values()))
    table = taxonomies.leaves_of(engine.taxonomy)
    engine.execute(exp.Create(this=table, kind="TABLE", expression=counts), "the values of declared ranges")


def _listing(engine: Engine, wanted: TaxonomyLoad) -> exp.Subquery:
    """The rows of a taxonomy with all values of its range."""
    levels, _ = levels_of(engine, wanted, whole=True)
    columns = [column(name, "anon_levels") for name in ("level", "value", "label")]
    rows = select([aliased(string(wanted.attribute), "attribute"), *columns], subquery(levels, "anon_levels"))
    return subquery(rows, "anon_listing")
