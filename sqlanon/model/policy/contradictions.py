"""What cannot be in a policy whose fields are each valid: names, models and bounds that contradict one another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sqlanon.model.base import RESERVED_PREFIX, unknown_names
from sqlanon.model.names import folded
from sqlanon.model.policy.columns import ROLES
from sqlanon.model.policy.searches import NEED_MONOTONIC_PRIVACY, NEED_MONOTONIC_QUALITY
from sqlanon.model.policy.unknown import unknown_misfits
from sqlanon.model.privacy import MConcealing, PopulationModel, PrivacyModel
from sqlanon.model.taxonomy.rules import Columns

if TYPE_CHECKING:
    from sqlanon.model.policy.policy import Policy


def contradictions(policy: Policy) -> Iterable[str]:
    """A line per problem."""
    yield from _repeated_columns(policy)
    yield from _reserved_columns(policy)
    yield from _unprotected_columns(policy)
    yield from _repeated_models(policy.privacy)
    yield from _unsound_search(policy)
    yield from _other_objective(policy)
    yield from _impossible_levels(policy)
    yield from _foreign_weights(policy)
    yield from _mixed_populations(policy)
    yield from _uncountable_individuals(policy)
    yield from _unpublishable_pseudonyms(policy)
    yield from _misfits_of_method(policy)
    yield from _unused_taxonomies(policy)
    yield from _released_labels(policy)
    yield from unknown_misfits(policy)


def _repeated_columns(policy: Policy) -> Iterable[str]:
    seen: dict[str, str] = {}
    for role in ROLES:
        for name in getattr(policy, role):
            if folded(name) in seen:
                yield f'column "{name}" has two roles: {seen[folded(name)]} and {role}'
            seen[folded(name)] = role


def _reserved_columns(policy: Policy) -> Iterable[str]:
    for name in (name for role in ROLES for name in getattr(policy, role)):
        if folded(name).startswith(RESERVED_PREFIX):
            yield f'column "{name}" starts with the reserved "{RESERVED_PREFIX}"; rename it in a view'


def _unsound_search(policy: Policy) -> Iterable[str]:
    """Some searches conclude from monotonicity alone."""
    if policy.algorithm in NEED_MONOTONIC_PRIVACY:
        for model in policy.privacy:
            if not policy.is_monotonic(model):
                yield _needs_monotonic(policy, str(model))
    suppresses = policy.method.outlier_limit(policy) > 0
    if policy.algorithm in NEED_MONOTONIC_QUALITY and suppresses and not policy.quality.monotonic:
        yield _needs_monotonic(policy, policy.quality.measure)


def _needs_monotonic(policy: Policy, name: str) -> str:
    suppresses = policy.method.outlier_limit(policy) > 0
    state = "with suppression " if suppresses else "with individuals " if policy.individual else ""
    needs = f"{state}needs monotonic models, which {name} is not"
    if policy.objective == "privacy":
        return f'objective "privacy" {needs}'
    return f'search "{policy.search}" {needs}; take "optimal"'


def _other_objective(policy: Policy) -> Iterable[str]:
    if policy.objective == "privacy" and policy.max_loss is None:
        yield 'objective "privacy" needs max_loss, the loss that the release may have at most'
    if policy.objective == "privacy" and policy.search != "optimal":
        yield f'objective "privacy" has a search of its own, and takes no search "{policy.search}"'
    if policy.objective == "utility" and policy.max_loss is not None:
        yield 'max_loss is for objective "privacy", not for "utility"'


def _impossible_levels(policy: Policy) -> Iterable[str]:
    for bounds in ("minimum_levels", "maximum_levels"):
        yield from _not_quasi_identifiers(policy, bounds, getattr(policy, bounds))
    for name, least in policy.minimum_levels.items():
        most = policy.maximum_levels.get(name, least)
        if most < least:
            yield f'the minimum level of "{name}", {least}, is above its maximum level, {most}'


def _foreign_weights(policy: Policy) -> Iterable[str]:
    weights = getattr(policy.quality, "weights", {})
    yield from _not_quasi_identifiers(policy, "quality.weights", weights)
    if all(weights.get(name, 1.0) == 0 for name in policy.quasi_identifiers):
        yield "quality.weights: every quasi-identifier has weight 0, so there is nothing to lose"
    if policy.row_weight is not None and policy.row_weight in policy.quasi_identifiers:
        yield f'row_weight "{policy.row_weight}" is a quasi-identifier; weights are not generalized'


def _not_quasi_identifiers(policy: Policy, field: str, names: Iterable[str]) -> Iterable[str]:
    for name, meant in unknown_names(names, policy.quasi_identifiers):
        yield f'{field}: "{name}" is not a quasi-identifier{meant}'


def _mixed_populations(policy: Policy) -> Iterable[str]:
    populations = {model.population for model in policy.privacy if isinstance(model, PopulationModel)}
    if len(populations) > 1:
        yield "privacy models name several populations; a policy has one"
    if populations and policy.suppression == "mask":
        yield 'suppression "mask" cannot be combined with models of a population: masked rows match no class of it'


def _uncountable_individuals(policy: Policy) -> Iterable[str]:
    if policy.individual is None:
        return
    if policy.individual in policy.quasi_identifiers or policy.individual in policy.sensitive:
        yield f'individual "{policy.individual}" must be among the identifiers or the insensitive columns'
    for model in policy.privacy:
        if isinstance(model, PopulationModel | MConcealing):
            yield f"{model} counts rows: give it a table with one row per individual, and no individual column"


def _unpublishable_pseudonyms(policy: Policy) -> Iterable[str]:
    if policy.pseudonyms and (why := policy.method.against_pseudonyms):
        columns = ", ".join(f'"{name}"' for name in policy.pseudonyms)
        yield f"{policy.method} cannot publish the pseudonyms of {columns}: {why}; name them among the identifiers"
    if policy.individual in policy.pseudonyms:
        yield (
            f'individual "{policy.individual}" is among the pseudonyms, which do not repeat in a release, so that '
            "classes count individuals without it: leave individual out"
        )


def _misfits_of_method(policy: Policy) -> Iterable[str]:
    return policy.method.misfits(policy)


def _unused_taxonomies(policy: Policy) -> Iterable[str]:
    for name, meant in unknown_names(policy.taxonomies, policy.columns_with_taxonomy):
        reason = "is neither a quasi-identifier nor a sensitive column with hierarchical distances"
        yield f'taxonomies: "{name}" {reason}{meant}'


def _released_labels(policy: Policy) -> Iterable[str]:
    """Columns that are published as they are, and have finer labels of a quasi-identifier than its node may have."""
    roles = {folded(name): role for role in ("sensitive", "insensitive") for name in getattr(policy, role)}
    for name, rule in policy.taxonomies.items():
        if name in policy.taxonomy_columns and isinstance(rule, Columns):
            for column in rule.columns:
                if role := roles.get(folded(column)):
                    yield (
                        f'taxonomies: "{column}" has labels of "{name}", and would be released as it is; make it an '
                        f"identifier, which is dropped, or a quasi-identifier, not {role}"
                    )


def _unprotected_columns(policy: Policy) -> Iterable[str]:
    for model in policy.privacy:
        for column in model.columns:
            if column not in policy.sensitive:
                yield f'{model} needs "{column}" among the sensitive columns'


def _repeated_models(models: Iterable[PrivacyModel]) -> Iterable[str]:
    seen = set()
    for model in models:
        key = (type(model), model.columns, model.bounds[0].measure)
        if key in seen:
            yield f"{model} repeats another model of the same kind; keep the stricter one"
        seen.add(key)
