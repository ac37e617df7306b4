"""The draw of the noisy counts: of what is shown of a cut, whether anybody has the combination or not."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sqlanon.engines.base import Compute
from sqlanon.mechanisms.accountant import Charge
from sqlanon.mechanisms.discrete_laplace import empty_cell_probability
from sqlanon.mechanisms.source import RandomSource
from sqlanon.methods.cuts.cut import Cut
from sqlanon.methods.diffgen.draws import threshold
from sqlanon.methods.diffgen.queries import leaves as queries
from sqlanon.model.policy.diffgen import DiffGen
from sqlanon.queries.classes.roll_up import counted_rows
from sqlanon.queries.noise import combinations as private
from sqlanon.queries.noise import unseen

MOST_UNSEEN = 1_000_000
"""How many combinations that nobody has are shown by noise alone, on average; a higher threshold shows fewer.

A release of so many says little; without a bound a large cut would fill the disk.
"""


@dataclass(frozen=True)
class Leaves:
    """The combinations of labels and class of a cut.

    Attributes:
        size: how many there are.
        threshold: the least noisy count that is shown.
    """

    size: int
    threshold: int


# More than six parameters: the cut, and all that its counts are drawn with.
def draw_leaves(
    engine: Compute, cut: Cut, classes: int, settings: DiffGen, source: RandomSource, charge: Charge, runs: int = 1
) -> Leaves:
    """Draw what is shown of a cut: combinations with noise, in :data:`~.queries.leaves.SHOWN`.

    All combinations get noise. Of those that nobody has, how many reach the threshold is drawn, and which: that is the
    same, and takes time for these alone.
    """
    rows, size = settings.rows_per_individual, cut.size * classes
    least = least_shown(settings, charge, size)
    engine.put(queries.PIECES, queries.pieces(cut))
    engine.run(queries.occupied(cut, classes))
    count = int(engine.fetch(counted_rows(queries.OCCUPIED), queries.OCCUPIED.name)[0]["rows"])
    noise = source.discrete_laplace(count * runs, charge, sensitivity=rows)
    places = {private.RUN: np.repeat(np.arange(runs), count), private.PLACE: np.tile(np.arange(count), runs)}
    engine.put(queries.NOISE, pa.table({**places, private.NOISE: noise}))
    probability = empty_cell_probability(least, charge.budget.epsilon, rows=rows)
    times = source.binomial(size - count, probability, runs=runs)
    ranks = [source.chosen(size - count, int(each)) for each in times]
    above = source.discrete_laplace_tail(int(times.sum()), charge, sensitivity=rows)
    drawn = {
        private.RUN: np.repeat(np.arange(runs), times),
        unseen.RANK: np.concatenate([np.empty(0, dtype=np.int64), *ranks]),
        private.NOISY: least + above,
    }
    engine.put(unseen.DRAWN, pa.table(drawn))
    engine.run(queries.shown(least))
    return Leaves(size, least)


def least_shown(settings: DiffGen, charge: Charge, size: int) -> int:
    """The least noisy count that is shown: that of the settings, or more for a cut with very many combinations.

    It depends on what was drawn alone, and noise is the same whatever it is.
    """
    rows, epsilon = settings.rows_per_individual, charge.budget.epsilon
    # P(noise >= m) < exp(-m ε / rows).
    enough = math.ceil(rows / epsilon * math.log(max(1, size / MOST_UNSEEN)))
    return max(threshold(settings.threshold, epsilon, rows), enough)
