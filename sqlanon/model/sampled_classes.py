"""The δ of publishing classes of k sampled rows: Bernoulli samples, at a node that is public or drawn separately.

Every row is sampled independently with probability β. Counts of k or more sampled rows in a class are published, and
nothing about other classes. Between neighbours, one class has m rows and m - 1. A count j is at most e^ε times as
likely with m rows as with m - 1 if and only if j <= γ m, with γ = 1 - (1 - β) e^-ε; so δ is the probability of larger
published counts, P(Bin(m, β) >= max(k, ⌊γ m⌋ + 1)), for the worst m. The reverse direction requires ε >= -ln(1 - β)
(spec/epsafe.md (b)).

If the node is chosen on the sample itself, the choice depends on the sample, too, and the share γ up to which counts
are likely enough is smaller: :func:`delta_on_sample`.

P(Bin(n, β) >= j) is a regularized incomplete beta function. As n grows it follows a sawtooth, but never exceeds
exp(-n KL), which falls: so the scan of n can end when this is below the maximum so far.

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
from sqlanon.satellites import extra_module

Floats = NDArray[np.float64]

AT_ONCE = 256  # numbers of rows in the first batch; each batch doubles
MAX_ROWS_AT_ONCE = 1 << 16  # numbers of rows in the largest batch
MAX_EXACT_ROWS = 1 << 24
"""Beyond this many numbers of rows, Chernoff's bound replaces tails, which are never larger."""
NEAR = 1e-9  # γ n this close to a whole number is taken for it: the tail gets larger, which is safe under rounding
MAX_K = 1 << 40  # the largest k to try
LARGEST = 700.0  # larger ε overflow e^ε; this one subtracts less, which is safe
SHARES = 1000  # a largest β is a multiple of 1 / SHARES


def delta(k: ArrayLike, beta: ArrayLike, epsilon: ArrayLike, *, tight: bool = False) -> Any:
    """Return δ of publishing the classes with k or more rows in a Bernoulli sample.

    Args:
        k: the least published count, 2 or more.
        beta: the probability of each row to be in the sample, above 0 and below 1.
        epsilon: ε of the sampling, at least -ln(1 - beta).
        tight: whether to subtract the part of larger counts that e^ε allows: the hockey-stick divergence at ε, which
            is smaller. Otherwise it is the δ of Li et al. 2012.

    Returns:
        δ in [0, 1]: a number, or an array of the broadcast shape of the arguments.

    Raises:
        PolicyError: an argument is outside its range, listing all.
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
    """Return δ of publishing classes of k sampled rows at a node that was chosen on the sample, not on the whole table.

    A count j is at most (1 - β)(1 + e^(2 ε') j / (m - j)) times as likely with m rows in a class as with m - 1.
    That is at most e^ε for j <= γ m, with γ = ρ / (1 + ρ) and ρ = (e^ε / (1 - β) - 1) e^(-2 ε'). Any of the nodes
    may be chosen because its count is larger, so δ is a sum over all of them (spec/epsafe.md (b), "Alternatives").
    It is 1 if the choice costs so much that counts of the expected size are too likely.

    Args:
        k, beta: as in :func:`delta`.
        epsilon_node: ε' of the choice of the node, differentially private on the sample, 0 or more.
        epsilon: ε of the choice and the sampling together, at least epsilon_node and -ln(1 - beta).
        nodes: the number of nodes to choose from, 1 or more.

    Raises:
        PolicyError, EngineError: as in :func:`delta`.
    """
    _refuse(k=k, beta=beta, epsilon=epsilon, epsilon_node=epsilon_node, nodes=nodes)
    odds = epsilon - math.log1p(-beta) + math.log(gamma(beta, epsilon)) - 2 * epsilon_node
    share = 1 / (1 + math.exp(-odds)) if odds > 0 else math.exp(odds) / (1 + math.exp(odds))
    # The tails of the expected share, or of a smaller one, don't fall as rows are added.
    return 1.0 if share <= beta else min(1.0, nodes * _largest_tail(k, beta, share, enough=1 / nodes))


def minimum_k(beta: float, epsilon: float, delta: float, *, tight: bool = False) -> int:
    """Return the least k for which publishing sampled classes costs at most δ.

    δ falls as k grows, so it is found by bisection.

    Args:
        beta: the probability of each row to be in the sample, above 0 and below 1.
        epsilon: ε of the sampling, at least -ln(1 - beta).
        delta: the maximum cost, above 0 and below 1.
        tight: as in :func:`delta`.

    Raises:
        PolicyError: an argument is outside its range, listing all.
        EngineError: scipy is not installed.
    """
    _refuse(beta=beta, epsilon=epsilon, delta=delta)

    def suffices(k: int) -> bool:
        return _delta(k, beta, epsilon, tight=tight, enough=delta) <= delta

    found = _least(suffices)
    if found is None:
        raise PolicyError(f"no k up to {MAX_K:,} costs so little δ: use a larger δ or ε")
    return found


# guarded: tests/unit/test_guarded_settings.py::TestSampledClasses
def maximum_beta(k: int, epsilon: float, delta: float, *, tight: bool = False) -> Fraction:
    """Return the largest β, the probability of a row to be in the sample, for which publishing costs at most δ.

    As β grows δ follows a sawtooth, so that some smaller β may cost more: each is tried, from above.

    Args:
        k: the least published count, 2 or more.
        epsilon: ε of the sampling, above 0.
        delta: the maximum cost, above 0 and below 1.
        tight: as in :func:`delta`.

    Returns:
        A multiple of 1/1000 above 0 and below 1, with ε >= -ln(1 - β).

    Raises:
        PolicyError: an argument is outside its range, listing all; or no such β costs so little.
        EngineError: scipy is not installed.
    """
    _refuse(k=k, epsilon=epsilon, delta=delta)
    for parts in range(SHARES - 1, 0, -1):
        beta = parts / SHARES
        if _admissible(beta, epsilon) and _delta(k, beta, epsilon, tight=tight, enough=delta) <= delta:
            return Fraction(parts, SHARES)
    raise PolicyError(f"no beta of 1/{SHARES} or more costs so little δ: use a larger δ, ε or k")


def least_rows(k: int, beta: float, probability: float) -> int | None:
    """Return the fewest rows of a class for which k or more are sampled with at least a probability.

    None if no table is large enough. ``beta`` is the probability of each row to be in the sample.
    """
    tail = _tails()
    return _least(lambda rows: bool(tail(np.asarray(float(rows)), np.asarray(float(k)), beta) >= probability))


# guarded: tests/unit/test_guarded_settings.py::TestSampledClasses
def gamma(beta: float, epsilon: float) -> float:
    """Return γ = 1 - (1 - beta) e^-epsilon, spec/epsafe.md (b).

    Up to this share of a class, a sampled count is at most e^ε times as likely with one more row.
    """
    return 1 - (1 - beta) * math.exp(-epsilon)


def _delta(k: float, beta: float, epsilon: float, *, tight: bool, enough: float = 1.0) -> float:
    """Return δ of sampling; if it is above ``enough``, any number between both."""
    less = math.exp(min(epsilon, LARGEST)) if tight else 0.0
    return _largest_tail(k, beta, gamma(beta, epsilon), less=less, enough=enough)


def _largest_tail(k: float, beta: float, share: float, *, less: float = 0.0, enough: float) -> float:
    """Return the largest P(Bin(n, β) >= max(k, ⌊γ n⌋ + 1)) over all n, for a share γ above β.

    ``less`` times the tail of n - 1 rows from this count up is subtracted. The search ends at a value above ``enough``.
    """
    rate, tail = _divergence(share, beta), _tails()
    # Below it, tails at k grow with the rows. Differences need not; and fewer than k rows are never published.
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
    """Return the Kullback-Leibler divergence of γ from β: a tail of n rows is at most exp(-n KL)."""
    others = 0.0 if share >= 1 else (1 - share) * math.log((1 - share) / (1 - beta))
    return share * math.log(share / beta) + others


def _tails() -> Callable[[Floats, Floats, float], Floats]:
    """Return the function P(Bin(n, β) >= j)."""
    special = extra_module("scipy.special", extra="dp", purpose="δ of sampled classes")

    def tail(rows: Floats, counts: Floats, beta: float) -> Floats:
        possible = counts <= rows
        found = special.betainc(np.maximum(counts, 1), np.where(possible, rows - counts + 1, 1), beta)
        return np.where(possible, np.where(counts <= 0, 1.0, found), 0.0)

    return tail


def _least(suffices: Callable[[int], bool]) -> int | None:
    """Return the least number from 2 up that suffices, if all larger ones do; None if it is too large."""
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
    """Return whether ε covers the cost of a row that may be missing."""
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
    """Refuse arguments outside their ranges, all at once; defaults are within theirs."""
    counts, shares, budgets = (np.asarray(each, dtype=float) for each in (k, 0.5 if beta is None else beta, epsilon))
    possible = bool(np.all((shares > 0) & (shares < 1)))
    rules = {
        "k must be a whole number of at least 2": (counts >= 2) & (counts == np.floor(counts)) & (counts <= MAX_K),
        "beta must be above 0 and below 1": possible,
        "epsilon must be above 0": beta is not None or budgets > 0,
        "epsilon must be at least -ln(1 - beta), the cost of a row that may be missing": (
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
