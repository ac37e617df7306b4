"""The entropy of the operating system, for draws that are made of uniform words."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from sqlanon.errors import PolicyError
from sqlanon.mechanisms.accountant import Charge
from sqlanon.mechanisms.base import WordSource
from sqlanon.mechanisms.source import Integers
from sqlanon.model.extras import how_to_install


class SystemSource(WordSource):
    """Draws made of the operating system's entropy; noise, and choices by permute-and-flip, are OpenDP's alone."""

    def discrete_laplace(self, size: int, charge: Charge, *, sensitivity: int = 1) -> Integers:
        raise without_opendp()

    def exponential_mechanism(
        self, scores: Integers, charge: Charge, *, sensitivity: int, monotonic: bool = False, runs: int = 1
    ) -> Integers:
        raise without_opendp()

    def _words(self, count: int) -> NDArray[np.uint64]:
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


def without_opendp() -> PolicyError:
    """What is raised where OpenDP is needed and not there."""
    return PolicyError("differential privacy needs OpenDP, which is not installed", [how_to_install("dp")])
