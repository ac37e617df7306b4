"""Cells as arrays, for what computes with them in place of statements: words of keys, and what is equal in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.queries.cells.encoding import Encoding

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Arrays = Mapping[str, NDArray[Any]]


def changes(words: NDArray[Any]) -> Mask:
    """Whether each column of sorted words differs from the one before it."""
    differs = np.ones(words.shape[1], dtype=bool)
    if len(differs):
        differs[1:] = False
        for word in words:
            differs[1:] |= word[1:] != word[:-1]
    return differs


def sums_of(amounts: Ints, starts: Ints) -> Ints:
    """The sum of the amounts of each group, by the place of its first one: several times faster than ``reduceat``."""
    up_to = np.zeros(len(amounts) + 1, dtype=np.int64)
    np.cumsum(amounts, out=up_to[1:])
    sums: Ints = np.diff(up_to[np.append(starts, len(amounts))])
    return sums


def numbers_of(starts: Ints, count: int) -> Ints:
    """The number of the group of each of some places, by the first place of each group."""
    steps = np.zeros(count, dtype=np.int64)
    steps[starts[1:]] = 1
    return np.cumsum(steps)


def grouped(words: NDArray[Any]) -> tuple[Ints, Ints]:
    """Columns that agree in all words as groups.

    Returns:
        the order that puts the columns of a group side by side, groups ascending, and the number of each one's group
        in that order.
    """
    if len(words) == 0:
        return np.arange(words.shape[1]), np.zeros(words.shape[1], dtype=np.int64)
    order = words[0].argsort() if len(words) == 1 else np.lexsort(words[::-1])
    return order, numbers_of(np.flatnonzero(changes(words[:, order])), len(order))


def key_words(encoding: Encoding, arrays: Arrays, count: int) -> Ints:
    """The words of the keys of a result, of shape (words, count)."""
    found: list[Ints] = [np.asarray(arrays[encoding.key(word)]) for word in range(encoding.keys.word_count)]
    if len(found) == 1:
        return found[0][np.newaxis]
    words: Ints = np.array(found, dtype=np.int64).reshape(len(found), count)
    return words


def cell_words(encoding: Encoding, arrays: Arrays, count: int) -> Ints:
    """The same of cells, with the bits that distinguish them here alone.

    Cells that were made beside earlier releases, and are read for a search that looks at none, have others besides.
    """
    masks = encoding.keys.node_masks((0,) * len(encoding.spec.shapes))
    of_words = np.array([masks.get(word, 0) for word in range(encoding.keys.word_count)], dtype=np.int64)
    words: Ints = key_words(encoding, arrays, count) & of_words[:, np.newaxis]
    return words


def sums_by(keys: Ints, amounts: Ints, size: int) -> tuple[Ints, Ints]:
    """The distinct keys, ascending, and the sum of the amounts of each: positive ones, below 2^53 together.

    Args:
        keys: numbers from 0 to ``size`` - 1.
        amounts: an amount per key.
        size: as above; if it is large, keys are sorted in place of being counted.
    """
    if size <= 2**16 + 4 * len(keys):
        sums = np.bincount(keys, amounts, size).astype(np.int64)
        found = sums.nonzero()[0]
        return found, sums[found]
    order = keys.argsort()
    starts = np.flatnonzero(changes(keys[np.newaxis, order]))
    return keys[order[starts]], np.add.reduceat(amounts[order], starts)
