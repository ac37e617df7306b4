"""Persons of earlier releases who have no row in the present source, as arrays."""

from __future__ import annotations

import numpy as np

from sqlanon.engines.base import Compute
from sqlanon.methods.shared.arrays import Ints
from sqlanon.queries.cells.earlier import ABSENT, NUMBER_OF_ABSENT
from sqlanon.queries.cells.encoding import EARLIER
from sqlanon.queries.kit.nodes import column, select


def absent_by_number(engine: Compute, largest: int) -> Ints:
    """How many these are of each joint class, by its number from 0 to the largest."""
    query = select([column(EARLIER), column(NUMBER_OF_ABSENT)], ABSENT.table)
    found = engine.arrays(query, "persons without a row")
    absent: Ints = np.zeros(largest + 1, dtype=np.int64)
    absent[found[EARLIER]] = found[NUMBER_OF_ABSENT]
    return absent
