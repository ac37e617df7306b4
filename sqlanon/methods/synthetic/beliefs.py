"""The distribution of a graphical model: what its cliques hold, and the marginal of any columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from string import ascii_letters

import numpy as np
from numpy.typing import NDArray

from sqlanon.methods.synthetic.tree import Columns, JunctionTree, cells_of

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Link:
    """Some columns within a larger set of columns.

    Attributes:
        axes: those of the larger set's array that the columns lack.
        shape: that of an array of the columns, with an axis of length 1 in place of these.
        subscripts: of the sum over these, for ``numpy.einsum``, which takes a third of the time of ``numpy.sum``.
    """

    axes: tuple[int, ...]
    shape: tuple[int, ...]
    subscripts: str

    @classmethod
    def of(cls, sizes: Sequence[int], columns: Columns, larger: Columns) -> Link:
        """The link between two sets of columns."""
        axes = tuple(axis for axis, each in enumerate(larger) if each not in columns)
        letters = ascii_letters[: len(larger)]
        kept = "".join(letter for axis, letter in enumerate(letters) if axis not in axes)
        shape = tuple(sizes[each] if each in columns else 1 for each in larger)
        return cls(axes, shape, f"{letters}->{kept}")

    def summed(self, values: Floats) -> Floats:
        """Values of the larger set, summed over what the columns lack."""
        return np.einsum(self.subscripts, values) if self.axes else values

    def spread(self, values: Floats) -> Floats:
        """Values of the columns, to be combined with those of the larger set."""
        return values.reshape(self.shape)


@dataclass(frozen=True)
class Structure:
    """Sets of columns that have potentials, in the cliques of their junction tree.

    Attributes:
        tree: the cliques.
        sets: the sets, by ascending number of cells.
    """

    tree: JunctionTree
    sets: tuple[Columns, ...]

    @classmethod
    def of(cls, sizes: Sequence[int], sets: Iterable[Columns]) -> Structure:
        """The structure of some sets."""
        distinct = sorted(set(sets), key=lambda columns: (cells_of(sizes, columns), columns))
        return cls(JunctionTree.of(sizes, distinct), tuple(distinct))

    @cached_property
    def _holders(self) -> tuple[tuple[Columns | int, Link], ...]:
        """The smallest of the other sets and of the cliques, by its number, that holds each set."""
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
        """The columns that each clique shares with its parent, within it and within the parent."""
        tree = self.tree
        return tuple(
            (Link.of(tree.sizes, shared, clique), Link.of(tree.sizes, shared, tree.cliques[parent]))
            for clique, shared, parent in zip(tree.cliques, tree.separators, tree.parents, strict=True)
        )

    def beliefs(self, potentials: Mapping[Columns, Floats]) -> Beliefs:
        """The distribution in proportion to the exponential of the sum of all potentials.

        Args:
            potentials: by set, an axis for each of its columns; -inf where a combination cannot occur.
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
        """The probabilities of all sets."""
        found: dict[Columns, Floats] = {}
        for columns, (holder, link) in zip(reversed(self.sets), reversed(self._holders), strict=True):
            found[columns] = link.summed(beliefs.cliques[holder] if isinstance(holder, int) else found[holder])
        return found


@dataclass(frozen=True)
class Beliefs:
    """A distribution over all columns, by the cliques of a junction tree.

    Attributes:
        tree: the cliques.
        cliques: the probabilities of the cells of each clique, an axis for each of its columns.
        conditionals: the same, given the columns that the clique shares with its parent; those of the root are given
            nothing. Where the shared columns have no probability, they are 0.
    """

    tree: JunctionTree
    cliques: tuple[Floats, ...]
    conditionals: tuple[Floats, ...]
    _found: dict[tuple[int, Columns], Floats] = field(default_factory=dict, repr=False, compare=False)

    def marginal(self, columns: Columns) -> Floats:
        """The probabilities of the values of some columns, an axis for each of them, whichever cliques hold them."""
        holder = self.tree.holder(columns)
        if holder is not None:
            return Link.of(self.tree.sizes, columns, self.tree.cliques[holder]).summed(self.cliques[holder])
        top = max(number for number, below in enumerate(self.tree.below) if below.issuperset(columns))
        return self._joined(self.cliques[top], top, columns, columns)

    def _joined(self, own: Floats, clique: int, wanted: Columns, kept: Columns) -> Floats:
        """What a clique holds, times what hangs on it, with the kept columns alone.

        ``wanted`` are those of the kept columns that the clique does not get from its parent.
        """
        columns = self.tree.cliques[clique]
        parts: list[tuple[Floats, Columns]] = []
        for child in self.tree.children[clique]:
            below = self.tree.below[child].difference(columns)
            if missing := tuple(each for each in wanted if each in below):
                part_columns = tuple(sorted({*self.tree.separators[child], *missing}))
                parts.append((self._given_shared(child, missing, part_columns), part_columns))
        later = [set(kept).union(*(more for _, more in parts[done:])) for done in range(len(parts) + 1)]
        held = tuple(each for each in columns if each in later[0])
        product = Link.of(self.tree.sizes, held, columns).summed(own)
        for (part, part_columns), needed in zip(parts, later[1:], strict=True):
            left = tuple(sorted(needed.intersection({*held, *part_columns})))
            product, held = _contracted(product, held, part, part_columns, left), left
        return product

    def _given_shared(self, clique: int, wanted: Columns, kept: Columns) -> Floats:
        """The wanted columns below a clique's parent, given the columns that it shares with that."""
        if (clique, wanted) not in self._found:
            self._found[clique, wanted] = self._joined(self.conditionals[clique], clique, wanted, kept)
        return self._found[clique, wanted]


def _normalized(logarithms: Floats, shared: Link) -> tuple[Floats, Floats]:
    """Exponentials that sum to 1 given the shared columns, or to 0 where all are 0, and the logarithms of the sums."""
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
    """The product of two arrays by their columns, summed over the columns of both that are not kept."""
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
    """Values with three axes, each of several columns."""
    sizes = dict(zip(columns, values.shape, strict=True))
    ordered = values.transpose([columns.index(each) for group in axes for each in group])
    return ordered.reshape([math.prod(sizes[each] for each in group) for group in axes])
