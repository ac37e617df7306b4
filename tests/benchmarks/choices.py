"""What an exact choice between groups of candidates takes, next to the same choice in floating point.

    python -m tests.benchmarks.choices [--groups 30000]

The exact one is timed where floats decide, and where they do not, which is for one in a hundred million.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

import sqlanon as sa
from sqlanon.mechanisms import grouped
from sqlanon.mechanisms.accountant import Accountant

TIMES = 25


def main() -> None:
    """Time them, with scores and counts that are spread as widely as those of splits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", type=int, default=30_000)
    size = parser.parse_args().groups
    generator = np.random.default_rng(1)
    scores, counts = generator.integers(0, size, size), generator.integers(1, 2**40, size)
    words = partial(generator.integers, 0, 2**64, dtype=np.uint64)
    source, accountant = sa.SeededSource(1), Accountant(None, dataset="", method="", policy_sha256="")
    for rate in ("0.001", "0.01", "0.1", "1"):
        charge = accountant.charge({"choice": sa.Budget(2 * Fraction(rate))})["choice"]
        weights = grouped.Weights.of(scores, counts, 1 / Fraction(rate))
        logs = np.log(counts) + float(rate) * scores
        times = {
            "exact": median(lambda c=charge: source.grouped_exponential_mechanism(scores, counts, c, sensitivity=1)),
            "floats": median(lambda logs=logs: source.softmax_choice(logs)),
            "undecided": median(lambda w=weights: grouped.exactly_inverted(w, source.seed(), words), times=1),
        }
        shown = ", ".join(f"{name} {1000 * seconds:.1f} ms" for name, seconds in times.items())
        sys.stdout.write(f"{size:,} groups, ε / 2Δ = {rate}: {shown}\n")


def median(work: Callable[[], object], times: int = TIMES) -> float:
    """How long some work takes, of so many times."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return statistics.median(found)


if __name__ == "__main__":
    main()
