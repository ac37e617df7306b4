"""What is known of the columns of a source before a role is decided: counts, shapes of values, and descriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.queries.kit.nodes import counted_rows
from sqlanon.queries.source import SourceColumn
from sqlanon.queries.tables import suggestions as queries

Role: TypeAlias = Literal["quasi-identifier", "sensitive", "identifier", "insensitive"]

COLUMNS_AT_ONCE = 40
"""Columns that a statement counts, at least: each of them holds its values in memory."""

CELLS_AT_ONCE = 1_000_000
"""Cells of the source that a statement counts where its rows are few."""

SHARE_OF_SHAPE = 0.8
"""The share of the texts that look alike from which their shape counts."""


@dataclass(frozen=True)
class Evidence:
    """What is known of a column.

    Attributes:
        column: its name and type.
        rows, filled: rows of the source, and those with a value.
        values, singles: distinct values, and those of one row.
        largest, smallest: rows of the most frequent value, and of the least frequent one; missing ones count as one.
        unique_rows: rows that are alone with their value, or without one.
        distinction, separation: how close the column is to a key (Motwani & Xu 2008); None without rows, or pairs.
        has_empty, has_leading_zeros: whether a text is empty, or digits with a zero before them.
        numbers, fractions: values that are numbers, and those that are not whole.
        minimum, maximum: of the numbers.
        mean: of the numbers of all rows.
        digit_values: texts with a digit; None if that is not known.
        moments, daytimes: values that are dates or points in time, and those with a time of day.
        days: from the first to the last of them.
        shape: what its texts look like; empty if they look like nothing, or differ.
        description: what is written about it.
    """

    column: SourceColumn
    rows: int
    filled: int
    values: int
    singles: int
    largest: int
    has_empty: bool
    has_leading_zeros: bool
    numbers: int
    fractions: int
    minimum: float | None
    maximum: float | None
    moments: int
    daytimes: int
    days: int
    shape: str
    mean: float | None = None
    digit_values: int | None = None
    smallest: int = 0
    unique_rows: int = 0
    distinction: float | None = None
    separation: float | None = None
    description: str = ""

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.column.name

    @property
    def is_unique(self) -> bool:
        """Whether nearly every row has a value of its own; few rows show no pattern."""
        return self.filled > 1 and self.values >= 0.95 * self.filled

    @property
    def is_constant(self) -> bool:
        """Whether all rows are alike."""
        return self.largest == self.rows

    @property
    def is_number(self) -> bool:
        """Whether all values are numbers."""
        return 0 < self.numbers == self.values and not self.has_leading_zeros

    @property
    def is_whole(self) -> bool:
        """Whether all values are whole numbers."""
        return self.is_number and not self.fractions

    @property
    def has_words_alone(self) -> bool:
        """Whether no value has a digit, as those of ids and dates have."""
        return self.digit_values == 0 < self.values

    @property
    def is_moment(self) -> bool:
        """Whether all values are dates or points in time."""
        return 0 < self.moments == self.values and not self.is_number

    @property
    def counts_rows(self) -> bool:
        """Whether the values are whole numbers without a gap, one a row."""
        if not self.is_whole or self.minimum is None or self.maximum is None or self.rows < 2:
            return False
        return self.values == self.rows == self.maximum - self.minimum + 1


def evidence_of(engine: Engine, source: exp.Expr, columns: Sequence[SourceColumn]) -> list[Evidence]:
    """The evidence on each column, in their order, without descriptions."""
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
    """The shape of most texts, by the place of the column."""
    texts: dict[int, int] = {}
    for row in rows:
        texts[row["place"]] = texts.get(row["place"], 0) + row["text_count"]
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
        singles=row["single_values"],
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
