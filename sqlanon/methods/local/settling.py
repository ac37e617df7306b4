"""What is left after peeling: it goes into classes, or is left out, or makes a class at the top with some of them."""

from __future__ import annotations

import numpy as np

from sqlanon.methods.local.arrays import CellArrays
from sqlanon.methods.local.hosts import Classes, Hosts, Key
from sqlanon.methods.local.judging import Judge
from sqlanon.methods.local.labels import Ladders
from sqlanon.methods.local.members import Members, Roster
from sqlanon.methods.local.watching import Watch
from sqlanon.methods.shared.arrays import Floats, Ints, grouped

OUT = -1
"""The class of cells that are in none."""

DIGITS = 9
"""To how many digits gains are compared, which are quotients of doubles."""


class UnsettledError(Exception):
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
        key_rows: the rows of each key.
        classes: what they are; numbers are those of :attr:`of_keys`.
    """

    def __init__(self, cells: CellArrays, judge: Judge, ladders: Ladders, of_cells: Ints) -> None:
        self._cells, self._judge, self._ladders = cells, judge, ladders
        self._ends = np.append(cells.firsts[1:], cells.count)
        self._keys, self._key_values = cells.keys[:, cells.firsts], cells.values[:, cells.firsts]
        self.key_rows, self._key_mass = (np.add.reduceat(amounts, cells.firsts) for amounts in (cells.rows, cells.mass))
        self.of_keys = of_cells[cells.firsts]
        self.describe()

    def describe(self) -> None:
        """Number the classes by their first keys, and find out what they are."""
        kept = np.flatnonzero(self.of_keys != OUT)
        _, firsts, numbers = np.unique(self.of_keys[kept], return_index=True, return_inverse=True)
        self.of_keys[kept] = firsts.argsort().argsort()[numbers]
        order = kept[self.of_keys[kept].argsort(kind="stable")]
        starts = np.flatnonzero(np.diff(self.of_keys[order], prepend=OUT))
        sizes = np.diff(starts, append=len(order))
        firsts = order[starts]
        words, values = self._keys[:, firsts], self._key_values[:, firsts]
        differences = self._keys[:, order] ^ np.repeat(words, sizes, axis=1)
        levels = self._ladders.meeting(np.bitwise_or.reduceat(differences, starts, axis=1))
        mass = np.add.reduceat(self._key_mass[order], starts)
        self.classes = Classes(words, values, levels, self._ladders.losses_at(levels, values), mass)

    @property
    def members(self) -> tuple[Ints, Members]:
        """The class of each member of one, ascending, and the members."""
        of_cells = self.of_cells
        kept = of_cells != OUT
        everyone = self._judge.whole[kept]
        merged = Members(everyone.rows, np.concatenate([of_cells[np.newaxis, kept], everyone.codes])).merged()
        return merged.codes[0], Members(merged.rows, merged.codes[1:])

    @property
    def joint_numbers(self) -> Ints:
        """The number of each key's joint class in earlier releases."""
        return self._cells.joint_numbers[self._cells.firsts]

    @property
    def left_rows(self) -> int:
        """The rows that are in no class."""
        return int(self.key_rows[self.of_keys == OUT].sum())

    @property
    def of_cells(self) -> Ints:
        """The class of each cell."""
        return np.repeat(self.of_keys, self._ends - self._cells.firsts)

    def insert(self, watch: Watch) -> Ints:
        """Put keys that are in no class into the class whose loss rises least and that still meets all bounds.

        Returns:
            the keys that fit into none, or were not tried before a stop, ascending.
        """
        tried = {int(key): 0 for key in np.flatnonzero(self.of_keys == OUT)}
        if not tried:
            return np.zeros(0, dtype=np.int64)
        roster = None if self._judge.is_monotonic else Roster(*self.members)
        hosts = Hosts(self._judge, self._ladders, self.classes, roster)
        before = len(tried) + 1
        while len(tried) < before:
            before = len(tried)
            for number, since in list(tried.items()):
                if watch.is_stopped and roster is not None:
                    break
                host = hosts.join(self._key(number), since)
                if host is None:
                    tried[number] = hosts.clock + 1
                else:
                    self.of_keys[number] = host
                    del tried[number]
                    watch.left_rows -= int(self.key_rows[number])
                watch.look()
        return np.array(list(tried), dtype=np.int64)

    def gather(self, rest: Ints, allowed_rows: int) -> int:
        """Make a class of keys at each label of the top, or leave some out and dissolve classes for the others.

        Returns:
            how many rows may still be left out.

        Raises:
            UnsettledError: all rows under a label of the top do not meet the bounds together.
        """
        if not len(rest):
            self.describe()
            return allowed_rows
        tops = self._ladders.labels_at(self._tops(self._key_values), self._key_values)
        order, groups = grouped(tops[:, rest])
        roster = Roster(*self.members)
        for number in range(groups.max() + 1):
            keys = np.sort(rest[order[groups == number]])
            if self._excess([self._of_key(key) for key in keys]) > 0:
                out = np.cumsum(self.key_rows[keys]) <= allowed_rows
                allowed_rows -= int(self.key_rows[keys[out]].sum())
                keys = keys[~out]
            if len(keys):
                near = (tops == tops[:, keys[:1]]).all(axis=0)
                hosts = np.unique(self.of_keys[near & (self.of_keys != OUT)])
                self.of_keys[keys] = self.of_keys.max() + 1
                self._dissolve(keys, hosts, roster)
        self.describe()
        return allowed_rows

    def merge(self) -> Ints:
        """Make one class of all that have the same labels.

        Returns:
            the keys of those that then fail a bound, in no class now, ascending.
        """
        if not len(self.classes.mass):
            return np.zeros(0, dtype=np.int64)
        order, groups = grouped(self._ladders.labels_at(self.classes.levels, self.classes.values))
        merged = np.zeros(len(order), dtype=np.int64)
        merged[order] = groups
        classes, members = self.members
        meets = self._judge.met(merged[classes], members)[merged]
        firsts = np.unique(merged, return_index=True)[1]
        fails = self.of_keys != OUT
        fails[fails] = ~meets[self.of_keys[fails]]
        kept = ~fails & (self.of_keys != OUT)
        self.of_keys[kept] = firsts[merged[self.of_keys[kept]]]
        self.of_keys[fails] = OUT
        self.describe()
        return np.flatnonzero(fails)

    def _key(self, number: int) -> Key:
        words, values = self._keys[:, number], self._key_values[:, number]
        return Key(words, values, int(self._key_mass[number]), self._of_key(number))

    def _of_key(self, key: int) -> Members:
        return self._judge.whole[self._cells.firsts[key] : self._ends[key]]

    def _excess(self, parts: list[Members]) -> float:
        members = Members.joined(parts)
        return float(self._judge.excess(np.zeros(len(members.rows), dtype=np.int64), members)[0])

    def _tops(self, values: Ints) -> Ints:
        return np.broadcast_to(self._ladders.highest[:, np.newaxis], values.shape)

    def _dissolve(self, keys: Ints, classes: Ints, roster: Roster) -> None:
        """Add classes to keys, the least loss added per closeness gained first, until they meet the bounds together."""
        lost = self._ladders.losses_at(self._tops(self.classes.values), self.classes.values)
        added = (lost - self.classes.losses) * self.classes.mass
        top = Members.joined([self._of_key(key) for key in keys]).merged()
        own = self.of_keys[keys[0]]
        while excess := self._excess([top]):
            if not len(classes):
                raise UnsettledError(int(top.rows.sum()))
            gains = excess - self._judge.excess(*roster.beside(classes, top))
            chosen = int(_best(gains, added[classes]))
            top = Members.joined([top, roster[classes[chosen]]]).merged()
            self.of_keys[self.of_keys == classes[chosen]] = own
            classes = np.delete(classes, chosen)


def settle(parts: Parts, allowed_rows: int, watch: Watch) -> None:
    """Find a place for keys that are in no class, and make classes of equal labels one.

    Args:
        parts: the keys and their classes, in place.
        allowed_rows: how many rows may be left out.
        watch: follows it.

    Raises:
        UnsettledError: some rows meet the bounds neither in a class nor all together at the top.
    """
    rest = parts.insert(watch)
    while True:
        allowed_rows = parts.gather(rest, allowed_rows)
        rest = parts.merge()
        if not len(rest):
            watch.finish(parts.left_rows)
            return


def _best(gains: Floats, added: Ints) -> np.intp:
    """The place of the greatest gain per loss; of the least loss if nothing gains."""
    if (gains > 0).any():
        return np.round(np.maximum(gains, 0) / np.maximum(added, 1) * float(added.max(initial=1)), DIGITS).argmax()
    return added.argmin()
