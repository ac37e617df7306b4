"""The draw of the noisy counts: of what is shown of a cut, whether anybody has the combination or not."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sqlanon.engines.base import Compute
from sqlanon.mechanisms.accountant import Charge
from sqlanon.mechanisms.source import RandomSource
from sqlanon.methods.cuts.diffgen import queries
from sqlanon.methods.cuts.diffgen.draws import threshold
from sqlanon.methods.cuts.shared.cut import Cut
from sqlanon.methods.shared.private.chance import drawn_unseen, noise_of_places, row_count
from sqlanon.model.methods.cuts import DiffGen
from sqlanon.queries.noise import unseen

MAX_UNSEEN = 1_000_000
"""How many combinations that nobody has are shown by noise alone, on average; a higher threshold shows fewer.

A release of more says little; without a bound a large cut would fill the disk.
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
    """Draw what is shown of a cut: combinations with noise, in :data:`~.queries.SHOWN`.

    All combinations get noise, those that nobody has among them (:mod:`sqlanon.methods.shared.private.chance`).
    """
    rows, size = settings.rows_per_individual, cut.size * classes
    least = least_shown(settings, charge, size)
    engine.put(queries.PIECES, queries.pieces(cut))
    engine.run(queries.occupied(cut, classes))
    count = row_count(engine, queries.OCCUPIED)
    noise = source.discrete_laplace(count * runs, charge, sensitivity=rows)
    engine.put(queries.NOISE, noise_of_places(noise, runs))
    engine.put(unseen.DRAWN, drawn_unseen(source, charge, rows, least, size - count, runs))
    engine.run(queries.shown(least))
    return Leaves(size, least)


def least_shown(settings: DiffGen, charge: Charge, size: int) -> int:
    """The least noisy count that is shown: that of the settings, or more for a cut with very many combinations.

    It depends on what was drawn alone, and noise is the same whatever it is.
    """
    rows, epsilon = settings.rows_per_individual, charge.budget.epsilon
    # P(noise >= m) < exp(-m ε / rows).
    enough = math.ceil(rows / epsilon * math.log(max(1, size / MAX_UNSEEN)))
    return max(threshold(settings.threshold, epsilon, rows), enough)
