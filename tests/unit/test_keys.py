"""The layout of keys: every field has bits of its own, those of higher levels are more significant."""

from itertools import combinations
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.queries import encoding as keys
from sqlanon.queries.encoding import KeyLayout, key_layout


@st.composite
def last_children(draw: st.DrawFn) -> dict[tuple[int, int], int]:
    heights = draw(st.lists(st.integers(1, 5), min_size=1, max_size=12))
    places = [(position, depth) for position, height in enumerate(heights) for depth in range(height)]
    return {place: draw(st.integers(0, 2**20)) for place in places}


@given(last_children())
def test_fields_hold_their_numbers_and_do_not_overlap(last: dict[tuple[int, int], int]) -> None:
    layout = key_layout(last)
    for place, field in layout.fields.items():
        assert last[place] << field.shift == (last[place] << field.shift) & field.mask
        assert 0 <= field.mask < 2**63, "a BIGINT holds it"
    for one, other in combinations(layout.fields.values(), 2):
        assert one.word != other.word or not one.mask & other.mask
    assert {field.word for field in layout.fields.values() if field.width} == set(range(layout.word_count))


@given(last_children())
def test_fields_of_higher_levels_are_more_significant(last: dict[tuple[int, int], int]) -> None:
    layout = key_layout(last)
    for (position, depth), field in layout.fields.items():
        above = layout.fields.get((position, depth + 1))
        if above is not None and field.width:
            assert (above.word, -above.shift) < (field.word, -field.shift)


@given(last_children(), st.data())
def test_the_mask_of_a_node_shows_its_levels_and_all_above(
    last: dict[tuple[int, int], int], data: st.DataObject
) -> None:
    layout = key_layout(last)
    width = 1 + max(position for position, _ in last)
    levels = tuple(data.draw(st.integers(0, 6)) for _ in range(width))
    masks = layout.node_masks(levels)
    for (position, depth), field in layout.fields.items():
        shown = masks.get(field.word, 0) & field.mask
        assert shown == (field.mask if depth >= levels[position] else 0)
    assert 0 not in masks.values()


def test_where_nothing_is_told_apart_a_key_has_no_words() -> None:
    assert key_layout({(0, 0): 0, (0, 1): 0}).word_count == 0
    assert key_layout({(0, 0): 0}).node_masks((0,)) == {}


def test_a_layout_by_hand() -> None:
    """Two of 3 labels, three of at most 4 under each, and a flat column of 2."""
    with mock.patch.object(keys, "WORD_BITS", 5):
        layout = key_layout({(0, 1): 2, (0, 0): 3, (1, 0): 1})
    # Highest first: two bits for (0, 1), one for (1, 0), two for (0, 0).
    assert layout.node_masks((0, 0)) == {0: 0b11111}
    assert layout.node_masks((1, 0)) == {0: 0b11100}
    assert layout.node_masks((1, 1)) == {0: 0b11000}
    assert layout.node_masks((2, 0)) == {0: 0b00100}
    assert layout.node_masks((2, 1)) == {}


@pytest.mark.parametrize("bits", [2, 3])
def test_fields_that_do_not_fit_start_a_word(bits: int) -> None:
    with mock.patch.object(keys, "WORD_BITS", bits):
        layout = key_layout({(0, 1): 2, (0, 0): 3, (1, 0): 1})
    assert layout.word_count == {2: 3, 3: 2}[bits]
    assert len(layout.label_masks(0, 0)) == 2
    assert isinstance(layout, KeyLayout)
