"""What a release promises, in sentences that are all true of it."""

from __future__ import annotations

from sqlanon.model.policy import Policy
from sqlanon.model.privacy import DeltaPresence
from sqlanon.model.release import Guarantee, Report


def guarantee(policy: Policy, report: Report) -> Guarantee:
    """The claims of a full-domain release: what its privacy models say of its classes, and what they do not."""
    columns = ", ".join(f'"{name}"' for name in policy.quasi_identifiers)
    claims = [
        f"every equivalence class of the release over {columns} meets {model} ({model.definition})"
        for model in policy.privacy
    ]
    return Guarantee(claims=tuple(claims), conditions=_conditions(policy, report), not_covered=_not_covered(policy))


def _conditions(policy: Policy, report: Report) -> tuple[str, ...]:
    conditions = ["an attacker knows no column of the release but the quasi-identifiers", _what_classes_count(policy)]
    conditions.append("no other release of the same table is published: classes of several releases can be intersected")
    if any(model.compares_with_source for model in policy.privacy):
        conditions.append("classes are compared with all rows of the source, those that were suppressed included")
    if policy.population is not None:
        conditions.append(f'the people of the population are those of "{policy.population}" as it was during the run')
        conditions.append(
            "a class is taken to match at least as many people as it has rows, even if the population lacks them"
        )
    observed = [f'"{name}"' for name, domain in report.domains.items() if domain == "observed"]
    if observed:
        conditions.append(f"the taxonomies of {', '.join(observed)} were made from the data and are not published")
    return tuple(conditions)


def _what_classes_count(policy: Policy) -> str:
    if policy.individual is None:
        return "classes count rows: where one individual owns several rows, a class of k rows holds fewer individuals"
    return f'classes count the distinct values of "{policy.individual}", each of which stands for one individual'


def _not_covered(policy: Policy) -> tuple[str, ...]:
    unprotected = [f'"{name}"' for name in policy.sensitive if name not in policy.protected_columns]
    lines = [
        "syntactic models bound no attacker's inference: this is not differential privacy",
        "that the node was chosen from the data, and that rows were suppressed, says something about the data",
    ]
    if unprotected:
        lines.append(f"values of {', '.join(unprotected)} that all rows of a class share are disclosed")
    if policy.has_concealing:
        lines.append(
            "m-concealing is a mean over what an attacker may know: one who knows more may be certain to find a row"
        )
    if any(isinstance(model, DeltaPresence) for model in policy.privacy):
        lines.append("δ-presence says nothing of people whose rows were suppressed")
    return tuple(lines)
