"""Every private method under audit on every hostile pair of neighbours, claimed against found.

    python -m tests.benchmarks.audits [--runs 100000] [--source seeded|system] [--chart FILE]

Prints a line per audit: the lower bound of ε that was found, at the claimed δ and at 99.99 % confidence. The seeded
source takes seconds an audit, the operating system's randomness minutes.
"""

import argparse
import itertools
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import sqlanon as sa
from sqlanon.audits.audit import Audit, chart
from sqlanon.chance.random_source import RandomSource
from sqlanon.evaluation.results import save
from sqlanon.model.methods.noisy import CELLS, ROLLED_UP
from tests.benchmarks.processes import say
from tests.deep import test_epsilon_safe_samples as epsilon_safe
from tests.deep.test_private_audits import CONFIDENCE, least
from tests.diffgen_pairs import DRAWS, PAIRS, audited
from tests.hostile import METHODS, METHODS_OF_MANY_ROWS, Pair, pairs, pairs_of_many_rows, policy, session_on


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--source", choices=("seeded", "system"), default="seeded")
    parser.add_argument("--chart", type=Path)
    arguments = parser.parse_args()
    audits: dict[str, Audit] = {}
    for method_name, pair_name, audit in _audits(arguments.runs):
        began = time.perf_counter()
        source = sa.SeededSource(len(audits)) if arguments.source == "seeded" else sa.OpenDPSource()
        audits[f"{method_name}: {pair_name}"] = audit(source)
        _tell(method_name, pair_name, audits[f"{method_name}: {pair_name}"], began)
    if arguments.chart is not None:
        save(lambda: chart(audits), arguments.chart, replace=True)
    say(f"{sum(bool(audit.violates) for audit in audits.values())} of {len(audits)} audits found a violation")


def _audits(runs: int) -> Iterator[tuple[str, str, Callable[[RandomSource], Audit]]]:
    for name, method in {**METHODS, **METHODS_OF_MANY_ROWS}.items():
        for pair_name, pair in _pairs(method).items():
            yield name, pair_name, partial(_on, pair, policy(method), runs)
    for name, sampled in epsilon_safe.ON_SAMPLE.items():
        for pair_name, pair in epsilon_safe.pairs(sampled.sampling.k).items():
            yield f"EpsilonSafe, {name}", pair_name, partial(_on, pair, epsilon_safe.policy(sampled), runs)
    for draw, pair_name in itertools.product(DRAWS, PAIRS):
        yield f"DiffGen, {draw}", pair_name, partial(_of_diffgen, draw, pair_name, runs)


def _on(pair: Pair, asked: sa.Policy, runs: int, source: RandomSource) -> Audit:
    mechanism = sa.evaluation.repeatable(session_on(pair), asked, source)
    return sa.evaluation.audit_privacy(mechanism, "without", "with_one", runs, CONFIDENCE)


def _of_diffgen(draw: str, pair_name: str, runs: int, source: RandomSource) -> Audit:
    return audited(draw, pair_name, runs, CONFIDENCE, source)


def _tell(method_name: str, pair_name: str, audit: Audit, began: float) -> None:
    seconds = time.perf_counter() - began
    say(
        f"{method_name:<42} {pair_name:<50} {audit.lower_bound:6.3f} of {float(audit.claimed.epsilon):g}"
        f"{'  VIOLATED' if audit.violates else ''}  ({seconds:.0f} s)"
    )


def _pairs(method: sa.IPA | sa.Histogram) -> dict[str, Pair]:
    """Those for individuals with as many rows as the method allows."""
    found = least(method)
    cells, rolled_up, rows = found[CELLS], found.get(ROLLED_UP, 5), method.rows_per_individual
    return pairs(cells, rolled_up) if rows == 1 else pairs_of_many_rows(cells, rolled_up, rows)


if __name__ == "__main__":
    main()
