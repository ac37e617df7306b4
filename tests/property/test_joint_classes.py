"""Joint classes of two releases against a naive count, over persons who come, go, change and are left out."""

from collections import Counter
from collections.abc import Mapping

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.queries.kit.macros import install_script
from tests.effort import examples

Labels = tuple[str | None, ...]
Released = Mapping[int, Labels]
"""The labels of each person who is shown."""

KEY = 'the "key"'
labels = st.sampled_from(["*", "[0, 10)", "", None])


def releases(columns: int) -> st.SearchStrategy[Released]:
    return st.dictionaries(st.integers(0, 9), st.tuples(*[labels] * columns), max_size=10)


@pytest.fixture(scope="module")
def connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(install_script())
    return connection


def load(connection: duckdb.DuckDBPyConnection, name: str, released: Released, columns: int) -> None:
    """The key stands anywhere among the labels."""
    quoted = KEY.replace('"', '""')
    others = "".join(f", label_{place} VARCHAR" for place in range(1, columns))
    connection.execute(f'CREATE OR REPLACE TABLE {name} (label_0 VARCHAR, "{quoted}" INTEGER{others})')
    for person, (first, *rest) in released.items():
        marks = ", ".join("?" * (columns + 1))
        connection.execute(f"INSERT INTO {name} VALUES ({marks})", [first, person, *rest])


@settings(max_examples=examples(40), deadline=None)
@given(releases(1), releases(2))
def test_every_person_counts_once_with_the_labels_of_both(
    connection: duckdb.DuckDBPyConnection, first: Released, second: Released
) -> None:
    load(connection, "first", first, 1)
    load(connection, "second", second, 2)
    if first and second and not {*first} & {*second}:
        with pytest.raises(duckdb.Error, match="is in both releases"):
            connection.execute("FROM anon.joint_classes('first', 'second', ?)", [KEY]).fetchall()
        return
    expected = Counter((first.get(person), second.get(person)) for person in {*first, *second})
    found = connection.execute("FROM anon.joint_classes('first', 'second', ?)", [KEY]).fetchall()
    assert {(one, other): persons for one, other, persons in found} == expected
    assert len(found) == len(expected)
    sizes = [*expected.values()]
    (k,) = connection.execute("FROM anon.joint_k('first', 'second', ?)", [KEY]).fetchall()
    assert k == (min(sizes, default=None), len(sizes), sum(sizes), sizes.count(1))
