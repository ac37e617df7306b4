"""Checks of the perturbations of a policy against its roles, models and method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from sqlanon.model.names import folded, in_quotes
from sqlanon.model.perturbation import Perturbation, Pram
from sqlanon.model.policy.fields import PolicyFields

MATRIX = ("value", "shown_value", "probability")  # the columns of a published matrix, beside those of strata

WHY_NOT = {
    "quasi_identifiers": "is a quasi-identifier: classes would count values that nobody has, and k would say nothing; "
    "perturb sensitive and insensitive columns, and generalize this one",
    "identifiers": "is an identifier, which is dropped",
    "pseudonyms": "is published as pseudonyms, which have no value to change",
}

WHOSE = {"identifiers": "an identifier", "quasi_identifiers": "a quasi-identifier"}


def perturbation_misfits(policy: PolicyFields) -> Iterator[str]:
    if not policy.perturbation:
        return
    if policy.has_private_method:
        yield f"{policy.method} promises differential privacy, which ends if other numbers of the rows are published"
    elif policy.method.against_pseudonyms:
        yield f"{policy.method} does not publish the rows of the source as rows, whose values could be perturbed"
    roles = {name: role for role in (*WHY_NOT, "sensitive", "insensitive") for name in getattr(policy, role)}
    problems = [*_misfits_of_columns(policy, roles)]
    for own, each in policy.perturbation.items():
        misfits = _misfits_of_strata(each, policy.perturbed_columns, roles)
        problems += [f"{in_quotes(own)}: {problem}" for problem in misfits]
    yield from (f"perturbation: {problem}" for problem in problems)


def _misfits_of_columns(policy: PolicyFields, roles: Mapping[str, str]) -> Iterator[str]:
    uses = {
        **dict.fromkeys(getattr(policy.method, "aggregate", ()), f"{policy.method} aggregates its true values"),
        **dict.fromkeys(policy.counted_columns, "a privacy model or a loss counts its true values"),
        policy.row_weight: "it has the weights of rows (row_weight)",
        policy.individual: "it has the owners of rows (individual)",
    }
    for name, times in Counter(policy.perturbed_columns).items():
        if name not in roles:
            yield f"{in_quotes(name)} is not among the sensitive or insensitive columns"
        elif (why := WHY_NOT.get(roles[name])) is not None:
            yield f"{in_quotes(name)} {why}"
        if name in uses:
            yield f"{in_quotes(name)} cannot be perturbed: {uses[name]}; keep one of both"
        if times > 1:
            yield f"{in_quotes(name)} is perturbed {times} times: name it once"


def _misfits_of_strata(perturbation: Perturbation, perturbed: Sequence[str], roles: Mapping[str, str]) -> Iterator[str]:
    published = isinstance(perturbation, Pram) and perturbation.matrix == "publish"
    for name in perturbation.within:
        if roles.get(name, "pseudonyms") == "pseudonyms":
            yield f"within names {in_quotes(name)}, which has no role, or is a pseudonym"
        elif name in perturbed:
            yield f"within names {in_quotes(name)}, which is perturbed itself"
        elif roles[name] in WHOSE and published:
            yield f"within names {in_quotes(name)}, {WHOSE[roles[name]]}, whose values the published matrix would show"
        if published and folded(name) in MATRIX:
            yield f"within names {in_quotes(name)}, and the published matrix has its own column of this name"
