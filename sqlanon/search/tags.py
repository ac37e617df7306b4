"""Predictive tags: what one answer about a node says about those above and below it."""

from __future__ import annotations

import numpy as np

from sqlanon.search.arrays import Index, Mask, above, below, minimal

OPEN, HOLDS, FAILS = 0, 1, -1


class Tags:
    """The nodes where the property holds or fails, as far as that follows from those that were asked."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._tags = np.full(shape, OPEN, dtype=np.int8)

    def __getitem__(self, index: Index) -> int:
        return int(self._tags[index])

    def set(self, index: Index, *, holds: bool) -> None:
        """Tag a node and what follows from it."""
        if holds:
            self._tags[above(index)] = HOLDS
        else:
            self._tags[below(index)] = FAILS

    def minimal(self) -> list[Index]:
        """The nodes where the property is known to hold that have no such node below, in lexicographic order."""
        return list(minimal(self._tags == HOLDS))

    def open_between(self, bottom: Index, top: Index) -> bool:
        """Whether a node of the sublattice from ``bottom`` to ``top`` is not tagged yet."""
        between = tuple(slice(least, most + 1) for least, most in zip(bottom, top, strict=True))
        return not self._tags[between].all()

    def open(self) -> Mask:
        """The nodes that are not tagged yet."""
        nodes: Mask = self._tags == OPEN
        return nodes
