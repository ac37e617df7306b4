"""The source of private releases: OpenDP's exact samplers and the system's entropy."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol, cast

import numpy as np

from sqlanon.chance.accountant import Charge, RhoCharge, require_covered, require_rho
from sqlanon.chance.exact import Integers
from sqlanon.chance.random_source import SystemSource, without_opendp
from sqlanon.chance.scales import difference_sensitivity, scale_for, scale_in_rho

DRAWS_AT_ONCE = 100_000  # OpenDP takes and returns lists, some ten times as large as arrays


class Mechanism(Protocol):
    """The part of OpenDP's untyped ``Measurement`` that is used here."""

    def __call__(self, data: list[int]) -> list[int] | int: ...

    def map(self, sensitivity: int) -> float:
        """Return the cost of a draw in ε or in ρ, rounded up."""


class OpenDPSource(SystemSource):
    """Noise and noisy choices by OpenDP, which also computes their cost; all else from the system's entropy.

    All methods but :meth:`laplace` and :meth:`softmax_choice` draw exactly, in integers and rationals: floating point
    would leave traces of the data in its last digits. Draws don't take constant time: let no adversary time them.

    Raises:
        PolicyError: OpenDP is not installed.
    """

    def __init__(self) -> None:
        require_opendp()

    def discrete_laplace(self, size: int, charge: Charge, *, sensitivity: int = 1) -> Integers:
        mechanism = laplace_mechanism(scale_for(charge.budget.epsilon, sensitivity))
        require_covered(charge, mechanism.map(sensitivity))
        return _noise(mechanism, size)

    def discrete_gaussian(self, size: int, charge: RhoCharge, *, sensitivity: int = 1) -> Integers:
        mechanism = gaussian_mechanism(scale_in_rho(charge.rho, sensitivity))
        require_rho(charge, mechanism.map(sensitivity))
        return _noise(mechanism, size)

    def gumbel_choice(self, scores: Integers, charge: RhoCharge, *, sensitivity: int, runs: int = 1) -> Integers:
        mechanism = noisy_max_mechanism(scale_in_rho(charge.rho, sensitivity), False, in_rho=True)
        require_rho(charge, mechanism.map(sensitivity))
        return _choices(mechanism, scores, runs)

    def permute_and_flip(
        self, scores: Integers, charge: Charge, *, sensitivity: int, monotonic: bool = False, runs: int = 1
    ) -> Integers:
        scale = scale_for(charge.budget.epsilon, difference_sensitivity(sensitivity, monotonic=monotonic))
        mechanism = noisy_max_mechanism(scale, monotonic)
        require_covered(charge, mechanism.map(sensitivity))
        return _choices(mechanism, scores, runs)


def _noise(mechanism: Mechanism, size: int) -> Integers:
    noise = np.empty(size, dtype=np.int64)
    for start in range(0, size, DRAWS_AT_ONCE):
        portion = noise[start : start + DRAWS_AT_ONCE]
        portion[:] = mechanism([0] * len(portion))
    return noise


def _choices(mechanism: Mechanism, scores: Integers, runs: int) -> Integers:
    candidates = scores.tolist()
    return np.array([mechanism(candidates) for _ in range(runs)], dtype=np.int64)


@lru_cache(maxsize=1)
def require_opendp() -> None:
    """Enable the features that the imports below need.

    ``opendp.prelude`` would import scikit-learn, SciPy and pandas where installed: 1.3 s of CPU instead of 0.14.
    """
    try:
        from opendp.mod import enable_features
    except ImportError:
        raise without_opendp() from None
    enable_features("contrib")


@lru_cache(maxsize=16)
def laplace_mechanism(scale: float) -> Mechanism:
    require_opendp()
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance

    return cast(Mechanism, make_laplace(vector_domain(atom_domain(T="i64")), l1_distance(T="i64"), scale))


@lru_cache(maxsize=16)
def gaussian_mechanism(scale: float) -> Mechanism:
    require_opendp()
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_gaussian
    from opendp.metrics import l2_distance

    return cast(Mechanism, make_gaussian(vector_domain(atom_domain(T="i64")), l2_distance(T="i64"), scale))


@lru_cache(maxsize=32)
def noisy_max_mechanism(scale: float, monotonic: bool, *, in_rho: bool = False) -> Mechanism:
    """Return OpenDP's noisy max: permute-and-flip in ε, the exponential mechanism in ρ."""
    require_opendp()
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_noisy_max
    from opendp.measures import max_divergence, zero_concentrated_divergence
    from opendp.metrics import linf_distance

    space = vector_domain(atom_domain(T="i64")), linf_distance(T="i64", monotonic=monotonic)
    measure = zero_concentrated_divergence() if in_rho else max_divergence()
    return cast(Mechanism, make_noisy_max(*space, measure, scale))
