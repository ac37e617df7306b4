"""Peeling: nodes from fine to coarse, whose classes that meet every privacy model are taken out of the table.

So every row has the labels of the finest node, in the order of what the table would lose there, at which the rows that
are left let it be in a class that meets the models. The few that are left in the end are settled (:mod:`.settling`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from sqlanon.methods.local.arrays import UNITS, CellArrays, slots_of
from sqlanon.methods.local.hiding import JointHiding
from sqlanon.methods.local.hosts import Classes
from sqlanon.methods.local.judging import Judge
from sqlanon.methods.local.labels import Ladders
from sqlanon.methods.local.settling import OUT, Parts, settle
from sqlanon.methods.local.watching import Watch
from sqlanon.methods.shared.arrays import Ints, grouped
from sqlanon.model.bounds import Bound
from sqlanon.model.lattice import Lattice

MAX_NODES = 10**6
"""The most nodes that are looked at: each takes some ten microseconds at least."""


@dataclass(frozen=True)
class Minimality:
    """What follows from the order of the nodes for whoever knows it.

    A row of a coarse class was in no class that could be published at the nodes before. If one of these had enough
    rows, it failed a bound on its sensitive values: that is known of it.

    Attributes:
        rows: how many rows were in such a class.
        finest_rows: how many were in one at the least general node.
    """

    rows: int
    finest_rows: int


@dataclass(frozen=True)
class LocalClasses:
    """The classes of a local recoding.

    Attributes:
        of_cells: the class of each cell, -1 if it is left out.
        levels: the level of each quasi-identifier, of shape (classes, quasi-identifiers).
        labels: the numbers of labels, of the same shape; no two classes have the same.
        rows: the rows of each class.
        loss: the mean loss of rows, by mass, and of quasi-identifiers, by their shares; rows that are left out lose 1.
        left_out: how many rows are left out.
        minimality: what the order of the nodes gives away.
        checked_nodes: how many nodes were looked at.
        is_final: False if peeling was stopped, so that labels could be finer.
    """

    of_cells: Ints
    levels: Ints
    labels: Ints
    rows: Ints
    loss: float
    left_out: int
    minimality: Minimality
    checked_nodes: int
    is_final: bool


# More than six parameters: the table, what is asked of its classes, and who follows.
def peel(
    cells: CellArrays,
    lattice: Lattice,
    bounds: Sequence[Bound],
    *,
    shares: Sequence[float] | None = None,
    min_share: float = 0.0,
    allowed_rows: int = 0,
    beside: JointHiding | None = None,
    watch: Watch | None = None,
) -> LocalClasses:
    """Give every cell a class that meets all bounds, at as fine labels as the order of the nodes lets it have.

    Args:
        cells: the cells.
        lattice: the levels that may be published.
        bounds: what every class has to meet.
        shares: how much each quasi-identifier counts, 1 together; equal ones if None.
        min_share: the share of the rows that a node takes at least.
        allowed_rows: how many rows may be left out if they fit into no class.
        beside: says which classes are left out for others beside earlier releases, whatever is allowed.
        watch: follows it; after a stop few more nodes are looked at, and keys that are left join no class one by one.

    Raises:
        ValueError: the lattice has more than :data:`MAX_NODES` nodes, or a bound is on other things than classes.
        UnsettledError: some rows meet the bounds neither in a class nor all together at the top.
    """
    if lattice.size > MAX_NODES:
        raise ValueError(f"{lattice.size:,} nodes are more than {MAX_NODES:,}")
    judge = Judge.of(cells, bounds, None if beside is None else beside.bounds)
    ladders = Ladders.of(cells, lattice, shares)
    watch = watch or Watch()
    of_cells, minimality = take(cells, judge, ladders, ordered_nodes(cells, ladders), watch, min_share)
    parts = Parts(cells, judge, ladders, of_cells)
    settle(parts, allowed_rows, watch)
    if beside is not None:
        beside.hide(parts)
    return described(cells, ladders, parts.of_cells, parts.classes, minimality, watch)


def ordered_nodes(cells: CellArrays, ladders: Ladders) -> Ints:
    """The nodes by what the table loses at them, the least first, and then in lexicographic order; a row per node."""
    losses = reduce(np.add.outer, ladders.by_level(cells))
    order = losses.argsort(axis=None, kind="stable")
    return np.stack(np.unravel_index(order, losses.shape), axis=1) + ladders.lowest


def take(
    cells: CellArrays, judge: Judge, ladders: Ladders, nodes: Ints, watch: Watch, min_share: float = 0.0
) -> tuple[Ints, Minimality]:
    """Take classes that meet the bounds out of the table, node by node.

    Returns:
        the class of each cell, :data:`OUT` if it is in none; and how many rows were in a large class that failed.
    """
    of_cells, has_failed = np.full(cells.count, OUT), np.zeros(cells.count, dtype=bool)
    left, keys, members, count, finest = np.arange(cells.count), cells.keys, judge.whole, 0, 0
    watch.left_rows = int(cells.rows.sum())
    least_rows = max(min_share * watch.left_rows, 1)
    all_masks = ladders.node_masks(nodes)
    for place in watch.nodes(len(nodes)):
        words = keys & all_masks[place, :, np.newaxis]
        places = _in_large_slots(words, members.rows, judge.least_size)
        if len(places):
            order, classes = grouped(words[:, places])
            places = places[order]
            near = members[places]
            large = judge.sizes(classes, near) >= judge.least_size
            met = large & judge.met_by_values(classes, near) if judge.others else large
            has_failed[left[places[(large & ~met)[classes]]]] = True
            taken = met[classes]
            taken_rows = int(near.rows[taken].sum())
            if taken_rows >= least_rows:
                of_cells[left[places[taken]]] = count + (np.cumsum(met) - 1)[classes[taken]]
                count += int(met.sum())
                stays = np.ones(len(left), dtype=bool)
                stays[places[taken]] = False
                left, keys, members = left[stays], keys[:, stays], members[stays]
                watch.left_rows -= taken_rows
        if place == 0:
            finest = int(cells.rows[has_failed].sum())
        if not len(left):
            break
    return of_cells, Minimality(int(cells.rows[has_failed].sum()), finest)


def _in_large_slots(words: Ints, rows: Ints, least_size: int) -> Ints:
    """The places of cells whose class may have enough rows: slots hold classes, and few hold several.

    That takes no sort, which all else does.
    """
    if least_size <= 1 or not len(rows):
        return np.arange(len(rows))
    slots, _ = slots_of(words)
    return np.flatnonzero((np.bincount(slots, rows) >= least_size)[slots])


# More than six parameters: the cells, their classes, and how these were found.
def described(
    cells: CellArrays, ladders: Ladders, of_cells: Ints, classes: Classes, minimality: Minimality, watch: Watch
) -> LocalClasses:
    """The classes of a recoding, with their labels and what they lose."""
    is_out = of_cells == OUT
    lost = classes.loss + UNITS * int(cells.mass[is_out].sum())
    return LocalClasses(
        of_cells=of_cells,
        levels=classes.levels.T,
        labels=ladders.labels_at(classes.levels, classes.values).T,
        rows=np.bincount(of_cells[~is_out], cells.rows[~is_out]).astype(np.int64),
        loss=lost / (UNITS * max(int(cells.mass.sum()), 1)),
        left_out=int(cells.rows[is_out].sum()),
        minimality=minimality,
        checked_nodes=watch.checked_nodes,
        is_final=not watch.is_stopped,
    )
