"""Peeling in plain Python, over rows, dicts and fractions, as the specification says it; and cells for it as arrays."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from sqlanon.methods.local.arrays import UNITS, CellArrays, TaxonomyArrays
from sqlanon.methods.local.judging import LARGEST_EXCESS
from sqlanon.methods.local.settling import DIGITS
from sqlanon.methods.shared.arrays import changes, grouped
from sqlanon.methods.shared.sensitive import SensitiveValues
from sqlanon.model.bounds import CLASS_SIZE, Bound
from sqlanon.model.lattice import Lattice
from sqlanon.queries.cells.keys import key_layout
from tests import oracle

Values = tuple[int, ...]
Levels = tuple[int, ...]
Labels = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Tree:
    """A taxonomy: which of the labels of each level is above each value, at level 0 the value itself.

    A label with the same leaves as one below it is the same label if texts are ``repeated``.
    """

    above: tuple[tuple[int, ...], ...]
    repeated: bool = False

    def leaves(self, level: int, value: int) -> frozenset[int]:
        """The values under the label of one at a level."""
        labels = self.above[level]
        return frozenset(other for other, label in enumerate(labels) if label == labels[value])

    def text(self, level: int, value: int) -> object:
        """The label of a value at a level."""
        leaves = self.leaves(level, value)
        return leaves if self.repeated else (level, leaves)

    def loss(self, level: int, value: int) -> Fraction:
        """Its normalized certainty penalty."""
        count = len(self.leaves(level, value))
        return Fraction(count if count > 1 else 0, len(self.above[0]))

    def finest(self, values: Iterable[int], least: int) -> int:
        """The finest level, from some level on, at which values have one label and all above it."""
        values = list(values)
        return next(
            level for level in range(least, len(self.above)) if len({self.above[level][value] for value in values}) == 1
        )


@dataclass(frozen=True)
class Row:
    """The values of the quasi-identifiers, the sensitive one, and whose row it is."""

    values: Values
    sensitive: int = 0
    individual: int = 0


@dataclass(frozen=True)
class Case:
    """A table to be peeled: trees, rows, the levels that are allowed, and the bounds."""

    trees: tuple[Tree, ...]
    rows: tuple[Row, ...]
    lattice: Lattice
    bounds: tuple[Bound, ...]
    sensitive_tree: Tree = field(default_factory=lambda: Tree(((0,),)))
    counts_individuals: bool = False
    shares: tuple[float, ...] | None = None
    min_share: float = 0.0
    allowed_rows: int = 0

    def units(self, position: int, level: int, value: int) -> int:
        """What a label loses of a row, as an integer."""
        share = (self.shares or [1 / len(self.trees)] * len(self.trees))[position]
        return round(float(self.trees[position].loss(level, value)) * (share * UNITS))

    def loss(self, levels: Levels, values: Values) -> int:
        """What a row of some values loses at some levels."""
        return sum(self.units(position, *each) for position, each in enumerate(zip(levels, values, strict=True)))

    def labels(self, levels: Levels, values: Values) -> tuple[object, ...]:
        """The labels of values at some levels."""
        return tuple(tree.text(*each) for tree, *each in zip(self.trees, levels, values, strict=True))

    def finest(self, rows: Sequence[Row]) -> Levels:
        """The finest allowed levels at which all rows have one label."""
        columns = zip(*(row.values for row in rows), strict=True)
        return tuple(
            tree.finest(column, least)
            for tree, column, least in zip(self.trees, columns, self.lattice.bottom, strict=True)
        )

    @cached_property
    def judge(self) -> NaiveJudge:
        """What judges its classes."""
        return NaiveJudge(self)


class NaiveJudge:
    """Judges classes by the oracle."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._whole = self._values(case.rows)

    def size(self, rows: Sequence[Row]) -> int:
        """The rows of a class, or its individuals."""
        return len({row.individual for row in rows}) if self._case.counts_individuals else len(rows)

    def is_large(self, rows: Sequence[Row]) -> bool:
        """Whether a class has enough rows."""
        return all(bound.met_by(self.size(rows)) for bound in self._case.bounds if bound.measure == CLASS_SIZE)

    def meets(self, rows: Sequence[Row]) -> bool:
        """Whether a class meets all bounds."""
        return all(bound.met_by(self.measure(bound, rows)) for bound in self._case.bounds)

    def excess(self, rows: Sequence[Row]) -> float:
        """By how much a class exceeds its bounds."""
        least = max((int(bound.threshold) for bound in self._case.bounds if bound.measure == CLASS_SIZE), default=1)
        total = max(least - self.size(rows), 0) / least
        for bound in self._case.bounds:
            measured = self.measure(bound, rows)
            if bound.measure != CLASS_SIZE and not bound.met_by(measured):
                distance = abs(measured - bound.threshold) / bound.threshold
                total += min(max(distance, 1e-9), LARGEST_EXCESS)
        return total

    def measure(self, bound: Bound, rows: Sequence[Row]) -> float:
        """The measure of a bound."""
        values, name = self._values(rows), bound.measure.name
        if bound.measure == CLASS_SIZE:
            return self.size(rows)
        if name == "recursive_ratio":
            return oracle.recursive_ratio(values, int(str(bound.measure.argument)))
        if name in ("distinct_diversity", "entropy_diversity", "largest_share"):
            return float(getattr(oracle, name)(values))
        if name == "ordered_distance":
            return oracle.ordered_distance(values, self._whole, oracle.value_order(self._whole))
        if name == "hierarchical_distance":
            return oracle.hierarchical_distance(values, self._whole, taxonomy_of(self._case.sensitive_tree))
        return float(getattr(oracle, name)(values, self._whole))

    def _values(self, rows: Sequence[Row]) -> list[oracle.Value]:
        if self._case.counts_individuals:
            return [value for value, _ in {(row.sensitive, row.individual) for row in rows}]
        return [row.sensitive for row in rows]


def taxonomy_of(tree: Tree) -> oracle.Taxonomy:
    """A tree as the oracle has it."""
    levels = enumerate(tree.above[1:], 1)
    labels = [[f"{level} {label}" for label in above] for level, above in levels]
    return [[str(value), *(of_level[value] for of_level in labels)] for value in range(len(tree.above[0]))]


@dataclass(frozen=True)
class Peeled:
    """The classes, each the rows at some labels; the rows that are left out; and the rows of the minimality count."""

    classes: dict[tuple[object, ...], list[Row]]
    out: list[Row]
    failed: int
    finest_failed: int


class NaiveUnsettledError(Exception):
    """Some rows fit nowhere."""


def naive_peel(case: Case, key_order: Callable[[Values], int]) -> Peeled:
    """Peel a table; rows of equal values are tried in the order of their keys."""
    left, classes, failed, finest_failed = list(range(len(case.rows))), [], set(), 0
    for number, node in enumerate(sorted(case.lattice.nodes(), key=lambda node: (table_loss(case, node), node))):
        taken = []
        for indexes in at_node(case, node, left):
            rows = [case.rows[index] for index in indexes]
            if case.judge.meets(rows):
                taken.append(indexes)
            elif case.judge.is_large(rows):
                failed |= {*indexes}
        if sum(map(len, taken)) >= max(case.min_share * len(case.rows), 1):
            classes += [[case.rows[index] for index in indexes] for indexes in taken]
            gone = {index for indexes in taken for index in indexes}
            left = [index for index in left if index not in gone]
        if number == 0:
            finest_failed = len(failed)
    settled = Settled(case, key_order, classes, [case.rows[index] for index in left])
    return Peeled(settled.run(), settled.out, len(failed), finest_failed)


def table_loss(case: Case, node: Levels) -> int:
    """What the table loses at a node."""
    return sum(case.loss(node, row.values) for row in case.rows)


def at_node(case: Case, node: Levels, indexes: Iterable[int]) -> Iterator[list[int]]:
    """The classes of some rows at a node: those whose labels, and all above, are equal."""
    found = defaultdict(list)
    for index in indexes:
        values = case.rows[index].values
        paths = (
            tuple(above[value] for above in tree.above[level:])
            for tree, level, value in zip(case.trees, node, values, strict=True)
        )
        found[tuple(paths)].append(index)
    yield from found.values()


class Settled:
    """What happens to the rows that no node takes."""

    def __init__(
        self, case: Case, key_order: Callable[[Values], int], classes: list[list[Row]], left: Sequence[Row]
    ) -> None:
        self.case, self.key_order, self.classes, self.allowed = case, key_order, classes, case.allowed_rows
        self.left, self.out = self.by_key(left), []

    def by_key(self, rows: Iterable[Row]) -> list[list[Row]]:
        """Rows of equal values together, in the order of their keys."""
        found = defaultdict(list)
        for row in rows:
            found[row.values].append(row)
        return [found[values] for values in sorted(found, key=self.key_order)]

    def number(self) -> None:
        """Number classes by their first keys."""
        self.classes.sort(key=lambda rows: min(self.key_order(row.values) for row in rows))

    def run(self) -> dict[tuple[object, ...], list[Row]]:
        """Insert, leave out, dissolve, and make one class of those with equal labels, until all classes meet."""
        self.number()
        self.insert()
        while True:
            self.gather()
            self.number()
            unions = defaultdict(list)
            for rows in self.classes:
                unions[self.case.labels(self.case.finest(rows), rows[0].values)] += rows
            failing = [rows for rows in unions.values() if not self.case.judge.meets(rows)]
            if not failing:
                return dict(unions)
            self.classes = [rows for rows in unions.values() if self.case.judge.meets(rows)]
            self.left = self.by_key(itertools.chain.from_iterable(failing))

    def insert(self) -> None:
        """Put keys into classes until none fits."""
        before = -1
        while before != len(self.left):
            before = len(self.left)
            for key in list(self.left):
                rises = [(self.rise(number, key), number) for number in range(len(self.classes))]
                for _, number in sorted((rise, number) for rise, number in rises if rise is not None):
                    if self.case.judge.meets(self.classes[number] + key):
                        self.classes[number] = self.classes[number] + key
                        self.left.remove(key)
                        break

    def rise(self, number: int, key: list[Row]) -> int | None:
        """The rise of the loss if a class takes a key; None if no label covers both."""
        rows = self.classes[number]
        levels = self.case.finest(rows + key)
        if any(level > most for level, most in zip(levels, self.case.lattice.top, strict=True)):
            return None
        joined = self.case.loss(levels, rows[0].values) * len(rows + key)
        return joined - self.case.loss(self.case.finest(rows), rows[0].values) * len(rows)

    def gather(self) -> None:
        """Make a class of what is left under each label of the top."""
        groups = defaultdict(list)
        for key in self.left:
            groups[self.top_of(key)].append(key)
        self.left = []
        for top in sorted(groups, key=lambda top: min(self.key_order(key[0].values) for key in groups[top])):
            keys = groups[top]
            if self.case.judge.excess(list(itertools.chain(*keys))) > 0:
                keys = self.leave_out(keys)
            if keys:
                self.dissolve(top, list(itertools.chain(*keys)))

    def top_of(self, rows: Sequence[Row]) -> tuple[object, ...]:
        """The labels of some rows at the top."""
        [index] = {self.case.labels(self.case.lattice.top, row.values) for row in rows}
        return index

    def leave_out(self, keys: list[list[Row]]) -> list[list[Row]]:
        """Leave keys out as long as they fit; the others."""
        sizes = list(itertools.accumulate(map(len, keys)))
        count = sum(size <= self.allowed for size in sizes)
        self.out += itertools.chain.from_iterable(keys[:count])
        self.allowed -= sizes[count - 1] if count else 0
        return keys[count:]

    def dissolve(self, top: tuple[object, ...], rows: list[Row]) -> None:
        """Make a class of rows, with classes added to it until it meets the bounds."""
        hosts = [host for host in self.classes if self.top_of(host) == top]
        while excess := self.case.judge.excess(rows):
            if not hosts:
                raise NaiveUnsettledError
            added = [self.added(host) for host in hosts]
            gains = [excess - self.case.judge.excess(rows + host) for host in hosts]
            chosen = best(gains, added)
            self.classes = [host for host in self.classes if host is not hosts[chosen]]
            rows = rows + hosts.pop(chosen)
        self.classes.append(rows)

    def added(self, rows: list[Row]) -> int:
        """What a class loses more at the top."""
        top = self.case.loss(self.case.lattice.top, rows[0].values)
        return (top - self.case.loss(self.case.finest(rows), rows[0].values)) * len(rows)


def best(gains: list[float], added: list[int]) -> int:
    """The place of the greatest gain per loss; of the least loss if nothing gains."""
    if max(gains) > 0:
        scale = float(max(1, *added))
        scores = [round(max(gain, 0) / max(loss, 1) * scale, DIGITS) for gain, loss in zip(gains, added, strict=True)]
        return scores.index(max(scores))
    return added.index(min(added))


def cell_arrays(case: Case) -> CellArrays:
    """The cells of a case, as the database hands them over."""
    fields = {
        (position, level): children(tree, level)
        for position, tree in enumerate(case.trees)
        for level in range(max(len(tree.above) - 1, 1))
    }
    layout = key_layout({place: max(numbers) for place, numbers in fields.items()})
    found: dict[tuple[Values, int, int], int] = defaultdict(int)
    for row in case.rows:
        found[row.values, row.sensitive, row.individual if case.counts_individuals else 0] += 1
    keys = np.zeros((layout.word_count, len(found)), dtype=np.int64)
    values, codes, people = (np.array(each, dtype=np.int64) for each in zip(*found, strict=True))
    for (position, level), place in layout.fields.items():
        if place.width:
            keys[place.word] |= np.array(fields[position, level])[values[:, position]] << place.shift
    order, _ = grouped(np.concatenate([keys, codes[np.newaxis], people[np.newaxis]]))
    rows = np.array(list(found.values()), dtype=np.int64)[order]
    names = list(dict.fromkeys(bound.measure.column for bound in case.bounds if bound.measure.column))
    sensitive = SensitiveValues(np.array(case.sensitive_tree.above[: max(len(case.sensitive_tree.above) - 1, 1)]))
    return CellArrays(
        layout=layout,
        keys=keys[:, order],
        taxonomies=tuple(map(taxonomy_arrays, case.trees)),
        values=values[order].T,
        rows=rows,
        mass=rows,
        sensitive=dict.fromkeys(names, sensitive),
        codes=np.array([codes[order] for _ in names], dtype=np.int64).reshape(len(names), len(rows)),
        individuals=people[order] if case.counts_individuals else None,
    )


def children(tree: Tree, level: int) -> list[int]:
    """For each value, which child its label is of the label above; of the only one if that is the top."""
    parents = tree.above[level + 1] if level + 1 < len(tree.above) else (0,) * len(tree.above[0])
    siblings = defaultdict(dict)
    for label, parent in zip(tree.above[level], parents, strict=True):
        siblings[parent].setdefault(label, len(siblings[parent]))
    return [siblings[parent][label] for label, parent in zip(tree.above[level], parents, strict=True)]


def taxonomy_arrays(tree: Tree) -> TaxonomyArrays:
    """A tree as arrays."""
    numbers: dict[object, int] = {}
    places = [[(level, value) for value in range(len(tree.above[0]))] for level in range(len(tree.above))]
    labels = [[numbers.setdefault(tree.text(*place), len(numbers)) for place in row] for row in places]
    return TaxonomyArrays(np.array(labels), np.array([[float(tree.loss(*place)) for place in row] for row in places]))


def key_order_of(cells: CellArrays) -> Callable[[Values], int]:
    """The place of the values of a cell among the keys."""
    order = {tuple(values): place for place, values in enumerate(cells.values[:, changes(cells.keys)].T.tolist())}
    return lambda values: order[values]
