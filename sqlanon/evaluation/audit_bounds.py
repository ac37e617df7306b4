"""What counts prove: confidence bounds on probabilities, and on the loss that two of them show.

Source: Clopper & Pearson 1934, "The use of confidence or fiducial limits illustrated in the case of the binomial".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.model.extras import extra_module

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def lower_probability(successes: Counts, runs: int, error: float) -> Floats:
    """What the probability of success is above, but for a chance of ``error``; shape as ``successes``.

    Raises:
        EngineError: scipy is not installed.
    """
    bound = _statistics().beta.ppf(error, np.maximum(successes, 1), runs - successes + 1)
    return np.where(successes > 0, bound, 0.0)


def upper_probability(successes: Counts, runs: int, error: float) -> Floats:
    """What the probability of success is below, but for a chance of ``error``; shape as ``successes``.

    Raises:
        EngineError: scipy is not installed.
    """
    bound = _statistics().beta.isf(error, successes + 1, np.maximum(runs - successes, 1))
    return np.where(successes < runs, bound, 1.0)


def lower_losses(more: Counts, less: Counts, runs: int, *, delta: float, error: float) -> Floats:
    """Lower bounds of ε of events, from how often each happened on two neighbours; -inf where no ε is shown.

    By definition P(S) <= e^ε Q(S) + δ, so that ε >= ln((P(S) - δ) / Q(S)) for every event S.

    Args:
        more, less: runs in which the event happened, by event; shape (events,).
        runs: how many there were on each of the neighbours.
        delta: δ at which ε is bounded.
        error: the chance that each of the two probabilities may be out of its bound; together at most twice that.

    Raises:
        EngineError: scipy is not installed.
    """
    excess = lower_probability(more, runs, error) - delta
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = np.log(excess) - np.log(upper_probability(less, runs, error))
    return np.where(excess > 0, losses, -np.inf)


def _statistics() -> Any:
    return extra_module("scipy.stats", extra="eval", purpose="An audit by runs")
