"""The cells of a table as evidence about intervals of nodes, where privacy models have scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sqlanon.methods.shared.arrays import Ints
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.coded_cells import CodedCells
from sqlanon.methods.shared.intervals.evidence import CellEvidence, Judged, cells_with_counts
from sqlanon.methods.shared.intervals.scores import scores_of
from sqlanon.methods.shared.sensitive import Reference
from sqlanon.model.bounds import CLASS_SIZE, DISTINCT_DIVERSITY, Bound
from sqlanon.model.lattice import Levels
from sqlanon.queries.cells.encoding import Encoding

MAX_COUNTS = 2**25
"""The most counts of values in cells that are held as an array: 256 MB."""


DECISIVE = 0.5
"""The share of rows that scores suppress beyond the sizes of classes, halfway up the lattice, from which on intervals
are worth it.

ARX's Adult by occupation, k = 5, 5 % suppressed, 30,162 rows and 1,000,000 with redrawn columns, CPU seconds of
searches by single nodes and by intervals: δ-disclosure .85 and .72, 0.52 and 0.13 s, 14.2 and 6.5 s; β-likeness .46 and
.17, 0.43 and 0.46 s, 3.9 and 6.9 s; t-closeness in order .03 and .01, 0.16 and 0.59 s, 0.6 and 10.2 s.
"""


def evidence_of(table: EncodedTable, coded: CodedCells) -> CellEvidence | None:
    """The cells of a table; None if intervals prove little more than nodes, or values are too many."""
    encoding, lattice = table.encoding, table.context.lattice
    has_room = len(coded.rows) * sum(coded.widths.values()) <= MAX_COUNTS
    if not (has_room and encoding.keys.word_count and _have_scores(encoding.criteria.bounds)):
        return None
    halfway = tuple((least + most) // 2 for least, most in zip(lattice.bottom, lattice.top, strict=True))
    if not _are_decisive(_cells(encoding, coded, halfway)):
        return None
    return _cells(encoding, coded, (0,) * len(halfway))


def _cells(encoding: Encoding, coded: CodedCells, levels: Levels) -> CellEvidence:
    """The cells of a node."""
    criteria, masks = encoding.criteria, encoding.keys.node_masks(levels)
    words: Ints = np.stack([words & masks.get(word, 0) for word, words in enumerate(coded.words)])
    codes, widths = list(coded.codes.values()), list(coded.widths.values())
    columns = tuple(_judged(criteria.bounds, name, reference) for name, reference in coded.references.items())
    found = cells_with_counts(words, codes, widths, coded.rows)
    return CellEvidence(encoding.keys, criteria.k, columns, levels, *found)


def _are_decisive(classes: CellEvidence) -> bool:
    """Whether scores suppress many more rows than the sizes of classes do."""
    sizes = replace(classes, columns=tuple(replace(each, scores=()) for each in classes.columns))
    by_all, by_sizes = (each.up_to(classes.levels, 0).suppressed_rows for each in (classes, sizes))
    return by_all - by_sizes >= DECISIVE * float(classes.rows.sum())


def _have_scores(bounds: Sequence[Bound]) -> bool:
    """Whether all bounds have scores but those that are monotonic, and some have."""
    sample = Reference(np.ones(1, dtype=np.int64), np.zeros((1, 1), dtype=np.int64))
    others = [bound for bound in bounds if bound.measure.name not in (CLASS_SIZE.name, DISTINCT_DIVERSITY)]
    return bool(others) and all(scores_of(bound, sample) for bound in others)


def _judged(bounds: Sequence[Bound], name: str, reference: Reference) -> Judged:
    own = [bound for bound in bounds if bound.measure.column == name]
    values = (int(bound.required) for bound in own if bound.measure.name == DISTINCT_DIVERSITY)
    return Judged(max(values, default=1), tuple(score for bound in own for score in scores_of(bound, reference)))
