"""Edits of a policy file: roles of columns, with settings that depend on them, and privacy models."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sqlanon.errors import PolicyError, Relaxation
from sqlanon.model.names import folded
from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import PrivacyModel
from sqlanon.suggestion.toml_text import TomlText, toml_comment, value_at

PolicyRole: TypeAlias = Literal[
    "quasi-identifier", "sensitive", "identifier", "insensitive", "pseudonym", "individual", "weight"
]

# Lists of a policy, by role of their columns.
LIST_OF_ROLE: Mapping[str, str] = {
    "quasi-identifier": "quasi_identifiers",
    "sensitive": "sensitive",
    "identifier": "identifiers",
    "insensitive": "insensitive",
    "pseudonym": "pseudonyms",
}

# Keys that name a column with a second role; its first is identifier or insensitive.
KEY_OF_ROLE: Mapping[str, str] = {"individual": "individual", "weight": "row_weight"}

# Tables by column that are for quasi-identifiers, and those for published columns.
OF_QUASI_IDENTIFIERS = (
    *("taxonomies", "minimum_levels", "maximum_levels", "unknown", "node", "method.node", "quality.weights"),
)
OF_PUBLISHED = ("bottom_coding", "top_coding")

INSTEAD_OF_NODE = ("search", "objective", "max_loss", "node")  # settings that choose a node

UNDECIDED = "?"  # begins the comment of a column that a person has to decide


@dataclass(frozen=True)
class ColumnRole:
    """The role of a column in a policy file.

    Attributes:
        role: ``"individual"`` and ``"weight"`` go before the role in the lists, which such a column also has.
        reason: the comment on its line, without the mark; empty if it has none.
        is_undecided: whether a person has to decide, by the mark ``?``; the column is dropped until then.
    """

    role: PolicyRole
    reason: str
    is_undecided: bool


def roles_of(text: TomlText) -> dict[str, ColumnRole]:
    second = {folded(str(text.values[key])): role for role, key in KEY_OF_ROLE.items() if key in text.values}
    found: dict[str, ColumnRole] = {}
    for role, name in LIST_OF_ROLE.items():
        for each in text.elements(name):
            comment = each.comment.lstrip("#").strip()
            reason = comment.removeprefix(UNDECIDED).lstrip()
            shown: Any = second.get(folded(each.text), role)
            found[each.text] = ColumnRole(shown, reason, is_undecided=reason != comment)
    return found


def give_role(text: TomlText, column: str, role: PolicyRole, reason: str | None) -> None:
    """See :meth:`PolicyFile.with_role`."""
    if role not in (*LIST_OF_ROLE, *KEY_OF_ROLE):
        raise PolicyError(f'"{role}" is not a role (one of {", ".join((*LIST_OF_ROLE, *KEY_OF_ROLE))})')
    there = {
        name: each.text
        for name in LIST_OF_ROLE.values()
        for each in text.elements(name)
        if folded(each.text) == folded(column)
    }
    column = next(iter(there.values()), column)
    stays = "insensitive" if "insensitive" in there else "identifiers"
    wanted = LIST_OF_ROLE.get(role, stays)
    _move(text, there, wanted, column, reason)
    for each, key in KEY_OF_ROLE.items():
        if each == role:
            text.set((key,), column)
        elif key in text.values and folded(str(text.values[key])) == folded(column):
            text.remove((key,))
    _clean_up(text, {*there} - {wanted}, wanted, column)


def _move(text: TomlText, there: Mapping[str, str], wanted: str, column: str, reason: str | None) -> None:
    """Move a column from its lists to another with its comment, which loses the mark of the undecided."""

    def decided(comment: str) -> str:
        if reason is not None:
            return toml_comment(reason) if reason else ""
        return re.sub(r"^#\s*\?\s+", "# ", comment)

    comments = []
    for name, each in there.items():
        if name == wanted:
            comment = next(element.comment for element in text.elements(name) if element.text == each)
            if decided(comment) != comment:
                text.mark(name, each, decided(comment))
        else:
            comments.append(text.take(name, each))
    if wanted not in there:
        text.add(wanted, column, decided(next(filter(None, comments), "")))


def _clean_up(text: TomlText, left: Collection[str], wanted: str, column: str) -> None:
    """Remove settings of a column that no longer fit its role."""
    gone = [*OF_QUASI_IDENTIFIERS] if "quasi_identifiers" in left else []
    if "sensitive" in left:
        models = text.values.get("privacy")
        for place, model in reversed([*enumerate(models if isinstance(models, list) else ())]):
            named = model.get("column") if isinstance(model, Mapping) else None
            if named is not None and folded(str(named)) == folded(column):
                text.remove(("privacy", place))
        gone += ["taxonomies"] if wanted != "quasi_identifiers" else []
    if wanted in ("identifiers", "pseudonyms"):
        gone += OF_PUBLISHED
    for name in gone:
        path = tuple(name.split("."))
        table = value_at(text.values, path)
        for key in [*table] if isinstance(table, Mapping) else ():
            if folded(key) == folded(column):
                text.remove((*path, key))


def set_models(text: TomlText, models: Sequence[PrivacyModel | Mapping[str, Any]]) -> None:
    """See :meth:`PolicyFile.with_models`."""
    wanted = [_settings_of(each) for each in models]
    if not wanted:
        text.remove(("privacy",))
        return
    if not isinstance(text.values.get("privacy", []), list) or text.has_value("privacy"):
        text.set(("privacy",), wanted)
        return
    for place, model in enumerate(wanted):
        later = text.values.get("privacy", [])[place:]
        same = next((ahead for ahead, each in enumerate(later) if _same_kind(each, model)), None)
        if same is None:
            text.insert_item("privacy", place, model)
            continue
        for _ in range(same):
            text.remove(("privacy", place))
        text.set(("privacy", place), model)
    while len(text.values["privacy"]) > len(wanted):
        text.remove(("privacy", len(wanted)))


def set_node(text: TomlText, node: Mapping[str, int] | None) -> None:
    """See :meth:`PolicyFile.with_node`."""
    for name in INSTEAD_OF_NODE:
        text.remove(("method", name))
        text.remove((name,))
    if node is not None:
        text.set(("node",), {**node})


def relax(text: TomlText, relaxation: Relaxation, policy: Policy) -> None:
    """See :meth:`PolicyFile.relaxed`."""
    for name, value in relaxation.changes.items():
        path = (name,) if value_at(text.values, ("method", name)) is None else ("method", name)
        if name == "privacy":
            set_models(text, relaxation.applied_to(policy).privacy)
        elif not value:
            text.remove(path)
        else:
            share = f"{100 * value:.6g} % of the rows may be left out" if path == ("suppression_limit",) else None
            text.set(path, value, share)


def _settings_of(model: PrivacyModel | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(model, Mapping):
        return dict(model)
    dumped = model.model_dump(mode="json", exclude_none=True)
    kept = model.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    return {name: each for name, each in dumped.items() if name == "model" or name in kept}


def _same_kind(one: Any, other: Mapping[str, Any]) -> bool:
    return isinstance(one, Mapping) and all(one.get(name) == other.get(name) for name in ("model", "column"))
