"""Choose a cut from the top down: which labels are replaced by their children.

Candidates are only recounted in classes that have changed. A specialization splits the classes under its label and
leaves all others. So for another candidate, the known smallest class still holds for rows outside that label, and rows
under it are counted in their new, smaller classes: the minimum of both is right. A candidate that once makes too small
a class always does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa

from sqlanon.engines.duckdb import Compute
from sqlanon.methods import points
from sqlanon.methods.cut_pieces import Axis, Cut, NumericAxis, Piece, Specialization
from sqlanon.methods.stages import Stopped, never
from sqlanon.queries.encoding import EARLIER
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, column, number, subquery, union_all

ROWS = Relation("anon_rows_in_parts", "cell")
"""The points with the number of their class (``anon_part``), which changes when a label is specialized.

The table is updated in place: one dropped inside a transaction keeps its space until the end.
"""

SQL = Queries("top_down", {"rows": ROWS, "points": points.POINTS, "marginals": points.MARGINALS, "cut": points.CUT})

DIGITS = 12  # scores are rounded to this many digits, so that equal ones are equal in whatever order terms were added


class Chosen(NamedTuple):
    cut: Cut
    specializations: tuple[Specialization, ...]  # in order
    smallest: int  # the rows of the smallest class
    is_final: bool  # False if the search was stopped


def specialized(axes: Sequence[Axis], rows: int, k: int, evidence: CountedParts, stopped: Stopped = never) -> Chosen:
    """Choose a cut; ``rows`` is the size of the smallest class at the roots, at least k.

    ``stopped`` is asked before each specialization.
    """
    cut = Cut.of_roots(axes)
    cut = cut.with_splits(evidence.splits([axis.root for axis in axes if isinstance(axis, NumericAxis)]))
    gains = dict(evidence.gains([*cut.candidates()]))
    least: dict[Specialization, int] = {}
    smallest, done = rows, list[Specialization]()
    while True:
        candidates = [each for each in cut.candidates() if each in gains]
        for each, found in evidence.least_rows(candidates).items():
            least[each] = min(found, least.get(each, found))
        valid = [each for each in candidates if least[each] >= k]
        if not valid or stopped():
            return Chosen(cut, tuple(done), smallest, is_final=not valid)
        best = max(valid, key=lambda each: score(gains[each], smallest, min(smallest, least[each])))
        done.append(best)
        smallest = min(smallest, least[best])
        evidence.specialize(best)
        numeric = [each for each in best.children if isinstance(axes[each.position], NumericAxis)]
        cut = cut.specialized(best).with_splits(evidence.splits(numeric))
        gains = {each: gains[each] for each in valid if each != best}
        gains.update(evidence.gains([each for each in cut.candidates() if each.piece in best.children]))


def score(gain: float, before: int, after: int) -> float:
    """Score a specialization: bits per row that the smallest class loses, plus one.

    Source: Fung, Wang and Yu 2005, Score = InfoGain / (AnonyLoss + 1), with one quasi-identifier.
    """
    return round(gain / (before - after + 1), DIGITS)


def first_specialized(axes: Sequence[Axis], evidence: CountedParts) -> Chosen:
    """Choose the cut of the first specialization, whatever it gains, for a table without rows."""
    cut = Cut.of_roots(axes)
    unsplit = cut.unsplit()
    evidence.splits(unsplit)
    cut = cut.with_splits({piece: piece.end // 2 for piece in unsplit})
    candidates = [*cut.candidates()]
    evidence.gains(candidates)
    evidence.least_rows(candidates)
    for first in candidates[:1]:
        evidence.specialize(first)
        evidence.least_rows(candidates[1:])
        cut = cut.specialized(first)
    return Chosen(cut, tuple(candidates[:1]), smallest=0, is_final=True)


class CountedParts:
    """Counts of points by class, in the database."""

    def __init__(self, engine: Compute, *, is_joint: bool = False) -> None:
        self._engine = engine
        self._last = -1
        engine.run(SQL.step(ROWS, "first_parts", part=column(EARLIER) if is_joint else number(0)))

    def splits(self, intervals: Sequence[Piece]) -> Mapping[Piece, int]:
        """Return the best split of each interval with several values in rows, as the first value of its second part."""
        if not intervals:
            return {}
        self._put(points.intervals(intervals))
        scored = table_call("split_scores", subquery(points.counts_by("value"), "anon_counts"))
        query = points.SQL.query("best_splits", scored=scored)
        rows = self._engine.fetch(query, "splits of intervals", "node")
        return {intervals[int(row["candidate"])]: int(row["at"]) for row in rows}

    def gains(self, specializations: Sequence[Specialization]) -> Mapping[Specialization, float]:
        """Return the information gain in bits over the rows under each label; 0 if these are of one class."""
        if not specializations:
            return {}
        self._put(points.children(enumerate(specializations)))
        scored = table_call("specialization_scores", subquery(points.counts_by("child"), "anon_counts"))
        query = SQL.query("gains", scored=scored, counts=points.counts_by("child"))
        rows = self._engine.fetch(query, "gains of specializations", "node")
        return {specializations[int(row["candidate"])]: float(row["gain"]) for row in rows}

    def least_rows(self, specializations: Sequence[Specialization]) -> Mapping[Specialization, int]:
        """Return the smallest class of each candidate among rows whose class is new; omits candidates without such."""
        if not specializations:
            return {}
        self._put(points.children(enumerate(specializations)))
        classes = union_all(
            SQL.query(
                "classes_after",
                children=points.values_in(points.CHILDREN, position, [points.CANDIDATE, "child"]),
                value=points.value_column(position),
                last=self._last,
            )
            for position in sorted({each.piece.position for each in specializations})
        )
        query = SQL.query("least_rows", classes=classes)
        rows = self._engine.fetch(query, "classes after specializations", "node")
        return {specializations[int(row["candidate"])]: int(row["rows"]) for row in rows}

    def specialize(self, specialization: Specialization) -> None:
        self._put(points.children([(0, specialization)]))
        self._last = int(self._engine.fetch(SQL.query("last_part"), "number of classes")[0]["part"])
        position = specialization.piece.position
        found = points.values_in(points.CHILDREN, position, ["child"])
        statement = SQL.query("set_parts", children=found, value=points.value_column(position), last=self._last)
        self._engine.execute(statement, "rows in their classes")

    def _put(self, pieces: pa.Table) -> None:
        self._engine.drop(points.CHILDREN)
        self._engine.put(points.CHILDREN, pieces)


def mean_loss(engine: Compute, axes: Sequence[Axis], chosen: Chosen, row_count: int) -> float:
    """Return LM: the mean over rows and predictors of (values under the label - 1) / (values - 1).

    :data:`~sqlanon.methods.points.CUT` has the labels of the cut.

    Source: Iyengar 2002.
    """
    found = engine.fetch(SQL.query("rows_of_pieces"), "rows of labels", "node")
    rows = {(int(row["position"]), int(row["first"])): int(row["rows"]) for row in found}
    losses = [
        sum(
            rows.get((axis.position, piece.first), 0) * (piece.size - 1) / (axis.size - 1)
            for piece in chosen.cut.pieces[axis.position]
            if piece.size > 1
        )
        for axis in axes
    ]
    return sum(losses) / len(losses) / max(row_count, 1)
