"""The probabilities of all cuts that DiffGen can draw of a small table, exactly but for floating point."""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from sqlanon.audits.exact_audit import PROBABILITIES
from sqlanon.chance.accountant import Accountant, Charge, Portions
from sqlanon.chance.random_source import SeededSource
from sqlanon.methods.cut_pieces import Axis, Piece
from sqlanon.methods.diffgen.draws import (
    CHOICES,
    ITEM_SETS,
    SPLITS,
    CountedRows,
    Draws,
    Scored,
    SetOfChildren,
    specialized,
)
from sqlanon.model.methods.cut_methods import DiffGen

Path = tuple[Any, ...]

DIFFERENCES: dict[str, float] = {"max": 1, "infogain": 2 * (2**20 + 2)}
"""By how much a row changes the difference between two scores: largest counts rise together, information does not."""


class Options(Exception):  # noqa: N818 - no error, but a way out
    """What can be drawn at a point, with the probability of each."""

    def __init__(self, probabilities: Mapping[Any, float]) -> None:
        self.probabilities = probabilities


class Enumerated(Draws):
    """Draws that are given up to a point, at which there are options."""

    def __init__(self, settings: DiffGen, portions: Portions, given: Path) -> None:
        super().__init__(settings, SeededSource(0), portions)
        self._given = list(given)

    def best(self, scores: Sequence[int]) -> int:
        scale = self._scale(self.portions.take(CHOICES, self.settings.step))
        return self._one(lambda: dict(enumerate(PROBABILITIES[self.settings.selection](list(scores), scale))))

    def splits(self, intervals: Sequence[tuple[Piece, Scored]]) -> dict[Piece, int]:
        (charge, *_) = self.portions.take_side_by_side(SPLITS, self.settings.step, len(intervals))
        scale = self._scale(charge)
        return {
            interval: self._one(lambda each=(interval, scored): split_probabilities(*each, scale))
            for interval, scored in intervals
        }

    def kept(self, counts: Mapping[SetOfChildren, int], possible: Sequence[SetOfChildren]) -> list[SetOfChildren]:
        epsilon = self.portions.take(ITEM_SETS, self.settings.step).budget.epsilon
        given = self.settings.set_threshold
        least = math.floor(math.sqrt(2) / epsilon if given is None else given) + 1
        chances = [reached_by_noise(float(epsilon), least - counts.get(each, 0)) for each in possible]
        return self._one(
            lambda: {
                tuple(each for each, is_kept in zip(possible, flags, strict=True) if is_kept): math.prod(
                    chance if is_kept else 1 - chance for chance, is_kept in zip(chances, flags, strict=True)
                )
                for flags in product((False, True), repeat=len(possible))
            }
        )

    def _scale(self, charge: Charge) -> float:
        return DIFFERENCES[self.settings.utility] / float(charge.budget.epsilon)

    def _one(self, options: Callable[[], Mapping[Any, float]]) -> Any:
        if self._given:
            return self._given.pop(0)
        raise Options(options())


def reached_by_noise(epsilon: float, least: int) -> float:
    """The probability that the noise of a row is so much or more: a^|z| (1 - a) / (1 + a), summed from there on."""
    above = math.exp(-epsilon * max(least, 1 - least)) / (1 + math.exp(-epsilon))
    return above if least > 0 else 1 - above


def split_probabilities(interval: Piece, scored: Scored, scale: float) -> dict[int, float]:
    """By place, of the exponential mechanism over all of them."""
    weights: dict[int, float] = {}
    largest = max(scored.scores.tolist(), default=0)
    for place in range(interval.first + 1, interval.end):
        # Of the values below the place, the score behind the last one; none below scores as none above.
        below = int((scored.values < place).sum())
        score = scored.scores[below - 1] if len(scored.values) else 0
        weights[place] = math.exp((score - largest) / scale)
    total = sum(weights.values())
    return {place: weight / total for place, weight in weights.items()}


def path_probabilities(
    axes: Sequence[Axis], classes: int, settings: DiffGen, evidence: CountedRows
) -> dict[Path, tuple[float, Fraction]]:
    """Everything that can be drawn until the cut is there, with its probability and what was spent on it."""
    found: dict[Path, tuple[float, Fraction]] = {}
    accountant = Accountant(None, dataset="", method="diffgen", policy_sha256="")
    open_paths: list[tuple[Path, float]] = [((), 1.0)]
    while open_paths:
        path, probability = open_paths.pop()
        portions = accountant.charge_in_portions("diffgen", settings.budget)
        try:
            specialized(axes, classes, settings.specializations, evidence, Enumerated(settings, portions, path))
            found[path] = probability, settings.budget.epsilon - portions.left
        except Options as options:
            open_paths += [((*path, each), probability * chance) for each, chance in options.probabilities.items()]
    return found
