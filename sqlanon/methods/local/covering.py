"""Which listed class a cell goes to that is not in any: the class of the least loss that covers its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.methods.local.arrays import CellArrays
from sqlanon.methods.local.hosts import Classes
from sqlanon.methods.local.judging import Judge
from sqlanon.methods.local.labels import Ladders
from sqlanon.methods.local.peeling import LocalClasses, described
from sqlanon.methods.local.settling import OUT, Parts, UnsettledError, settle
from sqlanon.methods.local.watching import Watch
from sqlanon.methods.shared.arrays import Ints, Mask, changes, grouped
from sqlanon.model.bounds import Bound
from sqlanon.model.lattice import Lattice

ROUNDS = 10
"""How often classes are tried: rows that none covers are put into some, whose labels then cover other rows as well."""

OPEN_SHARE = 0.9
"""The share of keys that still look for a class below which the others are put aside."""


@dataclass(frozen=True)
class ListedClasses:
    """Classes as the bits of their labels.

    A class covers the keys that have its bits in the bits that distinguish the classes of its node.

    Attributes:
        keys: the bits, of shape (words, classes).
        masks: the bits that distinguish the classes of the node of each, of the same shape.
        losses: what its labels lose of a row, in :data:`~sqlanon.methods.local.arrays.UNITS`.
    """

    keys: Ints
    masks: Ints
    losses: Ints

    @staticmethod
    def of(cells: CellArrays, ladders: Ladders, levels: Ints, members: Ints) -> ListedClasses:
        """Classes at levels of shape (quasi-identifiers, classes), given a cell of each."""
        masks = ladders.node_masks(levels.T).T
        return ListedClasses(cells.keys[:, members] & masks, masks, ladders.losses_at(levels, cells.values[:, members]))

    def __getitem__(self, chosen: Mask) -> ListedClasses:
        """Some of them."""
        return ListedClasses(self.keys[:, chosen], self.masks[:, chosen], self.losses[chosen])

    def covering(self, keys: Ints) -> Ints:
        """The class that covers each key with the least loss, of several the first; :data:`OUT` if none covers it.

        Args:
            keys: the words of keys, of shape (words, keys).
        """
        by_loss = self.losses.argsort(kind="stable")
        places = by_loss.argsort()
        none = len(places)
        if not none:
            return np.full(keys.shape[1], OUT)
        order, nodes = grouped(self.masks)
        starts = np.flatnonzero(changes(nodes[np.newaxis]))
        firsts = np.minimum.reduceat(places[order], starts)
        ends = np.append(starts[1:], none)
        best = np.full(keys.shape[1], none)
        left, words, found = np.arange(keys.shape[1]), keys, best.copy()
        # A class has the same loss for all rows: whoever has a better place than all classes of a node skips the node.
        for node in firsts.argsort():
            is_open = found > firsts[node]
            if np.count_nonzero(is_open) < OPEN_SHARE * len(left):
                best[left[~is_open]] = found[~is_open]
                left, words, found = left[is_open], words[:, is_open], found[is_open]
            classes = order[starts[node] : ends[node]]
            masked = words & self.masks[:, classes[:1]]
            near, of_words = _matches(self.keys[:, classes], masked)
            least = np.full(len(classes), none)
            np.minimum.at(least, near, places[classes])
            is_covered = of_words >= 0
            found[is_covered] = np.minimum(found[is_covered], least[of_words[is_covered]])
        best[left] = found
        covering: Ints = np.append(by_loss, OUT)[best]
        return covering


def _matches(known: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """Numbers for the columns of words that are equal in all of them: of known ones, and of wanted ones.

    Returns:
        both numbers, from 0; -1 for wanted ones that no known one equals.
    """
    numbers, found = np.zeros(known.shape[1], dtype=np.int64), np.zeros(wanted.shape[1], dtype=np.int64)
    is_known = np.ones(wanted.shape[1], dtype=bool)
    for place, (of_known, of_wanted) in enumerate(zip(known, wanted, strict=True)):
        distinct, ranks = np.unique(of_known, return_inverse=True)
        at, is_here = _places(distinct, of_wanted)
        is_known &= is_here
        if place == 0:
            numbers, found = ranks, at
            continue
        pairs, numbers = np.unique(numbers * len(distinct) + ranks, return_inverse=True)
        found, is_here = _places(pairs, found * len(distinct) + at)
        is_known &= is_here
    return numbers, np.where(is_known, found, -1)


def _places(distinct: Ints, wanted: Ints) -> tuple[Ints, Mask]:
    """Where numbers stand among distinct ascending ones, and whether they do."""
    places: Ints = np.minimum(distinct.searchsorted(wanted), len(distinct) - 1)
    return places, distinct[places] == wanted


# More than six parameters: those of peeling, and what it found.
def hold_covering(
    cells: CellArrays,
    lattice: Lattice,
    bounds: Sequence[Bound],
    found: LocalClasses,
    *,
    shares: Sequence[float] | None = None,
    allowed_rows: int = 0,
    watch: Watch | None = None,
) -> LocalClasses:
    """Classes that meet all bounds once each cell goes to the class that covers it with the least loss.

    Peeling gives a cell the class of the first node that takes it, and another one may cover it with less loss: where
    the cell goes there, its own class may fall short. Such classes are left out. What no class covers then is put into
    classes as after peeling.

    Args:
        cells: the cells.
        lattice: the levels that may be published.
        bounds: what every class has to meet.
        found: the classes of peeling.
        shares: how much each quasi-identifier counts, 1 together; equal ones if None.
        allowed_rows: how many rows may be left out.
        watch: that of peeling.

    Returns:
        the classes. More rows than are allowed are left out if no better ones are found.
    """
    judge, ladders, watch = Judge.of(cells, bounds), Ladders.of(cells, lattice, shares), watch or Watch()
    of_cells, levels = found.of_cells, found.levels.T
    for turn in range(ROUNDS):
        of_cells, classes = _without_short(cells, judge, ladders, of_cells, levels)
        if cells.rows[of_cells == OUT].sum() <= allowed_rows or turn == ROUNDS - 1:
            break
        parts = Parts(cells, judge, ladders, of_cells)
        try:
            settle(parts, allowed_rows, watch)
        except UnsettledError:
            break
        of_cells, levels = parts.of_cells, parts.classes.levels
    return described(cells, ladders, of_cells, classes, found.minimality, watch)


def _without_short(
    cells: CellArrays, judge: Judge, ladders: Ladders, of_cells: Ints, levels: Ints
) -> tuple[Ints, Classes]:
    """Leave out classes that fall short where each cell goes to the class of the least loss, until none does.

    Returns:
        the class of each cell, and the classes.
    """
    members = np.zeros(levels.shape[1], dtype=np.int64)
    members[of_cells[of_cells != OUT]] = np.flatnonzero(of_cells != OUT)
    listed = ListedClasses.of(cells, ladders, levels, members)
    sizes = np.diff(cells.firsts, append=cells.count)
    while True:
        of_cells = np.repeat(listed.covering(cells.keys[:, cells.firsts]), sizes)
        holds = _held(judge, of_cells, len(listed.losses))
        if holds.all():
            break
        listed, levels, members = listed[holds], levels[:, holds], members[holds]
    kept = of_cells != OUT
    mass = np.bincount(of_cells[kept], cells.mass[kept], len(members)).astype(np.int64)
    return of_cells, Classes(cells.keys[:, members], cells.values[:, members], levels, listed.losses, mass)


def _held(judge: Judge, of_cells: Ints, count: int) -> Mask:
    """Whether each class has rows, and meets all bounds with them."""
    held, kept = np.zeros(count, dtype=bool), np.flatnonzero(of_cells != OUT)
    if len(kept):
        order, classes = grouped(of_cells[np.newaxis, kept])
        held[np.unique(of_cells[kept])] = judge.met(classes, judge.whole[kept[order]])
    return held
