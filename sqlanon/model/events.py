"""Events that a run reports while it is under way."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Stage = Literal[
    "invent", "fingerprint", "encode", "join", "search", "explain", "release", "verify", "publish", "count", "read",
    "suggest", "try"
]  # fmt: skip
State = Literal["started", "progress", "finished"]


@dataclass(frozen=True)
class Event:
    """A moment of a run: counts, shares and losses, never data.

    Attributes:
        stage: ``encode`` (the one scan of the rows), ``search``, ``release`` (the write), ``verify`` and ``publish``;
            ``explain`` where the search found no node; ``invent`` in the demonstration; ``fingerprint``, ``join`` and
            ``count`` where a partition joins others; ``count`` also where a lattice is counted after a search;
            ``read``, ``suggest`` and ``try`` where a policy is suggested, and tried on some rows. Nothing is published
            before ``publish`` starts, and all is when it has finished.
        state: ``started``, ``progress`` or ``finished``. A stage that fails does not finish.
        seconds: since the run began.
        step: what the statement that the database works on is for, None between statements.
        share: how much of that statement is done, from 0 to 1, as the database guesses; None without a guess.
        seconds_left: until the last node of the lattice is checked, in a stage that checks them all, else until the
            statement is done, at the pace so far; None where that is not known.
        checked_nodes: how many nodes were checked in this stage, None where it checks none.
        lattice_nodes: how many there are.
        loss: that of the best node so far, None while there is none.
        node: the levels of that node, by column, where a search for the best node of a lattice table has ended.
        lower_bound: proven to be at most the loss of every node that satisfies the policy; None where nothing is known.
        left_rows: how many rows are in no class yet, None where classes are not made one after the other.
    """

    stage: Stage
    state: State
    seconds: float
    step: str | None = None
    share: float | None = None
    seconds_left: float | None = None
    checked_nodes: int | None = None
    lattice_nodes: int | None = None
    loss: float | None = None
    node: Mapping[str, int] | None = None
    lower_bound: float | None = None
    left_rows: int | None = None

    @property
    def gap(self) -> float | None:
        """An upper bound of how far the loss is from optimal."""
        return proven_gap(self.loss, self.lower_bound)

    def document(self) -> dict[str, Any]:
        """Return the fields that are known, as JSON takes them."""
        share = None if self.share is None else round(self.share, 3)
        known = {"event": self.state, **dataclasses.asdict(self), "share": share, "gap": self.gap}
        del known["state"]
        return {name: value for name, value in known.items() if value is not None}


def proven_gap(loss: float | None, lower_bound: float | None) -> float | None:
    """Return an upper bound of how far a loss is from optimal; None if there is none."""
    if loss is None or lower_bound is None:
        return None
    return max(loss - lower_bound, 0.0)
