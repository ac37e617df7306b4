"""Rows of a graphical model, with counts as close to its probabilities as whole rows can be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.chance.exact import Integers
from sqlanon.chance.random_source import Generator
from sqlanon.methods.synthetic.beliefs import Beliefs, Floats, cells_of
from sqlanon.methods.synthetic.domain import SQL, ModelledColumn, published_type, whole_edges
from sqlanon.model.methods.synthetic import Bins
from sqlanon.queries.kit.macros import cast_value
from sqlanon.queries.kit.nodes import Relation, aliased, column, f, select
from sqlanon.queries.source import SourceColumn

Codes = NDArray[np.int64]


def drawn(beliefs: Beliefs, rows: int, generator: Generator) -> list[Codes]:
    """Draw the values of synthetic rows by column; this costs no privacy, since it only reads the model.

    The root of the tree is drawn first, then each clique's new columns given those it shares with its parent. Among n
    rows with equal shared values, in random order, row i takes the value at (i + u) / n of the cumulative distribution,
    u uniform per row. So counts stay closer to their expectations than those of independent draws.
    """
    tree = beliefs.tree
    values: list[Codes] = [np.zeros(rows, np.int64) for _ in tree.sizes]
    for clique, shared, conditional in zip(tree.cliques, tree.separators, beliefs.conditionals, strict=True):
        new = tuple(each for each in clique if each not in shared)
        given = np.transpose(conditional, [clique.index(each) for each in (*shared, *new)])
        groups = np.zeros(rows, np.int64)
        for each in shared:
            groups = groups * tree.sizes[each] + values[each]
        cells = _drawn_in_groups(given.reshape(cells_of(tree.sizes, shared), -1), groups, generator)
        for each, found in zip(new, np.unravel_index(cells, tree.shape(new)), strict=True):
            values[each] = found
    return values


def _drawn_in_groups(conditionals: Floats, groups: Codes, generator: Generator) -> Codes:
    """Draw a cell per row from its group's distribution; ``conditionals`` has shape (groups, cells)."""
    order = generator.permutation(len(groups))
    order = order[np.argsort(groups[order], kind="stable")]
    counts = np.bincount(groups, minlength=len(conditionals))
    position = np.arange(len(groups)) - np.repeat(np.cumsum(counts) - counts, counts)
    quantiles = (position + generator.random(len(groups))) / np.repeat(counts, counts)
    cumulative = np.cumsum(conditionals, axis=1)
    found = np.flatnonzero(counts)
    # Rounded sums could give the last value a probability that it does not have.
    cumulative[found] /= cumulative[found, -1:]
    cumulative += np.arange(len(conditionals))[:, None]
    cells = np.empty_like(groups)
    sought = np.repeat(np.arange(len(conditionals)), counts) + quantiles
    cells[order] = np.searchsorted(cumulative.ravel(), sought, side="right")
    cells -= groups * conditionals.shape[1]
    return cells


DRAWN = Relation("anon_drawn_rows", "row")
"""The drawn rows: numbers of labels or of single values, and numbers of bins as they are."""

ROWS_AT_ONCE = 250_000  # rows per batch: 50 MB for 15 columns, and faster than a million (benchmarks.synthetic)


@dataclass(frozen=True)
class DrawnColumn:
    modelled: ModelledColumn
    found: SourceColumn
    position: int  # in the model
    weights: Floats | None = None  # of single values within their label or bin, if measured; else equal

    @property
    def is_whole(self) -> bool:
        return not self.found.traits.is_fractional

    @property
    def type(self) -> pa.DataType:
        if self.modelled.bins is None:
            return _integers([len(self.modelled.fine or self.modelled.labels)])
        return _integers(whole_edges(self.modelled.bins)) if self.is_whole else pa.float64()

    def values(self, codes: Codes, generator: Generator) -> pa.Array:
        """Draw values for numbers of the model; a value lies anywhere in its bin."""
        missing = codes == len(self.modelled.labels)
        codes = np.where(missing, 0, codes)
        if self.weights is not None:
            codes = self._refined(codes, self.weights, generator)
        if self.modelled.bins is None:
            return pa.array(codes, self.type, mask=missing)
        if self.weights is not None:
            return pa.array(np.array(self.modelled.fine)[codes], self.type, mask=missing)
        return pa.array(self._numbers(self.modelled.bins, codes, generator), self.type, mask=missing)

    def _refined(self, codes: Codes, weights: Floats, generator: Generator) -> Codes:
        """Draw numbers of single values from the concatenated cumulative distributions of labels or bins."""
        starts = np.searchsorted(self.modelled.fine_codes, np.arange(len(self.modelled.labels)))
        whole = np.add.reduceat(weights, starts)
        cumulative = np.cumsum(weights / whole[np.array(self.modelled.fine_codes)])
        ends = np.append(starts[1:], len(weights)) - 1
        cumulative[ends] = np.arange(1, len(starts) + 1)  # exact, so that no value of the next one is drawn
        found: Codes = np.searchsorted(cumulative, codes + generator.random(len(codes)), side="right")
        return found

    def _numbers(self, bins: Bins, codes: Codes, generator: Generator) -> NDArray[np.int64 | np.float64]:
        step = self.modelled.step
        if self.is_whole or step is not None:
            unit = Fraction(1 if step is None else step)
            edges = np.array([math.ceil(edge / unit) for edge in map(Fraction, bins.edges)])
            multiples: NDArray[np.int64] = generator.integers(edges[codes], edges[codes + 1])
            # A quotient of whole numbers is the nearest float: 3 / 10 is 0.3, and 3 * 0.1 is not.
            return multiples * unit.numerator if self.is_whole else multiples * unit.numerator / unit.denominator
        bounds = np.array([float(edge) for edge in bins.edges])
        found: Floats = bounds[codes] + generator.random(len(codes)) * (bounds[codes + 1] - bounds[codes])
        below: Floats = np.minimum(found, np.nextafter(bounds[codes + 1], -np.inf))
        return below


def _integers(ends: Sequence[int]) -> pa.DataType:
    """Return the smallest integer type for a range: rows wait in memory until they are written."""
    largest = max(abs(end) for end in ends)
    types = (pa.int8(), pa.int16(), pa.int32())
    return next((each for each in types if largest < 2 ** (each.bit_width - 1)), pa.int64())


def weights_within(counts: Integers, codes: Sequence[int], sigma: float) -> Floats:
    """Weigh single values within their label or bin by their noisy counts.

    Where the differences of counts may all be noise, values are equally likely. Other differences are shrunk by the
    mean contribution of noise to their squares (James & Stein 1961). ``codes`` are the ascending numbers of labels or
    bins, and ``sigma`` is the scale of a count's noise.
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


@dataclass(frozen=True)
class Drawing:
    columns: Sequence[DrawnColumn]
    beliefs: Beliefs
    row_count: int
    generator: Generator
    counts: Sequence[Integers] = field(init=False)  # by column and value of the model, the rows that were read

    def __post_init__(self) -> None:
        sizes = self.beliefs.tree.sizes
        object.__setattr__(self, "counts", [np.zeros(size, dtype=np.int64) for size in sizes])

    def reader(self) -> pa.RecordBatchReader:
        schema = pa.schema([(each.found.name, each.type) for each in self.columns])
        return pa.RecordBatchReader.from_batches(schema, self._batches(schema))

    def _batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        for start in range(0, self.row_count, ROWS_AT_ONCE):
            codes = drawn(self.beliefs, min(ROWS_AT_ONCE, self.row_count - start), self.generator)
            for counts, found in zip(self.counts, codes, strict=True):
                counts += np.bincount(found, minlength=len(counts))
            arrays = [each.values(found, self.generator) for each, found in zip(self.columns, codes, strict=True)]
            yield pa.record_batch(arrays, schema=schema)


def released(columns: Sequence[DrawnColumn], order: Sequence[str]) -> exp.Select:
    """Select the published rows: values in :func:`published_type`, higher labels as texts, in a given order."""
    shown: dict[str, exp.Expr] = {}
    for each in columns:
        drawn, kind = column(each.found.name), published_type(each.found)
        if each.modelled.bins is not None:
            shown[each.found.name] = cast_value(drawn, kind)
            continue
        texts = SQL.query("listed_labels" if each.weights is None else "listed_values", position=each.position)
        found = f.list_extract(exp.paren(texts), drawn + 1)
        shows_labels = each.modelled.level > 0 and each.weights is None
        shown[each.found.name] = found if shows_labels or kind == "VARCHAR" else cast_value(found, kind)
    return select([aliased(shown[name], name) for name in order], DRAWN.table)


def content(rows: exp.Query | exp.Expr, names: Sequence[str]) -> exp.Select:
    return SQL.query("content", rows=rows, row_hash=f.hash(*map(column, names)))
