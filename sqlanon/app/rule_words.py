"""Rules of taxonomies in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlanon.errors import PolicyError
from sqlanon.suggestion.policy_file import PolicyFile


def rules_of(file: PolicyFile | None) -> Mapping[str, Any]:
    """Return the rules of a policy's taxonomies, or the names of their files, by column; none if it is not TOML."""
    try:
        return {} if file is None else file.values.get("taxonomies", {})
    except PolicyError:
        return {}


def words_of(rule: Mapping[str, Any] | str | None) -> str:
    """Say how a column is generalized, such as "intervals of 5, 10"."""
    if rule is None:
        return "as the warehouse stores it"
    if isinstance(rule, str):
        return "a file of labels"
    settings = {name: value for name, value in rule.items() if name != "kind"}
    numbers = next((value for value in settings.values() if isinstance(value, list | tuple)), ())
    shown = ", ".join(str(each) for each in numbers if not isinstance(each, list | tuple | dict))
    match rule.get("kind"):
        case "intervals":
            return f"intervals of {shown}"
        case "cuts":
            return f"{len(numbers)} levels of cuts" if shown == "" else f"cuts at {shown}"
        case "dates":
            return shown or "dates"
        case "prefixes" | "zip":
            return f"first {shown} characters" if shown else "fewer characters"
        case "flat":
            return "the value, or *"
        case "groups" | "rows":
            return "groups of values"
        case "columns":
            return f"the columns {shown}"
        case kind:
            return f"{kind} codes"
