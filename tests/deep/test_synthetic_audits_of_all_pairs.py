"""Synthetic rows under audit on each pair; broken draws, found; and choices among candidates that are close."""

import pytest

import sqlanon as sa
from sqlanon.chance.accountant import RhoCharge
from sqlanon.chance.exact import Integers
from sqlanon.chance.random_source import RandomSource
from tests.full.test_samplers import refuse_gumbel_choice, source
from tests.full.test_synthetic_audits import CONFIDENCE, DECIDING
from tests.synthetic_pairs import PAIRS, SHARES, Pair, audited

__all__ = ["source"]
RUNS = 2_000


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("share", SHARES)
def test_no_violation_is_found(share: str, name: str) -> None:
    audit = audited(share, PAIRS[name], RUNS, CONFIDENCE, sa.SeededSource(21))
    assert not audit.violates, audit


@pytest.mark.parametrize("share", SHARES)
def test_nor_by_individual(share: str) -> None:
    """Of two rows, which both are counted."""
    rows = [(number, "x", "v") for number in range(6)]
    audit = audited(share, Pair(rows, [(9, "x", "u"), (9, "x", "u")]), RUNS, CONFIDENCE, sa.SeededSource(22), rows=2)
    assert not audit.violates, audit


def test_what_a_choice_loses_is_seen() -> None:
    """Or nothing would follow from no violation."""
    audit = audited("the choices", PAIRS[DECIDING], RUNS, CONFIDENCE, sa.SeededSource(3))
    assert 0.2 < audit.lower_bound < 1


class LittleNoise(sa.SeededSource):
    """A quarter of the noise."""

    def discrete_gaussian(self, size: int, charge: RhoCharge, *, sensitivity: int = 1) -> Integers:
        return super().discrete_gaussian(size, charge, sensitivity=sensitivity) // 4


class NoiseOfOne(sa.SeededSource):
    """Noise for one count, or one row, whatever is counted."""

    def discrete_gaussian(self, size: int, charge: RhoCharge, *, sensitivity: int = 1) -> Integers:
        return super().discrete_gaussian(size, charge, sensitivity=1)


class SharperChoice(sa.SeededSource):
    """Scores count six times."""

    def gumbel_choice(self, scores: Integers, charge: RhoCharge, *, sensitivity: int, runs: int = 1) -> Integers:
        return super().gumbel_choice(6 * scores, charge, sensitivity=sensitivity, runs=runs)


@pytest.mark.parametrize(
    ("share", "name", "source"),
    [
        ("the counts", "the only row", LittleNoise(1)),
        ("the counts", "a combination that nobody has", LittleNoise(2)),
        ("the report", "a row like another", NoiseOfOne(3)),
        ("all draws", "a row like another", NoiseOfOne(4)),
        ("the choices", DECIDING, SharperChoice(5)),
    ],
)
def test_broken_draws_are_found(share: str, name: str, source: sa.SeededSource) -> None:
    assert audited(share, PAIRS[name], RUNS, CONFIDENCE, source).violates


@pytest.mark.parametrize("sensitivity", [1, 3])
def test_gumbel_choice(source: RandomSource, sensitivity: int) -> None:
    refuse_gumbel_choice(source, sensitivity, [0, 3, 5, 4], 60_000)
