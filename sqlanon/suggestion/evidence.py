"""Evidence on columns: counts, shapes of values, and descriptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Literal, TypeAlias

from sqlglot import exp

from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.model.release.measurement import Result
from sqlanon.queries import suggestions as queries
from sqlanon.queries.kit.nodes import counted_rows
from sqlanon.queries.source import SourceColumn

Role: TypeAlias = Literal["quasi-identifier", "sensitive", "identifier", "insensitive"]

COLUMNS_AT_ONCE = 40  # columns per statement, at least: each holds its values in memory
CELLS_AT_ONCE = 1_000_000  # cells per statement for a source of few rows
SHARE_OF_SHAPE = 0.8  # minimum share of texts with one shape for the shape to count
MAX_LEFT_OUT = 50  # maximum number of quasi-identifiers left out in turn: 1,000 sets of 999 names are a million names


class SetMeasures(Result):
    """Measures of how a set of columns identifies rows.

    Attributes:
        columns: the set. k, unique_rows: rows of the smallest class, and rows that are alone in theirs. distinction,
            separation: the share of rows left if each class keeps one, and the share of pairs of rows that differ
            (Motwani & Xu 2008); None without rows, or pairs.
    """

    columns: tuple[str, ...]
    k: int
    unique_rows: int
    distinction: float | None
    separation: float | None


@dataclass(frozen=True)
class Evidence:
    column: SourceColumn
    rows: int
    filled: int  # rows with a value
    values: int  # distinct values
    largest: int  # rows of the most frequent value; missing ones count as one value
    has_empty: bool  # has empty texts
    has_leading_zeros: bool
    numbers: int  # values that are numbers
    fractions: int  # numbers that are not whole
    minimum: float | None
    maximum: float | None
    moments: int  # values that are dates or times
    daytimes: int  # moments with a time of day
    days: int  # from the first moment to the last one
    shape: str  # of its texts; empty if unknown or mixed
    mean: float | None = None  # of numbers, over rows
    digit_values: int | None = None  # texts with a digit; None if unknown
    smallest: int = 0  # rows of the least frequent value; missing ones count as one value
    unique_rows: int = 0  # rows that are alone with their value, or without one
    distinction: float | None = None  # as in SetMeasures
    separation: float | None = None  # as in SetMeasures
    description: str = ""

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def is_unique(self) -> bool:
        """Whether nearly every row has a distinct value; a single row shows no pattern."""
        return self.filled > 1 and self.values >= 0.95 * self.filled

    @property
    def is_number(self) -> bool:
        return 0 < self.numbers == self.values and not self.has_leading_zeros

    @property
    def is_whole(self) -> bool:
        return self.is_number and not self.fractions

    @property
    def has_words_alone(self) -> bool:
        """Whether no value has a digit, unlike ids and dates."""
        return self.digit_values == 0 < self.values

    @property
    def is_moment(self) -> bool:
        return 0 < self.moments == self.values and not self.is_number

    @property
    def counts_rows(self) -> bool:
        """Whether the values are whole numbers without a gap, one per row."""
        if not self.is_whole or self.minimum is None or self.maximum is None or self.rows < 2:
            return False
        return self.values == self.rows == self.maximum - self.minimum + 1


def evidence_of(engine: Engine, source: exp.Expr, columns: Sequence[SourceColumn]) -> list[Evidence]:
    found: list[Evidence] = []
    ((rows,),) = (each.values() for each in engine.fetch(counted_rows(source), "rows of the source"))
    at_once = max(COLUMNS_AT_ONCE, CELLS_AT_ONCE // max(rows, 1))
    for start in range(0, len(columns), at_once):
        some = columns[start : start + at_once]
        step = queries.profile(source, some)
        engine.run(step)
        counts = engine.fetch(queries.profiled(), step.purpose)
        shapes = _shapes(engine.fetch(queries.shapes(), "shapes of values"))
        engine.drop(step.makes)
        found += (
            _evidence(column, row, shapes.get(place, ""))
            for place, (column, row) in enumerate(zip(some, counts, strict=True))
        )
    return found


def _shapes(rows: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    texts = Counter[int]()
    for row in rows:
        texts[row["place"]] += row["text_count"]
    return {
        row["place"]: row["shape"]
        for row in rows
        if row["shape"] is not None and row["text_count"] >= SHARE_OF_SHAPE * texts[row["place"]]
    }


def _evidence(column: SourceColumn, row: Mapping[str, Any], shape: str) -> Evidence:
    return Evidence(
        column=column,
        rows=row["row_count"],
        filled=row["filled_rows"],
        values=row["value_count"],
        largest=row["largest_rows"],
        has_empty=row["has_empty"],
        has_leading_zeros=row["has_leading_zeros"],
        numbers=row["number_count"],
        fractions=row["fraction_count"],
        minimum=row["minimum"],
        maximum=row["maximum"],
        mean=row["mean"],
        digit_values=row["digit_count"] if column.traits.is_text else None,
        moments=row["moment_count"],
        daytimes=row["daytime_count"],
        days=row["day_span"] or 0,
        shape=shape,
        smallest=row["smallest_rows"],
        unique_rows=row["unique_rows"],
        distinction=row["distinction"],
        separation=row["separation"],
    )


@dataclass(frozen=True)
class MeasuredSets:
    """Measures of all quasi-identifiers together, of each alone, and, unless there are many, of all but each."""

    together: SetMeasures | None
    alone: tuple[SetMeasures, ...] = ()
    without: tuple[SetMeasures, ...] = ()

    @property
    def least_distinguishing(self) -> list[str]:
        """Quasi-identifiers, ordered by how many rows the others still distinguish without them."""
        pairs = zip(self.together.columns if self.together else (), self.without, strict=False)
        ordered = sorted(pairs, key=lambda pair: (-(pair[1].distinction or 0), -(pair[1].separation or 0)))
        return [name for name, _ in ordered]


def measured_sets(engine: Compute, source: exp.Expr, evidence: Sequence[Evidence]) -> MeasuredSets:
    """Measure some quasi-identifiers in one scan of the rows.

    Most cells are alone already by half of the columns, and then also by all but one column of the other half: only the
    remaining cells are grouped once per column.
    """
    if not evidence:
        return MeasuredSets(None)
    made = [queries.cells(source, [each.column for each in evidence])]
    left_out = evidence if len(evidence) <= MAX_LEFT_OUT else ()
    # The places of the columns, in two halves with about as many combinations of values.
    places = sorted(range(len(left_out)), key=lambda place: -left_out[place].values)
    halves = places[::2], places[1::2]
    for number, half in enumerate(halves if left_out else ()):
        made += queries.half(number, half)
    for step in made:
        engine.run(step)
    without = [int(place in halves[0]) for place in range(len(left_out))]
    rows = engine.fetch(queries.set_measures(without), "what sets of columns give away")
    for step in made:
        engine.drop(step.makes)
    names = [each.name for each in evidence]
    sets = [names, *([name for name in names if name != each.name] for each in left_out)]
    together, *others = (
        SetMeasures(columns=tuple(columns), **{name: value for name, value in row.items() if name != "place"})
        for columns, row in zip(sets, sorted(rows, key=itemgetter("place")), strict=True)
    )
    alone = (
        SetMeasures(
            columns=(each.name,),
            k=each.smallest,
            unique_rows=each.unique_rows,
            distinction=each.distinction,
            separation=each.separation,
        )
        for each in evidence
    )
    return MeasuredSets(together, tuple(alone), tuple(others))
