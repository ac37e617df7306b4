"""About how likely a row is a person's, where there are too many worlds to count them.

Labels are taken for independent: a row of value s is a counterfeit with a probability q_s, but not all rows of a class
are. The q_s are those with which there are as many counterfeits of each value, on average, as the catalog says. This is
the distribution with the highest entropy of those that do so, and the larger a group, the closer it is to that in
which there are just as many.

On 56 groups of 10 to 40 hosts that can be counted, of random classes and of Adult, k_eff is off by 1 % on average and
by 9 % at most: tests/unit/h_ceiling/test_catalog_links.py holds it to 10 %. Of 5 hosts it may be half of what it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sqlanon.methods.h_ceiling.catalog.classes import Counts
from sqlanon.methods.h_ceiling.catalog.worlds import Rows, Vector

Floats = NDArray[np.float64]

MAX_ROUNDS = 1000
"""After how many rounds the probabilities are left as they are: where rows must be counterfeits, they near 1 slowly."""

CLOSE = 1e-6
"""To which share of it the total of each value must be met, for no further round to be needed."""

CERTAIN = 1 - 1e-9
"""The highest probability, so that no class is certain to be all counterfeits."""


def estimated_probability(totals: Vector, hosts: Sequence[Rows]) -> float:
    """The probability, about, of the row that is likeliest the person's who is known to be in its class.

    It takes n³ steps for a class of n rows.

    Args:
        totals: how many counterfeits of each value there are.
        hosts: the classes that they can be in.
    """
    counts = np.array([host.counts for host in hosts], dtype=np.int64)
    sizes = np.array([host.size for host in hosts])
    sure = sizes - counts.sum(axis=1)
    fake = np.append(_probabilities(np.array(totals), counts, sure), 0.0)
    kinds = np.unique(np.column_stack([counts, sure]), axis=0)
    likeliest = 0.0
    for size in np.unique(sizes).tolist():
        some = kinds[kinds.sum(axis=1) == size]
        values = np.repeat(np.tile(np.arange(len(fake)), len(some)), some.ravel()).reshape(len(some), size)
        likeliest = max(likeliest, _likeliest(fake[values]))
    return likeliest


def _probabilities(totals: Counts, counts: Counts, sure: Counts) -> Floats:
    """The probability that a row of each value is a counterfeit, before classes with no other rows are left out.

    Args:
        totals: how many counterfeits there are; shape (values,).
        counts: rows; shape (classes, values).
        sure: rows of other values; shape (classes,).
    """
    fake: Floats = np.minimum(totals / counts.sum(axis=0), CERTAIN)
    for _ in range(MAX_ROUNDS):
        full = np.where(sure > 0, 0.0, np.exp(counts @ np.log(fake)))
        expected = fake * (1 / (1 - full) @ counts) - full / (1 - full) @ counts
        if (np.abs(expected - totals) <= CLOSE * totals).all():
            break
        fake = np.minimum(fake * totals / expected, CERTAIN)
    return fake


def _likeliest(fake: Floats) -> float:
    """The highest E[1 / n if the row is real, else 0] of a row, n being how many rows of its class are real.

    Args:
        fake: the probability of each row to be a counterfeit; shape (classes, rows).
    """
    classes, size = fake.shape
    highest = 0.0
    for row in range(size):
        others = np.zeros((classes, size))  # the probability of each number of counterfeits among the other rows
        others[:, 0] = 1
        for other in (place for place in range(size) if place != row):
            chance = fake[:, [other]]
            others = others * (1 - chance) + np.pad(others[:, :-1], ((0, 0), (1, 0))) * chance
        means = (1 - fake[:, row]) * (others / (size - np.arange(size))).sum(axis=1) / (1 - fake.prod(axis=1))
        highest = max(highest, float(means.max()))
    return highest
