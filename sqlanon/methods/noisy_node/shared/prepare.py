"""From a source and a policy with a private method to what can be counted: all that can be refused before a charge."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.prepare import prepare
from sqlanon.engines.base import Compute, Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.mechanisms.source import RandomSource
from sqlanon.methods.noisy_node.shared.algorithm import public_node
from sqlanon.methods.shared.private.neighbours import bounded_source, private_method, refuse_observed
from sqlanon.methods.shared.private.refusals import no_category
from sqlanon.model.policy.policy import Policy
from sqlanon.queries.cells.encoding import CellSpec


def prepared(engine: Engine, source: ResolvedSource, policy: Policy) -> BoundPolicy:
    """A policy with a private method, bound to a source.

    Raises:
        PolicyError: as :func:`sqlanon.binding.prepare.prepare`; or the sensitive column is not categorical.
        TaxonomyError: likewise; or the values of a taxonomy were observed, and that is not accepted.
    """
    return checked(prepare(engine, source, policy))


def checked(bound: BoundPolicy) -> BoundPolicy:
    """A bound policy whose node is in the lattice, whose taxonomies are public, and whose sensitive columns fit.

    Raises:
        PolicyError, TaxonomyError: as :func:`prepared`.
    """
    _refuse_node(bound)
    refuse_observed(bound)
    _refuse_unfit_types(bound)
    return bound


def bounded(engine: Compute, bound: BoundPolicy, source: RandomSource) -> CellSpec:
    """Cells that count rows: no more of each individual than the method allows, if it knows individuals.

    Raises:
        PolicyError: rows belong to no individual.
    """
    return replace(bound.cells, source=bounded_source(engine, bound, source), individual=None)


def _refuse_node(bound: BoundPolicy) -> None:
    """A public node must be one of the lattice."""
    node, lattice = public_node(bound), bound.lattice
    problems = [
        f'method.node: "{name}" has levels {least} to {most}, so not {level}'
        for name, least, level, most in zip(
            lattice.quasi_identifiers, lattice.bottom, node or (), lattice.top, strict=node is not None
        )
        if not least <= level <= most
    ]
    if problems:
        raise PolicyError("the policy does not fit the taxonomies:", problems)


def _refuse_unfit_types(bound: BoundPolicy) -> None:
    wanted = private_method(bound.policy)
    for name in bound.policy.sensitive:
        found = next(found for found in bound.columns if found.name == name)
        if wanted.needs_value_domain and not (found.traits.is_text or found.traits.is_enum):
            raise PolicyError(
                f'with δ = 0 the values of "{name}" are those of its taxonomy; cast it from {found.type} to VARCHAR'
            )
        if not found.traits.can_be_rebuilt:
            raise PolicyError(no_category(found))
