"""The nodes of a lattice to choose from, as one page."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.model.release.measurement import Result
from sqlanon.report import explorer
from sqlanon.report.document import Document, Table, count, figure, percent
from sqlanon.report.notebook import framed

ASKED = (2, 3, 5, 8, 10, 15, 20, 30, 50, 100, 200, 500)
"""The k that the page offers, besides that of the policy."""


class ExploredColumn(Result):
    """A quasi-identifier.

    Attributes:
        name: the column.
        least, most: the levels that the policy allows.
        example: the labels of one value at each level from 0 to the top; empty if no value may be shown.
    """

    name: str
    least: int
    most: int
    example: tuple[str | None, ...]


class ExploredNodes(Result):
    """Nodes in the order in which a run prefers them, each attribute with an entry for each.

    Attributes:
        places: which node it is, counted from 0 in lexicographic order of the levels.
        losses: what it loses, in units of ``loss_unit``.
        best_k: the greatest k within the suppression limit; 0 where another model of the policy does not hold.
        suppressed_rows: the rows that are left out at the k of the policy; None for 1 to k - 1.
        class_counts: its classes before rows are left out.
    """

    places: tuple[int, ...]
    losses: tuple[int, ...]
    best_k: tuple[int, ...]
    suppressed_rows: tuple[int | None, ...]
    class_counts: tuple[int, ...]


class NodesAtK(Result):
    """The nodes that attain a greater k than that of the policy, in the order in which a run with that k prefers them.

    Attributes:
        k: that k.
        order: the positions of the nodes in :class:`ExploredNodes`.
        losses, suppressed_rows: as there, at that k.
    """

    k: int
    order: tuple[int, ...]
    losses: tuple[int, ...]
    suppressed_rows: tuple[int | None, ...]


class Explorer(Result):
    """The nodes of a lattice, to choose one from.

    Attributes:
        source: the table, in words.
        row_count: its rows.
        k: that of the policy, 1 without one.
        asked: the k that are offered, ascending.
        allowed_rows: how many rows may be left out.
        measure: the loss of the policy.
        is_share: whether that is between 0 and 1.
        depends_on_k: whether it counts rows that are left out, so that another k has another loss.
        loss_unit: the unit of the losses of nodes.
        node_count: the nodes of the lattice; more than there are in ``nodes`` if it is very large, or partly checked.
        checked_nodes: how many of them were checked: fewer if the check was stopped.
        lower_bound: if it was stopped, proven to be at most the loss of every node that satisfies the policy, checked
            or not; None if that is not known.
        gap: then, how much less than the best checked node another node can lose at most.
        columns: the quasi-identifiers.
        nodes: the nodes.
        others: those at each greater k that is offered; none if the lattice is very large.
    """

    source: str
    row_count: int
    k: int
    asked: tuple[int, ...]
    allowed_rows: int
    measure: str
    is_share: bool
    depends_on_k: bool
    loss_unit: float
    node_count: int
    checked_nodes: int
    lower_bound: float | None = None
    gap: float | None = None
    columns: tuple[ExploredColumn, ...]
    nodes: ExploredNodes
    others: tuple[NodesAtK, ...]

    def to_html(self, command: Sequence[str] = (), policy_k: int | None = None) -> str:
        """A page to choose a node on: with its script, and nothing that is loaded from elsewhere.

        It is for the custodian: it has counts of the source.

        Args:
            command: the source and the options of a command ``sqlanon run`` but for node and target, if the page is to
                show one; else it shows a call of :meth:`sqlanon.Session.anonymize`.
            policy_k: the k of the policy that the command names, if the nodes were counted for another one.
        """
        content = {**self.model_dump(mode="json"), "policy_k": policy_k or self.k}
        return explorer.page(f"{self.source}: what could be released", content, command)

    def _repr_html_(self) -> str:
        """The page itself."""
        return framed(self.to_html(), f"The lattice of {self.source}")

    def document(self) -> Document:
        """The least loss at each k."""
        losses = {k: loss for k in self.asked if (loss := self._least_loss(k)) is not None}
        rows = [(f"k = {k}", percent(loss) if self.is_share else figure(loss)) for k, loss in losses.items()]
        checked = "" if self.checked_nodes == self.node_count else f"{count(self.checked_nodes)} of "
        title = f"The least loss of {checked}{count(self.node_count)} nodes; to_html() makes a page to choose one on"
        table = Table(("asked for", self.measure), rows, numbers=(1,), title=title)
        return Document(f"The lattice of {self.source}", (table,))

    def _least_loss(self, k: int) -> float | None:
        at_k = next((other.losses for other in self.others if other.k == k), None)
        if at_k is None:
            at_k = tuple(loss for loss, best_k in zip(self.nodes.losses, self.nodes.best_k, strict=True) if best_k >= k)
        return at_k[0] * self.loss_unit if at_k else None
