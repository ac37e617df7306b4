"""DiffGen under audit: each kind of draw with nearly all of the budget on it; and the published errors, found.

All pairs and draws at 100,000 runs: ``python -m tests.benchmarks.audits``.
"""

import pytest

import sqlanon as sa
from sqlanon.chance.accountant import Charge
from sqlanon.chance.exact import Integers, Probability
from sqlanon.methods.cut_pieces import Piece
from sqlanon.methods.diffgen import draws
from tests.diffgen_pairs import DRAWS, PAIRS, audited

RUNS = 10_000
CONFIDENCE = 0.9999
"""One in 10,000 audits may call a sound mechanism a violation; the seeds are fixed, so that it is settled by now."""

TOGETHER = ("all draws", "information")
FEW = ("a combination that nobody has", "a number above all others", "the only row, a set without items")


HOSTILE = {
    "the choice": ("what decides between two labels", "the only row", "the only one of its class"),
    "the split": ("a number above all others", "a number below all others", "between two numbers", "the only row"),
    "the sets that are kept": ("a set without items", "the only row, a set without items", "a set of all items"),
    "the counts": ("the only row", "a row like another", "the only one of its class"),
}
"""Of each draw alone, the pairs that are meant for it."""


def test_all_draws_and_pairs_are_there() -> None:
    assert {*HOSTILE, *TOGETHER} == {*DRAWS}
    assert {name for names in HOSTILE.values() for name in names} | {*FEW} <= {*PAIRS}


@pytest.mark.parametrize(("draw", "name"), [(draw, name) for draw, names in HOSTILE.items() for name in names])
def test_no_violation_is_found(draw: str, name: str) -> None:
    audit = audited(draw, name, RUNS, CONFIDENCE, sa.SeededSource(11))
    assert not audit.violates, audit


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("draw", TOGETHER)
def test_nor_of_all_draws_together(draw: str, name: str) -> None:
    audit = audited(draw, name, RUNS, CONFIDENCE, sa.SeededSource(12))
    assert not audit.violates, audit


class EmptySkipped(sa.SeededSource):
    """Combinations that nobody has are left out (D3)."""

    def binomial(self, trials: int, probability: Probability, *, runs: int = 1) -> Integers:
        return super().binomial(0, probability, runs=runs)


class BoundedNoise(sa.SeededSource):
    """Noise has no tails (D6)."""

    def discrete_laplace(self, size: int, charge: Charge, *, sensitivity: int = 1) -> Integers:
        return super().discrete_laplace(size, charge, sensitivity=sensitivity).clip(-1, 1)


class SharperChoice(sa.SeededSource):
    """Scores count three times."""

    def permute_and_flip(
        self, scores: Integers, charge: Charge, *, sensitivity: int, monotonic: bool = False, runs: int = 1
    ) -> Integers:
        return super().permute_and_flip(3 * scores, charge, sensitivity=sensitivity, monotonic=monotonic, runs=runs)


@pytest.mark.parametrize(
    ("draw", "name", "source"),
    [
        ("the counts", "the only row", EmptySkipped(1)),
        ("the sets that are kept", "a set without items", EmptySkipped(2)),
        ("the sets that are kept", "the only row, a set without items", EmptySkipped(3)),
        ("the counts", "a row like another", BoundedNoise(4)),
        ("the choice", "what decides between two labels", SharperChoice(5)),
    ],
)
def test_published_errors_are_found(draw: str, name: str, source: sa.SeededSource) -> None:
    assert audited(draw, name, RUNS, CONFIDENCE, source).violates


def test_splits_between_the_values_alone_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The splits above the largest value, and those below the smallest, are left out (D4)."""
    honest = draws.groups

    def within_values(interval: Piece, scored: draws.Scored) -> tuple[Integers, Integers, Integers]:
        first, last = scored.values[0], scored.values[-1]
        return honest(Piece(interval.position, int(first), int(last) + 1), scored)

    monkeypatch.setattr(draws, "groups", within_values)
    assert audited("the split", "a number above all others", RUNS, CONFIDENCE, sa.SeededSource(6)).violates
