"""What local recoding refuses: wide lattices, models of other packages, aggregates of texts, and a bound of days."""

from __future__ import annotations

from sqlanon.binding.bound import BoundPolicy, refuse_wide
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.methods.local.aggregates import misfits
from sqlanon.methods.local.peeling import MAX_NODES
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.measures import unsupported
from sqlanon.model.lattice import LossContext
from sqlanon.model.methods.local import LocalRecoding
from sqlanon.model.policy.policy import Policy

TIGHT_WORK = 1e9
"""The most cells times nodes for which a tight bound is computed: ARX's Adult takes a minute."""


def refuse(bound: BoundPolicy) -> BoundPolicy:
    """Refuse a bound policy that cannot be carried out.

    Raises:
        PolicyError: naming why.
    """
    policy = bound.policy
    assert isinstance(policy.method, LocalRecoding)
    refuse_wide(bound.lattice, str(policy.method), most=MAX_NODES)
    if others := unsupported(policy.criteria.bounds):
        measures = ", ".join(other.measure.name for other in others)
        raise PolicyError(f"{policy.method} judges classes by the models of this package alone, not by {measures}")
    if problems := [*misfits(bound, policy.method)]:
        raise PolicyError(f"{policy.method} cannot publish these aggregates:", problems)
    return bound


def no_classes(policy: Policy, context: LossContext, *reasons: str) -> UnsatisfiableError:
    """The error where no classes meet a policy."""
    heading = f"no classes meet the privacy models with at most {context.allowed_rows:,} rows suppressed:"
    return UnsatisfiableError(heading, [f"required: {', '.join(map(str, policy.privacy))}", *reasons])


def refuse_tight_bound(settings: LocalRecoding, table: EncodedTable) -> None:
    """Refuse a tight bound that takes too long.

    Raises:
        PolicyError: with what to ask for in its place.
    """
    cells, nodes = table.cell_count, table.bound.lattice.size
    if settings.lower_bound == "tight" and cells * nodes > TIGHT_WORK:
        raise PolicyError(
            f"a tight lower bound would take too long: {cells:,} combinations of values times {nodes:,} nodes are more "
            f"than {TIGHT_WORK:,.0f}; take lower_bound = true, fewer quasi-identifiers, or taxonomies with fewer levels"
        )
