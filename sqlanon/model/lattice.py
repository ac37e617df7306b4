"""The lattice of generalizations and what is known about its nodes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, SupportsInt

Levels = tuple[int, ...]  # a node as its levels, in the order of the quasi-identifiers
Table = tuple[tuple[float, ...], ...]  # a number per quasi-identifier and level

Asked = Literal["everything", "counts", "loss", "proofs"]
"""What may be asked: of a node all, or first how many classes and rows are kept, and of some later what they lose; of
an interval of nodes what is proven of all of them."""


@dataclass(frozen=True)
class Lattice:
    """All vectors of allowed levels, one per quasi-identifier, between 0 and the height of its taxonomy.

    There are product(height + 1) of them if all levels are allowed (spec/ola.md O2; Mazzone 2019 prints another
    formula).
    """

    quasi_identifiers: tuple[str, ...]  # their names
    heights: Levels  # the height of each one's taxonomy, whatever is allowed of it
    minimum: Levels | None = None  # the least level allowed of each, 0 if None
    maximum: Levels | None = None  # the greatest level allowed of each, its height if None

    def __post_init__(self) -> None:
        for height, least, most in zip(self.heights, self.bottom, self.top, strict=True):
            if not 0 <= least <= most <= height:
                raise ValueError(f"levels {least} to {most} are not levels between 0 and {height}")

    @property
    def size(self) -> int:
        """The number of allowed nodes."""
        return math.prod(self.shape)

    @property
    def bottom(self) -> Levels:
        """The least general node allowed: without bounds, that of the raw values."""
        return (0,) * len(self.heights) if self.minimum is None else self.minimum

    @property
    def top(self) -> Levels:
        """The most general node allowed."""
        return self.heights if self.maximum is None else self.maximum

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of allowed levels of each quasi-identifier: the shape of an array with an entry per node."""
        return tuple(most - least + 1 for least, most in zip(self.bottom, self.top, strict=True))

    def nodes(self) -> Iterator[Levels]:
        """Return every allowed node, in lexicographic order."""
        return itertools.product(*(range(least, most + 1) for least, most in zip(self.bottom, self.top, strict=True)))

    def index(self, levels: Levels) -> tuple[int, ...]:
        """Return the index of a node in an array of that shape."""
        return tuple(level - least for level, least in zip(levels, self.bottom, strict=True))

    def node(self, index: Iterable[SupportsInt]) -> Levels:
        """Return the node that stands there."""
        return tuple(int(step) + least for step, least in zip(index, self.bottom, strict=True))

    def named(self, levels: Levels) -> dict[str, int]:
        """Return the node as a mapping from quasi-identifier to level."""
        return dict(zip(self.quasi_identifiers, levels, strict=True))


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """The summary of a node by one query; what it was not asked is None.

    Of a node that fails by the sizes of its classes, counts may cover these alone: the number of suppressed rows is
    then a lower bound, and that of kept classes an upper bound.
    """

    levels: Levels
    class_count: int  # equivalence classes before suppression
    kept_class_count: int  # classes that meet every privacy model of their grain
    suppressed_rows: int  # rows in the other classes
    # Rows that every less general node suppresses at least: those of classes that violate a *monotonic* model, and what
    # others prove that violate another one (``sql/macros/57_certain_rows.sql``). A node where these alone exceed the
    # limit rules out everything below it.
    certain_suppressed_rows: int
    min_class_size: int | None = None  # rows in the smallest class before suppression
    lm: float | None = None  # mean LM loss per row, suppressed rows at 1
    ncp: float | None = None  # the same for NCP
    combined_loss: float | None = None  # the loss of an LM that is weighted or geometric
    suppressed_share: float | None = None  # of rows, by weight
    suppressed_information: float | None = (
        None  # bits of the labels of suppressed rows, over rows and quasi-identifiers
    )
    # How private the node can be made within the suppression limit, more is better: the largest k (spec/ola.md (b),
    # "Best k of a node") or the largest 1/m.
    attainable: float | None = None
    rejected: bool = False  # whether the kept classes are out of bounds of a privacy model of the grain node
    class_losses: Mapping[str, float] = field(default_factory=dict)  # by name; empty if they were not asked for

    @classmethod
    def of_row(cls, levels: Levels, row: Mapping[str, Any]) -> NodeSummary:
        """Return the summary in a row of a query: columns that are no other field are class losses."""
        own = {each.name for each in fields(cls)}
        class_losses = {name: value for name, value in row.items() if name not in own}
        return cls(levels, **{name: value for name, value in row.items() if name in own}, class_losses=class_losses)


@dataclass(frozen=True)
class ClassLoss:
    """A loss of the classes of a node by their sizes: an aggregate macro of columns of all classes of the node.

    The columns are ``anon_class_size`` and ``anon_class_weight`` in rows, ``anon_kept`` (whether the class is
    published), and, the same for all classes, ``anon_row_count`` and ``anon_k`` of the policy.
    """

    name: str
    macro: str
    of: tuple[str, ...]


@dataclass(frozen=True)
class LevelLosses:
    """The losses of every level of every quasi-identifier, so that no node needs a query for them.

    Each is a table indexed by quasi-identifier, then level, that ignores suppression. The loss of a node is the sum
    over its levels.
    """

    prec: Table  # level / height / number of quasi-identifiers; unitless
    entropy: Table  # bits, summed over rows
    lm: Table  # mean over rows of a label's LM share / number of quasi-identifiers; unitless
    ncp: Table  # the same for NCP
    distinct_labels: tuple[tuple[int, ...], ...] = ()  # how many labels are in the data; empty if not asked for
    # The largest LM share of a label that is present, in [0, 1]; no sum. Empty where a number of rows does not
    # determine what they lose, as rows have weights.
    largest_lm: Table = ()
    largest_ncp: Table = ()  # the same for NCP
    least_information: Table = ()  # the fewest bits of a label that is present; no sum, and empty as these


def is_below(lower: Levels, upper: Levels) -> bool:
    """Return whether each level of a node is at most that of another."""
    return all(low <= high for low, high in zip(lower, upper, strict=True))


def with_level(levels: Levels, position: int, level: int) -> Levels:
    """Return a node with another level of one quasi-identifier."""
    return (*levels[:position], level, *levels[position + 1 :])


def total(table: Table, levels: Levels) -> float:
    """Return the loss of a node from one of the tables of :class:`LevelLosses`."""
    return math.fsum(losses[level] for losses, level in zip(table, levels, strict=True))


@dataclass(frozen=True)
class LossContext:
    """The context of a loss: what a quality model may use besides the summary of a node."""

    lattice: Lattice  # the lattice
    losses: LevelLosses  # the separable losses
    row_count: int  # rows of the source
    allowed_rows: int  # how many of them may be suppressed
    k: int  # the k of the policy's k-anonymity, 1 without one
