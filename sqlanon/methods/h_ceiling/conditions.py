"""Classes for a catalog, and the conditions that it is grouped by: condition F, and lemma 1 of the paper.

A class that has fewer than k rows is filled up to exactly k with counterfeits; one that has k or more is left alone.
A catalog says of a group of classes how many counterfeits of each sensitive value are in it, not where.

An adversary knows the published table, the catalog, k, and the rule by which classes are filled. So only a class of
exactly k rows can have counterfeits, a *host*, and at most k - 1 of them, since no class is published that nobody is in
(Lee, Kim, Kim & Chung 2017, definitions 2 and 3).

Condition F: with the catalog in hand, no class of a group is sure to have a counterfeit.

A *world* of a group G says how many counterfeits of each value each class has: of value s C(s) in all, as the catalog
says, in a host j at most N_j(s), the rows of that value that it has, and at most k - 1 of all values. F(G) says that
for every class t of G there is a world in which t has none: a flow of ΣC from a source to the values, C(s) to each,
from a value to the hosts other than t, N_j(s) to each, and from a host to a sink, k - 1.

The counterfeits as they are make up a world, so all that has to be looked for is other places for those of t: a flow in
what the others leave free, which may push counterfeits of the others from one class to another. A class without any
has nothing to be proven, and what holds in a group holds in any group that it is merged into, whose other classes can
be as they are.

Lemma 1 of the paper is not enough. F is what the lemma is to give, by its definition: for all values at once, for the
classes as they are, and against an adversary who knows the rule by which they are filled. How likely the worlds are, it
does not say: see :mod:`sqlanon.methods.h_ceiling.links`.

Source: spec/hceiling.md (b) and (G).

Lemma 1 of the paper: for each value, the real rows of the other classes are at least as many as the counterfeits.

A catalog that is grouped by it is published as that of the paper, and is not safe. The lemma looks at one class and one
value at a time, and is false as soon as the adversary knows more (spec/hceiling.md (c)):

- H2: classes have sizes. With k = 4, a class {D*, A, F, G} and one of five rows with two D, the lemma holds for the
  catalog D: 1. A class of more than k rows has no counterfeits: D* is one, and three rows are left.
- H3: for the classes {d, a*, b*, c*} and {a, b, c, d, d} and the catalog a, b, c: 1, one row is left.
- H4: classes have several values. With k = 2, {a, b*} and {b, a*}: no class is without real rows, so that each
  certainly has one, though any value for itself can be in either.

Source: Lee, Kim, Kim & Chung 2017, lemma 1 and algorithm 2; spec/hceiling.md (G).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.model.extras import extra_module

Counts = NDArray[np.int64]
Positions = NDArray[np.intp]
Amounts = Mapping[int, int]  # numbers of rows, at least 1 each, by value


@dataclass(frozen=True, eq=False)
class FilledClasses:
    """Classes with their counts of rows by sensitive value, as a sparse matrix of classes by values.

    The entries of the class at position t are those from ``starts[t]`` up to ``starts[t + 1]``.
    """

    k: int  # what classes were filled up to, in rows
    identifiers: Counts  # of the classes, ascending; shape (classes,)
    starts: Positions  # shape (classes + 1,)
    values: Counts  # codes of the sensitive values, ascending within a class; shape (entries,)
    published: Counts  # how many rows of the class have the value, at least 1; shape (entries,)
    counterfeits: Counts  # how many of these rows are counterfeits; shape (entries,)

    @classmethod
    def of_columns(
        cls, k: int, classes: Counts, values: Counts, published: Counts, counterfeits: Counts
    ) -> FilledClasses:
        """Make classes of columns with one row a class and value, in any order.

        Raises:
            ValueError: the counts can't come from classes that were filled up to k.
        """
        order = np.lexsort((values, classes))
        identifiers, starts = np.unique(classes[order], return_index=True)
        filled = cls(
            k,
            identifiers.astype(np.int64),
            np.append(starts, len(order)),
            values[order].astype(np.int64),
            published[order].astype(np.int64),
            counterfeits[order].astype(np.int64),
        )
        if ((np.diff(filled.positions) == 0) & (np.diff(filled.values) == 0)).any():
            raise ValueError("a class has a value twice")
        of_value, fakes = filled.published, filled.counterfeits
        if (of_value < 1).any() or (fakes < 0).any() or (fakes > of_value).any():
            raise ValueError("a class has fewer rows of a value than counterfeits, or none at all")
        if ((filled.filled_by > 0) & (filled.sizes != k)).any():
            raise ValueError(f"a class has counterfeits, but not {k} rows")
        if (filled.filled_by == filled.sizes).any():
            raise ValueError("a class has no rows but counterfeits")
        return filled

    def __len__(self) -> int:
        return len(self.identifiers)

    @cached_property
    def sizes(self) -> Counts:
        """The rows of each class; shape (classes,)."""
        return self.sums(self.published)

    @cached_property
    def filled_by(self) -> Counts:
        """The counterfeits of each class; shape (classes,)."""
        return self.sums(self.counterfeits)

    @property
    def deficient(self) -> Positions:
        """The classes that have counterfeits, by position: those with the most of them first, then in their order."""
        return np.argsort(-self.filled_by, kind="stable")[: np.count_nonzero(self.filled_by)]

    @cached_property
    def positions(self) -> Positions:
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def own_counterfeits(self) -> Mapping[int, Amounts]:
        return self.by_position(self.counterfeits)

    def by_position(self, counts: Counts) -> Mapping[int, Amounts]:
        """Turn counts by entry into mappings by value, for each class that has any above 0."""
        found: dict[int, dict[int, int]] = {}
        entries = np.flatnonzero(counts > 0)
        columns = (self.positions[entries], self.values[entries], counts[entries])
        for position, value, count in zip(*(column.tolist() for column in columns), strict=True):
            found.setdefault(position, {})[value] = count
        return found

    # guarded: tests/unit/h_ceiling/test_catalog_conditions.py
    @property
    def most_counterfeits(self) -> Counts:
        """The largest numbers of counterfeits that classes can have, as far as an adversary knows; shape (classes,)."""
        return np.where(self.sizes == self.k, self.sizes - 1, 0)

    def entries_of(self, positions: Positions) -> Positions:
        """Return the entries of some classes, one class after the other."""
        lengths = self.starts[positions + 1] - self.starts[positions]
        before = np.cumsum(lengths) - lengths
        return np.repeat(self.starts[positions] - before, lengths) + np.arange(lengths.sum())

    def sums(self, counts: Counts) -> Counts:
        return np.add.reduceat(counts, self.starts[:-1]) if len(self) else np.zeros(0, dtype=np.int64)


class Condition(ABC):
    """When a group of classes conceals their counterfeits; a class is a position, a group is a sequence of positions.

    What holds for a class in a group holds for it in any group that this one is merged into.
    """

    classes: FilledClasses
    offered: Counts  # how many rows of each class and value could conceal a counterfeit of others; shape (entries,)

    def holds(self, group: Sequence[int]) -> bool:
        return not any(self.missing(target, group) for target in group)

    @abstractmethod
    def missing(self, target: int, group: Sequence[int]) -> Amounts:
        """Return the counterfeits of a class that nothing in its group conceals, by value."""

    def wanted(self, target: int, group: Sequence[int]) -> Amounts:
        """Return values that would help, too, where no group has the missing ones."""
        return {}


class ConditionF(Condition):
    """Condition F: counterfeits could be in all rows of the hosts.

    Raises:
        EngineError: scipy is not installed.
    """

    def __init__(self, classes: FilledClasses) -> None:
        most = classes.most_counterfeits
        self.classes = classes
        self.offered = np.where(most[classes.positions] > 0, classes.published, 0)
        self._free = self.offered - classes.counterfeits
        self._left = most - classes.filled_by
        self._places = classes.by_position(self._free)
        self._left_of = self._left.tolist()
        self._graphs = extra_module("scipy.sparse.csgraph", extra="eval", purpose="A strict catalog")
        self._matrix = extra_module("scipy.sparse", extra="eval", purpose="A strict catalog").csr_array

    # guarded: tests/unit/h_ceiling/test_catalog_conditions.py
    def missing(self, target: int, group: Sequence[int]) -> Amounts:
        own = self.classes.own_counterfeits.get(target, {})
        if not own or self._fit(own, target, group):  # no mutants: shortcuts
            return {}
        return own if len(group) == 1 else self._routed(target, group)[0]

    def wanted(self, target: int, group: Sequence[int]) -> Amounts:
        """Return values whose additional places would help a class without F, each as often as it is missing.

        They are more than those that are missing: where one finds a new place, another one may take its old place.
        """
        missing, values, left = self._routed(target, group)
        reached = self._graphs.breadth_first_order(left, 0, return_predecessors=False)
        helpful = values[reached[(reached > 0) & (reached <= len(values))] - 1]
        return dict.fromkeys(helpful.tolist(), sum(missing.values()))

    def _fit(self, own: Amounts, target: int, group: Sequence[int]) -> bool:
        """Return whether counterfeits fit if each is put into the first free place of another class.

        Mostly they do, and no flow has to be looked for. If they don't, a flow may still exist.
        """
        homeless = dict(own)
        for position in group:
            left = self._left_of[position]
            if left <= 0 or position == target:
                continue
            for value, free in self._places.get(position, {}).items():
                if value in homeless and left:
                    taken = min(homeless[value], free, left)
                    left -= taken
                    homeless[value] -= taken
                    if not homeless[value]:
                        del homeless[value]
            if not homeless:
                return True
        return False

    def _routed(self, target: int, group: Sequence[int]) -> tuple[Amounts, Counts, Any]:
        """Look for a flow that conceals the counterfeits of a class.

        Returns:
            the counterfeits that do not flow from the source, by value; the values of the catalog in the group; and the
            capacities that are left, as a sparse matrix with the source in row 0 and the values in the next rows.
        """
        classes = self.classes
        own = classes.own_counterfeits[target]
        members = np.asarray(group)
        hosts = members[(members != target) & (self._left[members] + classes.filled_by[members] > 0)]
        entries = classes.entries_of(hosts)
        values = np.union1d(list(own), classes.values[entries[classes.counterfeits[entries] > 0]])
        entries = entries[np.isin(classes.values[entries], values)]
        node_of_value = 1 + np.searchsorted(values, classes.values[entries])
        first_host = 1 + len(values)
        node_of_host = np.empty(len(classes), dtype=np.int64)
        node_of_host[hosts] = first_host + np.arange(len(hosts))
        sink = first_host + len(hosts)
        node_of_own, host_of_entry = 1 + np.searchsorted(values, list(own)), node_of_host[classes.positions[entries]]
        # The arcs: from the source to the values, from them to the hosts, back again, and from the hosts to the sink.
        tails = np.concatenate([np.zeros_like(node_of_own), node_of_value, host_of_entry, node_of_host[hosts]])
        heads = np.concatenate([node_of_own, host_of_entry, node_of_value, np.full_like(hosts, sink)])
        free, taken = self._free[entries], classes.counterfeits[entries]
        capacities = np.concatenate([np.array(list(own.values())), free, taken, self._left[hosts]]).astype(np.int32)
        capacity = self._matrix((capacities, (tails, heads)), shape=(sink + 1, sink + 1))
        left = capacity - self._graphs.maximum_flow(capacity, 0, sink).flow
        left.eliminate_zeros()
        unrouted = slice(left.indptr[1])
        missing = zip(values[left.indices[unrouted] - 1].tolist(), left.data[unrouted].tolist(), strict=True)
        return dict(missing), values, left


class Lemma(Condition):
    """Lemma 1: real rows conceal counterfeits."""

    def __init__(self, classes: FilledClasses) -> None:
        self.classes = classes
        self.offered = classes.published - classes.counterfeits
        self._real = classes.by_position(self.offered)

    def missing(self, target: int, group: Sequence[int]) -> Amounts:
        left = dict(self.classes.own_counterfeits.get(target, {}))
        for position in group:
            if not left:
                break
            real = self._real.get(position, {})
            if position != target:
                left = {
                    value: count - real.get(value, 0) for value, count in left.items() if count > real.get(value, 0)
                }
        return left
