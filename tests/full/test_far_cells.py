"""Cells that are more than may come near: they stay where the rows are, and the same release is published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from tests.adult import uci_policy
from tests.full.test_far_rows import POLICIES, TABLES, Sides, open_stays, with_far_rows
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


@pytest.mark.parametrize("name", [name for name in POLICIES if name not in (*STAY, "unknown values")])
def test_a_method_that_needs_the_cells_is_refused(sides: Sides, name: str) -> None:
    sides.far.max_cells = 5
    before = sides.far.relations
    with pytest.raises(sa.EngineError, match="more than max_cells"):
        sides.released(POLICIES[name], table=TABLES.get(name, "visits"))
    assert sides.far.relations == before


ADULT = {
    "optimal": uci_policy(5, 1),
    "OLA": uci_policy(5, 5, method=sa.FullDomain(search="ola")),
}


@pytest.mark.parametrize(
    "wanted",
    [pytest.param(found, marks=[pytest.mark.deep] * (name == "OLA"), id=name) for name, found in ADULT.items()],
)
def test_adult_is_released_as_from_cells_that_come_near(uci_adult: Path, tmp_path: Path, wanted: sa.Policy) -> None:
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(f"ATTACH '{uci_adult}' AS kept (READ_ONLY); COPY FROM DATABASE kept TO memory; DETACH kept")
        sides = with_far_rows(connection, tmp_path, "adult")
        sides.far.max_cells = 1_000
        near, far = sides.released(wanted, "", "adult"), sides.released(wanted, table="adult")
        assert far.node == near.node
        assert (far.report.loss, far.report.rows) == (near.report.loss, near.report.rows)
        there, here = sides.there, connection.table("released")
        assert there.columns == here.columns
        assert Counter(there.fetchall()) == Counter(here.fetchall())
        assert all(each.rows is None or each.rows <= 1_000 for each in sides.far.statements)
        assert next(each.rows for each in sides.far.statements if each.purpose == "cells") is None
