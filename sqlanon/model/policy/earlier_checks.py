"""Checks of a policy whose release is held together with earlier ones."""

from __future__ import annotations

from collections.abc import Iterable

from sqlanon.model.methods.cut_methods import TopDownSpecialization
from sqlanon.model.methods.full_domain import FullDomain, LocalRecoding
from sqlanon.model.names import folded
from sqlanon.model.policy.fields import PolicyFields
from sqlanon.model.policy.held_releases import key_misfits
from sqlanon.model.privacy import PrivacyModel

VIEWS = ("size", "values", "shares", "sized shares", "ordered", "hierarchical")
"""What models look at that are held together: values, the labels above them, and those of the whole source."""


def holds_together(model: PrivacyModel) -> bool:
    """Whether several releases can be held together in a model."""
    return all(bound.measure.view in VIEWS and bound.grain == "class" for bound in model.bounds)


def earlier_misfits(policy: PolicyFields) -> Iterable[str]:
    """A line per problem."""
    if policy.has_private_method and policy.earlier:
        yield f"earlier: the {policy.method} is paid for from a budget, which the ledger adds up over all releases"
    elif policy.held_with:
        yield from _unfit_method(policy)
        yield from _unfit_criteria(policy)
        yield from _unfit_keys(policy)


def _unfit_method(policy: PolicyFields) -> Iterable[str]:
    if isinstance(policy.method, LocalRecoding):
        yield from _unfit_local_recoding(policy.method)
    elif not isinstance(policy.method, FullDomain | TopDownSpecialization):
        yield (
            "earlier: full domains, local recoding and top-down specialization alone are held together with other "
            f"releases, not the {policy.method}"
        )
    if policy.suppression == "mask":
        yield 'earlier: masked rows would show who was suppressed; take suppression "drop"'
    if policy.objective == "privacy":
        yield 'earlier: objective "privacy" looks at one release alone; take "utility"'


def _unfit_local_recoding(method: LocalRecoding) -> Iterable[str]:
    if method.aggregate:
        yield "earlier: the values of several releases together are narrower than those of each; leave aggregate out"
    if method.lower_bound:
        yield "earlier: lower_bound does not know what other releases show; leave it out"


def _unfit_criteria(policy: PolicyFields) -> Iterable[str]:
    yield from _unfit_models(policy)
    if policy.individual is not None:
        yield (
            f'earlier: a person has one row, and individual "{policy.individual}" may own several; make one row of '
            "them with `sqlanon flatten` (Session.flatten)"
        )
    if policy.row_weight is not None:
        yield f'earlier: persons are counted, not the weights of row_weight "{policy.row_weight}"'
    if policy.quality.class_losses:
        yield f"earlier: {policy.quality.measure} counts the classes of one release; take a loss of labels, such as LM"


def _unfit_models(policy: PolicyFields) -> Iterable[str]:
    for model in policy.privacy:
        if not holds_together(model):
            yield (
                f"earlier: {model} is not held together with other releases; k-anonymity, l-diversity, t-closeness, "
                "β-likeness and δ-disclosure privacy are"
            )


def _unfit_keys(policy: PolicyFields) -> Iterable[str]:
    yield from (f"earlier: {problem}" for problem in key_misfits(policy.held_with))
    keys = {folded(each.key) for each in policy.held_with if each.key is not None}
    published = [name for role in ("quasi_identifiers", "sensitive", "insensitive") for name in getattr(policy, role)]
    for name in published:
        if folded(name) in keys:
            yield f'earlier: the key "{name}" would be published; name it among the identifiers'
