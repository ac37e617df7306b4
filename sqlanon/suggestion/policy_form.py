"""The promise of a policy file as fields with texts, and the policy that other texts make."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, Literal

from pydantic.fields import FieldInfo

from sqlanon.errors import PolicyError
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.methods.noisy import PrivateMethod
from sqlanon.model.names import spelled_like
from sqlanon.model.policy_value import KINDS
from sqlanon.suggestion.policy_file import PolicyFile

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
}
"""Settings of methods that are fields."""

HAVE_LOSSES = ("full-domain", "local-recoding", "relocation")
HAVE_WEIGHTS = ("lm", "prec")  # losses with a weight per column
K_ANONYMITY, LIMIT = ("k-anonymity", ""), ("top", "suppression_limit")
FIRST_K, FIRST_SHARE, FIRST_DELTA = 5, 0.05, "1e-6"  # where the method before has none


@dataclass(frozen=True)
class FormField:
    """A field of a form.

    Attributes:
        label: its name in words.
        kind: ``"percent"`` is typed as 5 and kept as 0.05; a ``"flag"`` is ``yes`` or ``no``.
        path: the place of its value among the parts of a policy.
        none: the text that stands for no value, besides the empty one.
    """

    label: str
    kind: Kind
    path: Path
    none: str = ""


class PolicyForm:
    """The promise, the method and the loss of a policy file as fields.

    Args:
        file: the policy file.

    Attributes:
        fields: by name, those that its method has: ``method``, ``k``, ``limit`` (in percent), for each sensitive column
            in their order ``l0`` and ``t0``, ``loss``, for each quasi-identifier its weight ``w0``, and settings of the
            method by their names.
        texts: the texts of the fields, by name.

    Raises:
        PolicyError: the policy is not TOML, or has values that no form can show.
    """

    def __init__(self, file: PolicyFile) -> None:
        self._file = file
        self._parts = _parts(file)
        self.fields: Mapping[str, FormField] = dict(_fields(file, self._parts))
        self.texts = {name: _text(field, self._parts) for name, field in self.fields.items()}

    @property
    def is_private(self) -> bool:
        """Whether the method is differentially private."""
        return _Method(self._parts["method"]).is_private

    @cached_property
    def other_models(self) -> list[str]:
        """The privacy models without a field, in words; edits keep them."""
        models, shown = self._parts["models"], {field.path[1] for field in self.fields.values()}
        words = [str(key[0]) for key in models]
        with suppress(PolicyError):
            words = [*map(str, self._file.policy.privacy)][: len(words)]  # without those that the method implies
        return [text for text, key in zip(words, models, strict=False) if key not in shown]

    def changes(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Return the texts that differ from those of the policy; names that are no field are left out."""
        return {name: text for name, text in texts.items() if name in self.fields and text != self.texts[name]}

    def in_words(self, texts: Mapping[str, str]) -> str:
        """Return the changes in words, such as "k, the least rows of a class: 7"."""
        return ", ".join(f"{self.fields[name].label}: {text or 'none'}" for name, text in self.changes(texts).items())

    def with_texts(self, texts: Mapping[str, str]) -> PolicyFile:
        """Return the policy with other texts; another method keeps what it can promise.

        Raises:
            PolicyError: a text is not a number, the method is unknown, or the text of the file cannot be edited.
        """
        parts, changed = deepcopy(self._parts), self.changes(texts)
        for name, text in changed.items():
            field = self.fields[name]
            _set(field, parts, text)
            if field.path == ("method", "k"):
                parts["models"].pop(K_ANONYMITY, None)  # the method says it
        if "loss" in changed:
            parts["quality"] = {name: parts["quality"][name] for name in ("model", "weights")}
        if "method" in changed:
            parts = _switched(self._parts, parts)
        return _written(self._file, self._parts, parts)


@dataclass(frozen=True)
class _Method:
    """The settings of a policy's method, and their places."""

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


def _parts(file: PolicyFile) -> Parts:
    method: dict[str, Any] = {"model": "full-domain"}
    quality: dict[str, Any] = {"model": "lm", "weights": {}}
    models: dict[Any, Any] = {}
    try:
        for name, table in (("method", method), ("quality", quality)):
            given = file.values.get(name, {})
            table |= {"model": given} if isinstance(given, str) else given
        sensitive = file.columns_of("sensitive")
        for place, each in enumerate(file.values.get("privacy", ())):
            key = (each.get("model"), spelled_like(each.get("column", ""), sensitive))
            models[(*key, place) if key in models else key] = {**each}
        return {
            "method": _Method(method).with_budget(), "quality": {**quality, "weights": {**quality["weights"]}},
            "models": models, "top": {"suppression_limit": file.values.get("suppression_limit", 0)},
        }  # fmt: skip
    except (AttributeError, TypeError):
        raise PolicyError("the policy has values that no form can show: correct them in its file") from None


def _fields(file: PolicyFile, parts: Parts) -> Iterator[tuple[str, FormField]]:
    method = _Method(parts["method"])
    yield "method", FormField("method", "text", ("method", "model"))
    if "k" in method.has or not method.is_private:
        yield "k", FormField("k, the least rows of a class", "number", method.k)
    if method.limit:
        yield "limit", FormField("share of rows left out or moved, in %, at most", "percent", method.limit)
    yield from _fields_of_columns(file, parts)
    for name, (kind, label) in SETTINGS.items():
        if name in parts["method"].get("budget", {}):
            yield name, FormField(label, kind, ("method", "budget", name))
        elif name in method.has:
            yield name, FormField(label, kind, ("method", name))


def _fields_of_columns(file: PolicyFile, parts: Parts) -> Iterator[tuple[str, FormField]]:
    for place, name in enumerate(file.columns_of("sensitive") if _Method(parts["method"]).keeps_models else ()):
        diversity, closeness = ("models", ("distinct-l-diversity", name), "l"), ("models", ("t-closeness", name), "t")
        yield f"l{place}", FormField(f"l, the least values of {name}", "number", diversity, "1")
        yield f"t{place}", FormField(f"t, the largest difference of {name}", "number", closeness)
    if parts["method"]["model"] in HAVE_LOSSES:
        yield "loss", FormField("loss", "text", ("quality", "model"))
        weighted = file.columns_of("quasi-identifier") if parts["quality"]["model"] in HAVE_WEIGHTS else ()
        for place, name in enumerate(weighted):
            yield f"w{place}", FormField(f"importance of {name}", "number", ("quality", "weights", name), "1")


def _switched(before: Parts, wanted: Parts) -> Parts:
    """Keep of a policy what its new method can promise."""
    if wanted["method"]["model"] not in KINDS["method"]:
        raise PolicyError(f"a policy has one of the methods {', '.join(KINDS['method'])}")
    old, new = _Method(before["method"]), _Method({"model": wanted["method"]["model"]})
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
        share = _text(FormField("", "percent", LIMIT), wanted)
        file = file.with_setting(LIMIT[1], _at(wanted, LIMIT), f"{share} % of the rows may be left out")
    if method != before["method"]:
        given = {name: each for name, each in method.items() if each is not None}
        file = file.with_method(given.pop("model"), **given)
    return file


def _text(field: FormField, parts: Parts) -> str:
    found = _at(parts, field.path)
    if field.kind == "flag":
        return "yes" if found is True else "no"
    if field.kind == "percent" and isinstance(found, int | float):
        return f"{100 * found:.6g}"
    return field.none if found is None else f"{found:g}" if isinstance(found, float) else str(found)


def _set(field: FormField, parts: Parts, text: str) -> None:
    given: Any = text.replace(",", ".") if field.kind == "text" else text == "yes"
    if field.kind in ("number", "percent") and text not in ("", field.none):
        given = _number(field.label, text) / (100 if field.kind == "percent" else 1)
        given = int(given) if given.is_integer() else round(given, 8)
    inner: Any = reduce(lambda each, step: each.setdefault(step, {}), field.path[:-1], parts)
    inner[field.path[-1]] = None if text in ("", field.none) else given


def _at(parts: Parts, path: Path) -> Any:
    return reduce(lambda inner, step: inner.get(step, {}), path[:-1], parts).get(path[-1])


def _number(label: str, text: str) -> float:
    try:
        found = float(text.replace(",", "."))
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise PolicyError(f"{label}: type a number")
    return found
