"""For whom a release is: how many rows look alike, and which columns may be published as they are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlanon.suggestion import safe_harbor
from sqlanon.suggestion.evidence import Evidence
from sqlanon.suggestion.roles import Decision
from sqlanon.suggestion.suggestion import Profile

SAFE_HARBOR: Profile = "hipaa-safe-harbor"

MAX_SHARE = 0.95
"""The share of the rows with the most frequent value up to which a sensitive column is protected by diversity."""

PROTECTED_COLUMNS = 2


@dataclass(frozen=True)
class Settings:
    """What a profile asks for, and why."""

    k: int
    reason: str
    releases_values: bool = True
    notes: Sequence[str] = ()


PROFILES: dict[Profile, Settings] = {
    "research": Settings(
        5, "for researchers who have signed what they may do with it: k = 5, 2 sensitive values a class"
    ),
    "public": Settings(
        10,
        "for anybody: k = 10, and what others may find out is generalized as well, in place of shown as it is",
        releases_values=False,
    ),
    "hipaa-safe-harbor": Settings(
        5, "by the Safe Harbor method of HIPAA (45 CFR 164.514(b)(2)), and k = 5 beside it", notes=safe_harbor.NOTES
    ),
}


def for_profile(profile: Profile, found: Evidence, decision: Decision, shown: Collection[str]) -> Decision:
    """The role of a column where that of a profile is another one; ``shown`` is what its values show to Safe Harbor."""
    if profile == SAFE_HARBOR:
        return safe_harbor.decision_of(found, decision, shown)
    if PROFILES[profile].releases_values or decision.role in ("quasi-identifier", "identifier"):
        return decision
    if decision.role == "insensitive":
        return Decision("identifier", decision.kind, f"{decision.reason}; nothing is published as it is")
    return Decision("quasi-identifier", decision.kind, f"{decision.reason}; generalized, as anybody may look it up")


def protected(sensitive: list[Evidence]) -> list[Evidence]:
    """The sensitive columns that diversity models protect: the first ones that most classes can be diverse in."""
    can_be = (found for found in sensitive if found.values > 1 and found.largest <= MAX_SHARE * found.rows)
    return [*can_be][:PROTECTED_COLUMNS]
