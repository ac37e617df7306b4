"""How a cut comes about: labels give way to their children one after the other, by what is drawn of counts.

Source: Mohammed et al. 2013, algorithm 1; spec/diffgen.md (b). :mod:`.draws` explains why it is private.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.cuts.diffgen import queries as item_sets
from sqlanon.methods.cuts.diffgen.draws import WHOLE, Draws, Scored, SetOfChildren
from sqlanon.methods.cuts.shared import points as scores
from sqlanon.methods.cuts.shared.pieces import Axis, Cut, Partitions, Piece, Specialization

MAX_LEAVES = 1 << 62
"""How many combinations of labels and class a cut may have, to be numbered in 63 bits."""

MAX_SETS = 1_000_000
"""How many sets of children are counted at once: a specialization that needs more is left out."""


class Evidence(Protocol):
    """What is asked of the rows: counts, and scores that are made of counts."""

    def scores(self, cut: Cut, specializations: Sequence[Specialization]) -> list[int]:
        """The score of each specialization, in parts of :data:`WHOLE` if it is information; 0 without rows."""

    def split_scores(self, intervals: Sequence[Piece]) -> list[Scored]:
        """What splits of each interval are worth."""

    def set_counts(self, partitions: Partitions, specialization: Specialization) -> Mapping[SetOfChildren, int]:
        """How many rows have which children of a piece, of the partitions that have it; none that no row has."""

    def partitioned(self, partitions: Partitions) -> None:
        """Take note of the partitions that are left: later questions are about rows in these."""


class Chosen(NamedTuple):
    """What was drawn, and the cut that came of it."""

    cut: Cut
    specializations: tuple[Specialization, ...]


def specialized(axes: Sequence[Axis], classes: int, rounds: int, evidence: Evidence, draws: Draws) -> Chosen:
    """Draw a cut: in each round a label gives way to its children, by what the evidence says of the rows."""
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
            after = _partitioned(partitions, chosen, evidence, draws)
            cut = replace(cut, partitions={**cut.partitions, chosen.piece.position: after})
        else:
            cut = cut.specialized(chosen)
            # What is not asked for any more is not drawn either.
            cut = _split(cut, evidence, draws) if rounds_left else cut
    return Chosen(cut, tuple(done))


def _fits(cut: Cut, specialization: Specialization, classes: int) -> bool:
    """Whether the combinations that there would be can be numbered, and the sets of children counted."""
    if cut.size_after(specialization) * classes > MAX_LEAVES:
        return False
    partitions = cut.partitions.get(specialization.piece.position)
    if partitions is None:
        return True
    return len(partitions.having[specialization.piece]) << len(specialization.children) <= 2 * MAX_SETS


def _split(cut: Cut, evidence: Evidence, draws: Draws) -> Cut:
    """The cut with splits of all its intervals: at first of one of every number, later of the two that are new."""
    intervals = cut.unsplit()
    by_number: dict[int, list[tuple[Piece, Scored]]] = {}
    for interval, scored in zip(intervals, evidence.split_scores(intervals), strict=True):
        by_number.setdefault(interval.position, []).append((interval, scored))
    for side_by_side in by_number.values():
        cut = cut.with_splits(draws.splits(side_by_side))
    return cut


def _partitioned(partitions: Partitions, chosen: Specialization, evidence: Evidence, draws: Draws) -> Partitions:
    """The partitions after a specialization: later questions are about rows in these."""
    counts = evidence.set_counts(partitions, chosen)
    masks = partitions.masks(chosen)
    possible = [(place, mask) for place in partitions.having[chosen.piece] for mask in masks]
    found = partitions.after(chosen, draws.kept(counts, possible))
    evidence.partitioned(found)
    return found


class CountedRows(Evidence):
    """Points and marginals, which are in the database, as evidence by a utility."""

    def __init__(self, engine: Compute, utility: str) -> None:
        self._engine = engine
        self._utility = utility

    def scores(self, cut: Cut, specializations: Sequence[Specialization]) -> list[int]:
        if not specializations:
            return []
        single: list[tuple[int, Specialization]] = []
        of_sets: dict[int, list[tuple[int, Specialization]]] = {}
        for candidate in enumerate(specializations):
            position = candidate[1].piece.position
            (of_sets.setdefault(position, []) if position in cut.partitions else single).append(candidate)
        counts = [item_sets.mask_counts(cut.partitions[position], found) for position, found in of_sets.items()]
        self._engine.drop(scores.CHILDREN)
        if single:
            self._engine.put(scores.CHILDREN, scores.children(single))
            counts.append(scores.child_counts())
        found = self._engine.fetch(scores.scores(counts, self._utility, WHOLE), "scores of specializations", "node")
        by_place = {int(row["candidate"]): int(row["score"]) for row in found}
        return [by_place.get(place, 0) for place in range(len(specializations))]

    def split_scores(self, intervals: Sequence[Piece]) -> list[Scored]:
        if not intervals:
            return []
        self._engine.drop(scores.CHILDREN)
        self._engine.put(scores.CHILDREN, scores.intervals(intervals))
        rows = self._engine.fetch(scores.split_scores(self._utility, WHOLE), "scores of splits", "cell")
        place, value, score = (
            np.array([row[name] for row in rows], dtype=np.int64) for name in ("candidate", "value", "score")
        )
        ends = np.searchsorted(place, np.arange(len(intervals) + 1))
        return [Scored(value[first:end], score[first:end]) for first, end in pairwise(ends)]

    def set_counts(self, partitions: Partitions, specialization: Specialization) -> Mapping[SetOfChildren, int]:
        query = item_sets.partition_counts(partitions, specialization)
        rows = self._engine.fetch(query, "rows of item sets", "cell")
        return {(int(row["place"]), int(row["mask"])): int(row["rows"]) for row in rows}

    def partitioned(self, partitions: Partitions) -> None:
        relation = item_sets.partition_relation(partitions.axis.position)
        self._engine.drop(relation)
        self._engine.put(relation, item_sets.partition_table(partitions))
