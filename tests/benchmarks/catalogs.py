"""What the catalog of counterfeits takes: to group classes, and to tell how likely a row is a person's.

Classes are random: some were filled up to k, having had 1 to k - 1 rows, others have k rows of their own. Of their 14
values, each is less frequent than the one before. CPU seconds of one process, and what comes out.

    python -m tests.benchmarks.catalogs [--large] [--terms N]
"""

import argparse
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from sqlanon.methods.h_ceiling import links as worlds
from sqlanon.methods.h_ceiling.catalogs import grouped
from sqlanon.methods.h_ceiling.conditions import ConditionF, FilledClasses, Lemma
from sqlanon.methods.h_ceiling.links import Links
from tests.benchmarks.processes import say

T = TypeVar("T")

VALUES = 14
CASES = [(5_000, 5_000, 5), (5_000, 0, 5), (5_000, 5_000, 10), (500, 20, 10)]
"""How many classes have counterfeits, how many have k rows without any, and k."""
LARGE = [(50_000, 50_000, 5)]


def random_classes(deficient: int, others: int, k: int) -> FilledClasses:
    """Classes in random order, whose rows have random values."""
    generator = np.random.default_rng(1)
    real = np.concatenate([generator.integers(1, k, deficient), np.full(others, k)])
    generator.shuffle(real)
    frequencies = 1 / np.arange(1, VALUES + 1) ** 1.2
    values = generator.choice(VALUES, (len(real), k), p=frequencies / frequencies.sum())
    cells, cell_of = np.unique(np.arange(len(real))[:, None] * VALUES + values, return_inverse=True)
    fakes = cell_of.reshape(values.shape)[np.arange(k) >= real[:, None]]
    return FilledClasses.of_columns(
        k, cells // VALUES, cells % VALUES, np.bincount(cell_of.ravel()), np.bincount(fakes, minlength=len(cells))
    )


def timed(work: Callable[[], T]) -> tuple[T, float]:
    start = time.process_time()
    return work(), time.process_time() - start


def report(deficient: int, others: int, k: int) -> None:
    classes = random_classes(deficient, others, k)
    for condition in (ConditionF, Lemma):
        catalog, grouping = timed(lambda condition=condition: grouped(condition(classes)))
        assert catalog is not None
        found = Links(classes)
        links, linking = timed(lambda catalog=catalog, found=found: [found.of(group) for group in catalog.groups])
        sizes = sorted(map(len, catalog.groups))
        say(
            f"{deficient:>6} + {others:<6} k = {k:<2} {condition.__name__:<10} grouping {grouping:6.2f} s, "
            f"{len(sizes)} groups, the largest of {sizes[-1]}; links {linking:6.2f} s, "
            f"{sum(not link.exact for link in links)} not exact, k_eff from "
            f"{float(min(link.effective_k for link in links)):.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="50,000 classes with counterfeits, too")
    parser.add_argument("--terms", type=int, default=worlds.MAX_TERMS, help="the most terms of the sums of a group")
    arguments = parser.parse_args()
    worlds.MAX_TERMS = arguments.terms
    for case in [*CASES, *(LARGE if arguments.large else [])]:
        report(*case)


if __name__ == "__main__":
    main()
