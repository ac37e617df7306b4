"""The lattice of generalizations and what is known about its nodes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

Levels = tuple[int, ...]
"""A node as its levels, in the order of the quasi-identifiers."""


@dataclass(frozen=True)
class Lattice:
    """All vectors of levels: one level per quasi-identifier, from 0 to the height of its taxonomy.

    There are product(height + 1) of them (spec/ola.md O2; Mazzone 2019 prints another formula).
    """

    quasi_identifiers: tuple[str, ...]
    heights: Levels

    @property
    def size(self) -> int:
        """The number of nodes."""
        return math.prod(height + 1 for height in self.heights)

    @property
    def bottom(self) -> Levels:
        """The node of the raw values."""
        return (0,) * len(self.heights)

    @property
    def top(self) -> Levels:
        """The most general node."""
        return self.heights

    def nodes(self) -> Iterator[Levels]:
        """Every node, in lexicographic order."""
        return itertools.product(*(range(height + 1) for height in self.heights))

    def named(self, levels: Levels) -> dict[str, int]:
        """The node as a mapping from quasi-identifier to level."""
        return dict(zip(self.quasi_identifiers, levels, strict=True))


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """What one query tells about one node.

    Attributes:
        levels: the node.
        class_count: equivalence classes before suppression.
        min_class_size: rows in the smallest of them.
        kept_class_count: classes that meet every privacy model.
        suppressed_rows: rows in the other classes.
        certain_suppressed_rows: rows in classes that violate a *monotonic* model. A less general node has at
            least as many, so a node where these alone exceed the limit rules out everything below it.
        dm_star: sum of squared class sizes.
        dm: Bayardo and Agrawal's discernibility, suppressed rows at the size of the table.
        aecs: average size of the kept classes over k; None if none is kept.
        lm: mean LM loss per row, suppressed rows at 1; None if it was not asked for.
        ncp: the same for NCP.
    """

    levels: Levels
    class_count: int
    min_class_size: int
    kept_class_count: int
    suppressed_rows: int
    certain_suppressed_rows: int
    dm_star: int
    dm: int
    aecs: float | None = None
    lm: float | None = None
    ncp: float | None = None


@dataclass(frozen=True)
class LevelLosses:
    """The losses that are sums over quasi-identifiers, so that no node needs a query for them.

    Each is a table indexed by quasi-identifier, then level, that ignores suppression.

    Attributes:
        prec: level / height / number of quasi-identifiers; unitless.
        entropy: bits, summed over rows.
        lm: mean over rows of a label's LM share / number of quasi-identifiers; unitless.
        ncp: the same for NCP.
    """

    prec: tuple[tuple[float, ...], ...]
    entropy: tuple[tuple[float, ...], ...]
    lm: tuple[tuple[float, ...], ...]
    ncp: tuple[tuple[float, ...], ...]


def total(table: tuple[tuple[float, ...], ...], levels: Levels) -> float:
    """The loss of a node from one of the tables of :class:`LevelLosses`."""
    return math.fsum(losses[level] for losses, level in zip(table, levels, strict=True))


@dataclass(frozen=True)
class LossContext:
    """What a quality model may use besides the summary of a node.

    Attributes:
        lattice: the lattice.
        losses: the separable losses.
        row_count: rows of the source.
        allowed_rows: how many of them may be suppressed.
        k: the k of the policy's k-anonymity, 1 without one.
    """

    lattice: Lattice
    losses: LevelLosses
    row_count: int
    allowed_rows: int
    k: int
