"""What is left after peeling: it goes into classes, or is left out, or makes a class at the top with some of them."""

from __future__ import annotations

import numpy as np

from sqlanon.methods.local.arrays import CellArrays, Floats, Ints, Mask, grouped
from sqlanon.methods.local.judging import Judge, Members
from sqlanon.methods.local.labels import Ladders

OUT = -1
"""The class of cells that are in none."""

INFEASIBLE = np.iinfo(np.int64).max
"""What a class loses that would need labels above the allowed ones."""

TRIALS = 32
"""How many classes a key is tried in at first, the ones that lose least; then in all others at once."""

DIGITS = 9
"""To how many digits gains are compared, which are quotients of doubles."""


class UnsettledRows(Exception):
    """Some rows meet the bounds neither in a class nor all together at the top, and may not be left out.

    Attributes:
        rows: how many they are.
    """

    def __init__(self, rows: int) -> None:
        super().__init__(f"{rows:,} rows meet the bounds in no class")
        self.rows = rows


class Parts:
    """Keys in classes: a class has the finest labels that all its rows share.

    Args:
        cells: the cells, adjacent if they agree in their keys.
        judge: judges classes.
        ladders: the labels.
        of_cells: the class of each cell, from 0, or :data:`OUT`.

    Attributes:
        of_keys: the class of each key.
        members: those of each class.
        levels: the levels of classes, of shape (quasi-identifiers, classes).
        values: the values of a cell of each class, of the same shape.
        mass: that of each class.
    """

    def __init__(self, cells: CellArrays, judge: Judge, ladders: Ladders, of_cells: Ints) -> None:
        self._cells, self._judge, self._ladders = cells, judge, ladders
        self._ends = np.append(cells.firsts[1:], cells.count)
        self._key_values = cells.values[:, cells.firsts]
        self._key_rows, self._key_mass = (self._of_keys(amounts) for amounts in (cells.rows, cells.mass))
        self.of_keys = of_cells[cells.firsts]
        self.describe()

    def describe(self) -> None:
        """Number the classes without gaps, and find out what they are."""
        kept = np.flatnonzero(self.of_cells != OUT)
        self.of_keys[self.of_keys != OUT] = np.unique(self.of_keys[self.of_keys != OUT], return_inverse=True)[1]
        order = kept[self.of_cells[kept].argsort(kind="stable")]
        classes = self.of_cells[order]
        starts = np.flatnonzero(np.diff(classes, prepend=OUT))
        self.values = self._cells.values[:, order[starts]]
        self.levels = self._ladders.finest(self._cells.values[:, order], classes)
        self.mass = np.add.reduceat(self._cells.mass[order], starts)
        everyone = self._judge.whole[order]
        merged = Members(everyone.rows, np.concatenate([classes[np.newaxis], everyone.codes])).merged()
        ends = np.flatnonzero(np.diff(merged.codes[0], append=len(starts))) + 1
        self.members = [
            Members(merged.rows[start:end], merged.codes[1:, start:end])
            for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)
        ]

    @property
    def of_cells(self) -> Ints:
        """The class of each cell."""
        return np.repeat(self.of_keys, self._ends - self._cells.firsts)

    def insert(self) -> Ints:
        """Put keys that are in no class into the class whose loss rises least and that still meets all bounds.

        Returns:
            the keys that fit into none, ascending.
        """
        changed, clock = np.zeros(len(self.members), dtype=np.int64), 0
        tried = {int(key): 0 for key in np.flatnonzero(self.of_keys == OUT)}
        before = len(tried) + 1
        while tried and len(tried) < before:
            before = len(tried)
            for key, since in list(tried.items()):
                host = self._host(key, changed >= since)
                if host is None:
                    tried[key] = clock + 1
                else:
                    clock += 1
                    changed[host] = clock
                    del tried[key]
        return np.array(list(tried), dtype=np.int64)

    def gather(self, rest: Ints, allowed_rows: int) -> int:
        """Make a class of keys at each label of the top, or leave some out and dissolve classes for the others.

        Returns:
            how many rows may still be left out.

        Raises:
            UnsettledRows: all rows under a label of the top do not meet the bounds together.
        """
        tops = self._ladders.labels_at(self._tops(self._key_values), self._key_values)
        order, groups = grouped(tops[:, rest])
        for number in range(groups.max(initial=-1) + 1):
            keys = np.sort(rest[order[groups == number]])
            if self._excess([self._of_key(key) for key in keys]) > 0:
                out = np.cumsum(self._key_rows[keys]) <= allowed_rows
                allowed_rows -= int(self._key_rows[keys[out]].sum())
                keys = keys[~out]
            if len(keys):
                near = (tops == tops[:, keys[:1]]).all(axis=0)
                self.of_keys[keys] = len(self.members)
                self._dissolve(keys, np.unique(self.of_keys[near & (self.of_keys != OUT)])[:-1])
        self.describe()
        return allowed_rows

    def merge(self) -> Ints:
        """Make one class of all that have the same labels.

        Returns:
            the keys of those that then fail a bound, in no class now, ascending.
        """
        order, groups = grouped(self._ladders.labels_at(self.levels, self.values))
        merged = np.zeros(len(order), dtype=np.int64)
        merged[order] = groups
        meets = np.ones(len(order), dtype=bool)
        if len(order) > groups.max(initial=-1) + 1:
            counts = [len(members.rows) for members in self.members]
            unions = np.repeat(merged, counts)
            meets = self._judge.met(unions, Members.joined(self.members))[merged]
        firsts = np.unique(merged, return_index=True)[1]
        fails = self.of_keys != OUT
        fails[fails] = ~meets[self.of_keys[fails]]
        kept = ~fails & (self.of_keys != OUT)
        self.of_keys[kept] = firsts[merged[self.of_keys[kept]]]
        self.of_keys[fails] = OUT
        self.describe()
        return np.flatnonzero(fails)

    def _of_keys(self, amounts: Ints) -> Ints:
        return np.add.reduceat(amounts, self._cells.firsts)

    def _of_key(self, key: int) -> Members:
        return self._judge.whole[np.arange(self._cells.firsts[key], self._ends[key])]

    def _host(self, key: int, may_host: Mask) -> int | None:
        """The class that a key goes to, which then has it; None if there is none."""
        values = self._key_values[:, [key]]
        levels = np.maximum(self._ladders.meeting(self.values, values), self.levels)
        losses = self._ladders.losses_at(levels, np.broadcast_to(values, levels.shape))
        rises = losses * self._key_mass[key]
        rises += (losses - self._ladders.losses_at(self.levels, self.values)) * self.mass
        rises[~may_host | (levels > self._ladders.highest[:, np.newaxis]).any(axis=0)] = INFEASIBLE
        order = rises.argsort(kind="stable")[: np.count_nonzero(rises < INFEASIBLE)]
        for some in (order[:TRIALS], order[TRIALS:]):
            fits = self._judge.is_monotonic or self._meets_with(key, some)
            if np.any(fits) and len(some):
                host = int(some[np.argmax(fits)])
                self.of_keys[key], self.levels[:, host] = host, levels[:, host]
                self.mass[host] += self._key_mass[key]
                self.members[host] = Members.joined([self.members[host], self._of_key(key)]).merged()
                return host
        return None

    def _meets_with(self, key: int, classes: Ints) -> Mask:
        if not len(classes):
            return np.zeros(0, dtype=bool)
        return self._judge.met(*self._beside(self._of_key(key), classes))

    def _beside(self, members: Members, classes: Ints) -> tuple[Ints, Members]:
        """Some members together with each of some classes: the number of the class among them, and its members."""
        parts = [self.members[number] for number in classes]
        own = Members(np.tile(members.rows, len(parts)), np.tile(members.codes, len(parts)))
        numbers = np.repeat(np.arange(len(parts)), [len(part.rows) for part in parts])
        added = np.repeat(np.arange(len(parts)), len(members.rows))
        return np.concatenate([numbers, added]), Members.joined([*parts, own])

    def _excess(self, parts: list[Members]) -> float:
        members = Members.joined(parts)
        return float(self._judge.excess(np.zeros(len(members.rows), dtype=np.int64), members)[0])

    def _tops(self, values: Ints) -> Ints:
        return np.broadcast_to(self._ladders.highest[:, np.newaxis], values.shape)

    def _dissolve(self, keys: Ints, classes: Ints) -> None:
        """Add classes to keys, the least loss added per closeness gained first, until they meet the bounds together."""
        added = self._ladders.losses_at(self._tops(self.values), self.values)
        added = (added - self._ladders.losses_at(self.levels, self.values)) * self.mass
        top = Members.joined([self._of_key(key) for key in keys]).merged()
        number = self.of_keys[keys[0]]
        while excess := self._excess([top]):
            if not len(classes):
                raise UnsettledRows(int(top.rows.sum()))
            gains = excess - self._judge.excess(*self._beside(top, classes))
            chosen = int(_best(gains, added[classes]))
            top = Members.joined([top, self.members[classes[chosen]]]).merged()
            self.of_keys[self.of_keys == classes[chosen]] = number
            classes = np.delete(classes, chosen)


def settle(parts: Parts, allowed_rows: int) -> None:
    """Find a place for keys that are in no class, and make classes of equal labels one.

    Args:
        parts: the keys and their classes, in place.
        allowed_rows: how many rows may be left out.

    Raises:
        UnsettledRows: some rows meet the bounds neither in a class nor all together at the top.
    """
    rest = parts.insert()
    while True:
        allowed_rows = parts.gather(rest, allowed_rows)
        rest = parts.merge()
        if not len(rest):
            return


def _best(gains: Floats, added: Ints) -> np.intp:
    """The place of the greatest gain per loss; of the least loss if nothing gains."""
    if (gains > 0).any():
        return np.round(np.maximum(gains, 0) / np.maximum(added, 1) * float(added.max(initial=1)), DIGITS).argmax()
    return added.argmin()
