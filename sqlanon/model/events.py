"""Events that a run reports."""

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
        stage: ``encode`` (the only scan of the rows), ``search``, ``release`` (the write), ``verify`` and ``publish``;
            ``explain`` if the search found no node; ``invent`` in the demonstration; ``fingerprint``, ``join`` and
            ``count`` when a partition joins others; ``count`` also when a lattice is counted after a search;
            ``read``, ``suggest`` and ``try`` when a policy is suggested, and tried on some rows. Nothing is published
            before ``publish`` starts, and everything when it has finished.
        state: ``started``, ``progress`` or ``finished``. A stage that fails doesn't finish.
        seconds: time since the run began.
        step: the purpose of the current statement, None between statements.
        share: the completed part of that statement, from 0 to 1, as estimated by the database; None without an
            estimate.
        seconds_left: the time until the last node of the lattice is checked, in a stage that checks them all, or until
            the statement is done, at the pace so far; None if unknown.
        checked_nodes: the number of nodes checked in this stage, None if it checks none.
        lattice_nodes: the number of all nodes.
        loss: the loss of the best node so far, None if there is none.
        node: the levels of that node, by column, after a search for the best node of a lattice table.
        lower_bound: a proven lower bound of the loss of every node that satisfies the policy; None if unknown.
        left_rows: the number of rows without a class, None unless classes are made one by one.
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
        """An upper bound of the distance of the loss from the optimum."""
        return proven_gap(self.loss, self.lower_bound)

    def document(self) -> dict[str, Any]:
        """Return the known fields for JSON."""
        share = None if self.share is None else round(self.share, 3)
        known = {"event": self.state, **dataclasses.asdict(self), "share": share, "gap": self.gap}
        del known["state"]
        return {name: value for name, value in known.items() if value is not None}


def proven_gap(loss: float | None, lower_bound: float | None) -> float | None:
    """Return an upper bound of the distance of a loss from the optimum, if there is one."""
    if loss is None or lower_bound is None:
        return None
    return max(loss - lower_bound, 0.0)
