"""What cells prove of intervals of nodes is true of every node there, and a search by intervals finds the optimum."""

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.nodes import proofs
from sqlanon.nodes.choice import choose_node
from sqlanon.nodes.counting import SizesFirst
from sqlanon.nodes.proofs import IntervalProofs, proofs_of
from sqlanon.nodes.table import EncodedTable, encode_table
from sqlanon.search import SearchOutcome
from tests import brute_force
from tests.brute_force import Task
from tests.effort import examples
from tests.engines import engine_of
from tests.oracle import Rows
from tests.property.test_releases import Run, load, session
from tests.search_cases import LIMITS, SENSITIVE, SENSITIVE_TAXONOMIES, Table, policy_for, tables

EXAMPLES = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])

MORE = settings(EXAMPLES, max_examples=examples(125))

QUALITIES = (sa.LM(), sa.LM(aggregate="geometric"), sa.NCP(), sa.Entropy(), sa.Prec(weights={"age": 2}))


def scored(column: str) -> st.SearchStrategy[Any]:
    """The models of a sensitive column that have scores."""
    distances, variants = st.sampled_from(["equal", "ordered", "hierarchical"]), st.sampled_from(["basic", "enhanced"])
    return st.one_of(
        st.builds(sa.AlphaKAnonymity, st.just(column), st.sampled_from([0.4, 0.5, 0.75]), st.integers(2, 3)),
        st.builds(sa.TCloseness, st.just(column), st.sampled_from([0.25, 0.5, 0.7]), distances),
        st.builds(sa.BetaLikeness, st.just(column), st.sampled_from([0.5, 1.0, 3.0]), variants),
        st.builds(sa.DeltaDisclosure, st.just(column), st.sampled_from([0.4, 1.0, 1.5])),
    )


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """A table with a policy of a model that has scores, and of others that go with it."""
    table, model = draw(tables()), st.one_of(*map(scored, SENSITIVE))
    others = st.integers(2, 4).map(sa.KAnonymity) | st.just(sa.DistinctLDiversity("drug", 2))
    models = [draw(model), *draw(st.lists(model | others, max_size=2))]
    models = [*{(type(each), each.columns, each.bounds[0].measure): each for each in models}.values()]
    policy = policy_for(table, models, draw(st.sampled_from(QUALITIES)), draw(st.sampled_from(LIMITS)))
    return Run.of(table, policy)


@contextmanager
def encoded(run: Run, decisive: float) -> Iterator[EncodedTable]:
    """The cells of a run, with scores that are decisive from a share of rows on; few cells are made for a node."""
    load(run)
    engine = engine_of(session())
    bound = prepare(engine, engine.resolve("raw_data"), run.policy)
    limits = {"DECISIVE": decisive, "FEW_ROWS": 5}
    no_cells = mock.patch.object(type(engine), "arrays", side_effect=AssertionError("cells come to Python"))
    with mock.patch.multiple(proofs, **limits), no_cells, engine.transaction(), engine.scratch():
        yield encode_table(engine, bound, label_losses=run.policy.quality.label_losses)


def prover(table: EncodedTable) -> IntervalProofs | None:
    engine = engine_of(session())
    return proofs_of(engine, table, SizesFirst(engine, table))


@EXAMPLES
@given(run=runs(), data=st.data())
def test_every_node_of_an_interval_suppresses_the_rows_that_are_proven(run: Run, data: st.DataObject) -> None:
    suppressed = {node.levels: node.suppressed_rows for node in brute_force.lattice(run.task)}
    nodes = st.sampled_from(sorted(suppressed))
    pairs = data.draw(st.lists(st.tuples(nodes, nodes), min_size=1, max_size=4))
    intervals = [(tuple(map(min, *pair)), tuple(map(max, *pair))) for pair in pairs]
    with encoded(run, -1) as table:
        found = prover(table)
        assume(found is not None)
        assert found is not None
        for (low, high), proof in zip(intervals, found.prove(intervals), strict=True):
            between = itertools.product(*(range(least, most + 1) for least, most in zip(low, high, strict=True)))
            fewest = min(suppressed[levels] for levels in between)
            event("nothing" if not proof.suppressed_rows else "all" if proof.suppressed_rows == fewest else "a part")
            assert proof.suppressed_rows <= fewest
            assert proof.summary.suppressed_rows == suppressed[high]
            if low == high:
                assert proof.suppressed_rows == fewest


CELLS = [[f"a{cell}", "a", "*"] for cell in range(4)]
"""A class of the middle level, and the cells that it is made of."""

MEMBER = st.fixed_dictionaries({"disease": st.sampled_from(["flu", "asthma", "gout"]), "drug": st.just("aspirin")})


@st.composite
def classes_of_cells(draw: st.DrawFn) -> Run:
    """A table with a class of some cells, and a class of one cell."""
    names = [*(leaf for leaf, *_ in CELLS[: draw(st.integers(2, 4))]), "b"]
    rows = [{"age": name, **row} for name in names for row in draw(st.lists(MEMBER, min_size=1, max_size=5))]
    known = {"age": [*CELLS, ["b", "b", "*"]]}
    policy = policy_for(Table(rows, known), [draw(scored("disease"))], sa.LM(), 0.5)
    return Run(rows, dict.fromkeys(["age", *SENSITIVE], "VARCHAR"), {**SENSITIVE_TAXONOMIES, **known}, policy, [])


@MORE
@given(run=classes_of_cells())
def test_no_way_to_group_cells_suppresses_fewer_rows(run: Run) -> None:
    cells = {name: [row for row in run.rows if row["age"] == name] for name, *_ in run.taxonomies["age"]}
    other = suppressed(run.task, [cells.pop("b")])
    ways = partitions([each for each in cells.values() if each])
    fewest = other + min(sum(suppressed(run.task, group) for group in way) for way in ways)
    with encoded(run, -1) as table:
        found = prover(table)
        assert found is not None
        proven = found.prove([((0,), (1,))])[0].suppressed_rows
    event("nothing" if not proven else "all" if proven == fewest else "a part")
    assert proven <= fewest


def suppressed(task: Task, cells: Sequence[Rows]) -> int:
    """The rows of a class of cells that are suppressed: all of them, or none."""
    members = [row for cell in cells for row in cell]
    return 0 if brute_force.meets(task, {}, members) else len(members)


def partitions(cells: Sequence[Rows]) -> list[list[list[Rows]]]:
    """All ways to group cells."""
    if not cells:
        return [[]]
    first, ways = cells[0], partitions(cells[1:])
    alone = [[[first], *way] for way in ways]
    return alone + [[*way[:at], [first, *way[at]], *way[at + 1 :]] for way in ways for at in range(len(way))]


@EXAMPLES
@given(run=runs())
def test_intervals_find_what_brute_force_finds(run: Run) -> None:
    expected = brute_force.answer(brute_force.lattice(run.task))
    with encoded(run, -1) as table:
        found = choose_node(engine_of(session()), table, lambda *_: None)
    assert found.unsatisfiable == (expected is None)
    assert found.lower_bound == found.loss
    if expected is None:
        assert found.best is None
        assert found.closest is not None
        return
    assert found.best is not None
    assert found.best.levels == expected.best.levels
    assert {*found.ties} == expected.ties
    assert found.loss == pytest.approx(expected.loss)
    assert found.proven_optimal


@EXAMPLES
@given(run=runs(), stop_after=st.integers(0, 6))
def test_a_search_that_is_stopped_has_a_true_bound(run: Run, stop_after: int) -> None:
    nodes = brute_force.lattice(run.task)
    least = min((brute_force.loss_of(node) for node in nodes if node.satisfies), default=float("inf"))
    with encoded(run, -1) as table:
        found = stopped(table, stop_after)
    assert found.lower_bound is None or found.lower_bound <= least + 1e-9
    assert found.lower_bound is not None or least == float("inf")
    assert found.least_suppressed_rows <= min(node.suppressed_rows for node in nodes if not node.rejected)
    if found.best is not None:
        assert found.loss is not None
        assert found.loss >= least - 1e-9


def stopped(table: EncodedTable, stop_after: int) -> SearchOutcome:
    """A search that is stopped after some questions."""
    asked = itertools.count()
    return choose_node(engine_of(session()), table, lambda *_: None, lambda: next(asked) >= stop_after)
