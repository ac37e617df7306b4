"""Cells that are more than may come near, which methods other than full domains refuse."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from tests.far_rows import FarRows
from tests.far_stays import POLICIES, TABLES, open_stays, with_far_rows

NEED_THEM = ("local", "relocation", "h-ceiling", "histogram", "ipa", "epsilon-safe", "diffgen", "top-down")
"""One policy of each method that counts on cells which are near; those of full domains are in test_far_rows."""


def test_a_method_that_needs_the_cells_is_refused(tmp_path: Path) -> None:
    with duckdb.connect(config={"threads": 1}) as connection:
        open_stays(connection)
        sides = with_far_rows(connection, tmp_path, "visits", *TABLES.values(), far=FarRows(max_cells=5))
        before = sides.far.relations
        for name in NEED_THEM:
            with pytest.raises(sa.EngineError, match="more than max_cells"):
                sides.released(POLICIES[name], table=TABLES.get(name, "visits"))
            assert sides.far.relations == before, name
