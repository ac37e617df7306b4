"""Rows of a graphical model, whose counts are as near to its probabilities as whole rows can be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sqlanon.mechanisms.source import Generator
from sqlanon.methods.synthetic.beliefs import Beliefs, Floats
from sqlanon.methods.synthetic.tree import cells_of

Codes = NDArray[np.int64]


def drawn(beliefs: Beliefs, rows: int, generator: Generator) -> list[Codes]:
    """The values of invented rows, by column.

    The root of the tree is drawn first, then the other columns of each clique, given those that it shares with its
    parent. Of n rows of equal shared values, in random order, row i takes the value at (i + u) / n of the cumulative
    distribution, u uniform for each row. So no value is far from its expected count, as it may be where all rows are
    drawn independently.

    Args:
        beliefs: the distribution.
        rows: how many.
        generator: of the draws, which cost no privacy, as they see nothing but the model.
    """
    tree = beliefs.tree
    values: list[Codes] = [np.zeros(rows, np.int64) for _ in tree.sizes]
    for clique, shared, conditional in zip(tree.cliques, tree.separators, beliefs.conditionals, strict=True):
        new = tuple(each for each in clique if each not in shared)
        given = np.transpose(conditional, [clique.index(each) for each in (*shared, *new)])
        groups = np.zeros(rows, np.int64)
        for each in shared:
            groups = groups * tree.sizes[each] + values[each]
        cells = _drawn_in_groups(given.reshape(cells_of(tree.sizes, shared), -1), groups, generator)
        for each, column in zip(new, np.unravel_index(cells, tree.shape(new)), strict=True):
            values[each] = column
    return values


def _drawn_in_groups(conditionals: Floats, groups: Codes, generator: Generator) -> Codes:
    """A cell for each row, by the distribution of its group; ``conditionals`` has the shape (groups, cells)."""
    order = generator.permutation(len(groups))
    order = order[np.argsort(groups[order], kind="stable")]
    counts = np.bincount(groups, minlength=len(conditionals))
    position = np.arange(len(groups)) - np.repeat(np.cumsum(counts) - counts, counts)
    quantiles = (position + generator.random(len(groups))) / np.repeat(counts, counts)
    cumulative = np.cumsum(conditionals, axis=1)
    found = np.flatnonzero(counts)
    # Rounded sums would leave the last value with a probability that it may not have.
    cumulative[found] /= cumulative[found, -1:]
    cumulative += np.arange(len(conditionals))[:, None]
    cells = np.empty_like(groups)
    sought = np.repeat(np.arange(len(conditionals)), counts) + quantiles
    cells[order] = np.searchsorted(cumulative.ravel(), sought, side="right")
    cells -= groups * conditionals.shape[1]
    return cells
