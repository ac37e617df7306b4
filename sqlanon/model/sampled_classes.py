"""The δ of publishing classes of k sampled rows: Bernoulli samples, at a node that is public or drawn apart.

Every row is in the sample with a probability of β, on its own, and of a class with a count of k or more in the sample
that count is published; of the others nothing is. Of neighbours, one class has m rows and m - 1. A count j is e^ε times
as likely with m rows as with m - 1 just where j <= γ m, with γ = 1 - (1 - β) e^-ε; so δ is the probability of larger
counts that are published, P(Bin(m, β) >= max(k, ⌊γ m⌋ + 1)), for the worst m. It asks for ε >= -ln(1 - β), which the
reverse direction costs (spec/epsafe.md (b)).

Where the node is chosen on the sample itself, the choice depends on the sample too, and the share γ up to which a count
is likely enough is smaller: :func:`delta_on_sample`.

P(Bin(n, β) >= j) is a regularized incomplete beta function. As n grows it rises and falls like a saw, but never above
exp(-n KL), which falls: so the scan of n ends where that is below the largest so far, and nothing is missed.

Source: Li, Qardaji and Su 2012, theorem 1; Bild, Kuhn and Prasser 2018; spec/epsafe.md (b), "Computing D" and
"Alternatives".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sqlanon.errors import PolicyError
from sqlanon.model.extras import extra_module

Floats = NDArray[np.float64]

AT_ONCE = 256  # how many numbers of rows are looked at together, at first; and each time twice as many as before
MAX_ROWS_AT_ONCE = 1 << 16  # how many numbers of rows are looked at together at most

MAX_EXACT_ROWS = 1 << 24
"""After how many numbers of rows Chernoff's bound is taken for the rest: no less than their tails."""

NEAR = 1e-9  # how near to a whole number γ n is taken for it, which makes the tail larger: safe, whatever was rounded
MAX_K = 1 << 40  # the largest k that is tried for a δ
LARGEST = 700.0  # e^ε of a larger ε overflows a float. Less is subtracted with this one, which is on the safe side
SHARES = 1000  # of how many equal parts of 1 a largest β is a multiple


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
    _refuse(k=k, beta=beta, epsilon=epsilon)
    found = np.vectorize(lambda *each: _delta(*each, tight=tight), otypes=[float])(k, beta, epsilon)
    return float(found) if found.ndim == 0 else found


# guarded: tests/unit/test_guarded_settings.py::TestSampledClasses
# no mutants of 1 / nodes: from there on δ is 1
# no mutants of share <= beta: no float is just there
# no mutants of odds > 0: both are 1/2 at 0
def delta_on_sample(k: int, beta: float, epsilon_node: float, epsilon: float, nodes: int) -> float:
    """δ of publishing the classes of k sampled rows at a node that was chosen on the sample, not on the whole table.

    With m rows as with m - 1 of a class, a count j is no more than (1 - β)(1 + e^(2 ε') j / (m - j)) times as likely.
    That is at most e^ε where j <= γ m, with γ = ρ / (1 + ρ) and ρ = (e^ε / (1 - β) - 1) e^(-2 ε'). Any of the nodes
    may be chosen just because its count is larger, so δ is a sum over all of them (spec/epsafe.md (b), "Alternatives").
    It is 1 where the choice costs so much that counts of the expected size are too likely.

    Args:
        k, beta: as in :func:`delta`.
        epsilon_node: ε' with which the choice of the node is differentially private on the sample, 0 or more.
        epsilon: ε of the choice and the sampling together, at least epsilon_node and -ln(1 - beta).
        nodes: how many nodes there are to choose from, 1 or more.

    Raises:
        PolicyError, EngineError: as in :func:`delta`.
    """
    _refuse(k=k, beta=beta, epsilon=epsilon, epsilon_node=epsilon_node, nodes=nodes)
    odds = epsilon - math.log1p(-beta) + math.log(gamma(beta, epsilon)) - 2 * epsilon_node
    share = 1 / (1 + math.exp(-odds)) if odds > 0 else math.exp(odds) / (1 + math.exp(odds))
    # The tails of a share that is expected, or of a smaller one, do not fall as rows are added.
    return 1.0 if share <= beta else min(1.0, nodes * _largest_tail(k, beta, share, enough=1 / nodes))


def minimum_k(beta: float, epsilon: float, delta: float, *, tight: bool = False) -> int:
    """The least k with which publishing sampled classes costs no more than a δ.

    δ falls as k grows, so that it is found by halving.

    Args:
        beta: the probability with which each row is in the sample, above 0 and below 1.
        epsilon: ε of the sampling, at least -ln(1 - beta).
        delta: what it may cost, above 0 and below 1.
        tight: as in :func:`delta`.

    Raises:
        PolicyError: an argument is out of its range, listing all.
        EngineError: scipy is not installed.
    """
    _refuse(beta=beta, epsilon=epsilon, delta=delta)

    def suffices(k: int) -> bool:
        return _delta(k, beta, epsilon, tight=tight, enough=delta) <= delta

    found = _least(suffices)
    if found is None:
        raise PolicyError(f"no k up to {MAX_K:,} costs so little δ: take a larger one, or ε")
    return found


# guarded: tests/unit/test_guarded_settings.py::TestSampledClasses
def maximum_beta(k: int, epsilon: float, delta: float, *, tight: bool = False) -> Fraction:
    """The largest β, the probability of a row to be in the sample, with which publishing costs no more than a δ.

    As β grows δ rises and falls like a saw, so that some smaller β may cost more: each is tried, from above.

    Args:
        k: the least published count, 2 or more.
        epsilon: ε of the sampling, above 0.
        delta: what it may cost, above 0 and below 1.
        tight: as in :func:`delta`.

    Returns:
        A multiple of 1/1000 above 0 and below 1, with ε >= -ln(1 - β).

    Raises:
        PolicyError: an argument is out of its range, listing all; or no such β costs so little.
        EngineError: scipy is not installed.
    """
    _refuse(k=k, epsilon=epsilon, delta=delta)
    for parts in range(SHARES - 1, 0, -1):
        beta = parts / SHARES
        if _admissible(beta, epsilon) and _delta(k, beta, epsilon, tight=tight, enough=delta) <= delta:
            return Fraction(parts, SHARES)
    raise PolicyError(f"no beta of 1/{SHARES} or more costs so little δ: take a larger δ, ε or k")


def least_rows(k: int, beta: float, probability: float) -> int | None:
    """The fewest rows of a class that is published with at least a probability; None if that is beyond all tables.

    A class is published if it has k rows or more in the sample, in which each row is with the probability beta.
    """
    tail = _tails()
    return _least(lambda rows: bool(tail(np.asarray(float(rows)), np.asarray(float(k)), beta) >= probability))


# guarded: tests/unit/test_guarded_settings.py::TestSampledClasses
def gamma(beta: float, epsilon: float) -> float:
    """The share of the rows of a class up to which a sampled count is no more than e^ε times as likely with one more.

    1 - (1 - beta) e^-epsilon, spec/epsafe.md (b).
    """
    return 1 - (1 - beta) * math.exp(-epsilon)


def _delta(k: float, beta: float, epsilon: float, *, tight: bool, enough: float = 1.0) -> float:
    """δ of sampling alone; where it is above ``enough``, any number from there to it."""
    less = math.exp(min(epsilon, LARGEST)) if tight else 0.0
    return _largest_tail(k, beta, gamma(beta, epsilon), less=less, enough=enough)


def _largest_tail(k: float, beta: float, share: float, *, less: float = 0.0, enough: float) -> float:
    """Return the largest P(Bin(n, β) >= max(k, ⌊γ n⌋ + 1)) over all n, of a share γ above β.

    ``less`` times the tail of n - 1 rows from the same count on is subtracted. The search ends at once at a value above
    ``enough``.
    """
    rate, tail = _divergence(share, beta), _tails()
    # Up to there tails at k grow with the rows. Differences need not; of fewer than k rows nothing is published.
    first = int(k) if less else math.ceil(k / share - 1 - NEAR)
    most, at_once, last = 0.0, AT_ONCE, first + MAX_EXACT_ROWS
    while True:
        rows = np.arange(first, first + at_once, dtype=float)
        likely = share * rows
        counts = np.floor(likely) + 1
        near = np.abs(likely - np.round(likely)) < NEAR
        counts = np.maximum(np.where(near, np.round(likely), counts), k)
        found = tail(rows, counts, beta)
        if less:
            found -= less * tail(rows - 1, counts, beta)
        most = max(most, float(found.max()))
        first, at_once = first + at_once, min(2 * at_once, MAX_ROWS_AT_ONCE)
        rest = math.exp(-first * rate)
        if rest <= most or most > enough or (rate > 0 and first * rate > 745):
            return min(1.0, most)
        if first >= last:
            return min(rest, _largest_tail(k, beta, share, enough=enough)) if less else rest


def _divergence(share: float, beta: float) -> float:
    """Return the Kullback-Leibler divergence of γ from β: a tail of n rows is exp(-n KL) at most."""
    others = 0.0 if share >= 1 else (1 - share) * math.log((1 - share) / (1 - beta))
    return share * math.log(share / beta) + others


def _tails() -> Callable[[Floats, Floats, float], Floats]:
    """P(Bin(n, β) >= j)."""
    special = extra_module("scipy.special", extra="dp", purpose="δ of sampled classes")

    def tail(rows: Floats, counts: Floats, beta: float) -> Floats:
        possible = counts <= rows
        found = special.betainc(np.maximum(counts, 1), np.where(possible, rows - counts + 1, 1), beta)
        return np.where(possible, np.where(counts <= 0, 1.0, found), 0.0)

    return tail


def _least(suffices: Callable[[int], bool]) -> int | None:
    """Return the least number of at least 2 that suffices, where all larger ones do; None if none is small enough."""
    enough = 2
    while not suffices(enough):
        if enough >= MAX_K:
            return None
        enough *= 2
    too_few = 1 if enough == 2 else enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        too_few, enough = (too_few, middle) if suffices(middle) else (middle, enough)
    return enough


# guarded: tests/unit/test_guarded_settings.py::TestSampledClasses
def _admissible(beta: Any, epsilon: Any) -> Any:
    """Return whether ε is at least what it costs that a row may be missing."""
    return epsilon >= -np.log1p(-beta) - NEAR


def _refuse(
    *,
    epsilon: ArrayLike,
    k: ArrayLike = 2,
    beta: ArrayLike | None = None,
    delta: float = 0.5,
    epsilon_node: float = 0.0,
    nodes: float = 1,
) -> None:
    """Refuse what is out of its range, all at once. What is not given has a value that is in it."""
    counts, shares, budgets = (np.asarray(each, dtype=float) for each in (k, 0.5 if beta is None else beta, epsilon))
    possible = bool(np.all((shares > 0) & (shares < 1)))
    rules = {
        "k must be a whole number of at least 2": (counts >= 2) & (counts == np.floor(counts)) & (counts <= MAX_K),
        "beta must be above 0 and below 1": possible,
        "epsilon must be above 0": beta is not None or budgets > 0,
        "epsilon must be at least -ln(1 - beta), which it costs that a row may be missing": (
            beta is None or not possible or _admissible(shares, budgets)
        ),
        "epsilon must be finite": np.isfinite(budgets),
        "epsilon_node must be finite and not negative": 0 <= epsilon_node < math.inf,
        "epsilon must be at least epsilon_node, which is a part of it": ~(budgets < epsilon_node),
        "nodes must be a whole number of at least 1": nodes >= 1 and nodes == np.floor(nodes),
        "delta must be above 0 and below 1": 0 < delta < 1,
    }
    problems = [rule for rule, holds in rules.items() if not np.all(holds)]
    if problems:
        raise PolicyError("δ cannot be computed:", problems)
