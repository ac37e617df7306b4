"""Whose rows a private method counts, which neighbours differ by, and what everybody may know of the data."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.base import Compute
from sqlanon.errors import PolicyError, TaxonomyError
from sqlanon.mechanisms.source import RandomSource
from sqlanon.model.budget import ROW, Unit
from sqlanon.model.methods.noisy import PrivateMethod
from sqlanon.model.policy.policy import Policy
from sqlanon.queries.cells.contributions import anonymous_rows, bounded_rows


def private_method(policy: Policy) -> PrivateMethod:
    """The method of a policy that has a private one."""
    assert isinstance(policy.method, PrivateMethod)
    return policy.method


def unit_of(policy: Policy, individual: str | None) -> Unit:
    """What the neighbours differ by of the loss that a policy with a private method spends.

    ``individual`` is what the data set calls the column of the individuals; None if nobody has traced it.
    """
    if policy.individual is None:
        return ROW
    return Unit(individual or policy.individual, private_method(policy).rows_per_individual)


def bounded_source(engine: Compute, bound: BoundPolicy, source: RandomSource) -> exp.Table | exp.Subquery:
    """The source with no more rows of each individual than the method allows, if the policy knows individuals.

    Raises:
        PolicyError: rows belong to no individual.
    """
    individual = bound.policy.individual
    if individual is None:
        return bound.source
    anonymous = engine.fetch(anonymous_rows(bound.source, individual), "individuals")[0]["rows"]
    if anonymous:
        raise PolicyError(
            f"the policy does not fit {bound.description}:",
            [f'"{individual}": NULL in {anonymous:,} rows, which belong to no individual'],
        )
    return bounded_rows(bound.source, individual, private_method(bound.policy).rows_per_individual, source.seed())


def refuse_observed(bound: BoundPolicy) -> None:
    """Labels that were made from the data disclose some of it, whatever noise is added.

    Raises:
        TaxonomyError: the values of a taxonomy were observed, and that is not accepted.
    """
    observed = [name for name, domain in bound.domains.items() if domain == "observed"]
    wanted = private_method(bound.policy)
    if observed and wanted.claims_privacy and not wanted.accept_observed_domain:
        raise TaxonomyError(
            "the values of these taxonomies were read off the data, which would be published with them; declare them "
            "(values of your own, or a range), or accept_observed_domain=True if everybody knows which values occur:",
            [f'"{name}"' for name in observed],
        )
