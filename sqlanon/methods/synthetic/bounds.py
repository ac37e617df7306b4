"""How far a model can be from the table at most, by what was measured anyway: it costs no privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sqlanon.mechanisms.source import Integers
from sqlanon.methods.synthetic.beliefs import Floats
from sqlanon.methods.synthetic.tree import Columns

ERROR = 0.05
"""The chance that one bound of a run or more is wrong."""


@dataclass(frozen=True)
class NoisyMarginal:
    """A marginal as one draw of noise left it.

    Attributes:
        columns: whose it is.
        number: its place among the measurements of a run, from 1 on.
        counts: an axis for each column.
        sigma: the scale of the noise of a count.
    """

    columns: Columns
    number: int
    counts: Integers
    sigma: float

    def largest_distance(self, estimate: Floats) -> float:
        """What the sum of all differences between the true marginal and an estimate is at most.

        It is true of all measurements of a run and any estimates together, with a probability of 1 - :data:`ERROR`: see
        :func:`largest_noise`. The estimate may be made of the same noise, as that of a model is.
        """
        return float(np.abs(self.counts - estimate).sum()) + largest_noise(self.counts.size, self.sigma, self.number)


def largest_noise(cells: int, sigma: float, number: int) -> float:
    """What the sum of the sizes of the noise of all counts of a measurement is at most.

    All measurements of a run keep it together, with a probability of 1 - :data:`ERROR` or more.

    Proof. Discrete Gaussian noise Z of scale σ has E e^(tZ) <= e^(t²σ²/2) for every t (Canonne, Kamath & Steinke 2020).
    Of n counts, Σ|Z_i| is the largest of the 2^n sums Σ±Z_i, and each of these is above u with a probability of
    e^(-u²/(2nσ²)) at most. So Σ|Z_i| is above u = σ √(2n (n ln 2 + λ²)) with a probability of e^(-λ²) at most.
    Whether a run has a j-th measurement, and its n and σ, follow from what was drawn before; its noise does not. So it
    is above its u with a probability of ERROR / (j (j + 1)) at most, where λ² = ln(j (j + 1) / ERROR), whatever was
    drawn before. The sum of these over all j >= 1 is ERROR.

    A mean of several measurements of a marginal has no such bound of its own: whether there is one more may depend on
    the noise of those before, so that it is not the mean of a fixed number of draws.

    Args:
        cells: how many counts there are.
        sigma: the scale of their noise.
        number: the place of the measurement in its run, from 1 on.
    """
    squared = math.log(number * (number + 1) / ERROR)
    return sigma * math.sqrt(2 * cells * (cells * math.log(2) + squared))
