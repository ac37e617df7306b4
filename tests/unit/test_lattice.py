"""The lattice: its nodes, their number and their order."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.model.lattice import Lattice, total


@given(heights=st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple))
def test_nodes_are_all_vectors_of_levels_in_lexicographic_order(heights: tuple[int, ...]) -> None:
    lattice = Lattice(tuple(f"q{position}" for position in range(len(heights))), heights)
    nodes = list(lattice.nodes())
    assert len(nodes) == len(set(nodes)) == lattice.size == math.prod(height + 1 for height in heights)
    assert nodes == sorted(nodes)
    assert nodes[0] == lattice.bottom == (0,) * len(heights)
    assert nodes[-1] == lattice.top == heights
    assert all(low < high for low, high in itertools.pairwise(nodes))


def test_a_node_by_name() -> None:
    lattice = Lattice(("age", "zip"), (3, 5))
    assert lattice.named((1, 4)) == {"age": 1, "zip": 4}
    with pytest.raises(ValueError, match="argument"):
        lattice.named((1,))


def test_the_lattices_of_the_specification() -> None:
    """spec/ola.md O3: 10,368 nodes with a top level of age, 7,776 without."""
    names = tuple("abcdefghi")
    assert Lattice(names, (3, 2, 2, 2, 2, 1, 1, 1, 3)).size == 10_368
    assert Lattice(names, (2, 2, 2, 2, 2, 1, 1, 1, 3)).size == 7_776


def test_totals_do_not_depend_on_the_order_of_summation() -> None:
    table = ((0.1, 1e16), (0.2, 1.0), (0.3, -1e16))
    assert total(table, (1, 1, 1)) == 1.0
    assert total(tuple(reversed(table)), (0, 0, 0)) == total(table, (0, 0, 0)) == math.fsum((0.1, 0.2, 0.3))
