"""DiffGen as a mechanism that can be audited: its cuts are drawn run by run that differ, its counts in SQL."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.prepare import prepare
from sqlanon.engines.base import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.evaluation.audit_outputs import countable
from sqlanon.evaluation.mechanisms import AuditedPolicy
from sqlanon.mechanisms.accountant import Accountant, Portions
from sqlanon.mechanisms.source import RandomSource
from sqlanon.methods.cuts.diffgen.draws import LEAVES, Draws, Scored, SetOfChildren, draw_leaves
from sqlanon.methods.cuts.diffgen.encode import checked, encode
from sqlanon.methods.cuts.diffgen.queries import SHOWN
from sqlanon.methods.cuts.diffgen.specialize import Chosen, CountedRows, Evidence, specialized
from sqlanon.methods.cuts.shared.pieces import Axis, Cut, Partitions, Piece, Specialization
from sqlanon.methods.shared.private.chance import bounded_source
from sqlanon.model.methods.cuts import DiffGen
from sqlanon.queries.noise.combinations import NOISY, runs_by_outcome
from sqlanon.queries.noise.unseen import INDEX


class AuditedDiffGen(AuditedPolicy):
    """What a run would publish: the specializations in their order, which sets are left, and all counts that are shown.

    Combinations are known by their number in the public domain of the cut.
    """

    def _prepared(self, source: ResolvedSource) -> BoundPolicy:
        return checked(prepare(self._session._engine, source, self._policy))

    def _outcomes(
        self, engine: Engine, bound: BoundPolicy, accountant: Accountant, runs: int
    ) -> Iterator[tuple[object, int]]:
        points = encode(engine, bound, bounded_source(engine, bound, self._source))
        settings = points.settings
        evidence = CountedRows(engine, settings.utility)
        found = branches(
            points.axes,
            points.classes,
            settings,
            evidence,
            self._source,
            lambda: accountant.charge_in_portions(settings.name, settings.budget),
            runs,
        )
        for chosen, portions, count in found:
            with engine.scratch():
                for partitions in chosen.cut.partitions.values():
                    evidence.partitioned(partitions)
                draw_leaves(
                    engine, chosen.cut, points.classes, settings, self._source, portions.rest(LEAVES), runs=count
                )
                rows = engine.fetch(runs_by_outcome(SHOWN.table, INDEX), "outcomes")
            drawn = _visible(chosen)
            silent = count - sum(int(row["runs"]) for row in rows)
            for row in rows:
                counts = {item[INDEX]: item[NOISY] for item in row["shown"]}
                yield countable((drawn, counts)), int(row["runs"])
            if silent:
                yield countable((drawn, {})), silent


def _visible(chosen: Chosen) -> tuple[object, ...]:
    """What there is to see of a cut besides its counts, and how it came about."""
    kept = tuple(partitions.kept for partitions in chosen.cut.partitions.values())
    return (tuple((each.piece, each.children) for each in chosen.specializations), kept)


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
