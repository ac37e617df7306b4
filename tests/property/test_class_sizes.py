"""A search of a lattice that is to be k-anonymous finds what brute force finds."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.nodes.choice import choose_node
from sqlanon.nodes.table import EncodedTable, encode_table
from tests import brute_force
from tests.effort import examples
from tests.engines import engine_of
from tests.property.test_releases import Run, load, session
from tests.search_cases import LIMITS, WIDE_LIMITS, WITHOUT_WEIGHTS, WideLimits, policy_for, tables

EXAMPLES = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def runs(draw: st.DrawFn) -> Run:
    table, quality = draw(tables()), draw(st.sampled_from(WITHOUT_WEIGHTS))
    policy = policy_for(table, [sa.KAnonymity(draw(st.integers(2, 6)))], quality, draw(st.sampled_from(LIMITS)))
    return Run.of(table, policy)


@contextmanager
def encoded(run: Run) -> Iterator[EncodedTable]:
    load(run)
    engine = engine_of(session())
    bound = prepare(engine, engine.resolve("raw_data"), run.policy)
    with engine.transaction(), engine.scratch():
        yield encode_table(engine, bound, label_losses=run.policy.quality.label_losses)


@EXAMPLES
@given(run=runs(), limits=st.sampled_from(WIDE_LIMITS))
def test_a_search_finds_what_brute_force_finds(run: Run, limits: WideLimits) -> None:
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
