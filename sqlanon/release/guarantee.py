"""Guarantees: the promises of a release, as sentences that hold for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from sqlanon.model.cost_benefit import NoAttack, Profitability
from sqlanon.model.destination import DELTA, ICEBERG
from sqlanon.model.mean_risks import MeanModel, PopulationUniqueness
from sqlanon.model.names import enumerated, in_quotes
from sqlanon.model.policy.policy import Policy
from sqlanon.model.policy.policy_parts import Earlier
from sqlanon.model.privacy import DeltaPresence, PrivacyModel
from sqlanon.model.release import Guarantee, Report

if TYPE_CHECKING:
    from sqlanon.model.fitted import Fit

WHAT_ROWS_COUNT = (
    "classes count rows: where one individual owns several rows, a class of k rows holds fewer individuals"
)

CHOSEN_NODE = "that the node was chosen from the data, and that rows were suppressed, says something about the data"

CHOSEN_CLASSES = (
    "that the classes were chosen from the source of the fit says something about it: that a row is in a coarse class, "
    "for example, that no finer one which holds its values met the privacy models (minimality)"
)

REMOVING = {
    DELTA: "VACUUM",
    ICEBERG: "expire_snapshots",
}  # commands that drop old versions


def guarantee(policy: Policy, report: Report) -> Guarantee:
    claims = [*_claims(policy, f"of the release {_over(policy)}"), *_joint_claims(policy)]
    claims += [
        f"each value of {in_quotes(name)} is published as its HMAC-SHA-256, in one row at most, which does not reveal "
        "the value to anyone without the key"
        for name in policy.pseudonyms
    ]
    drawn = [(in_quotes(name), each) for name, each in policy.changes]
    return Guarantee(
        claims=(*claims, *(claim for name, each in drawn for claim in each.claims(name))),
        conditions=(
            *_conditions(policy, report.domains),
            *(condition for name, each in drawn for condition in each.conditions(name)),
        ),
        not_covered=(*_not_covered(policy), *(limit for name, each in drawn for limit in each.not_covered(name))),
    )


def guarantee_of_partitions(fit: Fit, partitions: int, *, replaced: bool) -> Guarantee:
    """Return the claims about all partitions published with a fit; ``replaced``: one was replaced."""
    policy = fit.policy
    together = "of the one partition published with this fit"
    if partitions > 1:
        together = f"of the {partitions:,} partitions published with this fit, taken together,"
    claims = _claims(policy, f"{together} {_over(policy)}")
    if fit.every_partition:
        claims += _claims(policy, "of each partition on its own")
    not_covered = [
        CHOSEN_CLASSES if line == CHOSEN_NODE and fit.class_count is not None else line for line in _not_covered(policy)
    ]
    if not fit.every_partition:
        not_covered.append(
            "a class may have few rows within one partition: one who knows a row's partition finds it there"
        )
    if replaced:
        not_covered.append("one who kept a release that was replaced can compare it with those that are published now")
    return Guarantee(claims=tuple(claims), conditions=_conditions_of_partitions(fit), not_covered=tuple(not_covered))


def _claims(policy: Policy, classes: str) -> list[str]:
    def meeting(model: PrivacyModel) -> str:
        return (
            f"the rows {classes} meet" if isinstance(model, MeanModel) else f"every equivalence class {classes} meets"
        )

    return [f"{meeting(model)} {model} ({model.definition})" for model in policy.privacy]


def _over(policy: Policy) -> str:
    return f"over {', '.join(in_quotes(name) for name in policy.quasi_identifiers)}"


def with_coding(promised: Guarantee, policy: Policy) -> Guarantee:
    """Add the condition that bounds of top and bottom coding are public, if there are any."""
    if not promised.claims or not policy.coded_columns:
        return promised
    columns = ", ".join(in_quotes(name) for name in policy.coded_columns)
    rests_on = f"the bounds of top and bottom coding ({columns}) are public: they were not chosen from the rows"
    return promised.model_copy(update={"conditions": (*promised.conditions, rests_on)})


def with_earlier_versions(promised: Guarantee, into: str) -> Guarantee:
    removing = next((command for kind, command in REMOVING.items() if into.startswith(kind)), None)
    if removing is None:
        return promised
    kept = (
        "whoever can read the table can read its earlier versions (time travel), and earlier releases with them, until "
        f"{removing} has removed their files"
    )
    return promised.model_copy(update={"not_covered": (*promised.not_covered, kept)})


def _conditions_of_partitions(fit: Fit) -> tuple[str, ...]:
    policy = fit.policy
    known = "an attacker knows no column of the release but the quasi-identifiers"
    conditions = [
        known if fit.every_partition else f"{known}, and not in which partition a row is",
        f"{WHAT_ROWS_COUNT}; rows of one individual in several partitions count as several",
        "no other release of the same rows is published: classes of several releases can be intersected",
        "every partition stays published: classes may need the rows of all of them",
        "the sidecar lists every partition: no older copy of it was put back, and nobody has changed it",
    ]
    if any(model.compares_with_source for model in policy.privacy):
        source = f"the source of the fit{_but_unknown(policy)}"
        conditions.append(f"classes are compared with all rows of {source}, not with what came since")
    return (*conditions, *_of_observed_domains(fit.domains))


def _conditions(policy: Policy, domains: Mapping[str, str]) -> tuple[str, ...]:
    counted = WHAT_ROWS_COUNT
    if policy.individual is not None:
        individual = in_quotes(policy.individual)
        counted = f"classes count the distinct values of {individual}, and each value stands for one individual"
    conditions = [
        "an attacker knows no column of the release but the quasi-identifiers",
        counted,
        *_conditions_of_releases(policy),
    ]
    if any(model.compares_with_source for model in policy.privacy):
        suppressed = "those that were suppressed included"
        conditions.append(f"classes are compared with all rows of the source{_but_unknown(policy)}, {suppressed}")
    if policy.weighs_risks:
        conditions.append(
            f"each value of {in_quotes(policy.row_weight or '')} is the number of people in the population for whom "
            f"the row stands; the people of a label are counted over all rows of the source{_but_unknown(policy)}"
        )
    if policy.pseudonyms:
        conditions.append("the key of the pseudonyms was drawn at random, and is kept secret")
        conditions.append("no table that holds pseudonyms made with the same key is linked with this one")
    if policy.population is not None:
        conditions.append(
            f"the people of the population are those of {in_quotes(policy.population)} as it was during the run"
        )
        conditions.append(
            "a class is taken to match at least as many people as it has rows, even if the population lacks them"
        )
    return (*conditions, *_of_observed_domains(domains))


def _joint_claims(policy: Policy) -> Iterator[str]:
    if not policy.held_with:
        return
    names = _named(policy.held_with)
    for model in policy.privacy:
        of_persons = (
            "whoever knows the quasi-identifiers that a person had in each of these releases and in this one, and "
            "links all rows that belong together, is left with as many persons"
        )
        of_values = "by the values that each release shows in it"
        if model.compares_with_source:
            of_values += ", compared with all rows of the source of that release"
        meaning = of_values if model.columns else of_persons
        yield f"together with {names}, every joint class meets {model}: {meaning}"


def _conditions_of_releases(policy: Policy) -> Iterator[str]:
    if policy.earlier == "none":
        yield "nobody has this release and an earlier one of the same persons, as the policy states"
    elif not policy.held_with:
        yield "no other release of the same table is published: classes of several releases can be intersected"
    else:
        names, key = _named(policy.held_with), policy.held_with[0].key
        yield f"no release of the same persons but {names} and this one is published, by whomever"
        if key is None:
            yield f"the source is unchanged since {names}, and each of its rows stands for one person"
        else:
            yield f"each value of {in_quotes(key)} stands for the same one person in the sources of all these releases"
        yield "columns of other names than a quasi-identifier of one of these releases do not give its values away"


def _named(releases: Sequence[Earlier]) -> str:
    return enumerated(in_quotes(each.release) for each in releases)


def _but_unknown(policy: Policy) -> str:
    return " but those with values that taxonomies do not have" if policy.columns_with("suppress") else ""


def _of_observed_domains(domains: Mapping[str, str]) -> tuple[str, ...]:
    observed = [in_quotes(name) for name, domain in domains.items() if domain == "observed"]
    return (
        (f"the taxonomies of {', '.join(observed)} were made from the data and are not published",) if observed else ()
    )


def _not_covered(policy: Policy) -> tuple[str, ...]:
    unprotected = [in_quotes(name) for name in policy.sensitive if name not in policy.protected_columns]
    lines = [
        "syntactic models bound no attacker's inference: this is not differential privacy",
        CHOSEN_NODE,
    ]
    if unprotected:
        shared = "persons of a joint class" if policy.held_with else "rows of a class"
        lines.append(f"values of {', '.join(unprotected)} that all {shared} share are disclosed")
    if policy.pseudonyms:
        lines += [
            "whoever has the key can find the value of each pseudonym by hashing candidate values: to them the rows "
            "are pseudonymized personal data (GDPR, Article 4(5))",
            "rows of several tables whose pseudonyms were made with one key can be linked: what their columns say "
            "together is not covered by the privacy models of each table",
        ]
    if policy.has_concealing:
        lines.append(
            "m-concealing is a mean over what an attacker may know: one who knows more may be certain to find a row"
        )
    for model in (each for each in policy.privacy if isinstance(each, MeanModel)):
        kind = "an estimate from" if isinstance(model, PopulationUniqueness) else "a mean over"
        lines.append(f"{model} is {kind} all published rows, and bounds no single one")
    if policy.weighs_risks:
        lines.append(
            "individual risks are estimates from weights, and no bounds; one who knows that a person is in the sample "
            "finds the row among those of its class"
        )
    for rational in (each for each in policy.privacy if isinstance(each, NoAttack | Profitability)):
        lines.append(f"{rational}: it is about a rational adversary with these figures, who attacks one row at a time")
    if any(isinstance(model, DeltaPresence) for model in policy.privacy):
        lines.append("δ-presence says nothing of people whose rows were suppressed")
    return tuple(lines)
