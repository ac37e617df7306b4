"""Rows of a release that fit a person, beside a comparison of each person with each row."""

from collections import Counter

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tests.sql.test_oracle import EXAMPLES, ask, connection, table_call

COLUMNS = ['a "quoted', "b; drop table x --", "anon_texts"]
VALUES = st.sampled_from(["x", "y", "z", None])
SHOWN = st.sampled_from(["x", "y", "z", "*", None])


@EXAMPLES
@given(st.lists(st.tuples(VALUES, VALUES, VALUES)), st.lists(st.tuples(SHOWN, SHOWN, SHOWN)))
def test_matching_rows_are_those_that_fit(
    persons: list[tuple[str | None, ...]], shown: list[tuple[str | None, ...]]
) -> None:
    connection().execute("SELECT 1").fetchall()  # so that no earlier test has left a result unread
    for name, rows, order in (("persons", persons, 1), ("shown", shown, -1)):
        arrays = [pa.array([row[place] for row in rows], pa.string()) for place in range(3)]
        connection().register(name, pa.table(dict([*zip(COLUMNS, arrays, strict=True)][::order])))
    fits = Counter(
        sum(all(is_ in (None, "*", was) for is_, was in zip(row, person, strict=True)) for row in shown)
        for person in persons
    )
    found = ask(table_call("matching_rows", "persons", "shown", COLUMNS))
    assert {row["matching_rows"]: row["person_count"] for row in found} == fits
