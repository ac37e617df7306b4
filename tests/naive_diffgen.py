"""DiffGen over lists of rows, as slow and as plain as it can be: what the SQL of the method is held against.

Draws take the first of the best, and noise is nothing, as :class:`tests.fixed_noise.FixedNoise` has it.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Row = Mapping[str, Any]
Path = tuple[str, ...]
"""The labels of a value from the top down to itself."""

NOTHING: Path = ("nothing",)
"""What a row without items has."""


@dataclass(frozen=True)
class Labels:
    """A taxonomy, or the items of sets, by the paths of its values."""

    paths: Mapping[str, Path]

    def under(self, label: Path) -> list[Path]:
        return sorted(
            (path for path in self.paths.values() if path[: len(label)] == label),
            key=lambda path: [each.encode() for each in path],
        )

    def children(self, label: Path) -> list[Path]:
        """The labels at the next level below that tells anything apart."""
        found = self.under(label)
        for depth in range(len(label) + 1, len(found[0]) + 1):
            children = list(dict.fromkeys(path[:depth] for path in found))
            if len(children) > 1:
                return children
        return []

    def shown(self, label: Path) -> str:
        """The text of the highest label that stands for the same values."""
        found = self.under(label)
        for depth in range(1, len(found[0]) + 1):
            if len({path[:depth] for path in found}) == 1 and self.under(found[0][:depth]) == found:
                return found[0][depth - 1]
        return "*"


@dataclass(frozen=True)
class Case:
    """Rows and their predictors: categories with labels, numbers with ranges, sets with the labels of their items."""

    rows: list[dict[str, Any]]
    categories: dict[str, Labels]
    numbers: dict[str, tuple[int, int]]
    sets: dict[str, Labels]
    classes: tuple[str, ...]
    order: tuple[str, ...]
    rounds: int


def set_threshold(epsilon: Fraction) -> int:
    """The smallest noisy count of an item set that is kept: the next whole number above √2 / ε."""
    return math.floor(math.sqrt(2) / epsilon) + 1


def max_score(children: Sequence[Sequence[str]]) -> int:
    """Σ_j max_k n_jk of the classes of the rows of each child."""
    return sum(max(Counter(classes).values(), default=0) for classes in children)


@dataclass
class Naive:
    case: Case
    least_set: int
    cuts: dict[str, list[Any]] = field(default_factory=dict)
    splits: dict[tuple[str, tuple[int, int]], int] = field(default_factory=dict)
    scores: dict[tuple[str, Any], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        case = self.case
        self.rows = [row for row in case.rows if all(value is not None for value in row.values())]
        self.alive = dict.fromkeys(case.sets, [True] * len(self.rows))
        self.partitions = {name: {frozenset([()])} for name in case.sets}
        for name in case.order:
            self.cuts[name] = [case.numbers[name]] if name in case.numbers else [()]

    def run(self) -> Counter[tuple[Any, ...]]:
        self._split()
        for left in reversed(range(self.case.rounds)):
            candidates = list(self._candidates())
            for name, label in candidates:
                if (name, label) not in self.scores:
                    self.scores[name, label] = max_score(self._classes_by_child(name, label))
            if not candidates:
                break
            name, label = max(candidates, key=lambda each: self.scores[each])
            if name in self.case.sets:
                self._specialize_set(name, label)
                continue
            place = self.cuts[name].index(label)
            self.cuts[name][place : place + 1] = self._children(name, label)
            if left:
                self._split()
        return self._leaves()

    def _candidates(self) -> Iterator[tuple[str, Any]]:
        for name in self.case.order:
            labels = self.cuts[name]
            if name in self.case.sets:
                labels = [label for label in labels if any(label in found for found in self.partitions[name])]
            for label in labels:
                if self._children(name, label):
                    yield name, label

    def _children(self, name: str, label: Any) -> list[Any]:
        if name in self.case.numbers:
            low, high = label
            at = self.splits.get((name, label))
            return [] if at is None else [(low, at), (at, high)]
        if name in self.case.categories:
            return self.case.categories[name].children(label)
        if label == NOTHING:
            return []
        if label == ():
            items = self.case.sets[name].children(())
            return [*(items or [next(iter(self.case.sets[name].paths.values()))[:1]]), NOTHING]
        return self.case.sets[name].children(label)

    def _has(self, name: str, row: Row, label: Any) -> bool:
        """Whether a value, or some item, is under a label."""
        value = row[name]
        if name in self.case.numbers:
            low, high = self.case.numbers[name]
            return bool(label[0] <= min(max(value, low), high - 1) < label[1])
        if name in self.case.categories:
            return self.case.categories[name].paths[value][: len(label)] == label
        items = [item for item in value if item is not None]
        if label == NOTHING or not items:
            return label in (NOTHING, ()) and not items
        return any(self.case.sets[name].paths[item][: len(label)] == label for item in items)

    def _classes_by_child(self, name: str, label: Any) -> list[list[str]]:
        children = self._children(name, label)
        found: dict[Any, list[str]] = {}
        alive = self.alive.get(name, [True] * len(self.rows))
        for row, is_alive in zip(self.rows, alive, strict=True):
            under = frozenset(child for child in children if self._has(name, row, child))
            if is_alive and under:
                found.setdefault(under, []).append(row["target"])
        return list(found.values())

    def _specialize_set(self, name: str, label: Any) -> None:
        children = self._children(name, label)
        kept = {found for found in self.partitions[name] if label not in found}
        antichains = [self._antichain(name, row) for row in self.rows]
        place = self.cuts[name].index(label)
        self.cuts[name][place : place + 1] = children
        counts = Counter(
            (before, self._antichain(name, row))
            for row, before, is_alive in zip(self.rows, antichains, self.alive[name], strict=True)
            if is_alive and label in before
        )
        kept |= {after for (_, after), count in counts.items() if count >= self.least_set}
        self.partitions[name] = kept
        self.alive[name] = [
            is_alive and self._antichain(name, row) in kept
            for row, is_alive in zip(self.rows, self.alive[name], strict=True)
        ]

    def _antichain(self, name: str, row: Row) -> frozenset[Any]:
        return frozenset(label for label in self.cuts[name] if self._has(name, row, label))

    def _split(self) -> None:
        intervals = [(name, *label) for name in self.case.numbers for label in self.cuts[name]]
        for name, low, high in intervals:
            if high - low > 1 and (name, (low, high)) not in self.splits:
                rows = [row for row in self.rows if self._has(name, row, (low, high))]

                def score(at: int, rows: list[Any] = rows, name: str = name, low: int = low, high: int = high) -> int:
                    sides = [(low, at), (at, high)]
                    return max_score([[row["target"] for row in rows if self._has(name, row, side)] for side in sides])

                self.splits[name, (low, high)] = max(range(low + 1, high), key=score)

    def _leaves(self) -> Counter[tuple[Any, ...]]:
        found: Counter[tuple[Any, ...]] = Counter()
        for place, row in enumerate(self.rows):
            if all(alive[place] for alive in self.alive.values()):
                found[(*(self.shown(name, row) for name in self.case.order), row["target"])] += 1
        return found

    def shown(self, name: str, row: Row) -> Any:
        if name in self.case.sets:
            labels = self.case.sets[name]
            return tuple(sorted(labels.shown(label) for label in self._antichain(name, row) if label != NOTHING))
        (label,) = (label for label in self.cuts[name] if self._has(name, row, label))
        if name in self.case.numbers:
            return f"[{label[0]}, {label[1]})"
        return self.case.categories[name].shown(label)
