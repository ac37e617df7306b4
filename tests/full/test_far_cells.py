"""Cells that are more than may come near: they stay where the rows are, and the same release is published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from tests.far_stays import POLICIES, TABLES, Sides, open_stays, with_far_rows
from tests.reports import alone

FEW = 11
"""Cells of the clinic that come near; it has 12."""

STAY = ("k", "geometric loss", "coded", "k, l and t", "kept columns", "masks", "order", "weights", "individuals")
"""Policies whose cells may stay."""

SEARCHED = ("seconds", "source", "into", "checked_nodes")
"""What differs in reports: cells that stay prove nothing of intervals, so that other nodes are checked, and found."""


@pytest.fixture
def sides(tmp_path: Path) -> Iterator[Sides]:
    """The clinic, of whose cells few come near."""
    with duckdb.connect(config={"threads": 1}) as connection:
        open_stays(connection)
        found = with_far_rows(connection, tmp_path, "visits", *TABLES.values())
        found.far.max_cells = FEW
        yield found


@pytest.mark.parametrize("name", STAY)
def test_cells_that_stay_make_the_same_release(sides: Sides, name: str) -> None:
    near, far = sides.released(POLICIES[name], ""), sides.released(POLICIES[name])
    assert far.node == near.node
    changed = {name: getattr(far.report, name) for name in SEARCHED}
    assert near.report.findings is not None
    changed["findings"] = alone(near).findings.model_copy(update={"finer_nodes": far.report.findings.finer_nodes})
    assert alone(near).model_copy(update=changed) == alone(far)
    released = sides.there.fetchall()
    assert Counter(released) == Counter(sides.connection.table("released").fetchall())
    assert all(each.rows is None or each.rows <= FEW for each in sides.far.statements)
    assert {*sides.far.relations} == {"visits", *TABLES.values()}


def test_a_method_that_needs_the_cells_is_refused(sides: Sides) -> None:
    sides.far.max_cells = 5
    before = sides.far.relations
    for name in {*POLICIES} - {*STAY, "unknown values"}:
        with pytest.raises(sa.EngineError, match="more than max_cells"):
            sides.released(POLICIES[name], table=TABLES.get(name, "visits"))
        assert sides.far.relations == before, name
