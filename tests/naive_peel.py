"""Peeling in plain Python, over rows, dicts and fractions, as the specification says it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from sqlanon.methods.local.local_table import UNITS
from sqlanon.model.criteria import CLASS_SIZE, Bound
from sqlanon.model.lattice import Lattice
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

    def text(self, level: int, value: int) -> str:
        """The label of a value at a level."""
        leaves = self.leaves(level, value)
        if level == 0 or (self.repeated and len(leaves) == 1):
            return f"v{min(leaves)}"
        return f"{'' if self.repeated else level}{sorted(leaves)}"

    def loss(self, level: int, value: int) -> Fraction:
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
    def judge(self) -> "NaiveJudge":
        return NaiveJudge(self)


class NaiveJudge:
    """Judges classes by the oracle."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._whole = self._values(case.rows)

    def size(self, rows: Sequence[Row]) -> int:
        return len({row.individual for row in rows}) if self._case.counts_individuals else len(rows)

    def is_large(self, rows: Sequence[Row]) -> bool:
        return all(bound.met_by(self.size(rows)) for bound in self._case.bounds if bound.measure == CLASS_SIZE)

    def meets(self, rows: Sequence[Row]) -> bool:
        return all(bound.met_by(self.measure(bound, rows)) for bound in self._case.bounds)

    def measure(self, bound: Bound, rows: Sequence[Row]) -> float:
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
    classes: dict[tuple[object, ...], list[Row]]
    left: list[Row]
    failed: int
    finest_failed: int


def naive_peel(case: Case) -> Peeled:
    """Peel a table, node by node; classes that come to have equal labels are one."""
    left, classes, failed, finest_failed = list(range(len(case.rows))), defaultdict(list), set(), 0
    for number, node in enumerate(sorted(case.lattice.nodes(), key=lambda node: (table_loss(case, node), node))):
        taken = []
        for indexes in at_node(case, node, left):
            rows = [case.rows[index] for index in indexes]
            if case.judge.meets(rows):
                taken.append(indexes)
            elif case.judge.is_large(rows):
                failed |= {*indexes}
        if sum(map(len, taken)) >= max(case.min_share * len(case.rows), 1):
            for indexes in taken:
                rows = [case.rows[index] for index in indexes]
                classes[case.labels(case.finest(rows), rows[0].values)] += rows
            gone = {index for indexes in taken for index in indexes}
            left = [index for index in left if index not in gone]
        if number == 0:
            finest_failed = len(failed)
    return Peeled(dict(classes), [case.rows[index] for index in left], len(failed), finest_failed)


def table_loss(case: Case, node: Levels) -> int:
    shares = case.shares or [1 / len(case.trees)] * len(case.trees)
    lost = (
        sum(tree.loss(level, row.values[place]) for row in case.rows) / len(case.rows)
        for place, (tree, level) in enumerate(zip(case.trees, node, strict=True))
    )
    return sum(round(float(loss) * share * UNITS) for loss, share in zip(lost, shares, strict=True))


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
