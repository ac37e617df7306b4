"""Linked tables by brute force: attackers who compare persons with what they know, one by one."""

from collections import Counter
from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.sql.test_oracle import EXAMPLES, ask, connection, table_call

LABELS = st.sampled_from(["a", "a, b", None])
PERSONS = st.lists(st.tuples(LABELS, st.lists(st.tuples(LABELS, st.integers(0, 1)), max_size=3)), max_size=6)
TABLES = ("persons", 'i"d', ['a"b'], "facts", "who", ["key", "what"])


def load(persons: list[tuple[str | None, list[tuple[str | None, int]]]]) -> None:
    connection().execute('CREATE OR REPLACE TABLE persons ("i""d" INTEGER, "a""b" VARCHAR)')
    connection().execute("CREATE OR REPLACE TABLE facts (who BIGINT, key VARCHAR, what INTEGER)")
    for number, (label, rows) in enumerate(persons):
        connection().execute("INSERT INTO persons VALUES (?, ?)", [number, label])
        for row in rows:
            connection().execute("INSERT INTO facts VALUES (?, ?, ?)", [number, *row])
    connection().execute("INSERT INTO facts VALUES (NULL, 'a', 0), (99, 'a', 1)")


def fits(person: Any, label: object, known: tuple[Any, ...]) -> bool:
    """Whether a person has the label, and each known row as often as it is known."""
    own, rows = person
    return own == label and not Counter(known) - Counter(rows)


@EXAMPLES
@given(PERSONS)
def test_trees_leave_as_many_persons_as_fit(persons: list[Any]) -> None:
    load(persons)
    alike = [
        sum(fits(other, label, tuple(rows)) and len(other[1]) == len(rows) for other in persons)
        for label, rows in persons
    ]
    [found] = ask(table_call("linked_k", *TABLES))
    assert found["k"] == min(alike, default=None)
    assert found["person_count"] == len(persons)
    assert found["unique_persons"] == alike.count(1)
    assert found["class_count"] == round(sum(1 / size for size in alike))


@EXAMPLES
@given(PERSONS, st.integers(0, 2), st.integers(1, 4))
def test_known_rows_leave_as_many_persons_as_fit(persons: list[Any], m: int, k: int) -> None:
    load(persons)
    expected = {}
    for size in range(m + 1):
        patterns = {
            (label, frozenset(Counter(known).items())): sum(fits(other, label, known) for other in persons)
            for label, rows in persons
            for known in combinations(rows, size)
        }
        if patterns:
            rarest = [
                min(
                    (sum(fits(other, label, known) for other in persons) for known in combinations(rows, size)),
                    default=9,
                )
                for label, rows in persons
            ]
            below = sum(count < k for count in rarest)
            alone = sum(count == 1 for count in rarest)
            expected[size] = (min(patterns.values()), len(patterns), [*patterns.values()].count(1), below, alone)
    found = {row.pop("known_rows"): (*row.values(),) for row in ask(table_call("known_rows", *TABLES, m, k))}
    assert found == expected


@EXAMPLES
@given(PERSONS, st.integers(1, 3))
def test_what_is_left_protects_those_who_are_shown(persons: list[Any], k: int) -> None:
    load(persons)
    [found] = ask(table_call("known_rows_left_out", *TABLES, k))
    shown = [person for person in persons if sum(fits(other, person[0], ()) for other in persons) >= k]
    assert found["persons_left_out"] == len(persons) - len(shown)
    kept = [
        (label, [row for row in rows if sum(fits(other, label, (row,)) for other in shown) >= k])
        for label, rows in shown
    ]
    assert found["rows_left_out"] == sum(len(rows) for _, rows in persons) - sum(len(rows) for _, rows in kept)
    for label, rows in kept:
        assert all(sum(fits(other, label, (row,)) for other in kept) >= k for row in rows)
