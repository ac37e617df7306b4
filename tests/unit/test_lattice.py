"""The lattice: its nodes, their number and their order."""

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


@given(data=st.data(), heights=st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple))
def test_bounds_leave_the_nodes_between_them(data: st.DataObject, heights: tuple[int, ...]) -> None:
    names = tuple(f"q{position}" for position in range(len(heights)))
    maximum = data.draw(st.tuples(*(st.integers(0, height) for height in heights)))
    minimum = data.draw(st.tuples(*(st.integers(0, most) for most in maximum)))
    lattice = Lattice(names, heights, minimum, maximum)
    allowed = [
        node
        for node in Lattice(names, heights).nodes()
        if all(low <= level <= high for low, level, high in zip(minimum, node, maximum, strict=True))
    ]
    assert list(lattice.nodes()) == allowed
    assert lattice.size == len(allowed) == math.prod(lattice.shape)
    assert (lattice.bottom, lattice.top, lattice.heights) == (minimum, maximum, heights)
    assert [lattice.node(lattice.index(node)) for node in allowed] == allowed
    assert [lattice.index(node) for node in allowed] == list(itertools.product(*map(range, lattice.shape)))


@pytest.mark.parametrize(
    ("minimum", "maximum"), [((0, 2), (3, 1)), ((0, -1), None), (None, (4, 5)), ((4, 0), None), (None, (1,))]
)
def test_bounds_that_leave_nothing_are_refused(
    minimum: tuple[int, ...] | None, maximum: tuple[int, ...] | None
) -> None:
    with pytest.raises(ValueError, match=r"levels|argument"):
        Lattice(("age", "zip"), (3, 5), minimum, maximum)


def test_a_node_by_name() -> None:
    lattice = Lattice(("age", "zip"), (3, 5))
    assert lattice.named((1, 4)) == {"age": 1, "zip": 4}
    with pytest.raises(ValueError, match="argument"):
        lattice.named((1,))


def test_totals_do_not_depend_on_the_order_of_summation() -> None:
    table = ((0.1, 1e16), (0.2, 1.0), (0.3, -1e16))
    assert total(table, (1, 1, 1)) == 1.0
    assert total(tuple(reversed(table)), (0, 0, 0)) == total(table, (0, 0, 0)) == math.fsum((0.1, 0.2, 0.3))
