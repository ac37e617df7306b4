"""Lemma 1 of the paper: for each value, the real rows of the other classes are at least as many as the counterfeits.

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

from collections.abc import Sequence

from sqlanon.methods.h_ceiling.catalog.classes import Amounts, FilledClasses


class Lemma:
    """Lemma 1 on groups of the given classes; a class is a position, a group is a sequence of positions.

    Attributes:
        classes: the classes.
        offered: how many real rows of each class and value there are, by entry; shape (entries,).
    """

    def __init__(self, classes: FilledClasses) -> None:
        self.classes = classes
        self.offered = classes.published - classes.counterfeits
        self._real = classes.by_position(self.offered)

    def holds(self, group: Sequence[int]) -> bool:
        """Whether the lemma holds for every class of the group."""
        return not any(self.missing(target, group) for target in group)

    def missing(self, target: int, group: Sequence[int]) -> Amounts:
        """Of the counterfeits of a class, those for which the rest of its group has no real row of that value."""
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

    def wanted(self, target: int, group: Sequence[int]) -> Amounts:
        """Nothing else would help than what is missing."""
        return {}
