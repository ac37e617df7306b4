"""Nodes that fail by the sizes of their classes: what is told of them is true, and of all others nothing is lost."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.model.lattice import Levels, NodeSummary
from sqlanon.nodes.counting import NodeCounter, SizesFirst
from sqlanon.nodes.table import encode_table
from sqlanon.search import Inquiry
from tests.benchmarks.lakes import COLUMNS, blow_up, load_taxonomies
from tests.engines import engine_of
from tests.property.test_releases import FEWER, Run, load, runs, session


def inquiry(nodes: Sequence[Levels], loss: float | None) -> Inquiry:
    return Inquiry(nodes, loss, lambda: None, "counts")


@FEWER
@given(run=runs(), limit=st.sampled_from([0.0, 0.2, 0.5]))
def test_what_sizes_tell_of_a_node_is_true(run: Run, limit: float) -> None:
    load(run)
    engine = engine_of(session())
    bound = prepare(engine, engine.resolve("raw_data"), run.policy)
    with engine.transaction(), engine.scratch():
        table = encode_table(engine, bound, label_losses=())
        allowed = int(limit * table.context.row_count)
        table = replace(table, context=replace(table.context, allowed_rows=allowed))
        asked = inquiry(list(table.context.lattice.nodes()), 0.5)
        counted, known = (counter(engine, table).answer(asked) for counter in (SizesFirst, NodeCounter))
        check_sizes(counted, known, allowed)


def check_sizes(counted: Sequence[NodeSummary], known: Sequence[NodeSummary], allowed: int) -> None:
    """What is counted of nodes is what is known of them, or true of those that fail by the sizes of their classes."""
    for summary, whole in zip(counted, known, strict=True):
        if summary != whole:
            event("by sizes")
            assert summary.levels == whole.levels
            assert summary.class_count == whole.class_count
            assert allowed < summary.suppressed_rows == summary.certain_suppressed_rows
            assert summary.certain_suppressed_rows <= whole.certain_suppressed_rows
            assert summary.suppressed_rows <= whole.suppressed_rows
            assert summary.kept_class_count >= whole.kept_class_count


def test_sizes_that_no_class_lacks_are_not_counted_first() -> None:
    """An attack that gains nothing asks for classes of one row."""
    with sa.connect() as connected:
        connected.connection.execute("CREATE TABLE people AS SELECT i AS age, i % 2 AS ill FROM range(8) each(i)")
        policy = sa.Policy(
            quasi_identifiers=["age"],
            sensitive=["ill"],
            privacy=[sa.NoAttack(0, 1), sa.DistinctLDiversity("ill", 2)],
        )
        connected.taxonomies.load("age", sa.Taxonomy.flat([str(age) for age in range(8)]))
        engine = engine_of(connected)
        bound = prepare(engine, engine.resolve("people"), policy)
        with engine.transaction(), engine.scratch():
            table = encode_table(engine, bound, label_losses=())
            asked = inquiry(list(table.context.lattice.nodes()), 0.5)
            assert SizesFirst(engine, table).answer(asked) == NodeCounter(engine, table).answer(asked)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("people") / "people.parquet"
    blow_up(source, 1_000, COLUMNS[:6], adult=False)
    return source


@pytest.mark.parametrize(("k", "limit", "goes_on"), [(2, 0.5, False), (40, 0.05, True)])
def test_sizes_are_counted_first_while_many_nodes_fail_by_them(
    people: Path, k: int, limit: float, goes_on: bool
) -> None:
    with sa.connect() as connected:
        engine = engine_of(connected)
        load_taxonomies(connected, COLUMNS[:5], adult=False)
        policy = sa.Policy(
            quasi_identifiers=COLUMNS[:5],
            sensitive=[COLUMNS[5]],
            privacy=[sa.KAnonymity(k), sa.EntropyLDiversity(COLUMNS[5], 2)],
            suppression_limit=limit,
        )
        bound = prepare(engine, engine.resolve(str(people)), policy)
        with engine.transaction(), engine.scratch():
            table = encode_table(engine, bound, label_losses=())
            nodes = list(bound.lattice.nodes())
            counter = SizesFirst(engine, table)
            with mock.patch.object(NodeCounter, "answer", autospec=True, side_effect=NodeCounter.answer) as answer:

                def are_first(nodes: Sequence[Levels], loss: float | None) -> bool:
                    answer.reset_mock()
                    counter.answer(inquiry(nodes, loss))
                    return not answer.call_args_list[0].args[0].table.encoding.spec.protected

                assert not are_first(nodes[:64], None), "no node is found: the closest may be asked for"
                assert are_first(nodes[64:128], 0.5)
                assert are_first(nodes[128:], 0.5) == goes_on
