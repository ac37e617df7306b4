"""A graphical model's distribution over the cliques of a junction tree, and the marginals of any columns.

Inference in the tree is exact (Lauritzen & Spiegelhalter 1988).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from string import ascii_letters

import numpy as np
from numpy.typing import NDArray

Columns = tuple[int, ...]  # column numbers, ascending


@dataclass(frozen=True)
class JunctionTree:
    """A tree of cliques of columns; the cliques with a given column are connected."""

    sizes: tuple[int, ...]  # the number of values of each column
    cliques: tuple[Columns, ...]  # the root first, parents before children; no clique contains another
    parents: tuple[int, ...]  # the number of each clique's parent; -1 for the root

    @classmethod
    def of(cls, sizes: Sequence[int], sets: Iterable[Columns]) -> JunctionTree:
        """Make the tree of a model with a potential for each of the sets; the root has the most cells."""
        cliques = [columns_of(mask) for mask in maximal_cliques(sizes, sets)]
        cliques.sort(key=lambda clique: (-cells_of(sizes, clique), clique))
        order, parents = _spanning_tree(cliques)
        return cls(tuple(sizes), tuple(cliques[each] for each in order), parents)

    @cached_property
    def cells(self) -> int:
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
        return tuple(
            tuple(child for child, parent in enumerate(self.parents) if parent == number)
            for number in range(len(self.cliques))
        )

    @cached_property
    def below(self) -> tuple[frozenset[int], ...]:
        """The columns of each clique and of its subtree."""
        found = [frozenset(clique) for clique in self.cliques]
        for number in range(len(found) - 1, 0, -1):
            found[self.parents[number]] |= found[number]
        return tuple(found)

    def shape(self, columns: Columns) -> tuple[int, ...]:
        return tuple(self.sizes[each] for each in columns)

    def holder(self, columns: Columns) -> int | None:
        wanted = set(columns)
        return next((number for number, clique in enumerate(self.cliques) if wanted.issubset(clique)), None)


def cells_of(sizes: Sequence[int], columns: Iterable[int]) -> int:
    return prod(sizes[each] for each in columns)


def mask_of(columns: Iterable[int]) -> int:
    return sum(1 << each for each in columns)


def columns_of(mask: int) -> Columns:
    return tuple(each for each in range(mask.bit_length()) if mask >> each & 1)


def maximal_cliques(sizes: Sequence[int], sets: Iterable[Columns]) -> list[int]:
    """Return the cliques of the graph after eliminating its columns one by one, as masks.

    The next column is the first whose clique, the column with its neighbours, has the fewest cells; its neighbours then
    become neighbours of each other.
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
    """Order the cliques from the first one on; return the order, and the place of each parent in it.

    Prim's algorithm joins the cliques that share the most columns first, which makes a junction tree (Jensen & Jensen
    1994).
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


Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Link:
    axes: tuple[int, ...]  # of the larger set's array that the columns lack
    shape: tuple[int, ...]  # of the columns' array, with length 1 for those axes
    subscripts: str  # for ``numpy.einsum`` to sum over those axes: a third of the time of ``numpy.sum``

    @classmethod
    def of(cls, sizes: Sequence[int], columns: Columns, larger: Columns) -> Link:
        axes = tuple(axis for axis, each in enumerate(larger) if each not in columns)
        letters = ascii_letters[: len(larger)]
        kept = "".join(letter for axis, letter in enumerate(letters) if axis not in axes)
        shape = tuple(sizes[each] if each in columns else 1 for each in larger)
        return cls(axes, shape, f"{letters}->{kept}")

    def summed(self, values: Floats) -> Floats:
        return np.einsum(self.subscripts, values) if self.axes else values

    def spread(self, values: Floats) -> Floats:
        """Reshape values of the columns to combine them with values of the larger set."""
        return values.reshape(self.shape)


@dataclass(frozen=True)
class Structure:
    tree: JunctionTree
    sets: tuple[Columns, ...]  # by ascending number of cells

    @classmethod
    def of(cls, sizes: Sequence[int], sets: Iterable[Columns]) -> Structure:
        distinct = sorted(set(sets), key=lambda columns: (cells_of(sizes, columns), columns))
        return cls(JunctionTree.of(sizes, distinct), tuple(distinct))

    @cached_property
    def _holders(self) -> tuple[tuple[Columns | int, Link], ...]:
        """The smallest other set, or else the clique number, that contains each set."""
        tree, found = self.tree, []
        for position, columns in enumerate(self.sets):
            larger = next((each for each in self.sets[position + 1 :] if {*columns}.issubset(each)), None)
            clique = tree.holder(columns)
            assert clique is not None
            holder, held_by = (clique, tree.cliques[clique]) if larger is None else (larger, larger)
            found.append((holder, Link.of(tree.sizes, columns, held_by)))
        return tuple(found)

    @cached_property
    def _links(self) -> tuple[tuple[Link, Link], ...]:
        tree = self.tree
        return tuple(
            (Link.of(tree.sizes, shared, clique), Link.of(tree.sizes, shared, tree.cliques[parent]))
            for clique, shared, parent in zip(tree.cliques, tree.separators, tree.parents, strict=True)
        )

    def beliefs(self, potentials: Mapping[Columns, Floats]) -> Beliefs:
        """Return the distribution proportional to the exponential of the sum of all potentials.

        Potentials have an axis per column of their set, and are -inf for impossible combinations.
        """
        totals = dict(potentials)
        conditionals = [np.zeros(self.tree.shape(clique)) for clique in self.tree.cliques]
        for columns, (holder, link) in zip(self.sets, self._holders, strict=True):
            if isinstance(holder, int):
                conditionals[holder] += link.spread(totals[columns])
            else:
                totals[holder] = totals[holder] + link.spread(totals[columns])
        for number in range(len(conditionals) - 1, -1, -1):
            own, above = self._links[number]
            conditionals[number], message = _normalized(conditionals[number], own)
            if number:
                conditionals[self.tree.parents[number]] += above.spread(message)
        cliques = conditionals[:1]
        for parent, (own, above), conditional in zip(
            self.tree.parents[1:], self._links[1:], conditionals[1:], strict=True
        ):
            cliques.append(conditional * own.spread(above.summed(cliques[parent])))
        return Beliefs(self.tree, tuple(cliques), tuple(conditionals))

    def marginals(self, beliefs: Beliefs) -> dict[Columns, Floats]:
        found: dict[Columns, Floats] = {}
        for columns, (holder, link) in zip(reversed(self.sets), reversed(self._holders), strict=True):
            found[columns] = link.summed(beliefs.cliques[holder] if isinstance(holder, int) else found[holder])
        return found


@dataclass(frozen=True)
class Beliefs:
    tree: JunctionTree
    cliques: tuple[Floats, ...]  # of the cells of each clique, an axis per column
    # Conditional on the columns shared with the parent, if any; 0 where these have no probability.
    conditionals: tuple[Floats, ...]
    _found: dict[tuple[int, Columns], Floats] = field(default_factory=dict, repr=False, compare=False)

    def marginal(self, columns: Columns) -> Floats:
        """Return the joint probabilities of any columns, an axis per column."""
        holder = self.tree.holder(columns)
        if holder is not None:
            return Link.of(self.tree.sizes, columns, self.tree.cliques[holder]).summed(self.cliques[holder])
        top = max(number for number, below in enumerate(self.tree.below) if below.issuperset(columns))
        return self._joined(self.cliques[top], top, columns, columns)

    def _joined(self, own: Floats, clique: int, wanted: Columns, kept: Columns) -> Floats:
        """Multiply a clique's values by those of its subtree, and keep some columns.

        ``wanted`` are the kept columns that the clique does not get from its parent.
        """
        columns = self.tree.cliques[clique]
        parts: list[tuple[Floats, Columns]] = []
        for child in self.tree.children[clique]:
            below = self.tree.below[child].difference(columns)
            if missing := tuple(each for each in wanted if each in below):
                part_columns = tuple(sorted({*self.tree.separators[child], *missing}))
                if (child, missing) not in self._found:
                    given = self._joined(self.conditionals[child], child, missing, part_columns)
                    self._found[child, missing] = given
                parts.append((self._found[child, missing], part_columns))
        later = [set(kept).union(*(more for _, more in parts[done:])) for done in range(len(parts) + 1)]
        held = tuple(each for each in columns if each in later[0])
        product = Link.of(self.tree.sizes, held, columns).summed(own)
        for (part, part_columns), needed in zip(parts, later[1:], strict=True):
            left = tuple(sorted(needed.intersection({*held, *part_columns})))
            product, held = _contracted(product, held, part, part_columns, left), left
        return product


def _normalized(logarithms: Floats, shared: Link) -> tuple[Floats, Floats]:
    """Return exponentials that sum to 1, or 0 if all are 0, given the shared columns, and logarithms of the sums."""
    highest = shared.spread(logarithms.max(axis=shared.axes))
    highest[np.isneginf(highest)] = 0.0
    weights = np.exp(logarithms - highest)
    sums = shared.spread(shared.summed(weights))
    with np.errstate(divide="ignore"):
        totals = np.log(sums) + highest
    weights /= np.where(sums == 0.0, 1.0, sums)
    return weights, totals


def _contracted(
    first: Floats, first_columns: Columns, second: Floats, second_columns: Columns, kept: Columns
) -> Floats:
    shared = [each for each in first_columns if each in second_columns]
    batch, summed = [each for each in shared if each in kept], [each for each in shared if each not in kept]
    only_first = [each for each in first_columns if each not in shared]
    only_second = [each for each in second_columns if each not in shared]
    left = _as_matrices(first, first_columns, batch, only_first, summed)
    right = _as_matrices(second, second_columns, batch, summed, only_second)
    held = [*batch, *only_first, *only_second]
    sizes = dict(zip((*first_columns, *second_columns), (*first.shape, *second.shape), strict=True))
    product = (left @ right).reshape([sizes[each] for each in held])
    return product.transpose([held.index(each) for each in kept])


def _as_matrices(values: Floats, columns: Columns, *axes: Sequence[int]) -> Floats:
    sizes = dict(zip(columns, values.shape, strict=True))
    ordered = values.transpose([columns.index(each) for group in axes for each in group])
    return ordered.reshape([math.prod(sizes[each] for each in group) for group in axes])
