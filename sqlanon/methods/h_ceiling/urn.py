"""Pólya's urn: which of the rows that a class has so far a counterfeit copies, or that it gets a value of its own.

The sequence of the values of a class, true rows first, is then exchangeable: its probability depends on how often it
has each value, and not on their order. Given the values that are published, every set of rows is as likely as any other
of its size to be the true ones (spec/hceiling_fill.md, T2).
"""

from __future__ import annotations

import numpy as np

from sqlanon.mechanisms.source import Floats, RandomSource

PRIOR_ROWS = 10
"""What the distribution of values that is expected of a class weighs, in rows (spec/hceiling_fill.md, *a*)."""


def drawn_from_urns(own: int, missing: int, urns: int, source: RandomSource) -> Floats:
    """What the counterfeits of some classes are, without the values that these have.

    A counterfeit copies each of the m rows that its class has so far with probability 1 / (m + :data:`PRIOR_ROWS`), and
    gets a value from the distribution that is expected of the class otherwise.

    Args:
        own: how many true rows each class has that may be copied, 0 or more.
        missing: how many counterfeits each class gets.
        urns: how many classes they are.
        source: where they are drawn from.

    Returns:
        for each counterfeit, class after class, the number of the true row that it copies, from 0 on, or u - 1 in
        (-1, 0), where u is the place in (0, 1) of its value in the distribution; shape (urns * missing,).
    """
    rows = np.empty((urns, own + missing))
    rows[:, :own] = np.arange(own)
    for size in range(own, own + missing):
        copied = source.sampled(np.array([1] * size + [PRIOR_ROWS], dtype=np.int64), urns)
        is_new = copied == size
        copies = np.flatnonzero(~is_new)
        rows[copies, size] = rows[copies, copied[copies]]
        rows[is_new, size] = source.uniform(int(is_new.sum())) - 1
    return rows[:, own:].ravel()
