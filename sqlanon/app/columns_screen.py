"""Columns: what each of them is, how its values are distributed, and its role with the reason."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from sqlanon.app.desk import Desk
from sqlanon.app.drawings import distribution
from sqlanon.app.jobs import Job
from sqlanon.app.panel import has_individual, least_shown
from sqlanon.app.requests import Fields, Refused
from sqlanon.app.screen import Screen
from sqlanon.report.document import at_least
from sqlanon.suggestion.policy_edits import PolicyRole
from sqlanon.suggestion.policy_file import PolicyFile
from sqlanon.suggestion.rule_form import words_of

if TYPE_CHECKING:
    from sqlanon.model.release.profiles import ColumnProfile
    from sqlanon.suggestion.suggestion import Profile

BUDGET = 0.2  # seconds of a page for columns that have not been counted yet: tests.benchmarks.app

SUGGESTED = "suggested by rules, for "  # begins what the history says of a suggestion

ROLES: Mapping[PolicyRole, str] = {
    "quasi-identifier": "known to others: generalized",
    "sensitive": "not to be learned: kept, protected",
    "identifier": "names a person: dropped",
    "insensitive": "neither: kept as it is",
    "individual": "says whose row it is: dropped",
    "weight": "weight of a row: dropped",
    "pseudonym": "replaced by a code",
}

HIDDEN_ROLES = ("identifier", "individual", "weight", "pseudonym")  # whose values are shown on request only


@dataclass(frozen=True)
class Line:
    """A column as the screen shows it."""

    name: str
    role: str
    reason: str
    is_undecided: bool
    hides: bool  # whether its values are hidden
    profile: ColumnProfile | None  # None before it is counted
    picture: Markup
    becomes: str  # how it is generalized, or what becomes of it


def values(desk: Desk, fields: Fields) -> dict[str, Any]:
    file = desk.versions.file if desk.versions.current else None
    roles = {} if file is None else file.roles
    taxonomies = {} if file is None else file.rules
    rows_repeat = has_individual(desk)
    hidden = tuple(ROLES) if rows_repeat else HIDDEN_ROLES  # many rows of a value may be one person's
    budget = BUDGET if "types" in desk.memory else 0  # the first page has names and types at once
    types, until, lines = desk.types(), time.monotonic() + budget, []
    for name in types:
        given = roles.get(name)
        is_undecided = given is None or given.is_undecided
        hides = (is_undecided or given is None or given.role in hidden) and name not in desk.shown
        found = profile(desk, name, hides=hides, counts=time.monotonic() < until)
        role = "identifier" if given is None else given.role
        lines.append(
            Line(
                name=name,
                role=role,
                reason="" if given is None else given.reason,
                is_undecided=file is not None and is_undecided,
                hides=hides,
                profile=found,
                picture=Markup("") if found is None else distribution(found),
                becomes=becomes(role, taxonomies.get(name)),
            )
        )
    is_counted = all(line.profile is not None for line in lines)
    return {
        "lines": lines,
        "types": types,
        "roles": ROLES,
        "hidden_roles": hidden,
        "least": least_shown(desk),
        "at_least": at_least,
        "has_individual": rows_repeat,
        "is_counted": is_counted,
        "alone": alone(desk, roles) if is_counted else None,
        "notes": () if desk.suggestion is None else desk.suggestion.notes,
        "has_policy": file is not None,
    }


def profile(desk: Desk, column: str, *, hides: bool, counts: bool = True) -> ColumnProfile | None:
    """Return the profile of a column, which is counted once; None if it has not been, and ``counts`` is false."""
    known = desk.memory.setdefault("profiles", {})
    key = (column, hides, least_shown(desk))
    if key not in known and counts:
        with desk.session() as session:
            hidden = [column] if hides else []
            known[key] = session.profile(desk.place.source, [column], least=key[2], hidden=hidden).columns[0]
    found: ColumnProfile | None = known.get(key)
    return found


def alone(desk: Desk, roles: Mapping[str, Any]) -> tuple[float, int] | None:
    """Return the share of rows that are alone by the quasi-identifiers, and how many these are."""
    names = tuple(name for name, each in roles.items() if each.role == "quasi-identifier")
    if not names:
        return None
    known = desk.memory.setdefault("alone", {})
    if names not in known:
        pairs = {"quasi_identifiers": names, "privacy": [{"model": "k-anonymity", "k": 2}]}
        with desk.session() as session:
            known[names] = session.measure(desk.place.source, pairs).unique_share
    return None if known[names] is None else (known[names], len(names))


def suggest(desk: Desk, fields: Fields, profile: Profile = "research") -> str:
    """Suggest a policy in a job, which becomes the next version, unless the policy changes meanwhile."""
    number = desk.versions.number

    def work(job: Job) -> None:
        with desk.open() as session:
            found = session.suggest(desk.place.source, profile=profile, progress=job.progress)
        with desk.lock:
            desk.suggestion = found
            desk.versions.begin(f"{SUGGESTED}{profile}", found.draft(desk.place.policy_file), number)

    desk.start("The suggestion", "columns", work)
    return "columns"


def role(desk: Desk, fields: Fields) -> str:
    column, name = fields.one("column"), fields.one("role")
    wanted = next((each for each in ROLES if each == name), None)
    if wanted is None or column not in desk.types():
        raise Refused(400, "the page has no such column, or no such role")

    def edit(file: PolicyFile) -> PolicyFile:
        edited = file.with_role(column, wanted)
        if wanted == "quasi-identifier" and column not in edited.rules:
            return edited.with_taxonomy(column, {"kind": "flat"})
        return edited

    desk.versions.add(f"{column}: {wanted}", edit, fields.whole("version"))
    return "columns"


def show_values(desk: Desk, fields: Fields) -> str:
    """Show or hide the values of a column while the app runs."""
    desk.shown ^= {fields.one("column")}
    return "columns"


def becomes(role: str, rule: Any) -> str:
    """Say what becomes of the values of a column."""
    if role == "quasi-identifier":
        return words_of(rule)
    return {"identifier": "dropped", "individual": "dropped", "weight": "dropped", "pseudonym": "a code"}.get(
        role, "kept, protected" if role == "sensitive" else "kept"
    )


def _mark(desk: Desk) -> str:
    if desk.versions.current is None:
        return ""
    undecided = sum(each.is_undecided for each in desk.versions.file.roles.values())
    return f"{undecided} to decide" if undecided else ""


SCREEN = Screen("columns", "Columns", values, {"role": role, "show_values": show_values}, _mark)
