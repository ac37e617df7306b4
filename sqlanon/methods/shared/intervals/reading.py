"""The cells of a table as evidence about intervals of nodes, where privacy models have scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sqlanon.engines.base import Compute
from sqlanon.methods.shared.arrays import Floats, key_words
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.intervals.evidence import CellEvidence, Judged, cells_with_counts
from sqlanon.methods.shared.intervals.scores import scores_of
from sqlanon.methods.shared.sensitive import Reference, SensitiveValues, label_levels, sensitive_values
from sqlanon.model.bounds import CLASS_SIZE, DISTINCT_DIVERSITY, Bound
from sqlanon.model.lattice import Lattice
from sqlanon.queries.cells.encoding import ROW_COUNT, Encoding
from sqlanon.queries.kit.nodes import column, select

MAX_COUNTS = 2**25
"""The most counts of values in cells that are held as an array: 256 MB."""


DECISIVE = 0.15
"""The share of rows that scores suppress beyond the sizes of classes, halfway up the lattice, from which on intervals
are worth it.

ARX's Adult by occupation, k = 5, 5 % suppressed, 30,162 rows and 1,000,000 with redrawn columns, checks by single nodes
and by intervals: β-likeness .39 and .22, 1,208 and 491, 2,114 and 1,353; (α,k)-anonymity .09 and .04, 306 and 829, 142
and 396; t-closeness in order .02 and .00, 144 and 713, 91 and 178.
"""


def evidence_of(engine: Compute, table: EncodedTable) -> CellEvidence | None:
    """The cells of a table; None if intervals prove little more than nodes, or the cells are too many or elsewhere."""
    encoding, bounds = table.encoding, table.encoding.criteria.bounds
    names = tuple(dict.fromkeys(bound.measure.column for bound in bounds if bound.measure.column is not None))
    if not _has_scores(encoding, bounds) or engine.is_far(encoding.cells.table):
        return None
    words = [column(encoding.key(word)) for word in range(encoding.keys.word_count)]
    labels = [column(encoding.sensitive_label(name, level)) for name in names for level in label_levels(encoding, name)]
    found = engine.arrays(select([*words, *labels, column(ROW_COUNT)], encoding.cells.table), "cells as arrays")
    rows = found[ROW_COUNT].astype(np.int64)
    codes = [np.unique(found[encoding.sensitive(name)], return_inverse=True)[1] for name in names]
    widths = [int(code.max(initial=-1)) + 1 for code in codes]
    if not words or len(rows) * sum(widths) > MAX_COUNTS:
        return None
    keys, of_cells, counts = cells_with_counts(key_words(encoding, found, len(rows)), codes, widths, rows)
    columns = tuple(
        _judged(bounds, name, _reference(sensitive_values(encoding, name, found, code), of_values))
        for name, code, of_values in zip(names, codes, counts, strict=True)
    )
    levels = (0,) * len(encoding.spec.shapes)
    cells = CellEvidence(encoding.keys, encoding.criteria.k, columns, levels, keys, of_cells, counts)
    return cells if _are_decisive(cells, table.context.lattice) else None


def _are_decisive(cells: CellEvidence, lattice: Lattice) -> bool:
    """Whether scores suppress many more rows than the sizes of classes do."""
    halfway = tuple((least + most) // 2 for least, most in zip(lattice.bottom, lattice.top, strict=True))
    classes = cells.at(halfway)
    sizes = replace(classes, columns=tuple(replace(each, scores=()) for each in classes.columns))
    by_all, by_sizes = (each.up_to(halfway, 0).summary.suppressed_rows for each in (classes, sizes))
    return by_all - by_sizes >= DECISIVE * float(cells.rows.sum())


def _has_scores(encoding: Encoding, bounds: Sequence[Bound]) -> bool:
    """Whether all bounds can be judged from counts of values, and some are not monotonic."""
    if encoding.spec.individual is not None or any(bound.grain != "class" for bound in bounds):
        return False
    sample = Reference(np.ones(1, dtype=np.int64), np.zeros((1, 1), dtype=np.int64))
    others = [bound for bound in bounds if bound.measure.name not in (CLASS_SIZE.name, DISTINCT_DIVERSITY)]
    judged = all(bound.measure.column in encoding.spec.protected and scores_of(bound, sample) for bound in others)
    return bool(others) and judged


def _reference(values: SensitiveValues, of_cells: Floats) -> Reference:
    """The values of the whole table, from the rows that cells have with each."""
    return Reference(of_cells.sum(axis=1).astype(np.int64), values.labels)


def _judged(bounds: Sequence[Bound], name: str, reference: Reference) -> Judged:
    own = [bound for bound in bounds if bound.measure.column == name]
    values = (int(bound.required) for bound in own if bound.measure.name == DISTINCT_DIVERSITY)
    return Judged(max(values, default=1), tuple(score for bound in own for score in scores_of(bound, reference)))
