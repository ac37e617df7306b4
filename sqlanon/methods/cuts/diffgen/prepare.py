"""From a source and a policy with DiffGen to what can be read: all that can be refused before a row is."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.binding.bound import BoundPolicy
from sqlanon.errors import PolicyError
from sqlanon.mechanisms.scales import difference_sensitivity, scale_for
from sqlanon.methods.cuts.diffgen.draws import is_monotonic, sensitivity
from sqlanon.methods.cuts.diffgen.encode import settings_of
from sqlanon.methods.cuts.shared.axes import no_list, no_number
from sqlanon.methods.shared.private.neighbours import refuse_observed
from sqlanon.methods.shared.private.refusals import no_category, refusing_small_budgets


def checked(bound: BoundPolicy) -> BoundPolicy:
    """A bound policy whose columns are of the kinds that it takes them for, and whose budget can be drawn with.

    Raises:
        PolicyError: listing the columns that are not; or ε is too small.
        TaxonomyError: the values of a taxonomy were observed, and that is not accepted.
    """
    refuse_observed(bound)
    if problems := list(_misfits(bound)):
        raise PolicyError(f"the policy does not fit {bound.description}:", problems)
    settings = settings_of(bound)
    with refusing_small_budgets(settings):
        scale_for(settings.step, difference_sensitivity(sensitivity(settings), monotonic=is_monotonic(settings)))
    return bound


def _misfits(bound: BoundPolicy) -> Iterator[str]:
    settings = settings_of(bound)
    (target,) = bound.policy.sensitive
    for found in bound.columns:
        if found.name in settings.numeric and not found.traits.is_number:
            yield f"{no_number(found)}, or give it a taxonomy"
        elif found.name in settings.sets and not found.traits.is_list:
            yield no_list(found)
        elif found.name in bound.policy.quasi_identifiers and found.name not in settings.sets and found.traits.is_list:
            yield f'"{found.name}" is {found.type}: name it in sets of the method'
        elif found.name == target and not found.traits.can_be_rebuilt:
            yield no_category(found)
