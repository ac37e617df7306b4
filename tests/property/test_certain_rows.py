"""What classes prove about less general nodes: true of all ways to part them, and what the database says as well."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest import mock

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.model.criteria import Criteria
from sqlanon.model.lattice import NodeSummary
from sqlanon.nodes import counting as node_counter
from sqlanon.nodes.table import encode_table
from tests import brute_force
from tests.brute_force import Task
from tests.certain_rows import certain_rows, certain_rows_of, fewest_suppressed
from tests.conftest import clinic_policy
from tests.effort import examples
from tests.engines import engine_of
from tests.property.test_releases import Run, load, runs, session
from tests.search_cases import SENSITIVE, SENSITIVE_TAXONOMIES, Table, models_of, policy_for, privacy_models

EXAMPLES = settings(max_examples=examples(250), deadline=None, suppress_health_check=[HealthCheck.too_slow])
FEWER = settings(EXAMPLES, max_examples=examples(70))

MAX_ROWS = 6
"""Rows of a class: there are 203 ways to part so many."""

VALUES = {name: [None, *(row[0] for row in SENSITIVE_TAXONOMIES[name])] for name in SENSITIVE}
ROWS = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in VALUES.items()})


@EXAMPLES
@given(
    members=st.lists(ROWS, min_size=1, max_size=MAX_ROWS),
    others=st.lists(ROWS, max_size=8),
    models=st.tuples(st.one_of(*map(models_of, SENSITIVE))) | privacy_models(individual=True),
)
def test_no_way_to_part_a_class_suppresses_fewer_rows(
    members: list[dict[str, object]], others: list[dict[str, object]], models: Sequence[object]
) -> None:
    policy = policy_for(Table([], {"age": [["a", "*"]]}), models, sa.Prec(), 0.5)
    task = Task([*members, *others], SENSITIVE_TAXONOMIES, policy)
    proven, true = certain_rows(task, {}, members), fewest_suppressed(members, task)
    event("nothing" if not proven else "all" if proven == len(members) else "a part")
    assert proven <= true


@FEWER
@given(run=runs())
def test_the_rows_that_a_node_proves_to_be_suppressed(run: Run) -> None:
    """Those of the naive twin, and no more than any less general node suppresses, up to where that is too many.

    A node that a model rejects as a whole may suppress fewer, or none.
    """
    load(run)
    task = run.task
    nodes = brute_force.lattice(task)
    too_many = brute_force.allowed_rows(run.policy.suppression_limit, len(run.rows)) + 1
    for summary in lattice_of(run):
        node = dict(zip(run.policy.quasi_identifiers, summary.levels, strict=True))
        groups = brute_force.classes(task, node).values()
        assert summary.certain_suppressed_rows == certain_rows_of(task, node, [*groups])
        below = [other for other in nodes if brute_force.covers(summary.levels, other.levels) and not other.rejected]
        assert all(min(summary.certain_suppressed_rows, too_many) <= other.suppressed_rows for other in below)


def lattice_of(run: Run) -> list[NodeSummary]:
    engine = engine_of(session())
    bound = prepare(engine, engine.resolve("raw_data"), run.policy)
    with engine.transaction(), engine.scratch():
        table = encode_table(engine, bound, label_losses=())
        return node_counter.node_summaries(engine, table, list(table.context.lattice.nodes()), asked="counts")


def proven_rows(clinic: sa.Session, policy: sa.Policy) -> list[int]:
    """What every node of the lattice proves of those below, in the order of their levels."""
    engine = engine_of(clinic)
    bound = prepare(engine, engine.resolve("visits"), policy)
    with engine.transaction(), engine.scratch():
        table = encode_table(engine, bound, label_losses=())
        nodes = list(table.context.lattice.nodes())
        return [summary.certain_suppressed_rows for summary in node_counter.node_summaries(engine, table, nodes)]


def test_individuals_prove_nothing(clinic: sa.Session) -> None:
    """One may stand in several parts of a class; rows with a name each prove what rows do."""
    model = sa.TCloseness("diagnosis", 0.3)
    assert any(proven_rows(clinic, clinic_policy(model, suppression_limit=0.2)))
    assert not any(proven_rows(clinic, clinic_policy(model, individual="id", suppression_limit=0.2)))


def test_of_several_bounds_the_one_that_proves_most_counts(clinic: sa.Session) -> None:
    models = (sa.TCloseness("diagnosis", 0.3), sa.EntropyLDiversity("diagnosis", 1.01), sa.KAnonymity(2))
    alone = [proven_rows(clinic, clinic_policy(model, suppression_limit=0.2)) for model in models]
    together = proven_rows(clinic, clinic_policy(*models, suppression_limit=0.2))
    assert all(rows >= max(each) for rows, each in zip(together, zip(*alone, strict=True), strict=True))
    assert sum(alone[0]) > 0


def test_switched_off_a_search_finds_the_same(clinic: sa.Session) -> None:
    """It checks more nodes for it."""
    policy = clinic_policy(sa.EntropyLDiversity("diagnosis", 1.9), suppression_limit=0.2)
    found = clinic.anonymize("visits", policy, into="found").report
    with switched_off():
        other = clinic.anonymize("visits", policy, into="other").report
    assert (found.node, found.ties, found.suppressed_rows) == (other.node, other.ties, other.suppressed_rows)
    assert found.loss == pytest.approx(other.loss)
    assert found.checked_nodes < other.checked_nodes
    assert clinic.connection.sql("FROM found EXCEPT ALL FROM other").fetchall() == []


@contextmanager
def switched_off() -> Iterator[None]:
    """No class proves anything of a part of its rows."""
    with mock.patch.object(Criteria, "partly_certain_bounds", ()):
        yield
