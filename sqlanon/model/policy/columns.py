"""The roles that a policy gives to columns, and whether those of a source have them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlanon.model.base import did_you_mean, unknown_names
from sqlanon.model.names import folded
from sqlanon.model.privacy import TCloseness

if TYPE_CHECKING:
    from sqlanon.model.policy.policy import Policy

ROLES = ("quasi_identifiers", "sensitive", "identifiers", "pseudonyms", "insensitive")
NAMING_COLUMNS = (
    *("method", "privacy", "quality", "minimum_levels", "maximum_levels", "row_weight", "individual"),
    *("taxonomies", "unknown"),
)
"""The fields, or those of what is in them, that name columns with a role."""


def compared_by_taxonomy(policy: Policy) -> tuple[str, ...]:
    """The sensitive columns whose values privacy models compare by a taxonomy, each once."""
    models = (model for model in policy.privacy if isinstance(model, TCloseness))
    return tuple(dict.fromkeys(model.column for model in models if model.distance == "hierarchical"))


def column_misfits(policy: Policy, columns: Sequence[str]) -> list[str]:
    """The columns of a source without a role, and the roles of a policy without a column there."""
    roles = [name for role in ROLES for name in getattr(policy, role)]
    there, given = ({folded(name): name for name in names} for names in (columns, roles))
    free = [name for key, name in there.items() if key not in given]
    problems = [
        f'column "{name}" has a role but is not in the source{meant}'
        for name, meant in unknown_names((name for key, name in given.items() if key not in there), free)
    ]
    problems += [
        f'{field} "{name}" is not in the source{did_you_mean(name, columns)}'
        for field, name in (("row_weight", policy.row_weight), ("individual", policy.individual))
        if name is not None and folded(name) not in there
    ]
    if free and policy.rest is None:
        problems.append(_without_role(policy, free))
    return problems


def without_missing_identifiers(policy: Policy, columns: Sequence[str]) -> Policy:
    """The policy for a source that lacks some of its identifiers, which would be dropped from it anyway."""
    there = {*map(folded, columns)}
    kept = tuple(name for name in policy.identifiers if folded(name) in there)
    return policy if kept == policy.identifiers else policy.model_copy(update={"identifiers": kept})


def _without_role(policy: Policy, columns: Sequence[str]) -> str:
    """Names the columns, and what to write to drop them all."""
    named = ", ".join(f'"{name}"' for name in columns)
    state = f"column {named} has no role" if len(columns) == 1 else f"columns {named} have no role"
    written = json.dumps([*policy.identifiers, *columns], ensure_ascii=False)
    return (
        f"{state}: name each in quasi_identifiers, sensitive, insensitive or identifiers (which are dropped), "
        f'as in identifiers = {written}; or write rest = "identifier" to drop all without a role'
    )
