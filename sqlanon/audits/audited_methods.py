"""DiffGen and synthetic rows as mechanisms that can be audited.

The cuts of DiffGen are drawn run by run that differ, its counts in SQL. Of synthetic rows all is looked at that a run
draws, before it makes rows of that.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.audits.audit_outputs import countable
from sqlanon.audits.mechanisms import AuditedPolicy, shown
from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.prepare import prepare
from sqlanon.chance.accountant import Accountant, Portions
from sqlanon.chance.random_source import RandomSource
from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.methods.chance import bounded_source
from sqlanon.methods.cuts.diffgen.diffgen_queries import SHOWN
from sqlanon.methods.cuts.diffgen.diffgen_run import checked, encode, settings_of
from sqlanon.methods.cuts.diffgen.draws import (
    LEAVES,
    Chosen,
    CountedRows,
    Draws,
    Scored,
    SetOfChildren,
    draw_leaves,
    specialized,
)
from sqlanon.methods.cuts.shared.cut_pieces import Cut, Partitions, Piece, Specialization
from sqlanon.methods.cuts.shared.points import Points
from sqlanon.methods.synthetic import domain, measuring
from sqlanon.model.methods.cut_methods import DiffGen
from sqlanon.queries.noise import INDEX, NOISY, runs_by_outcome


class AuditedDiffGen(AuditedPolicy):
    """The output of a run: the specializations in their order, the sets that are left, and all counts that are shown.

    Combinations are known by their number in the public domain of the cut.
    """

    def _prepared(self, source: ResolvedSource) -> BoundPolicy:
        return checked(prepare(self._session._engine, source, self._policy))

    def _outcomes(
        self, engine: Engine, bound: BoundPolicy, accountant: Accountant, runs: int
    ) -> Iterator[tuple[object, int]]:
        points = encode(engine, bound, bounded_source(engine, bound, self._source))
        settings = settings_of(bound)
        evidence = CountedRows(engine, settings.utility)
        pay = partial(accountant.charge_in_portions, settings.name, settings.budget)
        for chosen, portions, count in branches(points, Remembered(engine, settings.utility), self._source, pay, runs):
            with engine.scratch():
                for partitions in chosen.cut.partitions.values():
                    evidence.partitioned(partitions)
                draw_leaves(
                    engine, chosen.cut, points.classes, settings, self._source, portions.rest(LEAVES), runs=count
                )
                kept = tuple(partitions.kept for partitions in chosen.cut.partitions.values())
                drawn = tuple((each.piece, each.children) for each in chosen.specializations), kept
                yield from shown(engine, runs_by_outcome(SHOWN.table, INDEX), drawn, count, (INDEX, NOISY))


class Remembered(CountedRows):
    """Evidence that is asked each question once; the score of item sets depends on which of them are left."""

    def __init__(self, engine: Compute, utility: str) -> None:
        super().__init__(engine, utility)
        self._answers: dict[Hashable, Any] = {}

    def scores(self, cut: Cut, specializations: Sequence[Specialization]) -> list[int]:
        counted = super().scores

        def score(partitions: Partitions | None, each: Specialization) -> Any:
            ask = partial(counted, cut, [each])
            return self._answer(("score", partitions, each), partitions, ask)[0]

        return [score(cut.partitions.get(each.piece.position), each) for each in specializations]

    def split_scores(self, intervals: Sequence[Piece]) -> list[Scored]:
        counted = super().split_scores
        return [self._answer(("splits", each), None, partial(counted, [each]))[0] for each in intervals]

    def set_counts(self, partitions: Partitions, specialization: Specialization) -> Mapping[SetOfChildren, int]:
        ask = partial(super().set_counts, partitions, specialization)
        found: Mapping[SetOfChildren, int] = self._answer(("sets", partitions, specialization), partitions, ask)
        return found

    def partitioned(self, partitions: Partitions) -> None:
        """Nothing: the evidence is asked for partitions with each question about them."""

    def _answer(self, question: Hashable, partitions: Partitions | None, ask: Callable[[], Any]) -> Any:
        if question not in self._answers:
            if partitions is not None and partitions.specialized:
                super().partitioned(partitions)
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


def branches(
    points: Points, evidence: CountedRows, source: RandomSource, pay: Callable[[], Portions], runs: int
) -> Iterator[tuple[Chosen, Portions, int]]:
    """The cuts that ``runs`` runs draw, each with what it has left of its budget, and in how many runs it was drawn.

    Args:
        points: the rows, and what is known of them without looking.
        evidence: counts of the rows.
        source: where chance comes from.
        pay: makes the portions of a run.
        runs: their number.
    """
    settings = settings_of(points.bound)
    open_branches: list[tuple[tuple[Any, ...], int]] = [((), runs)]
    while open_branches:
        known, count = open_branches.pop()
        portions = pay()
        draws = _Replayed(settings, source, portions, known, count)
        try:
            yield specialized(points.axes, points.classes, settings.specializations, evidence, draws), portions, count
        except _Branch as branch:
            open_branches += [((*known, drawn), times) for drawn, times in branch.drawn]


class AuditedSynthetic(AuditedPolicy):
    """The output of a run: the measured marginals in their order, all noisy counts, and the error of the report.

    The rows of a release are made of these without a look at the table, so that they give away no more.
    """

    def _prepared(self, source: ResolvedSource) -> BoundPolicy:
        return measuring.checked(prepare(self._session._engine, source, self._policy))

    def _outcomes(
        self, engine: Engine, bound: BoundPolicy, accountant: Accountant, runs: int
    ) -> Iterator[tuple[object, int]]:
        settings, table = domain.settings_of(bound), measuring.counted(engine, bound, self._source)
        for _ in range(runs):
            portions = accountant.charge_in_rho(settings.name, settings.budget)
            chosen, error = measuring.measured(table, settings, portions, self._source)
            noisy = [each.counts for each in chosen.log] + [counts for counts, _ in chosen.fine.values()]
            counts = {
                (number, cell): count
                for number, found in enumerate(noisy)
                for cell, count in enumerate(found.ravel().tolist())
            }
            sets = tuple(each.columns for each in chosen.log)
            yield countable((sets, counts, -1 if error is None else error.rows)), 1
