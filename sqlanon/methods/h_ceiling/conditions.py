"""Conditions for the groups of a catalog: condition F, and lemma 1 of the paper.

A class of fewer than k rows is filled with counterfeits to exactly k; larger classes stay as they are. A catalog lists
how many counterfeits of each sensitive value a group of classes has, not where.

An adversary knows the published table, the catalog, k, and the rule by which classes are filled. So only a class of
exactly k rows can have counterfeits, a *host*, and at most k - 1 of them, since no class is published that nobody is in
(Lee, Kim, Kim & Chung 2017, definitions 2 and 3).

Condition F: even with the catalog, no class of a group is sure to have a counterfeit.

A *world* of a group G says how many counterfeits of each value each class has: of value s C(s) in all, as the catalog
says, in a host j at most N_j(s), the rows of that value that it has, and at most k - 1 of all values. F(G) says that
for every class t of G there is a world in which t has none: a flow of ΣC from a source to the values, C(s) to each,
from a value to the hosts other than t, N_j(s) to each, and from a host to a sink, k - 1.

The actual counterfeits are a world, so it suffices to move those of t: a flow in the capacities that the others leave
free, which may push counterfeits of the others from one class to another. A class without any has nothing to prove, and
if F holds for a class in a group, it holds in any larger group, whose other classes can stay as they are.

Lemma 1 of the paper is not enough. F is the definition that the lemma should imply: for all values at once, for the
actual classes, and against an adversary who knows how they are filled. It does not bound the probabilities of worlds:
see :mod:`sqlanon.methods.h_ceiling.links`.

Source: spec/hceiling.md (b) and (G).

Lemma 1 of the paper: for each value, the real rows of the other classes are at least as many as the counterfeits.

A catalog grouped by it is published as that of the paper, and is not safe. The lemma looks at one class and one value
at a time, and is false as soon as the adversary knows more (spec/hceiling.md (c)):

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

from sqlanon.satellites import extra_module

Counts = NDArray[np.int64]
Positions = NDArray[np.intp]
Amounts = Mapping[int, int]  # row counts of at least 1, by value


@dataclass(frozen=True, eq=False)
class FilledClasses:
    """Classes with their row counts by sensitive value, as a sparse matrix of classes by values.

    The class at position t has the entries ``starts[t]`` up to but excluding ``starts[t + 1]``.
    """

    k: int  # the size that classes are filled up to
    identifiers: Counts  # of the classes, ascending; shape (classes,)
    starts: Positions  # shape (classes + 1,)
    values: Counts  # codes of the sensitive values, ascending within a class; shape (entries,)
    published: Counts  # rows of the class with the value, at least 1; shape (entries,)
    counterfeits: Counts  # counterfeits among these rows; shape (entries,)

    @classmethod
    def of_columns(
        cls, k: int, classes: Counts, values: Counts, published: Counts, counterfeits: Counts
    ) -> FilledClasses:
        """Make classes from columns with one row per class and value, in any order."""
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
        return self.sums(self.published)

    @cached_property
    def filled_by(self) -> Counts:
        return self.sums(self.counterfeits)

    @property
    def deficient(self) -> Positions:
        """The positions of classes with counterfeits: those with most first, then in order."""
        return np.argsort(-self.filled_by, kind="stable")[: np.count_nonzero(self.filled_by)]

    @cached_property
    def positions(self) -> Positions:
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def own_counterfeits(self) -> Mapping[int, Amounts]:
        return self.by_position(self.counterfeits)

    def by_position(self, counts: Counts) -> Mapping[int, Amounts]:
        found: dict[int, dict[int, int]] = {}
        entries = np.flatnonzero(counts > 0)
        columns = (self.positions[entries], self.values[entries], counts[entries])
        for position, value, count in zip(*(column.tolist() for column in columns), strict=True):
            found.setdefault(position, {})[value] = count
        return found

    # guarded: tests/unit/h_ceiling/test_catalog_conditions.py
    @property
    def most_counterfeits(self) -> Counts:
        """The most counterfeits that each class can have, as far as an adversary knows; shape (classes,)."""
        return np.where(self.sizes == self.k, self.sizes - 1, 0)

    def entries_of(self, positions: Positions) -> Positions:
        lengths = self.starts[positions + 1] - self.starts[positions]
        before = np.cumsum(lengths) - lengths
        return np.repeat(self.starts[positions] - before, lengths) + np.arange(lengths.sum())

    def sums(self, counts: Counts) -> Counts:
        return np.add.reduceat(counts, self.starts[:-1]) if len(self) else np.zeros(0, dtype=np.int64)


class Condition(ABC):
    """When a group of classes conceals their counterfeits; a class is a position, a group is a sequence of positions.

    If it holds for a class in a group, it holds for that class in any larger group.
    """

    classes: FilledClasses
    offered: Counts  # rows of each class and value that could conceal others' counterfeits; shape (entries,)

    def holds(self, group: Sequence[int]) -> bool:
        return not any(self.missing(target, group) for target in group)

    @abstractmethod
    def missing(self, target: int, group: Sequence[int]) -> Amounts:
        """Return the counterfeits of a class, by value, that its group does not conceal."""

    def wanted(self, target: int, group: Sequence[int]) -> Amounts:
        """Return other values that would help, for use if no group has the missing ones."""
        return {}


class ConditionF(Condition):
    """Condition F, under which all rows of the hosts could be counterfeits."""

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
        """Return values whose additional places would help a class without F, each as often as all missing ones.

        They include values that are not missing: one of these may move to a new place, and free its old one.
        """
        missing, values, left = self._routed(target, group)
        reached = self._graphs.breadth_first_order(left, 0, return_predecessors=False)
        helpful = values[reached[(reached > 0) & (reached <= len(values))] - 1]
        return dict.fromkeys(helpful.tolist(), sum(missing.values()))

    def _fit(self, own: Amounts, target: int, group: Sequence[int]) -> bool:
        """Return whether the class's counterfeits fit into the first free places of other classes.

        Mostly they do, and no flow is needed. If they don't, a flow may still exist.
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
        """Find a flow that conceals the counterfeits of a class.

        Returns:
            the counterfeits without a flow from the source, by value; the values of the group's catalog; and the
                remaining capacities, as a sparse matrix with the source in row 0 and the values in the next rows.
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
        # The arcs: source to values, values to hosts, back again, and hosts to sink.
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
