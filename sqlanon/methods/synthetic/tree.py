"""Junction trees: cliques of columns in which inference is exact (Lauritzen & Spiegelhalter 1988)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

Columns = tuple[int, ...]
"""The numbers of some columns, ascending."""


@dataclass(frozen=True)
class JunctionTree:
    """Cliques of columns, as a tree in which the cliques that hold a column hang together.

    Attributes:
        sizes: how many values each column has.
        cliques: the columns of each clique; no clique holds another one. The first one is the root, and the parent of
            a clique comes before it.
        parents: the number of each clique's parent; -1 for the root.
    """

    sizes: tuple[int, ...]
    cliques: tuple[Columns, ...]
    parents: tuple[int, ...]

    @classmethod
    def of(cls, sizes: Sequence[int], sets: Iterable[Columns]) -> JunctionTree:
        """The tree of a model that has a potential for each of some sets; its root has the most cells."""
        cliques = [columns_of(mask) for mask in maximal_cliques(sizes, sets)]
        cliques.sort(key=lambda clique: (-cells_of(sizes, clique), clique))
        order, parents = _spanning_tree(cliques)
        return cls(tuple(sizes), tuple(cliques[each] for each in order), parents)

    @cached_property
    def cells(self) -> int:
        """How many cells all cliques have together."""
        return sum(cells_of(self.sizes, clique) for clique in self.cliques)

    @cached_property
    def separators(self) -> tuple[Columns, ...]:
        """The columns that each clique shares with its parent; none for the root."""
        return tuple(
            tuple(each for each in clique if parent >= 0 and each in self.cliques[parent])
            for clique, parent in zip(self.cliques, self.parents, strict=True)
        )

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the cliques that hang on each clique."""
        return tuple(
            tuple(child for child, parent in enumerate(self.parents) if parent == number)
            for number in range(len(self.cliques))
        )

    @cached_property
    def below(self) -> tuple[frozenset[int], ...]:
        """The columns of each clique and of all that hang on it."""
        found = [frozenset(clique) for clique in self.cliques]
        for number in range(len(found) - 1, 0, -1):
            found[self.parents[number]] |= found[number]
        return tuple(found)

    def shape(self, columns: Columns) -> tuple[int, ...]:
        """The shape of the marginal of some columns."""
        return tuple(self.sizes[each] for each in columns)

    def holder(self, columns: Columns) -> int | None:
        """The first clique that holds some columns together, None if there is none."""
        wanted = set(columns)
        return next((number for number, clique in enumerate(self.cliques) if wanted.issubset(clique)), None)


def cells_of(sizes: Sequence[int], columns: Iterable[int]) -> int:
    """How many cells the marginal of some columns has."""
    return prod(sizes[each] for each in columns)


def mask_of(columns: Iterable[int]) -> int:
    """Some columns as the bits of an integer."""
    return sum(1 << each for each in columns)


def columns_of(mask: int) -> Columns:
    """The columns whose bits are set."""
    return tuple(each for each in range(mask.bit_length()) if mask >> each & 1)


def maximal_cliques(sizes: Sequence[int], sets: Iterable[Columns]) -> list[int]:
    """The cliques that are left where columns are eliminated one by one, as masks.

    That column goes next whose clique, which is the column with its neighbours, has the fewest cells, the first of
    several; its neighbours then become neighbours of each other.
    """
    neighbours = [1 << each for each in range(len(sizes))]
    for columns in sets:
        mask = mask_of(columns)
        for each in columns:
            neighbours[each] |= mask
    cells = {each: cells_of(sizes, columns_of(mask)) for each, mask in enumerate(neighbours)}
    cliques: list[int] = []
    while cells:
        eliminated = min(cells, key=lambda each: (cells[each], each))
        del cells[eliminated]
        clique = neighbours[eliminated]
        if not any(clique & larger == clique for larger in cliques):
            cliques.append(clique)
        for each in columns_of(clique & ~(1 << eliminated)):
            neighbours[each] = (neighbours[each] | clique) & ~(1 << eliminated)
            cells[each] = cells_of(sizes, columns_of(neighbours[each]))
    return cliques


def _spanning_tree(cliques: Sequence[Columns]) -> tuple[list[int], tuple[int, ...]]:
    """An order of the cliques from the first one on, and where in it the parent of each is.

    Cliques that share the most columns are joined first (Prim's algorithm), so that the tree is a junction tree (Jensen
    & Jensen 1994).
    """
    order, parents = [0], [-1]
    nearest = {each: (len({*cliques[0]}.intersection(cliques[each])), 0) for each in range(1, len(cliques))}
    while nearest:
        joined = max(nearest, key=lambda each: (nearest[each][0], -each))
        parents.append(nearest.pop(joined)[1])
        for each, (shared, _) in nearest.items():
            if (more := len({*cliques[joined]}.intersection(cliques[each]))) > shared:
                nearest[each] = (more, len(order))
        order.append(joined)
    return order, tuple(parents)
