"""How far peeling is, and when it is to make do with what it has."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlanon.methods.progress import Stopped, never

Observer = Callable[[int, int], None]
"""Called with the number of nodes that were looked at, and of the rows that are in no class."""


class Watch:
    """Follows peeling, and ends it early.

    Args:
        observer: is called after each batch of nodes, and after each round in which keys join classes.
        stopped: is asked as often whether to make do with the classes so far.

    Attributes:
        left_rows: how many rows are in no class.
        checked_nodes: how many nodes were looked at.
        is_stopped: whether ``stopped`` has said so.
    """

    def __init__(self, observer: Observer = lambda *_: None, stopped: Stopped = never) -> None:
        self._observer, self._stopped = observer, stopped
        self.left_rows = self.checked_nodes = 0
        self.is_stopped = False

    def batches(self, count: int, size: Callable[[], int]) -> Iterator[range]:
        """The places of nodes in their order: the first one, then batches, and after a stop single ones, ever sparser.

        The last place is always among them: all labels are the most general ones there, so that few rows are in no
        class after it.
        """
        place, step = 0, 1
        while place < count:
            batch = range(place, place + 1 if place == 0 or self.is_stopped else min(place + size(), count))
            yield batch
            self.checked_nodes += len(batch)
            self.look()
            step = 2 * step if self.is_stopped else 1
            place = min(batch[-1] + step, count - 1) if batch[-1] < count - 1 else count

    def finish(self, left_rows: int) -> None:
        """Report how many rows are left out in the end."""
        self.left_rows = left_rows
        self._observer(self.checked_nodes, left_rows)

    def look(self) -> None:
        """Report how far it is, and ask whether to stop."""
        self._observer(self.checked_nodes, self.left_rows)
        self.is_stopped = self.is_stopped or self._stopped()
