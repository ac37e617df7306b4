"""How many counterfeits a node needs, what it suppresses, and what that says of less general nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlanon.engines.base import Compute
from sqlanon.methods.h_ceiling.counterfeits import settings_of
from sqlanon.methods.h_ceiling.fewest import OUT_OF_LIMIT
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.nodes.counting import NodeCounter, node_summaries
from sqlanon.model.criteria import Criteria
from sqlanon.model.lattice import Levels, NodeSummary
from sqlanon.model.privacy import KAnonymity
from sqlanon.search import Inquiry


@dataclass(frozen=True)
class Need:
    """What a node needs.

    Attributes:
        node: the node.
        counterfeits: how many it needs.
        suppressed: how many rows are in classes of fewer true rows than the policy asks for.
        cost: what nodes are compared by, first counterfeits, then suppressed rows; :data:`OUT_OF_LIMIT` if it
            suppresses too many.
        cost_below: what every less general node costs at least.
    """

    node: NodeSummary
    counterfeits: int
    suppressed: int
    cost: int
    cost_below: int


class Needs:
    """Counts what nodes need, with tables that are made for it in the scratch scope around it.

    Args:
        engine: the database.
        table: the cells.
    """

    def __init__(self, engine: Compute, table: EncodedTable) -> None:
        self._engine = engine
        self._table = table
        self._counter = NodeCounter(engine, table)
        self._fewest = settings_of(table).fewest_true_rows
        # Not all rows, whatever the limit is: there is something to publish.
        self._allowed = min(table.context.allowed_rows, table.context.row_count - 1) if self._fewest > 1 else 0

    def of(self, inquiry: Inquiry) -> list[Need]:
        """What some nodes need, in their order."""
        found, k = self._counter.answer(inquiry), self._table.context.k
        small = self._small_classes([node.levels for node in found]) if self._fewest > 1 else [None] * len(found)
        return [need_of(node, other, k, self._fewest, self._allowed) for node, other in zip(found, small, strict=True)]

    def counterfeits(self, cost: int) -> int:
        """How many counterfeits are in a cost."""
        return cost // (self._allowed + 1)

    def _small_classes(self, nodes: Sequence[Levels]) -> list[NodeSummary]:
        """The same nodes by their classes of fewer true rows than the policy asks for, which are suppressed."""
        criteria = Criteria(models=(KAnonymity(self._fewest),))
        table = replace(self._table, encoding=replace(self._table.encoding, criteria=criteria))
        return node_summaries(self._engine, table, nodes, asked="counts")


def need_of(node: NodeSummary, small: NodeSummary | None, k: int, fewest: int, allowed: int) -> Need:
    """What a node needs whose classes of fewer than ``fewest`` true rows are suppressed.

    A less general node suppresses the same rows, and maybe more. It parts the classes that are filled up here: one of n
    true rows needs k - n counterfeits at least if some part of it is not suppressed, or else n rows more are, which
    saves (k - n) / n a row, at most (k - fewest) / fewest.

    Args:
        node: by its classes of fewer than k rows.
        small: by those of fewer than ``fewest`` rows; None if there are none.
        k: how many rows a class has at least.
        fewest: how many true rows a class has at least.
        allowed: how many rows may be suppressed.
    """
    counterfeits, suppressed = k * _dropped(node) - node.suppressed_rows, 0
    if small is not None:
        suppressed = small.suppressed_rows
        counterfeits -= k * _dropped(small) - suppressed
    if suppressed > allowed:
        return Need(node, counterfeits, suppressed, OUT_OF_LIMIT, OUT_OF_LIMIT)
    saved = (allowed - suppressed) * (k - fewest) // fewest
    cost, cost_below = (needed * (allowed + 1) + suppressed for needed in (counterfeits, max(0, counterfeits - saved)))
    return Need(node, counterfeits, suppressed, cost, cost_below)


def _dropped(summary: NodeSummary) -> int:
    """How many classes are not kept."""
    return summary.class_count - summary.kept_class_count
