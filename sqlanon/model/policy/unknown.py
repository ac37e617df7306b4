"""What becomes of rows with a value that the taxonomy of its column does not have.

``"error"`` refuses the source. ``"suppress"`` leaves the rows out, which counts against the suppression limit.
``"top"`` publishes the label of the top level in that column, at whatever level the others are. It is one of these for
all columns, or one by column, where ``"*"`` stands for the others: ``{"city": "top", "*": "suppress"}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator

from sqlanon.model.base import unknown_names
from sqlanon.model.policy.full_domain import FullDomain
from sqlanon.model.quality import Prec

if TYPE_CHECKING:
    from sqlanon.model.policy.policy import Policy

Action = Literal["error", "suppress", "top"]
"""Refuse the source, leave the row out, or publish the label of the top level in place of the value."""

OTHERS = "*"
"""Stands for all columns that have no action of their own."""


def _for_every_column(given: Any) -> Any:
    return {OTHERS: given} if isinstance(given, str) else given


Unknown = Annotated[
    dict[str, Action], BeforeValidator(_for_every_column, json_schema_input_type=Action | dict[str, Action])
]
"""An action by column, or one for all columns."""


def action_for(unknown: Mapping[str, Action], column: str) -> Action:
    """The action for a column."""
    return unknown.get(column, unknown.get(OTHERS, "error"))


def columns_with(policy: Policy, *actions: Action) -> tuple[str, ...]:
    """The columns whose unknown values are treated by some actions."""
    return tuple(name for name in policy.columns_with_taxonomy if action_for(policy.unknown, name) in actions)


def allowed_rows(policy: Policy, row_count: int, unknown_rows: int) -> int:
    """How many of some rows may be suppressed: the limit as the decimal it is written as, rounded down.

    Args:
        policy: the policy.
        row_count: the rows, without those that were left out.
        unknown_rows: those that were left out for unknown values. They count against a limit on suppression, so that
            the result can be negative.
    """
    left_out = unknown_rows if isinstance(policy.method, FullDomain) else 0
    exact = Decimal(repr(policy.method.outlier_limit(policy))) * (row_count + left_out)
    return int(exact.to_integral_value(rounding=ROUND_FLOOR)) - left_out


def unknown_misfits(policy: Policy) -> Iterable[str]:
    """The actions that a policy cannot take, a line each."""
    columns = policy.columns_with_taxonomy
    for name, meant in unknown_names((name for name in policy.unknown if name != OTHERS), columns):
        yield f'unknown: the policy uses no taxonomy of "{name}"{meant}'
    if policy.has_private_method and any(action_for(policy.unknown, name) != "error" for name in columns):
        yield f'unknown: the {policy.method} is private for values that its taxonomies have; take "error"'
    elif columns_with(policy, "top"):
        yield from _misfits_of_top(policy)


def _misfits_of_top(policy: Policy) -> Iterable[str]:
    top = 'unknown: "top"'
    if not isinstance(policy.method, FullDomain):
        yield f'{top} is for full domains, not for the {policy.method}; take "suppress"'
    for name in columns_with(policy, "top"):
        if name not in policy.taxonomy_columns:
            yield f'{top} is for quasi-identifiers, and "{name}" is not generalized; take "suppress"'
    if policy.population is not None:
        yield f"{top} cannot be combined with models of a population: its values would have no label"
    if isinstance(policy.quality, Prec) and policy.quality.charges:
        yield f'{top} cannot be combined with "prec" that charges for suppressed rows: levels say too little of rows'
