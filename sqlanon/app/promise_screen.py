"""Promise: who receives the release, what holds of each of its rows, what matters, and the method that makes it.

The words for recipients, methods and losses stand in the template.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal, get_args

from pydantic.fields import FieldInfo

from sqlanon.app import columns_screen
from sqlanon.app.desk import Desk
from sqlanon.app.panel import k_of, policy_of
from sqlanon.app.requests import Fields, Refused
from sqlanon.app.screen import Screen
from sqlanon.errors import PolicyError, SqlanonError
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.methods.noisy import PrivateMethod
from sqlanon.model.names import spelled_like
from sqlanon.model.policy_value import KINDS
from sqlanon.suggestion.policy_file import PolicyFile
from sqlanon.suggestion.suggestion import Profile

Kind = Literal["number", "percent", "text", "flag"]
Path = tuple[Any, ...]  # of a value among the parts
Parts = dict[str, dict[Any, Any]]  # of a policy: method, quality, models (by kind and column), keys of the top level

SETTINGS: Mapping[str, tuple[Kind, str]] = {
    "epsilon": ("text", "ε: the smaller, the more private"),
    "h": ("number", "ceiling h from 0 to 1; empty: the best one"),
    "specializations": ("number", "labels that are split"),
    "epsilon_sampling": ("text", "ε of the sample"),
    "delta": ("text", "δ, far below 1 / rows"),
    "accept_observed_domain": ("flag", "accept values that taxonomies have from the rows"),
}  # of methods, that have a field
SUGGESTED = "suggested by rules, for "  # begins what the history says of a suggestion
HAVE_LOSSES = ("full-domain", "local-recoding", "relocation")
HAVE_WEIGHTS = ("lm", "prec")  # losses with a weight per column
K_ANONYMITY, LIMIT = ("k-anonymity", ""), ("top", "suppression_limit")
FIRST_K, FIRST_SHARE, FIRST_DELTA = 5, 0.05, "1e-6"  # where the method before has none
PATH = re.compile(r"^(privacy|quality|method)[\w.\[\]\"]*: ")  # of a setting in the file: here it has a label


@dataclass(frozen=True)
class Entry:
    """A field of the form, the place of its value, and the text that stands for none."""

    label: str
    kind: Kind
    path: Path
    none: str = ""

    def text(self, parts: Parts) -> str:
        found = _at(parts, self.path)
        if self.kind == "flag":
            return "yes" if found is True else "no"
        if self.kind == "percent" and isinstance(found, int | float):
            return f"{100 * found:.6g}"
        return self.none if found is None else f"{found:g}" if isinstance(found, float) else str(found)

    def set(self, parts: Parts, text: str, fields: Fields, name: str) -> None:
        given: Any = text.replace(",", ".") if self.kind == "text" else text == "yes"
        if self.kind in ("number", "percent") and text not in ("", self.none):
            given = fields.number(name) / (100 if self.kind == "percent" else 1)
            given = int(given) if given.is_integer() else round(given, 8)
        inner: Any = reduce(lambda each, step: each.setdefault(step, {}), self.path[:-1], parts)
        inner[self.path[-1]] = None if text in ("", self.none) else given


@dataclass(frozen=True)
class Method:
    """What a policy's method has, and where."""

    table: Mapping[str, Any]

    @property
    def kind(self) -> type[Any]:
        return KINDS["method"].get(str(self.table["model"]), FullDomain)

    @property
    def has(self) -> Mapping[str, FieldInfo]:
        return self.kind.model_fields  # type: ignore[no-any-return]

    @property
    def is_private(self) -> bool:
        return issubclass(self.kind, PrivateMethod)

    @property
    def keeps_models(self) -> bool:
        """Whether it keeps privacy models: those with a k of their own keep nothing else."""
        return not self.is_private and "k" not in self.has

    @property
    def k(self) -> Path:
        return ("method", "k") if "k" in self.has else ("models", K_ANONYMITY, "k")

    @property
    def limit(self) -> Path | None:
        if "limit" in self.has:
            return ("method", "limit")
        if LIMIT[1] not in self.has or "k" in self.has:
            return None
        return ("method", LIMIT[1]) if LIMIT[1] in self.table else LIMIT

    def with_budget(self) -> dict[str, Any]:
        """Return its table with the budget that it has by default, if it has one."""
        if "budget" not in self.has:
            return {**self.table}
        budget = self.has["budget"].get_default(call_default_factory=True)
        first = {"epsilon": f"{float(budget.epsilon):g}", "delta": f"{float(budget.delta):g}"}
        return {**self.table, "budget": {**first, **self.table.get("budget", {})}}


def values(desk: Desk, fields: Fields) -> dict[str, Any]:
    file = desk.versions.file
    parts = _parts(file)
    entries, method = dict(_entries(file, parts)), Method(parts["method"])
    words = [str(key[0]) for key in parts["models"]]
    with suppress(PolicyError):
        words = [*map(str, file.policy.privacy)][: len(words)]  # without those that the method implies
    shown = {entry.path[1] for entry in entries.values()}
    return {
        "recipient": _recipient(desk),
        "form": {name: fields.one(name, entry.text(parts)) for name, entry in entries.items()},
        "labels": {name: entry.label for name, entry in entries.items()},
        "settings": [name for name in SETTINGS if name in entries],
        "is_private": method.is_private,
        "k": k_of(desk),
        "quasi_identifiers": _columns(file, "quasi-identifier"),
        "sensitive": _columns(file, "sensitive"),
        "others": [text for text, key in zip(words, parts["models"], strict=False) if key not in shown],
        "individual": file.values.get("individual"),
        "individuals": [] if "individual" in file.values else _individuals(desk, file),
        "ledger": _ledger(desk, file) if method.is_private else {},
    }


def promise(desk: Desk, fields: Fields) -> str:
    """Take over what differs from the policy; what would make a valid policy invalid is refused."""
    parts = _parts(desk.versions.file)
    changed = {
        name: (entry, fields.one(name).strip())
        for name, entry in _entries(desk.versions.file, parts)
        if fields.has(name) and fields.one(name).strip() != entry.text(parts)
    }
    if "method" in changed and changed["method"][1] not in KINDS["method"]:
        raise Refused(400, "a policy has one of the methods on the page")
    what = ", ".join(f"{entry.label}: {text or 'none'}" for entry, text in changed.values())

    def edit(file: PolicyFile) -> PolicyFile:
        wanted = deepcopy(parts)
        for name, (entry, text) in changed.items():
            entry.set(wanted, text, fields, name)
            if entry.path == ("method", "k"):
                wanted["models"].pop(K_ANONYMITY, None)  # the method says it
        if "loss" in changed:
            wanted["quality"] = {name: wanted["quality"][name] for name in ("model", "weights")}
        if "method" in changed:  # what else it needs, the panel lists
            return _written(file, parts, _switched(parts, wanted))
        edited = _written(file, parts, wanted)
        if edited.problems and not file.problems:
            raise Refused(422, "\n".join(f"{what}: {PATH.sub('', each)}" for each in edited.problems))
        return edited

    desk.versions.add(what, edit, fields.whole("version"))
    return "promise"


def recipient(desk: Desk, fields: Fields) -> str:
    """Suggest a policy anew, for another recipient."""
    wanted = next((each for each in get_args(Profile) if each == fields.one("profile")), None)
    if wanted is None:
        raise Refused(400, "a policy is suggested for one of the recipients on the page")
    columns_screen.suggest(desk, fields, wanted)
    return "promise"


def _parts(file: PolicyFile) -> Parts:
    method: dict[str, Any] = {"model": "full-domain"}
    quality: dict[str, Any] = {"model": "lm", "weights": {}}
    models: dict[Any, Any] = {}
    try:
        for name, table in (("method", method), ("quality", quality)):
            given = file.values.get(name, {})
            table |= {"model": given} if isinstance(given, str) else given
        sensitive = _columns(file, "sensitive")
        for place, each in enumerate(file.values.get("privacy", ())):
            key = (each.get("model"), spelled_like(each.get("column", ""), sensitive))
            models[(*key, place) if key in models else key] = {**each}
        return {
            "method": Method(method).with_budget(), "quality": {**quality, "weights": {**quality["weights"]}},
            "models": models, "top": {"suppression_limit": file.values.get("suppression_limit", 0)},
        }  # fmt: skip
    except (AttributeError, TypeError):
        raise Refused(422, "the policy has values that no form can show: correct them in its file") from None


def _entries(file: PolicyFile, parts: Parts) -> Iterator[tuple[str, Entry]]:
    """Return the fields of the form by name."""
    method = Method(parts["method"])
    yield "method", Entry("method", "text", ("method", "model"))
    if "k" in method.has or not method.is_private:
        yield "k", Entry("k, the least rows of a class", "number", method.k)
    if method.limit:
        yield "limit", Entry("share of rows left out or moved, in %, at most", "percent", method.limit)
    yield from _entries_of_columns(file, parts)
    for name, (kind, label) in SETTINGS.items():
        if name in parts["method"].get("budget", {}):
            yield name, Entry(label, kind, ("method", "budget", name))
        elif name in method.has:
            yield name, Entry(label, kind, ("method", name))


def _entries_of_columns(file: PolicyFile, parts: Parts) -> Iterator[tuple[str, Entry]]:
    for place, name in enumerate(_columns(file, "sensitive") if Method(parts["method"]).keeps_models else ()):
        diversity, closeness = ("models", ("distinct-l-diversity", name), "l"), ("models", ("t-closeness", name), "t")
        yield f"l{place}", Entry(f"l, the least values of {name}", "number", diversity, "1")
        yield f"t{place}", Entry(f"t, the largest difference of {name}", "number", closeness)
    if parts["method"]["model"] in HAVE_LOSSES:
        yield "loss", Entry("loss", "text", ("quality", "model"))
        weighted = _columns(file, "quasi-identifier") if parts["quality"]["model"] in HAVE_WEIGHTS else ()
        for place, name in enumerate(weighted):
            yield f"w{place}", Entry(f"importance of {name}", "number", ("quality", "weights", name), "1")


def _switched(before: Parts, wanted: Parts) -> Parts:
    """Keep of a policy what its new method can promise."""
    old, new = Method(before["method"]), Method({"model": wanted["method"]["model"]})
    share = _at(wanted, old.limit) if old.limit else FIRST_SHARE
    first = {"k": _at(wanted, old.k) or FIRST_K, "limit": share, "delta": FIRST_DELTA}
    models = wanted["models"] if new.keeps_models else {}
    return {
        "method": new.with_budget() | {name: each for name, each in first.items() if name in new.has},
        "models": models if models or not new.keeps_models else {K_ANONYMITY: {"k": first["k"]}},
        "quality": wanted["quality"] if new.table["model"] in HAVE_LOSSES else {},
        "top": {"suppression_limit": share if new.limit == LIMIT else None},
    }


def _written(file: PolicyFile, before: Parts, wanted: Parts) -> PolicyFile:
    """Write the parts that differ."""
    if wanted["models"] != before["models"]:
        named = [
            {"model": key[0], **({"column": key[1]} if key[1] else {}), **each}
            for key, each in wanted["models"].items()
        ]
        file = file.with_models([each for each in named if None not in each.values()])
    quality, method = ({**wanted[name]} for name in ("quality", "method"))
    if not quality:
        file = file.with_setting("quality", None)
    elif quality != before["quality"]:
        kept = {name: each for name, each in quality.pop("weights").items() if each is not None}
        weights = {"weights": kept} if kept and quality["model"] in HAVE_WEIGHTS else {}
        file = file.with_quality(quality.pop("model"), **quality, **weights)
    if wanted["top"] != before["top"]:
        share = Entry("", "percent", LIMIT).text(wanted)
        file = file.with_setting(LIMIT[1], _at(wanted, LIMIT), f"{share} % of the rows may be left out")
    if method != before["method"]:
        given = {name: each for name, each in method.items() if each is not None}
        file = file.with_method(given.pop("model"), **given)
    return file


def _at(parts: Parts, path: Path) -> Any:
    return reduce(lambda inner, step: inner.get(step, {}), path[:-1], parts).get(path[-1])


def _columns(file: PolicyFile, role: str) -> list[str]:
    return [name for name, each in file.roles.items() if each.role == role]


def _recipient(desk: Desk) -> str:
    """Return whom the present version was suggested for, by the history; empty if it was not suggested."""
    until = [each.what for each in desk.versions.list if each.number <= desk.versions.number]
    return next((what.removeprefix(SUGGESTED) for what in reversed(until) if what.startswith(SUGGESTED)), "")


def _individuals(desk: Desk, file: PolicyFile) -> list[Any]:
    """Return the profiles of dropped columns that may say whose row it is."""
    known = {key[0]: each for key, each in desk.memory.get("profiles", {}).items() if each}  # with any k
    names = _columns(file, "identifier")
    profiles = (known.get(name) or columns_screen.profile(desk, name, hides=True) for name in names)
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
