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
"""Questions about a node: everything, or first the counts of kept classes and rows, and for some later the loss; about
an interval of nodes: proofs for all of them."""


@dataclass(frozen=True)
class Lattice:
    """All vectors of allowed levels, one per quasi-identifier, between 0 and the height of its taxonomy.

    There are product(height + 1) of them if all levels are allowed (spec/ola.md O2; Mazzone 2019 prints another
    formula).
    """

    quasi_identifiers: tuple[str, ...]
    heights: Levels  # of their taxonomies
    minimum: Levels | None = None  # the lowest allowed levels, 0 if None
    maximum: Levels | None = None  # the greatest allowed levels, the heights if None

    def __post_init__(self) -> None:
        for height, least, most in zip(self.heights, self.bottom, self.top, strict=True):
            if not 0 <= least <= most <= height:
                raise ValueError(f"levels {least} to {most} are not levels between 0 and {height}")

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def bottom(self) -> Levels:
        """The least general allowed node; without bounds, the raw values."""
        return (0,) * len(self.heights) if self.minimum is None else self.minimum

    @property
    def top(self) -> Levels:
        """The most general allowed node."""
        return self.heights if self.maximum is None else self.maximum

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of allowed levels by quasi-identifier, the shape of an array with an entry per node."""
        return tuple(most - least + 1 for least, most in zip(self.bottom, self.top, strict=True))

    def nodes(self) -> Iterator[Levels]:
        """Yield every allowed node, in lexicographic order."""
        return itertools.product(*(range(least, most + 1) for least, most in zip(self.bottom, self.top, strict=True)))

    def index(self, levels: Levels) -> tuple[int, ...]:
        """Return the index of a node in an array of :attr:`shape`."""
        return tuple(level - least for level, least in zip(levels, self.bottom, strict=True))

    def node(self, index: Iterable[SupportsInt]) -> Levels:
        return tuple(int(step) + least for step, least in zip(index, self.bottom, strict=True))

    def named(self, levels: Levels) -> dict[str, int]:
        return dict(zip(self.quasi_identifiers, levels, strict=True))


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """The summary of a node; None for what wasn't asked.

    If a node fails by class sizes, counts may ignore other models: suppressed rows are then a lower bound, and kept
    classes an upper bound.
    """

    levels: Levels
    class_count: int  # equivalence classes before suppression
    kept_class_count: int  # classes that meet every privacy model of their grain
    suppressed_rows: int  # rows in the other classes
    # Rows that every less general node suppresses at least: in classes that violate a *monotonic* model, and as proven
    # by classes that violate another one (``sql/macros/57_certain_rows.sql``). If they exceed the limit, the node rules
    # out everything below it.
    certain_suppressed_rows: int
    min_class_size: int | None = None  # rows in the smallest class before suppression
    lm: float | None = None  # mean LM loss per row, suppressed rows at 1
    ncp: float | None = None  # mean NCP loss per row, suppressed rows at 1
    rce: float | None = None  # mean reconstruction error per row, suppressed rows at 1
    combined_loss: float | None = None  # the loss of a weighted or geometric LM
    suppressed_share: float | None = None  # of rows, by weight
    suppressed_information: float | None = (
        None  # bits of the labels of suppressed rows, over rows and quasi-identifiers
    )
    # The most privacy that the node attains within the suppression limit: the largest k (spec/ola.md (b), "Best k of a
    # node") or the largest 1/m.
    attainable: float | None = None
    rejected: bool = False  # whether kept classes violate a privacy model of grain node
    class_losses: Mapping[str, float] = field(default_factory=dict)  # by name; empty if not asked

    @classmethod
    def of_row(cls, levels: Levels, row: Mapping[str, Any]) -> NodeSummary:
        """Read the summary from a row of a query: columns that aren't other fields are class losses."""
        own = {each.name for each in fields(cls)}
        class_losses = {name: value for name, value in row.items() if name not in own}
        return cls(levels, **{name: value for name, value in row.items() if name in own}, class_losses=class_losses)


@dataclass(frozen=True)
class ClassLoss:
    """A loss of the classes of a node by their sizes: an aggregate macro over columns of all classes of the node.

    The columns are ``anon_class_size`` and ``anon_class_weight`` in rows, ``anon_kept`` (whether the class is
    published), the constants ``anon_row_count`` and ``anon_k`` of the policy, and ``anon_<loss>`` for losses of
    labels of the model. Numbers stand for themselves.
    """

    name: str
    macro: str
    of: tuple[str | float, ...]


@dataclass(frozen=True)
class LevelLosses:
    """The losses of every level of every quasi-identifier, so that no node needs a query for them.

    Tables are indexed by quasi-identifier, then level, and ignore suppression. The loss of a node is the sum over its
    levels.
    """

    prec: Table  # level / height / number of quasi-identifiers; unitless
    entropy: Table  # bits, summed over rows
    lm: Table  # mean over rows of a label's LM share / number of quasi-identifiers; unitless
    ncp: Table  # mean over rows of a label's NCP share / number of quasi-identifiers; unitless
    distinct_labels: tuple[tuple[int, ...], ...] = ()  # counts of present labels; empty if not asked
    # The maximum over present labels, not a sum, of the LM share, in [0, 1]. Empty for weighted rows, whose number
    # doesn't determine their loss.
    largest_lm: Table = ()
    largest_ncp: Table = ()
    rce: Table = ()  # as ncp, of reconstruction errors
    largest_rce: Table = ()
    log_share: Table = ()  # as ncp, of the logarithms of leaves
    largest_log_share: Table = ()
    least_information: Table = ()  # the minimum bits of a present label; empty for weighted rows


def is_below(lower: Levels, upper: Levels) -> bool:
    """Return whether each level of a node is at most the other's."""
    return all(low <= high for low, high in zip(lower, upper, strict=True))


def with_level(levels: Levels, position: int, level: int) -> Levels:
    return (*levels[:position], level, *levels[position + 1 :])


def total(table: Table, levels: Levels) -> float:
    """Add up the losses of a node's levels."""
    return math.fsum(losses[level] for losses, level in zip(table, levels, strict=True))


@dataclass(frozen=True)
class LossContext:
    """The context of a loss: the input of a quality model besides the summary of a node."""

    lattice: Lattice
    losses: LevelLosses
    row_count: int  # of the source
    allowed_rows: int  # the maximum to suppress
    k: int  # of the policy's k-anonymity, 1 without it
