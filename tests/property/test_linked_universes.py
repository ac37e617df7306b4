"""The proofs of linked tables on small universes, by attackers who try everything; the large ones are in tests/deep."""

import pytest

from tests.linked_universes import (
    Setting,
    databases_of,
    examine,
    examine_hidden_rows,
    examine_mixed_levels,
    examine_what_is_possible,
    examine_worlds,
    on_a_ladder,
    persons_left,
    schema_of,
)

TWO_TABLES = Setting(3, 2, 2, 2)
THREE_TABLES = Setting(3, 1, 2, 2, most_below=2, has_values=False)


@pytest.mark.parametrize("setting", [TWO_TABLES, THREE_TABLES])
def test_persons_suppressed_leave_k_persons_and_are_fewest(setting: Setting) -> None:
    found = examine(setting)
    assert found.faults == 0
    assert found.databases == len([*databases_of(setting)])
    assert min(found.attacks.values()) > 2_000


@pytest.mark.parametrize("setting", [TWO_TABLES, THREE_TABLES])
def test_rows_hidden_by_class_leave_k_persons_and_become_fewer(setting: Setting) -> None:
    found = examine_hidden_rows(setting)
    assert found.faults == 0
    assert found.attacks["B(1)"] > 7_000


def test_rows_of_mixed_levels_leave_k_persons() -> None:
    found = examine_mixed_levels(Setting(3, 2, 3, 2))
    assert found.faults == 0
    assert found.attacks["B(1)"] > 14_000


@pytest.mark.parametrize("mixed", [False, True])
def test_what_was_hidden_says_nothing_unless_the_cap_is_known(mixed: bool) -> None:
    assert examine_what_is_possible(TWO_TABLES, 1, mixed=mixed).faults == 0
    assert examine_what_is_possible(TWO_TABLES, 0, mixed=mixed).faults == 72


@pytest.mark.parametrize("m", [None, 1, 2])
def test_who_thinks_through_all_databases_is_left_with_k_persons(m: int | None) -> None:
    schema = schema_of(TWO_TABLES)
    for node in schema.nodes():
        found = examine_worlds(TWO_TABLES, persons_left(schema, node, TWO_TABLES.k, m), m)
        assert found.faults == 0
        assert found.attacks.total() > 0


def test_who_thinks_through_all_ladders_is_left_with_k_persons() -> None:
    found = examine_worlds(TWO_TABLES, on_a_ladder(schema_of(TWO_TABLES), (0,), TWO_TABLES.k), None)
    assert found.faults == 0
    assert found.attacks["A"] > 700
