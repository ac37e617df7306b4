"""What is read of a CSV file is what Python's module for CSV reads, whatever types DuckDB would take it for."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon as sa
from tests.engines import engine_of

SPELLED = st.one_of(
    st.integers(-(10**6), 10**20).map(str),
    st.decimals(-1000, 1000, places=2).map(str),
    st.decimals(-10, 10, allow_nan=True).map(str),
    st.dates().map(str),
    st.datetimes().map(str),
    st.times().map(str),
    st.floats(allow_nan=True).map(repr),
    st.sampled_from(
        ["007", "+7", " 7", "7 ", "1E50", "0x1F", "1_0", "t", "F", "true", "Yes", "NULL", "NA", "-", ".", "3-2-12"]
    ),
    st.sampled_from(
        ["01.02.2020", "2020/1/5", "10:30", "2020-01-05T10:30", "infinity", "epoch", "#", "# x", "=1+1", "''", "'x'"]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=["Cs"]), min_size=1, max_size=8),
)
COLUMNS = st.lists(
    st.one_of(SPELLED.map(lambda text: [text]), st.lists(SPELLED, min_size=1, max_size=6)), min_size=1, max_size=4
)
"""The values that each column has, in turns: often only one, or of one kind."""


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with sa.connect() as session:
        yield session


@given(
    columns=COLUMNS,
    rows=st.integers(1, 12),
    delimiter=st.sampled_from(",;\t|"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    late=st.integers(0, 2_100),
)
def test_every_value_is_as_it_is_written(
    session: sa.Session,
    tmp_path_factory: pytest.TempPathFactory,
    columns: list[list[str]],
    rows: int,
    delimiter: str,
    quoting: int,
    late: int,
) -> None:
    """Also where odd values come after many equal ones."""
    path = tmp_path_factory.getbasetemp() / "values.csv"
    names = [f"name {place}" for place in range(len(columns))]
    first = [[values[0] for values in columns] for _ in range(late)]
    written = first + [[values[row % len(values)] for values in columns] for row in range(rows)]
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator="\n").writerows([names, *written])
    Path(path).write_text(text.getvalue(), encoding="utf-8")
    relation = engine_of(session).resolve(str(path)).relation.sql("duckdb")
    found = session.connection.execute(f"SELECT COLUMNS(*)::VARCHAR FROM {relation}").fetchall()
    assert sorted(found) == sorted(map(tuple, written))
