"""Cells of Adult that stay where the rows are: the release is that of cells that come near."""

from collections import Counter
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from tests.adult import uci_policy
from tests.far_stays import with_far_rows

ADULT = {"optimal": uci_policy(5, 1), "OLA": uci_policy(5, 5, method=sa.FullDomain(search="ola"))}


@pytest.mark.parametrize("wanted", ADULT.values(), ids=ADULT)
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
