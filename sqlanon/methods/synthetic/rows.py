"""The rows that are drawn of a model, on their way to the database."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.mechanisms.source import Generator, Integers
from sqlanon.methods.synthetic.beliefs import Beliefs, Floats
from sqlanon.methods.synthetic.cells import SQL
from sqlanon.methods.synthetic.domain import ModelledColumn, whole_edges
from sqlanon.methods.synthetic.drawing import Codes, drawn
from sqlanon.model.methods.synthetic import Bins
from sqlanon.queries.kit.macros import cast_value
from sqlanon.queries.kit.nodes import Relation, aliased, column, f, select
from sqlanon.queries.source import SourceColumn

DRAWN = Relation("anon_drawn_rows", "row")
"""The rows as they were drawn: labels as texts, numbers as whole or as double numbers."""

ROWS_AT_ONCE = 1_000_000
"""How many rows are drawn at once: they take some 200 MB for 15 columns."""


@dataclass(frozen=True)
class DrawnColumn:
    """A column of the rows that are drawn.

    Attributes:
        modelled: what the model knows of it.
        found: the column of the source.
        weights: how likely each single value is within its label or bin, if they were counted; else all are as likely.
    """

    modelled: ModelledColumn
    found: SourceColumn
    weights: Floats | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The labels or single values of a column with a taxonomy."""
        return self.modelled.labels if self.weights is None else tuple(map(str, self.modelled.fine))

    @property
    def is_whole(self) -> bool:
        """Whether numbers are whole."""
        return not self.found.traits.is_fractional

    @property
    def has_labels(self) -> bool:
        """Whether it shows labels above the values of the source."""
        return bool(self.modelled.level) and self.weights is None

    @property
    def type(self) -> pa.DataType:
        """The type that it is drawn in."""
        if self.modelled.bins is None:
            return pa.dictionary(pa.int16(), pa.string())
        return pa.int64() if self.is_whole else pa.float64()

    def values(self, codes: Codes, generator: Generator) -> pa.Array:
        """The values of rows whose numbers in the model were drawn; a number lies anywhere in its bin."""
        missing = codes == len(self.modelled.labels)
        codes = np.where(missing, 0, codes)
        if self.weights is not None:
            codes = self._refined(codes, self.weights, generator)
        if self.modelled.bins is None:
            indices = pa.array(codes.astype(np.int16), mask=missing)
            return pa.DictionaryArray.from_arrays(indices, pa.array(self.texts, pa.string()))
        if self.weights is not None:
            return pa.array(np.array(self.modelled.fine)[codes], mask=missing)
        return pa.array(self._numbers(self.modelled.bins, codes, generator), mask=missing)

    def _refined(self, codes: Codes, weights: Floats, generator: Generator) -> Codes:
        """The numbers of single values, by the cumulative distributions of labels or bins, one after the other."""
        starts = np.searchsorted(self.modelled.fine_codes, np.arange(len(self.modelled.labels)))
        whole = np.add.reduceat(weights, starts)
        cumulative = np.cumsum(weights / whole[np.array(self.modelled.fine_codes)])
        ends = np.append(starts[1:], len(weights)) - 1
        cumulative[ends] = np.arange(1, len(starts) + 1)  # exactly, so that no value of the next one is taken
        found: Codes = np.searchsorted(cumulative, codes + generator.random(len(codes)), side="right")
        return found

    def _numbers(self, bins: Bins, codes: Codes, generator: Generator) -> NDArray[np.int64 | np.float64]:
        if self.is_whole:
            edges = np.array(whole_edges(bins))
            whole: NDArray[np.int64] = generator.integers(edges[codes], edges[codes + 1])
            return whole
        bounds = np.array([float(edge) for edge in bins.edges])
        found: Floats = bounds[codes] + generator.random(len(codes)) * (bounds[codes + 1] - bounds[codes])
        below: Floats = np.minimum(found, np.nextafter(bounds[codes + 1], -np.inf))
        return below


def weights_within(counts: Integers, codes: Sequence[int], sigma: float) -> Floats:
    """How likely single values are within their label or bin, by their noisy counts.

    Counts whose differences may all be noise say nothing: their values are as likely as each other. The differences of
    others are shrunk by what noise contributes to their squares on average (James & Stein 1961).

    Args:
        counts: of each single value.
        codes: the number of its label or bin, ascending.
        sigma: the scale of the noise of a count.
    """
    found = np.ones(len(counts))
    places = np.array(codes)
    for code in np.unique(places):
        inside = places == code
        noisy, free = counts[inside].astype(np.float64), int(inside.sum()) - 1
        apart = noisy - noisy.mean()
        squares = float(apart @ apart)
        if squares > free * sigma**2 + 2 * sigma**2 * math.sqrt(2 * free):
            shrunk = np.maximum(0.0, noisy.mean() + (1 - free * sigma**2 / squares) * apart)
            found[inside] = shrunk if shrunk.any() else 1.0
    return found


def drawn_rows(
    columns: Sequence[DrawnColumn], beliefs: Beliefs, rows: int, generator: Generator
) -> pa.RecordBatchReader:
    """The rows, some at a time."""
    schema = pa.schema([(each.found.name, each.type) for each in columns])

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(0, rows, ROWS_AT_ONCE):
            codes = drawn(beliefs, min(ROWS_AT_ONCE, rows - start), generator)
            arrays = [each.values(found, generator) for each, found in zip(columns, codes, strict=True)]
            yield pa.record_batch(arrays, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def released(columns: Sequence[DrawnColumn], order: Sequence[str], enums: frozenset[str]) -> exp.Select:
    """The rows as they are published: values in the types of the source, labels above them as texts.

    Args:
        columns: the columns.
        order: their names in the order of the source.
        enums: the columns that may stay of the ENUM type in which labels arrive.
    """
    typed = {each.found.name: _typed(each, enums) for each in columns}
    return select([aliased(typed[name], name) for name in order], DRAWN.table)


def content(rows: exp.Query | exp.Expr, names: Sequence[str]) -> exp.Select:
    """One row: the number of rows, and the sum of their hashes."""
    return SQL.query("content", rows=rows, row_hash=f.hash(*map(column, names)))


def _typed(each: DrawnColumn, enums: frozenset[str]) -> exp.Expr:
    value = column(each.found.name)
    if each.modelled.bins is None and (each.has_labels or each.found.traits.is_text):
        return value if each.found.name in enums else cast_value(value, "VARCHAR")
    return cast_value(value, each.found.type)
