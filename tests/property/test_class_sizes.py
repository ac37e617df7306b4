"""Arrays count the rows that a node suppresses as brute force does, and a search that they answer finds the optimum."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.methods.shared import class_sizes
from sqlanon.methods.shared.arrays import Ints, Scratch
from sqlanon.methods.shared.cells import EncodedTable, encode_table
from sqlanon.methods.shared.choice import choose_node
from sqlanon.methods.shared.class_sizes import SizedCells, sized_cells
from sqlanon.methods.shared.packing import narrowed, packed
from sqlanon.model.lattice import Levels
from sqlanon.queries.cells.keys import KeyLayout, key_layout
from tests import brute_force
from tests.effort import examples
from tests.engines import engine_of
from tests.property.test_releases import Run, load, session
from tests.search_cases import (
    LIMITS,
    SENSITIVE,
    SENSITIVE_TAXONOMIES,
    WIDE_LIMITS,
    WITHOUT_WEIGHTS,
    Table,
    WideLimits,
    policy_for,
    tables,
)

EXAMPLES = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """A table that is to be k-anonymous."""
    table, quality = draw(tables()), draw(st.sampled_from(WITHOUT_WEIGHTS))
    policy = policy_for(table, [sa.KAnonymity(draw(st.integers(2, 6)))], quality, draw(st.sampled_from(LIMITS)))
    return Run.of(table, policy)


@contextmanager
def encoded(run: Run) -> Iterator[EncodedTable]:
    """The cells of a run, which are rolled up however few they are."""
    load(run)
    engine = engine_of(session())
    bound = prepare(engine, engine.resolve("raw_data"), run.policy)
    limits = {"FEW_CELLS": 0, "ROLLED_UP_NODES": 1, "ROLLED_UP_BITS": 99}
    with mock.patch.multiple(class_sizes, **limits), engine.transaction(), engine.scratch():
        yield encode_table(engine, bound, label_losses=run.policy.quality.label_losses)


ROWS = [{"age": str(number % 3), "disease": "flu", "drug": "aspirin", "person": str(number)} for number in range(9)]
KNOWN = {"age": [[str(number), "*"] for number in range(3)]}


@pytest.mark.parametrize(
    "changes",
    [
        {"privacy": [sa.KAnonymity(2), sa.DistinctLDiversity("drug", 2)]},
        {"privacy": [sa.DeltaDisclosure("drug", 1)]},
        {"identifiers": ["person"], "individual": "person"},
        {"method": sa.FullDomain(objective="privacy", max_loss=0.5)},
        {"quality": sa.Prec(suppressed="charged")},
    ],
    ids=str,
)
def test_arrays_are_left_alone_where_more_than_rows_counts(changes: dict[str, object]) -> None:
    table = Table(ROWS, KNOWN)
    policy = policy_for(table, [sa.KAnonymity(2)], sa.LM(), 0.5)
    columns = dict.fromkeys(["age", *SENSITIVE, "person"], "VARCHAR")
    taxonomies = {**SENSITIVE_TAXONOMIES, **KNOWN}
    plain = sa.Policy(**{**policy.model_dump(), "identifiers": ["person"]})
    with encoded(Run(ROWS, columns, taxonomies, plain, [])) as cells:
        assert sized_cells(engine_of(session()), cells) is not None
    changed = sa.Policy(**{**plain.model_dump(), **changes})
    with encoded(Run(ROWS, columns, taxonomies, changed, [])) as cells:
        assert sized_cells(engine_of(session()), cells) is None


@EXAMPLES
@given(run=runs(), limits=st.sampled_from(WIDE_LIMITS))
def test_a_search_fed_by_arrays_finds_what_brute_force_finds(run: Run, limits: WideLimits) -> None:
    expected = brute_force.answer(brute_force.lattice(run.task))
    with encoded(run) as table, limits.imposed():
        found = choose_node(engine_of(session()), table, lambda *_: None)
    assert found.unsatisfiable == (expected is None)
    assert found.lower_bound == found.loss
    if expected is None:
        assert found.best is None
        return
    assert found.best is not None
    assert found.best.levels == expected.best.levels
    assert {*found.ties} == expected.ties
    assert found.loss == pytest.approx(expected.loss)


@st.composite
def layouts(draw: st.DrawFn) -> tuple[KeyLayout, int]:
    """A layout of one word or several, and how many quasi-identifiers it has; now and then, classes differ in more."""
    heights = draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    places = [(position, depth) for position, height in enumerate(heights) for depth in range(height)]
    layout = key_layout({place: draw(st.integers(0, 2**12)) for place in places})
    largest = draw(st.none() | st.integers(0, 100))
    return layout if largest is None else layout.with_number(largest), len(heights)


@EXAMPLES
@given(layout=layouts(), free=st.integers(0, 20), data=st.data())
def test_packed_keys_are_equal_where_labels_are(layout: tuple[KeyLayout, int], free: int, data: st.DataObject) -> None:
    keys, width = layout
    levels = tuple(data.draw(st.integers(0, 4)) for _ in range(width))
    words = random_words(keys, data.draw(st.integers(0, 2**32)))
    packing = packed(keys, levels, free)
    bits = sum(each.width for (place, depth), each in keys.fields.items() if depth >= levels[place])
    bits += keys.always.width if keys.always else 0
    event("no room" if packing is None else f"{min(len(packing.moves), 5)} parts")
    assert (packing is None) == (free + bits > 63)
    if packing is None or not keys.word_count:
        return
    masks = keys.node_masks(levels)
    masked = [tuple(int(word) & masks.get(place, 0) for place, word in enumerate(key)) for key in words.T]
    narrow, parts = narrowed(keys, words)
    packing = packed(narrow, levels, free)
    assert packing is not None
    together = packing.keys(parts, Scratch()).astype(np.int64)
    assert not (together & ((1 << free) - 1)).any()
    for (one, key), (other, other_key) in itertools.combinations(zip(masked, together, strict=True), 2):
        assert (one == other) == (key == other_key)
    higher = tuple(level + data.draw(st.integers(0, 1)) for level in levels)
    masks, moved = keys.node_masks(higher), packing.layout.node_masks(higher).get(0, 0)
    for left, right in itertools.combinations(range(words.shape[1]), 2):
        same = all((words[word, left] ^ words[word, right]) & mask == 0 for word, mask in masks.items())
        assert same == ((int(together[left]) ^ int(together[right])) & moved == 0)


def random_words(layout: KeyLayout, seed: int) -> Ints:
    """Keys that often agree in a field."""
    random = np.random.default_rng(seed)
    words = np.zeros((layout.word_count, 12), dtype=np.int64)
    for each in [*layout.fields.values(), *([layout.always] if layout.always else [])]:
        if each.width:
            labels = random.integers(0, 1 << each.width, 2)
            words[each.word] |= labels[random.integers(0, 2, 12)] << each.shift
    return words


@EXAMPLES
@given(layout=layouts(), k=st.sampled_from([2, 3, 1000, 2**40]), data=st.data())
def test_classes_have_the_rows_of_their_cells(layout: tuple[KeyLayout, int], k: int, data: st.DataObject) -> None:
    """Also where keys fill their words, and leave row counts no bits."""
    keys, width = layout
    words = random_words(keys, data.draw(st.integers(0, 2**32)))
    if not keys.word_count:
        return
    rows = np.minimum(np.array(data.draw(st.lists(st.integers(1, 9), min_size=12, max_size=12))), k)
    cells = SizedCells.of(keys, (0,) * width, words, rows, k)
    low: Levels = tuple(data.draw(st.integers(0, 4)) for _ in range(width))
    high = tuple(level + data.draw(st.integers(0, 2)) for level in low)
    masks = keys.node_masks(high)
    expected: dict[tuple[int, ...], int] = {}
    for key, count in zip(words.T.tolist(), rows.tolist(), strict=True):
        label = tuple(word & masks.get(place, 0) for place, word in enumerate(key))
        expected[label] = min(expected.get(label, 0) + count, k)
    assert sorted(cells.sizes(high).tolist()) == sorted(expected.values())
    assert sorted(cells.at(low).sizes(high).tolist()) == sorted(expected.values())
