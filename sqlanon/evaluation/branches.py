"""Draws of many runs of DiffGen at once: runs that have drawn alike go on together, so that each cut is made once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.mechanisms.accountant import Portions
from sqlanon.mechanisms.source import RandomSource
from sqlanon.methods.cuts.diffgen.draws import Draws, Scored, SetOfChildren
from sqlanon.methods.cuts.diffgen.specialize import Chosen, Evidence, specialized
from sqlanon.methods.cuts.shared.cut import Cut
from sqlanon.methods.cuts.shared.pieces import Axis, Partitions, Piece, Specialization
from sqlanon.model.methods.cuts import DiffGen


class Remembered:
    """Evidence that is asked each question once."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._answers: dict[Hashable, Any] = {}

    def scores(self, cut: Cut, specializations: Sequence[Specialization]) -> list[int]:
        """See :class:`~.specialize.Evidence`; the score of item sets depends on which of them are left."""
        return [self._score(cut, each) for each in specializations]

    def split_scores(self, intervals: Sequence[Piece]) -> list[Scored]:
        """See :class:`~.specialize.Evidence`."""
        return [self._scored(interval) for interval in intervals]

    def set_counts(self, partitions: Partitions, specialization: Specialization) -> Mapping[SetOfChildren, int]:
        """See :class:`~.specialize.Evidence`."""

        def counts() -> Mapping[SetOfChildren, int]:
            self._show(partitions)
            return self._evidence.set_counts(partitions, specialization)

        found: Mapping[SetOfChildren, int] = self._answer(("sets", partitions, specialization), counts)
        return found

    def partitioned(self, partitions: Partitions) -> None:
        """See :class:`~.specialize.Evidence`; there is nothing to prepare."""

    def _scored(self, interval: Piece) -> Scored:
        found: Scored = self._answer(("splits", interval), lambda: self._evidence.split_scores([interval])[0])
        return found

    def _score(self, cut: Cut, specialization: Specialization) -> int:
        partitions = cut.partitions.get(specialization.piece.position)

        def score() -> int:
            if partitions is not None:
                self._show(partitions)
            return self._evidence.scores(cut, [specialization])[0]

        return int(self._answer(("score", partitions, specialization), score))

    def _show(self, partitions: Partitions) -> None:
        if partitions.specialized:
            self._evidence.partitioned(partitions)

    def _answer(self, question: Hashable, ask: Callable[[], Any]) -> Any:
        if question not in self._answers:
            self._answers[question] = ask()
        return self._answers[question]


class _Branch(Exception):  # noqa: N818 - no error, but a way out
    """Runs part ways: what was drawn, by its name, with how often it was drawn."""

    def __init__(self, drawn: Sequence[tuple[Any, int]]) -> None:
        self.drawn = drawn


class _Replayed(Draws):
    """Draws that are known up to a point, at which they are drawn for all runs that have come there."""

    def __init__(
        self, settings: DiffGen, source: RandomSource, portions: Portions, known: Sequence[Any], runs: int
    ) -> None:
        super().__init__(settings, source, portions)
        self._known = list(known)
        self._runs = runs

    def _drawn(self, draw: Callable[[int], NDArray[Any]]) -> Any:
        if self._known:
            return self._known.pop(0)
        found, times = np.unique(draw(self._runs), axis=0, return_counts=True)
        raise _Branch(list(zip(found, times.tolist(), strict=True)))


# More than six parameters: all that a cut is drawn with, and how often.
def branches(
    axes: Sequence[Axis],
    classes: int,
    settings: DiffGen,
    evidence: Evidence,
    source: RandomSource,
    pay: Callable[[], Portions],
    runs: int,
) -> Iterator[tuple[Chosen, Portions, int]]:
    """The cuts that ``runs`` runs draw, each with what it has left of its budget, and in how many runs it was drawn.

    Args:
        axes, classes, settings: as :func:`~.specialize.specialized` takes them.
        evidence: which is asked each question once.
        source: where chance comes from.
        pay: makes the portions of a run.
        runs: how many.
    """
    evidence = Remembered(evidence)
    open_branches: list[tuple[tuple[Any, ...], int]] = [((), runs)]
    while open_branches:
        known, count = open_branches.pop()
        portions = pay()
        draws = _Replayed(settings, source, portions, known, count)
        try:
            yield specialized(axes, classes, settings.specializations, evidence, draws), portions, count
        except _Branch as branch:
            open_branches += [((*known, drawn), times) for drawn, times in branch.drawn]
