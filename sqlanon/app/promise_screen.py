"""Promise: who receives the release, what holds of each of its rows, what matters, and the method that makes it.

The words for recipients, methods and losses stand in the template.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any, get_args

from sqlanon.app.columns_screen import SUGGESTED, profile, suggest
from sqlanon.app.desk import Desk
from sqlanon.app.panel import k_of, policy_of
from sqlanon.app.requests import Fields, Refused
from sqlanon.app.screen import Screen
from sqlanon.errors import PolicyError, SqlanonError
from sqlanon.suggestion.policy_file import PolicyFile
from sqlanon.suggestion.policy_form import SETTINGS, PolicyForm
from sqlanon.suggestion.suggestion import Profile


def values(desk: Desk, fields: Fields) -> dict[str, Any]:
    file = desk.versions.file
    form = PolicyForm(file)
    return {
        "recipient": _recipient(desk),
        "form": {name: fields.one(name, text) for name, text in form.texts.items()},
        "labels": {name: field.label for name, field in form.fields.items()},
        "settings": [name for name in SETTINGS if name in form.fields],
        "is_private": form.is_private,
        "k": k_of(desk),
        "quasi_identifiers": file.columns_of("quasi-identifier"),
        "sensitive": file.columns_of("sensitive"),
        "others": form.other_models,
        "individual": file.values.get("individual"),
        "individuals": [] if "individual" in file.values else _individuals(desk, file),
        "ledger": _ledger(desk, file) if form.is_private else {},
    }


def promise(desk: Desk, fields: Fields) -> str:
    """Take over what differs from the policy; what another method still needs, the panel lists."""
    form = PolicyForm(desk.versions.file)
    texts = {name: fields.one(name).strip() for name in form.fields if fields.has(name)}
    desk.versions.add(
        form.in_words(texts),
        lambda _file: form.with_texts(texts),
        fields.whole("version"),
        stays_valid="method" not in form.changes(texts),
    )
    return "promise"


def recipient(desk: Desk, fields: Fields) -> str:
    """Suggest a policy anew, for another recipient."""
    wanted = next((each for each in get_args(Profile) if each == fields.one("profile")), None)
    if wanted is None:
        raise Refused(400, "a policy is suggested for one of the recipients on the page")
    suggest(desk, fields, wanted)
    return "promise"


def _recipient(desk: Desk) -> str:
    """Return whom the present version was suggested for, by the history; empty if it was not suggested."""
    until = [each.what for each in desk.versions.list if each.number <= desk.versions.number]
    suggested = [what.removeprefix(SUGGESTED) for what in until if what.startswith(SUGGESTED)]
    return suggested[-1] if suggested else ""


def _individuals(desk: Desk, file: PolicyFile) -> list[Any]:
    """Return the profiles of dropped columns that may say whose row it is."""
    known = {key[0]: each for key, each in desk.memory.get("profiles", {}).items() if each}  # with any k
    names = file.columns_of("identifier")
    profiles = (known.get(name) or profile(desk, name, hides=True) for name in names)
    return [each for each in profiles if each and not each.missing and each.values < each.rows < each.values**2]


def _ledger(desk: Desk, file: PolicyFile) -> dict[str, Any]:
    """Return what a release of a private method costs, and what the ledger has of its data set."""
    found: dict[str, Any] = dict.fromkeys(("budget", "factor", "spent", "left", "why"))
    with suppress(PolicyError):
        budget = file.policy.method.budget  # type: ignore[attr-defined]
        found |= {"budget": budget, "factor": math.exp(min(float(budget.epsilon), 700))}
    if desk.place.database is None and desk.place.ledger is None:
        return found | {"why": "A private release needs a ledger that outlives the app: start it with --ledger FILE."}
    try:
        with desk.session() as session:
            source = desk.place.source
            found |= {"spent": session.ledger.spent(source), "left": session.ledger.remaining(source)}
    except SqlanonError as error:
        found["why"] = str(error)
    return found


def _mark(desk: Desk) -> str:
    policy, k = policy_of(desk), k_of(desk)
    budget = None if policy is None else getattr(policy.method, "budget", None)
    return f"ε = {float(budget.epsilon):g}" if budget else f"k = {k}" if k else ""


SCREEN = Screen("promise", "Promise", values, {"promise": promise, "recipient": recipient}, _mark)
