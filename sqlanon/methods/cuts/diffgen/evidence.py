"""The rows as the draw of a cut asks about them: every answer is one statement over counts, or over item sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from sqlanon.engines.base import Compute
from sqlanon.methods.cuts.diffgen import queries as item_sets
from sqlanon.methods.cuts.diffgen.draws import WHOLE, Scored, SetOfChildren
from sqlanon.methods.cuts.shared.cut import Cut
from sqlanon.methods.cuts.shared.pieces import Partitions, Piece, Specialization
from sqlanon.methods.cuts.shared.queries import scores


class CountedRows:
    """Points and their counts as evidence (:class:`~.specialize.Evidence`).

    Args:
        engine: the database, in which the points and the marginals are.
        utility: the score that is asked for.
    """

    def __init__(self, engine: Compute, utility: str) -> None:
        self._engine = engine
        self._utility = utility

    def scores(self, cut: Cut, specializations: Sequence[Specialization]) -> list[int]:
        """See :class:`~.specialize.Evidence`; 0 where there are no rows."""
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
        """See :class:`~.specialize.Evidence`."""
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
        """See :class:`~.specialize.Evidence`."""
        query = item_sets.partition_counts(partitions, specialization)
        rows = self._engine.fetch(query, "rows of item sets", "cell")
        return {(int(row["place"]), int(row["mask"])): int(row["rows"]) for row in rows}

    def partitioned(self, partitions: Partitions) -> None:
        """See :class:`~.specialize.Evidence`."""
        relation = item_sets.partition_relation(partitions.axis.position)
        self._engine.drop(relation)
        self._engine.put(relation, item_sets.partition_table(partitions))
