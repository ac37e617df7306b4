"""Why a policy cannot be satisfied, and what could be asked for instead."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from sqlanon.model.policy.policy import Policy

RelaxationKind = Literal["suppression_limit", "k", "threshold", "maximum_levels", "max_loss"]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BlockingModel(_Value):
    """A privacy model that some classes of a node violate, and the rows of these classes."""

    model: str
    rows: int


class Relaxation(_Value):
    """A change of a policy with which a node satisfies it; that was checked.

    Attributes:
        kind: what is relaxed.
        changes: the fields of the policy that change, with their new values as in a policy file.
        smallest: whether it is proven that no smaller change of this field would do, in six digits.
        node, suppressed_rows: a node that satisfies the relaxed policy, and the rows that it suppresses.
        sentence: the same in words.
    """

    kind: RelaxationKind
    changes: dict[str, Any]
    smallest: bool
    node: dict[str, int]
    suppressed_rows: int
    sentence: str

    def applied_to(self, policy: Policy) -> Policy:
        """The policy with the change."""
        return changed(policy, self.changes)


class Explanation(_Value):
    """Why no node satisfies a policy.

    Attributes:
        node: the best node that was examined: the one that suppresses the fewest rows.
        row_count, allowed_rows, suppressed_rows: rows of the source, how many of them may be suppressed, and how many
            the node suppresses.
        blocking_models: the privacy models that classes of the node violate, those of most rows first.
        relaxations: what could be asked for instead, each enough on its own; one of each kind and field.
    """

    node: dict[str, int]
    row_count: int
    allowed_rows: int
    suppressed_rows: int
    blocking_models: tuple[BlockingModel, ...]
    relaxations: tuple[Relaxation, ...]


def changed(policy: Policy, changes: dict[str, Any]) -> Policy:
    """A policy with other values of some fields.

    Raises:
        PolicyError: the values are none of a policy.
    """
    return Policy(**{**policy.model_dump(mode="json"), **changes})
