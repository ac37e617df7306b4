"""Kept columns that show more of a quasi-identifier than its published label does.

Two dependencies are looked for. A kept column *depends* on a quasi-identifier if each value of this has one value of
it (every age is ``older`` or not): it shows more where rows of one label differ in it. It *determines* a label if each
of its values has one label that is finer than the published one (every town is in one region).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlanon.engines.base import Compute
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.kept_values import ESTIMATE_ERROR, KeptValues
from sqlanon.methods.shared.publishing import PublishedNode
from sqlanon.model.lattice import Levels
from sqlanon.model.release import RevealingColumn
from sqlanon.queries.release import dependencies as queries

FEW_ROWS = 5_000
"""Rows of the source by which most dependencies are refuted."""

MIN_SUPPORT = 10
"""The least support of a dependency (``anon.dependency``): chance brings about one of 10 with at most 2 ** -20."""

MIN_ROWS_PER_VALUE = 2
"""Mean rows of a value, at least, of a quasi-identifier on which columns may depend: on times of an event, which its
rows share, all columns of the event depend, and reveal next to nothing of them."""

MAX_COLUMNS = 100
"""The most kept columns that are looked at, those of the fewest values: to refute takes a GROUP BY each."""

MAX_COUNTED = 20
"""The most pairs of columns, not refuted by few rows, that are counted in all of them."""


@dataclass(frozen=True)
class Candidate:
    """A kept column and a quasi-identifier, by its position, that may depend on one another."""

    column: str
    position: int
    may_depend: bool
    may_determine: bool

    @property
    def pair(self) -> tuple[int, str]:
        """Its quasi-identifier, by the position, and its column."""
        return self.position, self.column


def revealing_columns(
    engine: Compute, node: PublishedNode, kept: KeptValues
) -> tuple[list[RevealingColumn], list[str]]:
    """The columns that show more of a quasi-identifier than a node does, and those that were not looked at."""
    table, levels = node.table, node.summary.levels
    positions = [position for position, level in enumerate(levels) if level > 0]
    # What is nearly unique determines all, and says so elsewhere; a constant shows nothing.
    by_values = sorted(kept.estimates, key=lambda name: kept.estimates[name])
    names = [name for name in by_values if name not in kept.rare_shares and kept.estimates[name] > 1]
    looked_at, others = names[:MAX_COLUMNS], names[MAX_COLUMNS:]
    if not positions or not looked_at:
        return [], []
    candidates = _candidates(engine, table, levels, positions, looked_at)
    possible = [each for each in candidates if _is_possible(table, levels, kept, each)]
    counted, uncounted = possible[:MAX_COUNTED], possible[MAX_COUNTED:]
    found = list(_counted(engine, node, counted)) if counted else []
    return found, [*dict.fromkeys([*(each.column for each in uncounted), *others])]


def _candidates(
    engine: Compute, table: EncodedTable, levels: Levels, positions: Sequence[int], names: Sequence[str]
) -> list[Candidate]:
    """The pairs of a kept column and a quasi-identifier that a few rows do not refute."""
    finer = {position: levels[position] - 1 for position in positions}
    engine.run(queries.few_rows(table.encoding, finer, names, FEW_ROWS))
    depend = engine.fetch(queries.kept_that_may_depend(positions, len(names)), "dependent columns")
    determine = engine.fetch(queries.kept_that_may_determine(positions, len(names)), "determining columns")
    engine.drop(queries.FEW_ROWS)
    may_depend = {(row["position"], place): row[f"holds_{place}"] for row in depend for place in range(len(names))}
    may_determine = {
        (position, row["position"]): row[f"holds_{place}"]
        for row in determine
        for place, position in enumerate(positions)
    }
    found = [
        Candidate(name, position, bool(may_depend[position, place]), bool(may_determine[position, place]))
        for place, name in enumerate(names)
        for position in positions
    ]
    return [each for each in found if each.may_depend or each.may_determine]


def _is_possible(table: EncodedTable, levels: Levels, kept: KeptValues, candidate: Candidate) -> bool:
    """Whether there are values enough for a dependency, and rows enough for its support."""
    labels = table.context.losses.distinct_labels[candidate.position]
    values, rows = kept.estimates[candidate.column], table.context.row_count
    finer = labels[levels[candidate.position] - 1]
    is_repeated = labels[0] * MIN_ROWS_PER_VALUE <= rows
    depends = candidate.may_depend and labels[0] * ESTIMATE_ERROR >= values and is_repeated
    return depends or (candidate.may_determine and values * ESTIMATE_ERROR >= finer > 1)


def _counted(engine: Compute, node: PublishedNode, candidates: Sequence[Candidate]) -> Iterator[RevealingColumn]:
    """What holds of candidates in all rows: the finest label that each determines, or else that it depends."""
    table = node.table
    counts = queries.PairCounts(table.encoding, [each.pair for each in candidates])
    engine.run(counts.step())
    for candidate in candidates:
        published = node.summary.levels[candidate.position]
        revealed, rows = _revealed(engine, counts, candidate, published)
        if rows:
            yield RevealingColumn(
                column=candidate.column,
                quasi_identifier=table.encoding.spec.quasi_identifiers[candidate.position],
                published_level=published,
                revealed_level=revealed,
                rows=rows,
                source_rows=table.context.row_count,
            )
    engine.drop(queries.PAIRS)


def _revealed(
    engine: Compute, counts: queries.PairCounts, candidate: Candidate, published: int
) -> tuple[int | None, int]:
    """The finest label that is determined, if any is, and the rows in which more than the published one is shown."""

    def undetermined(determinant: queries.Side, dependent: queries.Side, support: int = 0) -> int | None:
        """The rows that are not determined; None if the support is too small."""
        found = engine.fetch(counts.dependency(candidate.pair, determinant, dependent), "a dependency")[0]
        return int(found["undetermined_rows"]) if found["support"] >= support else None

    if candidate.may_determine:
        for level in range(published):
            if undetermined("kept", level, MIN_SUPPORT) == 0:
                return level, undetermined(published, level) or 0
    if candidate.may_depend and undetermined("value", "kept", MIN_SUPPORT) == 0:
        return None, undetermined(published, "kept") or 0
    return None, 0
