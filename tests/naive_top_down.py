"""Top-down specialization over lists of rows, as slow and as plain as it can be: what its SQL is held against."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log2
from typing import Any

from tests.naive_diffgen import Labels

Row = Mapping[str, Any]

DIGITS = 12


@dataclass(frozen=True)
class Case:
    """Rows without NULL and their predictors: categories with labels, numbers with ranges."""

    rows: list[dict[str, Any]]
    categories: dict[str, Labels]
    numbers: dict[str, tuple[int, int]]
    order: tuple[str, ...]
    k: int


def bits(classes: Iterable[Any]) -> float:
    counts = Counter(classes).values()
    return -sum(count / sum(counts) * log2(count / sum(counts)) for count in counts)


def gain(children: Sequence[Sequence[Any]]) -> float:
    """How many bits children tell of the classes of their rows."""
    together = [each for child in children for each in child]
    if not together:
        return 0.0
    return round(max(0.0, bits(together) - sum(len(child) / len(together) * bits(child) for child in children)), DIGITS)


@dataclass
class Naive:
    case: Case
    cuts: dict[str, list[Any]] = field(default_factory=dict)
    specialized: list[str] = field(default_factory=list)

    def run(self) -> Counter[tuple[Any, ...]]:
        """The rows of the release, by their number."""
        for name in self.case.order:
            self.cuts[name] = [self.case.numbers.get(name, ())]
        while candidate := self._best():
            name, label = candidate
            place = self.cuts[name].index(label)
            self.cuts[name][place : place + 1] = self._children(name, label)
            self.specialized.append(name)
        return Counter((*self._shown(row), row["target"]) for row in self.case.rows)

    def smallest(self, cuts: Mapping[str, list[Any]]) -> int:
        """How many rows the smallest class has at some cut."""
        classes = Counter(
            tuple(self._label(name, cuts[name], row[name]) for name in self.case.order) for row in self.case.rows
        )
        return min(classes.values())

    def lm(self) -> float:
        """What labels lose, as a mean over rows and predictors."""
        losses = [
            (self._size(name, self._label(name, self.cuts[name], row[name])) - 1) / (whole - 1) if whole > 1 else 0.0
            for name in self.case.order
            for whole in [self._size(name, self.case.numbers.get(name, ()))]
            for row in self.case.rows
        ]
        return sum(losses) / len(losses)

    def _size(self, name: str, label: Any) -> int:
        """How many values there are under a label."""
        found = self.case.categories.get(name)
        return len(found.under(label)) if found is not None else label[1] - label[0]

    def _best(self) -> tuple[str, Any] | None:
        best, best_score, before = None, -1.0, self.smallest(self.cuts)
        for name in self.case.order:
            for place, label in enumerate(self.cuts[name]):
                children = self._children(name, label)
                parts = [self._classes(name, child) for child in children]
                if len({each for part in parts for each in part}) < 2:
                    continue  # nothing to tell
                after = self.smallest(
                    {**self.cuts, name: [*self.cuts[name][:place], *children, *self.cuts[name][place + 1 :]]}
                )
                score = round(gain(parts) / (before - after + 1), DIGITS)
                if after >= self.case.k and score > best_score:
                    best, best_score = (name, label), score
        return best

    def _children(self, name: str, label: Any) -> list[Any]:
        if name in self.case.categories:
            return self.case.categories[name].children(label)
        low, high = label
        values = sorted({row[name] for row in self.case.rows if low <= row[name] < high})
        splits = [[(low, at), (at, high)] for at in values[1:]]
        return max(splits, key=lambda parts: gain([self._classes(name, part) for part in parts]), default=[])

    def _classes(self, name: str, label: Any) -> list[Any]:
        return [row["target"] for row in self.case.rows if self._is_under(name, row[name], label)]

    def _is_under(self, name: str, value: Any, label: Any) -> bool:
        if name in self.case.categories:
            return self.case.categories[name].paths[value][: len(label)] == label
        return bool(label[0] <= value < label[1])

    def _label(self, name: str, cut: list[Any], value: Any) -> Any:
        (found,) = (label for label in cut if self._is_under(name, value, label))
        return found

    def _shown(self, row: Row) -> tuple[str, ...]:
        labels = ((name, self._label(name, self.cuts[name], row[name])) for name in self.case.order)
        return tuple(
            self.case.categories[name].shown(label) if name in self.case.categories else f"[{label[0]}, {label[1]})"
            for name, label in labels
        )
