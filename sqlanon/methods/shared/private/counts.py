"""Noise on the counts of a public domain, whether anybody is counted or not: what private methods draw alike.

All counts of a domain get noise, and those that reach a threshold are shown. Of the empty ones, how many do is drawn,
and which, and by how much: that is the same, and takes time for these alone.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sqlanon.engines.base import Compute
from sqlanon.mechanisms.accountant import Charge
from sqlanon.mechanisms.discrete_laplace import empty_cell_probability
from sqlanon.mechanisms.source import Integers, RandomSource
from sqlanon.queries.classes.grouping import counted_rows
from sqlanon.queries.kit.nodes import Relation
from sqlanon.queries.noise.combinations import NOISE, NOISY, PLACE, RUN
from sqlanon.queries.noise.unseen import RANK


def row_count(engine: Compute, relation: Relation) -> int:
    """How many rows a relation has."""
    return int(engine.fetch(counted_rows(relation), relation.name)[0]["rows"])


def noise_of_places(noise: Integers, runs: int) -> pa.Table:
    """Noise by run and place: that of the first run, in the order of places, then that of the next one.

    Args:
        noise: shape (runs * places,).
        runs: how many releases are drawn.
    """
    count = len(noise) // runs
    places = {RUN: np.repeat(np.arange(runs), count), PLACE: np.tile(np.arange(count), runs)}
    return pa.table({**places, NOISE: noise})


def reached_by_noise(
    source: RandomSource, charge: Charge, rows: int, threshold: int, empty: int, runs: int
) -> list[Integers]:
    """By run, which counts of 0 reach a threshold by their noise alone, ascending.

    Args:
        source: where chance comes from.
        charge: what all counts cost together, those that are not 0 among them.
        rows: how many rows of one individual are counted at most.
        threshold: the least noisy count that is shown.
        empty: how many counts are 0.
        runs: how many releases are drawn.
    """
    probability = empty_cell_probability(threshold, charge.budget.epsilon, rows=rows)
    times = source.binomial(empty, probability, runs=runs)
    return [source.chosen(empty, int(count)) for count in times]


def drawn_unseen(source: RandomSource, charge: Charge, rows: int, threshold: int, empty: int, runs: int) -> pa.Table:
    """The rows of :data:`~sqlanon.queries.noise.unseen.DRAWN`: those of :func:`reached_by_noise`, with their noise."""
    ranks = reached_by_noise(source, charge, rows, threshold, empty, runs)
    above = source.discrete_laplace_tail(sum(map(len, ranks)), charge, sensitivity=rows)
    drawn = {
        RUN: np.repeat(np.arange(runs), [len(each) for each in ranks]),
        RANK: np.concatenate([np.empty(0, dtype=np.int64), *ranks]),
        NOISY: threshold + above,
    }
    return pa.table(drawn)
