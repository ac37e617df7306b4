"""The draws of a cut: labels give way to their children one after the other, by noisy counts and scores.

Each draw costs a step: which label gives way, where a number is split, which sets of items are kept.

Every draw is made for many runs at once if that is asked for, as an audit does; a release is one run.

Why it is private. Let D' be D and one more row, or the rows of one more individual, c at most; the step is ε'.

1. The score of a specialization: with counts n_jk of child j and class k, max is Σ_j max_k n_jk, of which a row changes
   one count by 1 and so one maximum by 1 at most. Neither falls where a row is added: these scores are monotonic, and a
   choice by them costs half (:meth:`~.source.RandomSource.permute_and_flip`). The information gain changes by 1
   bit at most, however many classes and children there are (spec/diffgen.md, sensitivities), in either direction. It is
   counted in parts of :data:`WHOLE` of a bit and rounded down, which adds one part. Its floating point adds less than
   another: a million sums of n log n with n below 2^63 are off by less than 2^20 63 / 2^52 bits for each row. See
   :func:`sensitivity` and :func:`is_monotonic`. A score is asked for once, when the specialization can first be drawn,
   from rows that lie in the piece, whatever their other values are.
2. A specialization is drawn with ε', by permute-and-flip (McKenna and Sheldon 2020, theorem 1) or the exponential
   mechanism (McSherry and Talwar 2007, theorem 6).
3. A split is drawn by the exponential mechanism with ε' among all places of the interval, whether any value lies there
   or not (spec/diffgen.md, D4). The two new intervals of a round have no row in common: of the c rows, those that lie
   in one change its scores by no more than their number. So both draws together cost ε'.
4. Of item sets, every combination of children has its rows counted with noise of ε', those that nobody has among them:
   one vector, of which c rows change c counts by 1.
5. A round is a draw (2.) and, if the piece is an interval, splits (3.), or, if it is of item sets, counts (4.). So it
   costs 2 ε' at most, and all rounds with the first split of each number ε' (numbers + 2 rounds) = ε / 2 at most. What
   is left depends on what was drawn alone, and is spent on the counts of combinations: for pure ε the portions may be
   chosen on the way, as long as their sum stays within what was paid (:class:`~sqlanon.chance.accountant.Portions`).

Whatever else decides is public or was drawn: how many combinations a cut has, which candidates there are.

Source: Mohammed et al. 2013, algorithm 1; spec/diffgen.md (b), which puts the errors D3 to D7 right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sqlanon.chance.accountant import Charge, Portions
from sqlanon.chance.exact import Integers
from sqlanon.chance.random_source import RandomSource
from sqlanon.engines.duckdb import Compute
from sqlanon.methods import points
from sqlanon.methods.chance import drawn_unseen, noise_of_places, reached_by_noise, row_count
from sqlanon.methods.cut_pieces import Axis, Cut, Partitions, Piece, Specialization
from sqlanon.methods.diffgen import diffgen_queries as queries
from sqlanon.model.methods.cut_methods import DiffGen
from sqlanon.queries.kit.nodes import union_all
from sqlanon.queries.noise import DRAWN

WHOLE = 1 << 20  # per bit of information gain

MAX_UNSEEN = 1_000_000
"""The expected number of empty combinations that noise shows, at most; a higher threshold shows fewer.

A release of more would carry little information, and a large cut could fill the disk.
"""

SPLITS = "splits"
CHOICES = "choices"
ITEM_SETS = "item sets"
LEAVES = "leaves"

SetOfChildren = tuple[int, int]  # the place of a partition, and a mask of the label's children with items


class Scored(NamedTuple):
    """The ascending values of an interval in rows, and the score of a split after each."""

    values: Integers
    scores: Integers


class Draws:
    def __init__(self, settings: DiffGen, source: RandomSource, portions: Portions) -> None:
        self.settings = settings
        self.source = source
        self.portions = portions
        self._scored: dict[str, Any] = {"sensitivity": sensitivity(settings), "monotonic": is_monotonic(settings)}

    def best(self, scores: Sequence[int]) -> int:
        charge = self.portions.take(CHOICES, self.settings.step)
        candidates = np.array(scores, dtype=np.int64)
        draw = partial(self.source.choice, candidates, charge, by=self.settings.selection, **self._scored)
        return int(self._drawn(lambda runs: draw(runs=runs)))

    def splits(self, intervals: Sequence[tuple[Piece, Scored]]) -> dict[Piece, int]:
        """Draw splits of intervals without common rows, together for one step."""
        charges = self.portions.take_side_by_side(SPLITS, self.settings.step, len(intervals))
        return {
            interval: int(self._drawn(partial(self._split, interval, scored, charge)))
            for (interval, scored), charge in zip(intervals, charges, strict=True)
        }

    def kept(self, counts: Mapping[SetOfChildren, int], possible: Sequence[SetOfChildren]) -> list[SetOfChildren]:
        charge = self.portions.take(ITEM_SETS, self.settings.step)
        found = np.array([counts.get(each, 0) for each in possible], dtype=np.int64)
        is_kept = self._drawn(partial(self._are_kept, found, charge))
        return [each for each, is_one in zip(possible, is_kept, strict=True) if is_one]

    def _drawn(self, draw: Callable[[int], NDArray[Any]]) -> Any:
        return draw(1)[0]  # an audit draws for many runs at once

    def _split(self, interval: Piece, scored: Scored, charge: Charge, runs: int) -> Integers:
        first, counts, scores = groups(interval, scored)
        group, place = self.source.grouped_exponential_mechanism(scores, counts, charge, runs=runs, **self._scored)
        return first[group] + place

    def _are_kept(self, counts: Integers, charge: Charge, runs: int) -> NDArray[np.bool_]:
        """Return by run the kept sets of children; shape (runs, sets).

        All sets get noise, including those without rows (:mod:`sqlanon.methods.chance`).
        """
        rows = self.settings.rows_per_individual
        least = threshold(self.settings.set_threshold, charge.budget.epsilon, rows)
        occupied, empty = np.flatnonzero(counts), np.flatnonzero(counts == 0)
        kept = np.zeros((runs, len(counts)), dtype=bool)
        noise = self.source.discrete_laplace(runs * len(occupied), charge, sensitivity=rows)
        kept[:, occupied] = counts[occupied] + noise.reshape(runs, len(occupied)) >= least
        for run, ranks in enumerate(reached_by_noise(self.source, charge, rows, least, len(empty), runs)):
            kept[run, empty[ranks]] = True
        return kept


# guarded: tests/unit/test_guarded_settings.py::TestMethods
def sensitivity(settings: DiffGen) -> int:
    return settings.rows_per_individual * (1 if settings.utility == "max" else WHOLE + 2)


# guarded: tests/unit/test_guarded_settings.py::TestMethods
def is_monotonic(settings: DiffGen) -> bool:
    return settings.utility == "max"


# guarded: tests/unit/test_guarded_settings.py::TestMethods
def threshold(given: float | None, epsilon: Fraction, rows: int) -> int:
    """Return the smallest noisy count to keep: by default the next integer above √2 / ε times ``rows``."""
    return math.floor(math.sqrt(2) * rows / epsilon if given is None else given) + 1


def groups(interval: Piece, scored: Scored) -> tuple[Integers, Integers, Integers]:
    """Group the possible splits of an interval by score: first place, number of places, score.

    Splits between two adjacent values put the same rows on either side. Those up to the first value leave the left side
    empty, and score like those after the last one, which leave the right side empty.
    """
    values = scored.values
    first = np.concatenate([[interval.first + 1], values + 1])
    counts = np.diff(np.concatenate([first, [interval.end]]))
    none = scored.scores[-1:] if len(values) else [0]
    scores = np.concatenate([none, scored.scores]).astype(np.int64)
    some = counts > 0
    return first[some], counts[some], scores[some]


# More than six parameters: the cut, and the settings of its draws.
def draw_leaves(
    engine: Compute, cut: Cut, classes: int, settings: DiffGen, source: RandomSource, charge: Charge, runs: int = 1
) -> tuple[int, int]:
    """Draw the shown combinations of a cut into :data:`~.diffgen_queries.SHOWN`.

    All combinations get noise, including those without rows (:mod:`sqlanon.methods.chance`).

    Returns the number of combinations, and the smallest noisy count that is shown.
    """
    rows, size = settings.rows_per_individual, cut.size * classes
    least = least_shown(settings, charge, size)
    engine.put(queries.PIECES, queries.pieces(cut))
    engine.run(queries.SQL.step(queries.OCCUPIED, "occupied", numbered=queries.numbered(cut, classes)))
    count = row_count(engine, queries.OCCUPIED)
    noise = source.discrete_laplace(count * runs, charge, sensitivity=rows)
    engine.put(queries.NOISE, noise_of_places(noise, runs))
    engine.put(DRAWN, drawn_unseen(source, charge, rows, least, size - count, runs))
    engine.run(queries.shown(least))
    return size, least


# guarded: tests/unit/test_guarded_settings.py::TestMethods
def least_shown(settings: DiffGen, charge: Charge, size: int) -> int:
    """Return the smallest noisy count to show: as set, or higher for a cut with very many combinations.

    It only depends on earlier draws, and does not change the noise.
    """
    rows, epsilon = settings.rows_per_individual, charge.budget.epsilon
    # P(noise >= m) < exp(-m ε / rows).
    enough = math.ceil(rows / epsilon * math.log(max(1, size / MAX_UNSEEN)))
    return max(threshold(settings.threshold, epsilon, rows), enough)


MAX_LEAVES = 1 << 62  # of labels and class that 63 bits can number

MAX_SETS = 1_000_000  # of children to count at once; larger specializations are not candidates


class Chosen(NamedTuple):
    cut: Cut
    specializations: tuple[Specialization, ...]


def specialized(axes: Sequence[Axis], classes: int, rounds: int, evidence: CountedRows, draws: Draws) -> Chosen:
    cut = _split(Cut.of_roots(axes), evidence, draws)
    done: list[Specialization] = []
    scores: dict[Specialization, int] = {}
    for rounds_left in reversed(range(rounds)):
        candidates = [each for each in cut.candidates() if _fits(cut, each, classes)]
        new = [each for each in candidates if each not in scores]
        scores.update(zip(new, evidence.scores(cut, new), strict=True))
        if not candidates:
            break
        chosen = candidates[draws.best([scores[each] for each in candidates])]
        done.append(chosen)
        if partitions := cut.partitions.get(chosen.piece.position):
            counts = evidence.set_counts(partitions, chosen)
            masks = partitions.masks(chosen)
            possible = [(place, mask) for place in partitions.having[chosen.piece] for mask in masks]
            after = partitions.after(chosen, draws.kept(counts, possible))
            evidence.partitioned(after)
            cut = replace(cut, partitions={**cut.partitions, chosen.piece.position: after})
        else:
            cut = cut.specialized(chosen)
            # The last round needs no new splits.
            cut = _split(cut, evidence, draws) if rounds_left else cut
    return Chosen(cut, tuple(done))


def _fits(cut: Cut, specialization: Specialization, classes: int) -> bool:
    if cut.size_after(specialization) * classes > MAX_LEAVES:
        return False
    partitions = cut.partitions.get(specialization.piece.position)
    if partitions is None:
        return True
    return len(partitions.having[specialization.piece]) << len(specialization.children) <= 2 * MAX_SETS


def _split(cut: Cut, evidence: CountedRows, draws: Draws) -> Cut:
    intervals = cut.unsplit()
    by_number: dict[int, list[tuple[Piece, Scored]]] = {}
    for interval, scored in zip(intervals, evidence.split_scores(intervals), strict=True):
        by_number.setdefault(interval.position, []).append((interval, scored))
    for side_by_side in by_number.values():
        cut = cut.with_splits(draws.splits(side_by_side))
    return cut


class CountedRows:
    def __init__(self, engine: Compute, utility: str) -> None:
        self._engine = engine
        self._utility = utility

    def scores(self, cut: Cut, specializations: Sequence[Specialization]) -> list[int]:
        """Score each specialization, in parts of :data:`WHOLE` for information; 0 without rows."""
        if not specializations:
            return []
        single: list[tuple[int, Specialization]] = []
        of_sets: dict[int, list[tuple[int, Specialization]]] = {}
        for candidate in enumerate(specializations):
            position = candidate[1].piece.position
            (of_sets.setdefault(position, []) if position in cut.partitions else single).append(candidate)
        counts = [queries.mask_counts(cut.partitions[position], found) for position, found in of_sets.items()]
        self._engine.drop(points.CHILDREN)
        if single:
            self._engine.put(points.CHILDREN, points.children(single))
            counts.append(points.counts_by("child"))
        query = points.scored("specialization_scores", union_all(counts), self._utility, WHOLE)
        found = self._engine.fetch(query, "scores of specializations", "node")
        by_place = {int(row["candidate"]): int(row["score"]) for row in found}
        return [by_place.get(place, 0) for place in range(len(specializations))]

    def split_scores(self, intervals: Sequence[Piece]) -> list[Scored]:
        if not intervals:
            return []
        self._engine.drop(points.CHILDREN)
        self._engine.put(points.CHILDREN, points.intervals(intervals))
        query = points.scored("split_scores", points.counts_by("value"), self._utility, WHOLE)
        rows = self._engine.fetch(query, "scores of splits", "cell")
        place, value, score = (
            np.array([row[name] for row in rows], dtype=np.int64) for name in ("candidate", "value", "score")
        )
        ends = np.searchsorted(place, np.arange(len(intervals) + 1))
        return [Scored(value[first:end], score[first:end]) for first, end in pairwise(ends)]

    def set_counts(self, partitions: Partitions, specialization: Specialization) -> Mapping[SetOfChildren, int]:
        query = queries.partition_counts(partitions, specialization)
        rows = self._engine.fetch(query, "rows of item sets", "cell")
        return {(int(row["place"]), int(row["mask"])): int(row["rows"]) for row in rows}

    def partitioned(self, partitions: Partitions) -> None:
        relation = queries.partition_relation(partitions.axis.position)
        self._engine.drop(relation)
        self._engine.put(relation, queries.partition_table(partitions))
