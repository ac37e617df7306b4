"""Rows on a server of Spark Connect, by the policies that tests/full leaves out."""

import pytest

from tests.far_stays import POLICIES
from tests.full import test_spark_rows

STAY = ("k", "geometric loss", "coded", "k, l and t", "kept columns", "masks", "order", "weights", "individuals")
"""Policies whose cells may stay on the server."""

server, sides = test_spark_rows.server, test_spark_rows.sides


@pytest.mark.parametrize("name", [name for name in POLICIES if name not in test_spark_rows.RELEASED])
def test_rows_of_a_server_are_released_as_those_of_a_file(sides: test_spark_rows.Sides, name: str) -> None:
    test_spark_rows.release_as_from_a_file(sides, name)


@pytest.mark.parametrize("name", STAY)
def test_cells_that_stay_on_a_server_make_the_same_release(
    sides: test_spark_rows.Sides, server: str, name: str
) -> None:
    test_spark_rows.release_cells_that_stay(sides, server, name)
