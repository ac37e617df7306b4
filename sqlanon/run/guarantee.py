"""What a release promises, in sentences that are all true of it."""

from __future__ import annotations

from sqlanon.model.policy import Policy
from sqlanon.model.release import Guarantee, Report


def guarantee(policy: Policy, report: Report) -> Guarantee:
    """The claims of a full-domain release: what its privacy models say of its classes, and what they do not."""
    columns = ", ".join(f'"{name}"' for name in policy.quasi_identifiers)
    claims = [
        f"every equivalence class of the release over {columns} meets {model} ({model.definition})"
        for model in policy.privacy
    ]
    return Guarantee(claims=tuple(claims), conditions=_conditions(report), not_covered=_not_covered(policy))


def _conditions(report: Report) -> tuple[str, ...]:
    conditions = [
        "an attacker knows no column of the release but the quasi-identifiers",
        "classes count rows: where one individual owns several rows, a class of k rows holds fewer than k individuals",
        "no other release of the same table is published: classes of several releases can be intersected",
    ]
    observed = [f'"{name}"' for name, domain in report.domains.items() if domain == "observed"]
    if observed:
        conditions.append(f"the taxonomies of {', '.join(observed)} were made from the data and are not published")
    return tuple(conditions)


def _not_covered(policy: Policy) -> tuple[str, ...]:
    unprotected = [f'"{name}"' for name in policy.sensitive if name not in policy.protected_columns]
    lines = [
        "syntactic models bound no attacker's inference: this is not differential privacy",
        "that the node was chosen from the data, and that rows were suppressed, says something about the data",
    ]
    if unprotected:
        lines.append(f"values of {', '.join(unprotected)} that all rows of a class share are disclosed")
    return tuple(lines)
