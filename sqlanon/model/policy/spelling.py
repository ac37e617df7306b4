"""How policies may be spelled, and the spelling that their hashes are taken of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from pydantic_core import PydanticCustomError

from sqlanon.model.base import PolicyValue, failed_checks, name_of_kind
from sqlanon.model.policy.full_domain import SETTINGS, FullDomain
from sqlanon.model.policy.methods import METHODS
from sqlanon.model.policy.searches import INVERSE_OLA, NEED_MONOTONIC_QUALITY
from sqlanon.model.privacy import PRIVACY_MODELS
from sqlanon.model.quality import LM, QUALITY_MODELS, Entropy

if TYPE_CHECKING:
    from sqlanon.model.policy.policy import Policy


def in_present_words(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a policy that are given in whatever words, in those of today; None is not given.

    The settings of full domains are fields of the policy, wherever they were given, and there is a method. One that
    contradicts what is given beside it stays as it is, to be refused by :class:`Policy`.

    Raises:
        PydanticCustomError: older and present words contradict one another.
    """
    method, settings = _split(given.get("method"))
    fields = {**settings, **{name: value for name, value in given.items() if value is not None}}
    if all(fields[name] == value for name, value in settings.items()):
        fields["method"] = method
    if fields.get("search") == INVERSE_OLA:
        if fields.setdefault("objective", "privacy") != "privacy":
            raise failed_checks([f'search "{INVERSE_OLA}" is an older word for objective "privacy", and no other'])
        del fields["search"]
    return fields


def default_quality(fields: Mapping[str, Any]) -> LM | Entropy:
    """The loss of a policy that names none, by the fields before it, which are valid; a method that is not is missing.

    What is published as a whole keeps the loss that it was published with: OLA and its like need a monotonic one, and
    what Inverse OLA accepts is in its unit.
    """
    needs_monotonic = fields.get("search") in NEED_MONOTONIC_QUALITY or fields.get("objective") == "privacy"
    has_its_own = "method" in fields and fields["method"].replaces_models
    return Entropy() if needs_monotonic or has_its_own else LM()


def hashed_form(policy: Policy) -> dict[str, Any]:
    """A policy as JSON in the words that its hash was always taken of: releases and sidecars hold such hashes."""
    # These are left out where they say nothing: there were policies before there were these fields.
    without = {name for name in ("rest", "taxonomies", "pseudonyms", "unknown") if not getattr(policy, name)}
    if isinstance(policy.method, FullDomain):
        without.add("method")
    found = policy.model_dump(mode="json", exclude={"objective", *without})
    return {**found, "search": policy.algorithm}


def _split(method: Any) -> tuple[Any, dict[str, Any]]:
    """A method as it is given, without the settings that are fields of a policy, and these."""
    if method is None:
        return FullDomain(), {}
    if isinstance(method, FullDomain):
        return FullDomain(), method.given
    table = spelled({"model": method} if isinstance(method, str) else method, METHOD_TAGS)
    if not isinstance(table, Mapping) or table.get("model") != name_of_kind(FullDomain):
        return method, {}
    settings = {name: value for name, value in table.items() if name in SETTINGS and value is not None}
    strange = {name: value for name, value in table.items() if name not in {"model", *SETTINGS}}
    return {"model": table["model"], **strange} if strange else FullDomain(), settings


def settings_beside(method: FullDomain, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of full domains among the fields of a policy.

    Raises:
        PydanticCustomError: one is another than the method has.
    """
    settings = {name: fields[name] for name in SETTINGS if name in fields}
    for name, value in method.given.items():
        if settings.get(name, value) != value:
            problem = "{name} is {here} in it, and {beside} beside it"
            told = {"name": name, "here": json.dumps(value), "beside": json.dumps(settings[name])}
            raise PydanticCustomError("two_settings", problem, told)
    return settings


def letters(name: str) -> str:
    """A name without what may be spelled in several ways."""
    return "".join(character for character in name.replace("*", "star").casefold() if character.isalnum())


def spelled(value: Any, tags: Mapping[str, str]) -> Any:
    """A table from TOML with its kind as it is spelled here: ``KAnonymity`` and ``k_anonymity`` are ``k-anonymity``."""
    if isinstance(value, dict) and isinstance(value.get("model"), str):
        return {**value, "model": tags.get(letters(value["model"]), value["model"])}
    return value


def spelled_models(models: Any) -> Any:
    """Privacy models from TOML with their kinds as they are spelled here.

    Raises:
        PydanticCustomError: it is a single model, which can be iterated over, too: by the names of its fields.
    """
    if isinstance(models, str | Mapping | BaseModel):
        raise PydanticCustomError(
            "no_list", "must be a list, also of one: privacy=[KAnonymity(5)], and in TOML [[privacy]] for each model"
        )
    return [spelled(model, PRIVACY_TAGS) for model in models] if isinstance(models, list | tuple) else models


def _tags(kinds: Iterable[type[PolicyValue]]) -> dict[str, str]:
    """The names of kinds as they are spelled in a policy, by their letters alone: ``dmstar`` → ``dm-star``."""
    return {letters(tag): tag for tag in map(name_of_kind, kinds)}


PRIVACY_TAGS = _tags(PRIVACY_MODELS)
QUALITY_TAGS = _tags(QUALITY_MODELS)
METHOD_TAGS = _tags(METHODS)
