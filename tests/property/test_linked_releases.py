"""Releases of linked tables against the oracle: the node, what goes, what is written, and attackers on that."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings

import sqlanon as sa
from tests.effort import examples
from tests.linked_cases import SHAPES, LinkedCase, labels_at, linked_cases
from tests.linked_oracle import Row, Schema, mixed_rows, rows_by_class, whole_persons
from tests.linked_releases import (
    attack,
    check_choice,
    check_labels,
    check_levels,
    check_pairs,
    levels_of,
    node_of,
    released,
)
from tests.linked_universes import binary

EXAMPLES = settings(
    max_examples=examples(128),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with sa.connect(threads=1) as session:
        yield session


@pytest.mark.parametrize("empty", ["visits", "diagnoses"])
def test_a_table_without_rows_of_persons_is_refused(session: sa.Session, empty: str) -> None:
    parents = SHAPES["three tables"]
    schema = Schema({table: [binary()] for table in parents})
    person = Row("persons", ("0",), () if empty == "visits" else (Row("visits", ("0",)),))
    case = LinkedCase(parents, schema, [person, person], 2, dict.fromkeys(parents, 1.0), orphans=1)
    with pytest.raises(sa.PolicyError, match=f'"{empty}": no row belongs to a person'):
        released(session, case, case.policy([{"model": "known-rows", "k": 2, "m": 1}]))


@pytest.mark.parametrize("limit", [0.5, 1.0])
def test_rows_of_nobody_are_not_above_the_cap_as_well(session: sa.Session, limit: float) -> None:
    """Three orphans of a table with a cap of two: they were counted as rows of one person."""
    parents = SHAPES["two tables"]
    schema = Schema({table: [binary()] for table in parents})
    person = Row("persons", ("0",), (Row("visits", ("0",)), Row("visits", ("1",))))
    limits = {"persons": 0.0, "visits": limit}
    case = LinkedCase(parents, schema, [person, person], 2, limits, most=2, orphans=3)
    release = released(session, case, case.policy([{"model": "k-anonymity", "k": 2}]))
    assert check_choice(case, whole_persons(2, None), release) is not None
    assert release is not None
    assert (release.report.tables["visits"].orphans, release.report.tables["visits"].cut) == (3, 0)


@EXAMPLES
@given(linked_cases())
def test_rows_hidden_by_class_at_the_node_of_least_loss(session: sa.Session, case: LinkedCase) -> None:
    release = released(session, case, case.policy([{"model": "known-rows", "k": case.k, "m": 1}]))
    shown = check_choice(case, rows_by_class(case.k), release)
    if release is not None and shown is not None:
        attack(case, check_labels(session, case, release, shown), 1)


@pytest.mark.parametrize("method", ["full-domain", "local-recoding"])
def test_nobody_is_no_release_though_limits_allow_it(session: sa.Session, method: str) -> None:
    """To show persons without a label loses as much as to show nobody."""
    parents = SHAPES["two tables"]
    schema = Schema({table: [binary()] for table in parents})
    persons = [Row("persons", ("0",), (Row("visits", ("0",)),)), Row("persons", ("1",))]
    case = LinkedCase(parents, schema, persons, 2, dict.fromkeys(parents, 1.0))
    release = released(session, case, case.policy([{"model": "known-rows", "k": 2, "m": 1}], method=method))
    assert release is not None
    assert release.report.tables["persons"].released == 2


@EXAMPLES
@given(linked_cases())
def test_whole_trees_at_the_node_of_least_loss(session: sa.Session, case: LinkedCase) -> None:
    release = released(session, case, case.policy([{"model": "k-anonymity", "k": case.k}]))
    shown = check_choice(case, whole_persons(case.k, None), release)
    if release is not None and shown is not None:
        found = check_labels(session, case, release, shown)
        attack(case, found, None)
        for m in (1, 2):  # whoever knows less is left with as many, or more
            attack(case, found, m)


@EXAMPLES
@given(linked_cases(["two tables", "two children"]))
def test_two_known_rows_leave_k_persons(session: sa.Session, case: LinkedCase) -> None:
    release = released(session, case, case.policy([{"model": "known-rows", "k": case.k, "m": 2}]))
    if release is not None:
        found = check_pairs(session, case, release)
        for m in (1, 2):
            attack(case, found, m)


@EXAMPLES
@given(linked_cases())
def test_rows_of_mixed_levels_leave_k_persons(session: sa.Session, case: LinkedCase) -> None:
    fields = case.policy([{"model": "known-rows", "k": case.k, "m": 1}], method="local-recoding")
    release = released(session, case, fields)
    if release is not None:
        found = check_levels(session, case, release)
        attack(case, found, 1)
        if "diagnoses" not in case.parents:
            chains = {table: [*map(tuple, map(dict.values, rungs))] for table, rungs in release.report.rungs.items()}
            of_person = levels_of(node_of(case, release.node), "persons")
            shown = mixed_rows(case.kept, case.schema, of_person, chains, case.k)
            assert found.labels == labels_at(case, shown)
