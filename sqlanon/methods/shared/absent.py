"""Persons of earlier releases who have no row in the present source, as arrays."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.engines.base import Compute
from sqlanon.methods.shared.arrays import Arrays
from sqlanon.queries.cells.earlier import ABSENT, NUMBER_OF_ABSENT
from sqlanon.queries.cells.encoding import EARLIER
from sqlanon.queries.kit.nodes import column, select


def absent_persons(engine: Compute, values: Sequence[str] = ()) -> Arrays:
    """The joint class of these (``EARLIER``), some columns with codes of their values, and how many they are."""
    query = select([column(name) for name in (EARLIER, *values, NUMBER_OF_ABSENT)], ABSENT.table)
    return engine.arrays(query, "persons without a row")
