"""What δ it costs to publish the classes of k sampled rows: Bernoulli samples, at a node that is public or drawn apart.

Every row is in the sample with a probability of β, on its own, and of a class with a count of k or more in the sample
that count is published; of the others nothing is. Of neighbours, one class has m rows and m - 1. A count j is e^ε times
as likely with m rows as with m - 1 just where j <= γ m, with γ = 1 - (1 - β) e^-ε; so δ is the probability of larger
counts that are published, P(Bin(m, β) >= max(k, ⌊γ m⌋ + 1)), for the worst m. It asks for ε >= -ln(1 - β), which the
reverse direction costs (spec/epsafe.md (b)).

P(Bin(n, β) >= j) is a regularized incomplete beta function. As n grows it rises and falls like a saw, but never above
exp(-n KL), which falls: so the scan of n ends where that is below the largest so far, and nothing is missed.

Source: Li, Qardaji and Su 2012, theorem 1; Bild, Kuhn and Prasser 2018; spec/epsafe.md (b), "Computing D".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sqlanon.errors import PolicyError
from sqlanon.model.extras import extra_module

Floats = NDArray[np.float64]

AT_ONCE = 256
"""How many numbers of rows are looked at together."""

NEAR = 1e-9
"""How near to a whole number γ n is taken for it, which makes the tail larger: safe, whatever was rounded."""

MOST_K = 1 << 40
"""The largest k that is tried for a δ."""


def delta(k: ArrayLike, beta: ArrayLike, epsilon: ArrayLike, *, tight: bool = False) -> Any:
    """δ of publishing the classes that have k rows or more in a Bernoulli sample.

    Args:
        k: the least published count, 2 or more.
        beta: the probability with which each row is in the sample, above 0 and below 1.
        epsilon: ε of the sampling, at least -ln(1 - beta).
        tight: whether to subtract what e^ε allows of the larger counts, too: the hockey-stick divergence at ε, which is
            smaller. Otherwise it is the δ of Li et al. 2012.

    Returns:
        δ in [0, 1]: a number, or an array of the shape that the arguments have together.

    Raises:
        PolicyError: an argument is out of its range, listing all.
        EngineError: scipy is not installed.
    """
    counts, shares, budgets = (np.asarray(each, dtype=float) for each in (k, beta, epsilon))
    _refuse(counts, shares, budgets)
    found = np.vectorize(lambda *each: _largest(*each, tight=tight), otypes=[float])(counts, shares, budgets)
    return float(found) if found.ndim == 0 else found


def minimum_k(beta: float, epsilon: float, delta: float, *, tight: bool = False) -> int:
    """The least k with which publishing sampled classes costs no more than a δ.

    δ falls as k grows (spec/epsafe.md (b)), so that it is found by halving.

    Args:
        beta: the probability with which each row is in the sample, above 0 and below 1.
        epsilon: ε of the sampling, at least -ln(1 - beta).
        delta: what it may cost, above 0 and below 1.
        tight: as in :func:`delta`.

    Raises:
        PolicyError: an argument is out of its range, listing all.
        EngineError: scipy is not installed.
    """
    given = np.asarray(beta, dtype=float), np.asarray(epsilon, dtype=float)
    _refuse(np.asarray(2.0), *given, wanted=delta)

    def suffices(k: int) -> bool:
        return _largest(k, beta, epsilon, tight=tight) <= delta

    enough = 2
    while not suffices(enough):
        if enough >= MOST_K:
            raise PolicyError(f"no k up to {MOST_K:,} costs so little δ: take a larger one, or ε")
        enough *= 2
    too_few = 1 if enough == 2 else enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        too_few, enough = (too_few, middle) if suffices(middle) else (middle, enough)
    return enough


def gamma(beta: float, epsilon: float) -> float:
    """The share of the rows of a class up to which a sampled count is no more than e^ε times as likely with one more.

    1 - (1 - beta) e^-epsilon, spec/epsafe.md (b).
    """
    return 1 - (1 - beta) * math.exp(-epsilon)


def _largest(k: float, beta: float, epsilon: float, *, tight: bool) -> float:
    """The largest tail over all numbers of rows."""
    share, tail = gamma(beta, epsilon), _tails()
    rate = _divergence(share, beta)
    # Up to there tails at k grow with the rows. The tight values need not; of fewer than k rows nothing is published.
    first = int(k) if tight else math.ceil(k / share - 1 - NEAR)
    most = 0.0
    while True:
        rows = np.arange(first, first + AT_ONCE, dtype=float)
        likely = share * rows
        counts = np.floor(likely) + 1
        near = np.abs(likely - np.round(likely)) < NEAR
        counts = np.maximum(np.where(near, np.round(likely), counts), k)
        found = tail(rows, counts, beta)
        if tight:
            found -= math.exp(epsilon) * tail(rows - 1, counts, beta)
        most = max(most, float(found.max()))
        first += AT_ONCE
        if math.exp(-first * rate) <= most or (rate > 0 and first * rate > 745):
            return min(1.0, max(0.0, most))


def _divergence(share: float, beta: float) -> float:
    """The Kullback-Leibler divergence of γ from β: a tail of n rows is exp(-n KL) at most."""
    others = 0.0 if share >= 1 else (1 - share) * math.log((1 - share) / (1 - beta))
    return share * math.log(share / beta) + others


def _tails() -> Callable[[Floats, Floats, float], Floats]:
    """P(Bin(n, β) >= j)."""
    special = extra_module("scipy.special", extra="eval", purpose="δ of sampled classes")

    def tail(rows: Floats, counts: Floats, beta: float) -> Floats:
        possible = counts <= rows
        found = special.betainc(np.maximum(counts, 1), np.where(possible, rows - counts + 1, 1), beta)
        return np.where(possible, np.where(counts <= 0, 1.0, found), 0.0)

    return tail


def _refuse(k: Floats, beta: Floats, epsilon: Floats, wanted: float | None = None) -> None:
    problems = []
    if not (np.all(k >= 2) and np.all(k == np.floor(k)) and np.all(k <= MOST_K)):
        problems.append("k must be a whole number of at least 2")
    if not (np.all(beta > 0) and np.all(beta < 1)):
        problems.append("beta must be above 0 and below 1")
    elif not np.all(epsilon >= -np.log1p(-beta) - NEAR):
        problems.append("epsilon must be at least -ln(1 - beta), which it costs that a row may be missing")
    if not np.all(np.isfinite(epsilon)):
        problems.append("epsilon must be finite")
    if wanted is not None and not 0 < wanted < 1:
        problems.append("delta must be above 0 and below 1")
    if problems:
        raise PolicyError("δ cannot be computed:", problems)
