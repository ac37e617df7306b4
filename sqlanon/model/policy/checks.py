"""Checks of a policy with valid fields, and of its fit to a source and to earlier releases."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from sqlanon.model.cost_benefit import Profitability
from sqlanon.model.mean_risks import MeanModel, PopulationUniqueness
from sqlanon.model.methods.cut_methods import TopDownSpecialization
from sqlanon.model.methods.full_domain import NEED_MONOTONIC_PRIVACY, NEED_MONOTONIC_QUALITY, FullDomain, LocalRecoding
from sqlanon.model.names import folded
from sqlanon.model.policy.fields import OTHERS, ROLES, PolicyFields, action_for
from sqlanon.model.policy.perturbation_checks import perturbation_misfits
from sqlanon.model.policy.policy_parts import key_misfits
from sqlanon.model.policy_value import RESERVED_PREFIX, did_you_mean, unknown_names
from sqlanon.model.privacy import PopulationModel, PrivacyModel
from sqlanon.model.quality import Prec
from sqlanon.model.risk_models import SampleModel
from sqlanon.model.taxonomy.rules import Columns


def contradictions(policy: PolicyFields) -> Iterable[str]:
    yield from _misfits_of_roles(policy)
    yield from _misfits_of_models(policy)
    yield from _misfits_of_search(policy)
    yield from _impossible_levels(policy)
    yield from _foreign_columns(policy)
    yield from _misfits_of_populations(policy)
    yield from _misfits_of_labels(policy)
    yield from _uncountable_individuals(policy)
    yield from _unweighed_risks(policy)
    yield from _unpublishable_pseudonyms(policy)
    yield from policy.method.misfits(policy)
    yield from _unused_taxonomies(policy)
    yield from _released_labels(policy)
    yield from _unknown_misfits(policy)
    yield from _coded_columns(policy)
    yield from perturbation_misfits(policy)
    yield from earlier_misfits(policy)


def _misfits_of_roles(policy: PolicyFields) -> Iterable[str]:
    seen: dict[str, str] = {}
    for role in ROLES:
        for name in getattr(policy, role):
            if folded(name) in seen:
                yield f'column "{name}" has two roles: {seen[folded(name)]} and {role}'
            seen[folded(name)] = role
    for name in (name for role in ROLES for name in getattr(policy, role)):
        if folded(name).startswith(RESERVED_PREFIX):
            yield f'column "{name}" starts with the reserved "{RESERVED_PREFIX}"; rename it in a view'


def _misfits_of_models(policy: PolicyFields) -> Iterable[str]:
    for model in policy.privacy:
        for column in model.columns:
            if column not in policy.sensitive:
                yield f'{model} needs "{column}" among the sensitive columns'
    seen = set()
    for model in policy.privacy:
        key = (type(model), model.columns, model.bounds[0].measure)
        if key in seen:
            yield f"{model} repeats another model of the same kind; keep the stricter one"
        seen.add(key)


def _misfits_of_search(policy: PolicyFields) -> Iterable[str]:
    # Some searches rely on monotonicity.
    if policy.algorithm in NEED_MONOTONIC_PRIVACY:
        for model in policy.privacy:
            if not policy.is_monotonic(model):
                yield _needs_monotonic(policy, str(model))
    suppresses = policy.method.outlier_limit > 0
    is_unsound = suppresses or not policy.quality.monotonic_without_suppression
    if policy.algorithm in NEED_MONOTONIC_QUALITY and is_unsound and not policy.quality.monotonic:
        yield _needs_monotonic(policy, policy.quality.measure)
    yield from _misfits_of_objective(policy)


def _misfits_of_objective(policy: PolicyFields) -> Iterable[str]:
    if policy.objective == "privacy" and policy.max_loss is None:
        yield 'objective "privacy" needs max_loss, the maximum loss of the release'
    for model in (each for each in policy.privacy if isinstance(each, MeanModel) and policy.objective == "privacy"):
        yield f'objective "privacy" changes k, and {model} depends on the rows that k suppresses; take "utility"'
    if policy.objective == "privacy" and policy.search != "optimal":
        yield f'objective "privacy" has its own search, and takes no search "{policy.search}"'
    if policy.objective == "utility" and policy.max_loss is not None:
        yield 'max_loss is for objective "privacy", not for "utility"'


def _needs_monotonic(policy: PolicyFields, name: str) -> str:
    suppresses = policy.method.outlier_limit > 0
    state = "with suppression " if suppresses else "with individuals " if policy.individual else ""
    needs = f"{state}needs monotonic models, which {name} is not"
    if policy.objective == "privacy":
        return f'objective "privacy" {needs}'
    return f'search "{policy.search}" {needs}; take "optimal"'


def _impossible_levels(policy: PolicyFields) -> Iterable[str]:
    for bounds in ("minimum_levels", "maximum_levels"):
        yield from _not_quasi_identifiers(policy, bounds, getattr(policy, bounds))
    for name, least in policy.minimum_levels.items():
        most = policy.maximum_levels.get(name, least)
        if most < least:
            yield f'the minimum level of "{name}", {least}, is above its maximum level, {most}'


def _foreign_columns(policy: PolicyFields) -> Iterable[str]:
    weights = getattr(policy.quality, "weights", {})
    yield from _not_quasi_identifiers(policy, "quality.weights", weights)
    if all(weights.get(name, 1.0) == 0 for name in policy.quasi_identifiers):
        yield "quality.weights: every quasi-identifier has weight 0, so there is nothing to lose"
    if (counted := policy.quality.counted_column) is not None:
        for name, meant in unknown_names([counted], (*policy.sensitive, *policy.insensitive)):
            yield f'quality.column: "{name}" is not a sensitive or insensitive column{meant}'
    if policy.individual is not None and (counted is not None or policy.quality.counts_rows_alone):
        yield f'{policy.quality.measure} counts rows, not the individuals of "{policy.individual}"'
    if policy.row_weight is not None and policy.quality.counts_rows_alone:
        yield f'{policy.quality.measure} counts rows, not the weights of row_weight "{policy.row_weight}"'
    if policy.row_weight is not None and policy.row_weight in policy.quasi_identifiers:
        yield f'row_weight "{policy.row_weight}" is a quasi-identifier; weights are not generalized'


def _not_quasi_identifiers(policy: PolicyFields, field: str, names: Iterable[str]) -> Iterable[str]:
    for name, meant in unknown_names(names, policy.quasi_identifiers):
        yield f'{field}: "{name}" is not a quasi-identifier{meant}'


def _misfits_of_populations(policy: PolicyFields) -> Iterable[str]:
    populations = {model.population for model in policy.privacy if isinstance(model, PopulationModel)}
    if len(populations) > 1:
        yield "privacy models name several populations; a policy has one"
    if populations and policy.suppression == "mask":
        yield 'suppression "mask" cannot be combined with models of a population: masked rows match no class of it'
    for model in (each for each in policy.privacy if isinstance(each, PopulationUniqueness)):
        if policy.suppression == "mask":
            yield f'suppression "mask" cannot be combined with {model}: masked rows are in no class of its sample'


def _misfits_of_labels(policy: PolicyFields) -> Iterable[str]:
    for model in (each for each in policy.privacy if isinstance(each, Profitability)):
        if not isinstance(policy.method, FullDomain):
            yield f"{policy.method} does not take {model}, which is defined for the labels of one node"
        if policy.suppression == "mask":
            yield f'suppression "mask": masked rows have no information, so that they never meet {model}; take "drop"'
        if policy.columns_with("top"):
            yield f'unknown: "top" cannot be combined with {model}: a release does not say what such values lose'


def _uncountable_individuals(policy: PolicyFields) -> Iterable[str]:
    if policy.individual is None:
        return
    if policy.individual in policy.quasi_identifiers or policy.individual in policy.sensitive:
        yield f'individual "{policy.individual}" must be among the identifiers or the insensitive columns'
    for model in policy.privacy:
        if model.counts_rows_alone:
            yield f"{model} counts rows: give it a table with one row per individual, and no individual column"


def _unweighed_risks(policy: PolicyFields) -> Iterable[str]:
    for model in (each for each in policy.privacy if isinstance(each, SampleModel)):
        if policy.row_weight is None:
            yield f"{model} needs the weights of rows: name their column in row_weight"
        elif model.weight is not None and folded(model.weight) != folded(policy.row_weight):
            yield f'{model} has the weight "{model.weight}", and row_weight is "{policy.row_weight}": name one column'
        if policy.suppression == "mask":
            yield f'{model} is of labels at a node, and masked rows have none; take suppression "drop"'
        is_mean = isinstance(model, MeanModel)  # which the method does not take by any estimator
        if isinstance(policy.method, LocalRecoding) and model.estimator != "negative-binomial" and not is_mean:
            yield (
                f"{policy.method} has no node, whose counts {model} looks at; "
                'take estimator = "negative-binomial", which looks at a class alone'
            )


def _unpublishable_pseudonyms(policy: PolicyFields) -> Iterable[str]:
    if policy.pseudonyms and (why := policy.method.against_pseudonyms):
        columns = ", ".join(f'"{name}"' for name in policy.pseudonyms)
        yield f"{policy.method} cannot publish the pseudonyms of {columns}: {why}; name them among the identifiers"
    if policy.individual in policy.pseudonyms:
        yield (
            f'individual "{policy.individual}" is among the pseudonyms, which do not repeat in a release, so that '
            "classes count individuals without it: leave individual out"
        )


def _unused_taxonomies(policy: PolicyFields) -> Iterable[str]:
    for name, meant in unknown_names(policy.taxonomies, policy.columns_with_taxonomy):
        reason = "is neither a quasi-identifier nor a sensitive column with hierarchical distances"
        is_field = name in type(policy).model_fields
        place = f"; {name} = … of the policy must stand above the first [table] of its file" if is_field else meant
        yield f'taxonomies: "{name}" {reason}{place}'


def _released_labels(policy: PolicyFields) -> Iterable[str]:
    """Find columns to be published unchanged that have labels of a quasi-identifier."""
    roles = {folded(name): role for role in ("sensitive", "insensitive") for name in getattr(policy, role)}
    generalized = {*policy.taxonomy_columns}
    for name, rule in policy.taxonomies.items():
        if name in generalized and isinstance(rule, Columns):
            for column in rule.columns:
                if role := roles.get(folded(column)):
                    yield (
                        f'taxonomies: "{column}" has labels of "{name}", and would be released unchanged; make it an '
                        f"identifier, which is dropped, or a quasi-identifier, not {role}"
                    )


def _unknown_misfits(policy: PolicyFields) -> Iterable[str]:
    columns = policy.columns_with_taxonomy
    for name, meant in unknown_names((name for name in policy.unknown if name != OTHERS), columns):
        yield f'unknown: the policy uses no taxonomy of "{name}"{meant}'
    if policy.has_private_method and any(action_for(policy.unknown, name) != "error" for name in columns):
        yield f'unknown: the {policy.method} is private for values that its taxonomies have; take "error"'
    elif policy.columns_with("top"):
        yield from _misfits_of_top(policy)


def _coded_columns(policy: PolicyFields) -> Iterable[str]:
    """Find bounds on unpublished columns, and bounds with no number between them."""
    published = [*policy.quasi_identifiers, *policy.sensitive, *policy.insensitive]
    for coding in ("bottom_coding", "top_coding"):
        for name, meant in unknown_names(getattr(policy, coding), published):
            yield f'{coding}: "{name}" is neither a quasi-identifier nor a sensitive or insensitive column{meant}'
    for name, bottom in policy.bottom_coding.items():
        top = policy.top_coding.get(name, bottom)
        if top < bottom:
            yield f'bottom_coding: "{name}" has the bottom {bottom}, which is above its top, {top}'


def _misfits_of_top(policy: PolicyFields) -> Iterable[str]:
    top = 'unknown: "top"'
    if not isinstance(policy.method, FullDomain):
        yield f'{top} is for full domains, not for the {policy.method}; take "suppress"'
    for name in policy.columns_with("top"):
        if name not in policy.taxonomy_columns:
            yield f'{top} is for quasi-identifiers, and "{name}" is not generalized; take "suppress"'
    if policy.population is not None:
        yield f"{top} cannot be combined with models of a population: its values would have no label"
    if policy.weighs_risks:
        yield f"{top} cannot be combined with models of a sample: its values would have no label"
    if isinstance(policy.quality, Prec) and policy.quality.charges:
        yield f'{top} cannot be combined with "prec" that charges for suppressed rows: levels say too little about rows'


VIEWS = ("size", "values", "shares", "sized shares", "ordered", "hierarchical")
"""The views of models that several releases can meet together: values, their labels, and the whole source."""


def holds_together(model: PrivacyModel) -> bool:
    """Return whether several releases can meet a model together."""
    return all(bound.measure.view in VIEWS and bound.grain == "class" for bound in model.bounds)


def earlier_misfits(policy: PolicyFields) -> Iterable[str]:
    if policy.has_private_method and policy.earlier:
        yield f"earlier: the {policy.method} is paid for from a budget, which the ledger adds up over all releases"
    elif policy.held_with:
        yield from _unfit_method(policy)
        yield from _unfit_criteria(policy)
        yield from _unfit_keys(policy)


def _unfit_method(policy: PolicyFields) -> Iterable[str]:
    if isinstance(policy.method, LocalRecoding):
        if policy.method.aggregate:
            yield (
                "earlier: the values of several releases together are narrower than those of each; leave aggregate out"
            )
        if policy.method.lower_bound:
            yield "earlier: lower_bound does not know what other releases show; leave it out"
    elif not isinstance(policy.method, FullDomain | TopDownSpecialization):
        yield (
            "earlier: full domains, local recoding and top-down specialization alone are held together with other "
            f"releases, not the {policy.method}"
        )
    if policy.suppression == "mask":
        yield 'earlier: masked rows would show who was suppressed; take suppression "drop"'
    if policy.objective == "privacy":
        yield 'earlier: objective "privacy" considers only one release; use "utility"'


def _unfit_criteria(policy: PolicyFields) -> Iterable[str]:
    for model in policy.privacy:
        if not holds_together(model):
            yield (
                f"earlier: {model} is not held together with other releases; k-anonymity, l-diversity, t-closeness, "
                "β-likeness and δ-disclosure privacy are"
            )
    if policy.individual is not None:
        yield (
            f'earlier: a person has one row, and individual "{policy.individual}" may own several; make one row of '
            "them with `sqlanon flatten` (Session.flatten)"
        )
    if policy.row_weight is not None:
        yield f'earlier: persons are counted, not the weights of row_weight "{policy.row_weight}"'
    if policy.quality.class_losses:
        yield f"earlier: {policy.quality.measure} counts the classes of one release; take a loss of labels, such as LM"


def _unfit_keys(policy: PolicyFields) -> Iterable[str]:
    yield from (f"earlier: {problem}" for problem in key_misfits(policy.held_with))
    keys = {folded(each.key) for each in policy.held_with if each.key is not None}
    published = [name for role in ("quasi_identifiers", "sensitive", "insensitive") for name in getattr(policy, role)]
    for name in published:
        if folded(name) in keys:
            yield f'earlier: the key "{name}" would be published; name it among the identifiers'


def column_misfits(policy: PolicyFields, columns: Sequence[str]) -> list[str]:
    """Return the columns of a source without a role, and the roles of a policy without a column."""
    roles = [name for role in ROLES for name in getattr(policy, role)]
    there, given = ({folded(name): name for name in names} for names in (columns, roles))
    free = [name for key, name in there.items() if key not in given]
    problems = [
        f'column "{name}" has a role but is not in the source{meant}'
        for name, meant in unknown_names((name for key, name in given.items() if key not in there), free)
    ]
    problems += [
        f'{field} "{name}" is not in the source{did_you_mean(name, columns)}'
        for field, name in (("row_weight", policy.row_weight), ("individual", policy.individual))
        if name is not None and folded(name) not in there
    ]
    if free and policy.rest is None:
        problems.append(_without_role(policy, free))
    return problems


def _without_role(policy: PolicyFields, columns: Sequence[str]) -> str:
    named = ", ".join(f'"{name}"' for name in columns)
    state = f"column {named} has no role" if len(columns) == 1 else f"columns {named} have no role"
    written = json.dumps([*policy.identifiers, *columns], ensure_ascii=False)
    return (
        f"{state}: name each in quasi_identifiers, sensitive, insensitive or identifiers (which are dropped), "
        f'as in identifiers = {written}; or write rest = "identifier" to drop all without a role'
    )
