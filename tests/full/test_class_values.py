"""Arrays judge the values of classes as the database does, and a search that they answer finds the optimum."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

import numpy as np
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.methods.shared import class_sizes, coded_cells
from sqlanon.methods.shared.cells import EncodedTable, encode_table
from sqlanon.methods.shared.class_values import ValueCounter
from sqlanon.methods.shared.counting import NodeCounter, examine_nodes
from sqlanon.methods.shared.intervals import reading
from sqlanon.model.lattice import Levels, NodeSummary
from sqlanon.model.privacy import PrivacyModel
from sqlanon.search import Inquiry
from tests.effort import examples
from tests.engines import engine_of
from tests.property.test_releases import Run, load, session
from tests.property.test_sizes_first import check_sizes
from tests.search_cases import (
    LIMITS,
    SENSITIVE,
    WITHOUT_WEIGHTS,
    Table,
    models_of,
    policy_for,
    tables,
)

EXAMPLES = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def runs(draw: st.DrawFn, *others: PrivacyModel) -> Run:
    """A table with a policy of models of sensitive values, and of others that go with them."""
    table, model = draw(tables()), st.one_of(*map(models_of, SENSITIVE))
    models = [draw(model), *others, *draw(st.lists(model | st.integers(2, 4).map(sa.KAnonymity), max_size=2))]
    models = [*{(type(each), each.columns, each.bounds[0].measure): each for each in models}.values()]
    policy = policy_for(table, models, draw(st.sampled_from(WITHOUT_WEIGHTS)), draw(st.sampled_from(LIMITS)))
    return Run.of(table, policy)


@contextmanager
def encoded(run: Run) -> Iterator[EncodedTable]:
    """The cells of a run, which are rolled up however few they are; intervals are left alone."""
    load(run)
    engine = engine_of(session())
    bound = prepare(engine, engine.resolve("raw_data"), run.policy)
    limits = {"FEW_CELLS": 0, "ROLLED_UP_NODES": 1, "ROLLED_UP_BITS": 99}
    with (
        mock.patch.multiple(class_sizes, **limits),
        mock.patch.object(reading, "DECISIVE", 2),
        engine.transaction(),
        engine.scratch(),
    ):
        yield encode_table(engine, bound, label_losses=run.policy.quality.label_losses)


def counts(nodes: list[Levels]) -> Inquiry:
    return Inquiry(nodes, None, lambda: None, "counts")


def by_arrays(table: EncodedTable, nodes: list[Levels]) -> list[NodeSummary]:
    engine = engine_of(session())
    cells = coded_cells.coded_cells(engine, table)
    assert cells is not None
    return ValueCounter.of(engine, table, cells).answer(counts(nodes))


@EXAMPLES
@given(run=runs(), data=st.data())
def test_arrays_count_what_the_database_counts(run: Run, data: st.DataObject) -> None:
    with encoded(run) as table:
        nodes = list(table.context.lattice.nodes())
        nodes = data.draw(st.lists(st.sampled_from(nodes), min_size=1, unique=True))
        found = by_arrays(table, nodes)
        assert found == NodeCounter(engine_of(session()), table).answer(counts(nodes))
    certain = any(node.certain_suppressed_rows not in (0, node.suppressed_rows) for node in found)
    event("a part is certain" if certain else "all or nothing is certain")


@EXAMPLES
@given(run=runs(sa.KAnonymity(2)))
def test_what_sizes_say_of_a_node_is_true(run: Run) -> None:
    engine = engine_of(session())
    with encoded(run) as table:
        cells = coded_cells.coded_cells(engine, table)
        assert cells is not None
        asked = replace(counts(list(table.context.lattice.nodes())), loss=0.5)
        found, known = ValueCounter.of(engine, table, cells).answer(asked), NodeCounter(engine, table).answer(asked)
    check_sizes(found, known, table.context.allowed_rows)


WIDTH, VALUES = 3, 40
NAMES = [f"q{number}" for number in range(WIDTH)]
TAXONOMY = [[str(value), str(value // 3), str(value // 6), "*"] for value in range(12)]
VALUE_TAXONOMY = [[str(value), str(value // 7), "*"] for value in range(VALUES)]


@st.composite
def large_runs(draw: st.DrawFn) -> Run:
    """A table with classes of many values, and a policy of a model."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    count, scale = draw(st.sampled_from([50, 400])), draw(st.sampled_from([1.5, 12]))
    labels = np.minimum(random.exponential(3, (count, WIDTH)), 11).astype(int).tolist()
    values = np.minimum(random.exponential(scale, (count, 2)), VALUES - 1).astype(int).tolist()
    columns = [*NAMES, *SENSITIVE]
    rows = [dict(zip(columns, map(str, [*own, *its]), strict=True)) for own, its in zip(labels, values, strict=True)]
    taxonomies = {**dict.fromkeys(NAMES, TAXONOMY), **dict.fromkeys(SENSITIVE, VALUE_TAXONOMY)}
    return Run(rows, dict.fromkeys(columns, "VARCHAR"), taxonomies, large_policy(draw(models_of("disease"))), [])


def large_policy(*models: PrivacyModel) -> sa.Policy:
    return policy_for(Table([], dict.fromkeys(NAMES, TAXONOMY)), models, sa.LM(), 0.3)


@settings(EXAMPLES, max_examples=examples(60))
@given(run=large_runs(), data=st.data())
def test_classes_at_a_bound_are_judged_as_by_the_database(run: Run, data: st.DataObject) -> None:
    """A bound is what the database measures of a class, or nearly."""
    engine, (model,) = engine_of(session()), run.policy.privacy
    bound = model.bounds[-1]
    assert bound.measure.field is not None
    with encoded(run) as table:
        nodes = list(table.context.lattice.nodes())
        attained = float(examine_nodes(engine, table, [data.draw(st.sampled_from(nodes))])[0].worst[-1])
    value = attained / data.draw(st.sampled_from([1, bound.threshold / bound.required]))
    value = float(np.nextafter(value, data.draw(st.sampled_from([0.0, value, 100.0]))))
    try:
        model = type(model)(**{**model.model_dump(), bound.measure.field: value})
    except sa.PolicyError:
        assume(False)
    # DuckDB 1.5 reads some numbers of 16 digits and more as one of the next ones.
    literal = session().connection.sql(f"SELECT CAST({model.bounds[-1].threshold!r} AS DOUBLE)").fetchall()[0][0]
    assume(literal == model.bounds[-1].threshold)
    changed = large_policy(model, *data.draw(st.sampled_from([[], [sa.KAnonymity(2), sa.BetaLikeness("drug", 4)]])))
    with encoded(Run(run.rows, run.columns, run.taxonomies, changed, [])) as table:
        with mock.patch.object(NodeCounter, "answer", autospec=True, side_effect=NodeCounter.answer) as asked:
            found = by_arrays(table, nodes)
        event(f"{bound.measure.name}: {'the database is asked' if asked.called else 'arrays are sure'}")
        assert found == NodeCounter(engine, table).answer(counts(nodes))
