"""What local recoding refuses: wide lattices, models of one node, aggregates of texts, and a bound of days."""

from __future__ import annotations

from collections.abc import Iterable

from sqlanon.binding.bound import BoundPolicy, refuse_wide
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.methods.local.aggregates import misfits
from sqlanon.model.bounds import Bound
from sqlanon.model.lattice import LossContext
from sqlanon.model.methods.local import LocalRecoding
from sqlanon.model.policy.policy import Policy

MAX_NODES = 10**6
"""The most nodes that are looked at: all are put in order, and each takes some ten microseconds at least."""

OF_NODES = ("attacker", "population")
"""What measures look at that are defined for the classes of one node."""


def judges_no_classes(bounds: Iterable[Bound]) -> list[Bound]:
    """The bounds that are defined for the classes of one node alone."""
    return [bound for bound in bounds if bound.grain == "node" or bound.measure.view in OF_NODES]


def refuse(bound: BoundPolicy) -> BoundPolicy:
    """Refuse a bound policy that cannot be carried out.

    Raises:
        PolicyError: naming why.
    """
    policy = bound.policy
    assert isinstance(policy.method, LocalRecoding)
    refuse_wide(bound.lattice, str(policy.method), most=MAX_NODES)
    if others := judges_no_classes(policy.criteria.bounds):
        measures = ", ".join(other.measure.name for other in others)
        raise PolicyError(f"{policy.method} judges classes by their rows and values alone, not by {measures}")
    if problems := [*misfits(bound, policy.method)]:
        raise PolicyError(f"{policy.method} cannot publish these aggregates:", problems)
    return bound


def no_classes(policy: Policy, context: LossContext, *reasons: str) -> UnsatisfiableError:
    """The error where no classes meet a policy."""
    heading = f"no classes meet the privacy models with at most {context.allowed_rows:,} rows suppressed:"
    return UnsatisfiableError(heading, [f"required: {', '.join(map(str, policy.privacy))}", *reasons])
