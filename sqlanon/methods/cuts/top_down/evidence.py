"""The rows as the choice of a cut asks about them: every answer is one statement over counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlanon.engines.base import Compute
from sqlanon.methods.cuts.shared.pieces import Piece, Specialization
from sqlanon.methods.cuts.shared.queries import scores
from sqlanon.methods.cuts.top_down import queries


class CountedParts:
    """Points in their classes as evidence (:class:`~.specialize.Evidence`).

    Args:
        engine: the database, in which the points and the marginals are.
    """

    def __init__(self, engine: Compute) -> None:
        self._engine = engine
        self._last = -1
        engine.run(queries.SQL.step(queries.ROWS, "first_parts"))

    def splits(self, intervals: Sequence[Piece]) -> Mapping[Piece, int]:
        """See :class:`~.specialize.Evidence`."""
        if not intervals:
            return {}
        self._engine.drop(scores.CHILDREN)
        self._engine.put(scores.CHILDREN, scores.intervals(intervals))
        rows = self._engine.fetch(queries.splits(), "splits of intervals", "node")
        return {intervals[int(row["candidate"])]: int(row["at"]) for row in rows}

    def gains(self, specializations: Sequence[Specialization]) -> Mapping[Specialization, float]:
        """See :class:`~.specialize.Evidence`."""
        if not specializations:
            return {}
        self._put(specializations)
        rows = self._engine.fetch(queries.gains(), "gains of specializations", "node")
        return {specializations[int(row["candidate"])]: float(row["gain"]) for row in rows}

    def least_rows(self, specializations: Sequence[Specialization]) -> Mapping[Specialization, int]:
        """See :class:`~.specialize.Evidence`."""
        if not specializations:
            return {}
        self._put(specializations)
        positions = sorted({each.piece.position for each in specializations})
        query = queries.least_rows(positions, self._last)
        rows = self._engine.fetch(query, "classes after specializations", "node")
        return {specializations[int(row["candidate"])]: int(row["rows"]) for row in rows}

    def specialize(self, specialization: Specialization) -> None:
        """See :class:`~.specialize.Evidence`."""
        self._put([specialization])
        self._last = int(self._engine.fetch(queries.SQL.query("last_part"), "number of classes")[0]["part"])
        statement = queries.set_parts(specialization.piece.position, self._last)
        self._engine.execute(statement, "rows in their classes")

    def _put(self, specializations: Sequence[Specialization]) -> None:
        self._engine.drop(scores.CHILDREN)
        self._engine.put(scores.CHILDREN, scores.children(enumerate(specializations)))
