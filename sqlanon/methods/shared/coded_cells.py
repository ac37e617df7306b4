"""The cells of a table as arrays, with the codes of sensitive values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.engines.base import Compute
from sqlanon.methods.shared.arrays import Ints, cell_words
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.measures import unsupported
from sqlanon.methods.shared.sensitive import Reference, label_levels, sensitive_values
from sqlanon.queries.cells.encoding import ROW_COUNT
from sqlanon.queries.cells.keys import KeyLayout
from sqlanon.queries.kit.nodes import column, select

MAX_WORDS = 2**25
"""The most words of keys, and codes of values, that cells may have as arrays: 256 MB."""


@dataclass(frozen=True)
class JointCodes:
    """What earlier releases show of the persons of cells.

    Attributes:
        numbers: the number of the joint class of each cell.
        codes: by column of persons with values that a release shows, the code of each cell's value, from 0; -1 where
            its persons are not in the source of the release.
    """

    numbers: Ints
    codes: Mapping[str, Ints]


@dataclass(frozen=True)
class CodedCells:
    """Cells, those that agree in everything included.

    Attributes:
        layout: where the labels of a cell stand in its key.
        words: the words of keys, of shape (words, cells).
        rows: the rows of each cell.
        codes: by sensitive column, the code of each cell's value, from 0 in the order of values.
        references: by sensitive column, its values in the whole table.
        joint: what distinguishes cells beside earlier releases, if there are any.
    """

    layout: KeyLayout
    words: Ints
    rows: Ints
    codes: Mapping[str, Ints]
    references: Mapping[str, Reference]
    joint: JointCodes | None = None

    @cached_property
    def widths(self) -> Mapping[str, int]:
        """How many values each sensitive column has."""
        return {name: len(reference.rows) for name, reference in self.references.items()}


def coded_cells(engine: Compute, table: EncodedTable) -> CodedCells | None:
    """The cells of a table; None if more than rows and values counts, or they are too many or elsewhere."""
    encoding, bounds = table.encoding, table.encoding.criteria.bounds
    names = tuple(dict.fromkeys(bound.measure.column for bound in bounds if bound.measure.column is not None))
    words = [encoding.key(word) for word in range(encoding.keys.word_count)]
    of_persons = [encoding.sensitive(name) for name in encoding.spec.coded]
    has_room = table.cell_count * (len(words) + len(names) + len(of_persons)) <= MAX_WORDS
    by_values = bool(names) and not unsupported(bounds) and encoding.spec.individual is None
    if not (has_room and by_values) or engine.is_far(encoding.cells.table):
        return None
    labels = [encoding.sensitive_label(name, level) for name in names for level in label_levels(encoding, name)]
    read = map(column, [*words, *labels, *of_persons, ROW_COUNT])
    found = engine.arrays(select([*read], encoding.cells.table), "cells as arrays")
    rows = found[ROW_COUNT].astype(np.int64)
    codes = {name: _ranks(found[encoding.sensitive(name)]) for name in names}
    references = {
        name: Reference(
            np.bincount(code, rows).astype(np.int64),
            sensitive_values(encoding, name, found, code, label_levels(encoding, name)).labels,
        )
        for name, code in codes.items()
    }
    all_words = cell_words(encoding, found, len(rows))
    if (place := encoding.keys.always) is None:
        return CodedCells(encoding.keys, all_words, rows, codes, references)
    numbers = (all_words[place.word] & place.mask) >> place.shift
    all_words[place.word] &= ~place.mask
    joint = JointCodes(
        numbers, {name: found[encoding.sensitive(name)].astype(np.int64) - 1 for name in encoding.spec.coded}
    )
    return CodedCells(replace(encoding.keys, always=None), all_words, rows, codes, references, joint)


def _ranks(codes: NDArray[Any]) -> Ints:
    """Codes from 0 without a gap, in the same order."""
    present = np.bincount(codes) > 0
    ranks: Ints = (np.cumsum(present) - 1)[codes]
    return ranks
