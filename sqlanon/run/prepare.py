"""From a source and a policy to a bound policy: everything that can be refused before a row is read."""

from __future__ import annotations

from sqlanon.compiler.bind import BoundPolicy, bind
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.errors import TaxonomyError
from sqlanon.model.policy import Policy
from sqlanon.run import taxonomies


def prepare(engine: Engine, source: ResolvedSource, policy: Policy) -> BoundPolicy:
    """Bind a policy to a source.

    Raises:
        PolicyError: columns and roles do not match one to one, or the lattice is too large.
        TaxonomyError: a quasi-identifier has no taxonomy, or a malformed one.
    """
    columns = engine.describe(source.relation)
    policy.check_columns([column.name for column in columns], source.description)
    found = taxonomies.malformed(engine, policy.quasi_identifiers)
    problems = [line for name in policy.quasi_identifiers for line in found.get(name, [])]
    if problems:
        raise TaxonomyError("stored taxonomies are malformed; load them anew:", problems)
    shapes = taxonomies.shapes(engine, policy.quasi_identifiers)
    return bind(policy, source.relation, source.description, columns, shapes, engine.taxonomy)
