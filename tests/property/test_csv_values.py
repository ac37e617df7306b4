"""What is read of a CSV file is what Python's module for CSV reads, whatever types DuckDB would take it for.

Files vary in what their columns spell, in encoding, delimiter, quotes, line ends and rows before the odd ones. Settings
say these where they have to, and codes for missing values, notations of numbers and types.
"""

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon as sa
from tests.effort import examples
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
GROUPED = st.decimals(-(10**8), 10**8, places=2).map("{:,}".format)
SWAPPED = GROUPED.map(lambda text: text.translate(str.maketrans(",.", ".,")))
NUMBERS = st.one_of(GROUPED, SWAPPED, st.integers(-(10**6), 10**6).map(str))
COLUMNS = st.lists(
    st.one_of(
        SPELLED.map(lambda text: [text]),
        st.lists(st.one_of(SPELLED, st.just("")), min_size=1, max_size=6),
        *(st.lists(each, min_size=1, max_size=4) for each in (GROUPED, SWAPPED, NUMBERS)),
    ),
    min_size=1,
    max_size=4,
)
"""The values that each column has, in turns: often only one, or of one kind."""


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with sa.connect() as session:
        yield session


FORMS = st.fixed_dictionaries(
    {
        "delimiter": st.sampled_from(",;\t|"),
        "quoting": st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
        "quotechar": st.sampled_from('""\''),
        "lineterminator": st.sampled_from(["\n", "\r\n"]),
    }
)
"""How Python's module for CSV writes a file."""

ENCODINGS = {"utf-8": None, "utf-8-sig": None, "latin-1": "latin-1", "utf-16": "utf-16"}
"""How Python calls encodings, and how settings do, where they have to."""

NOTATIONS = [{}, {}, {"decimal": ","}, {"thousands": ","}, {"decimal": ",", "thousands": "."}, {"thousands": "'"}]


def encoded(value: str, encoding: str) -> str:
    """A text with a question mark for each sign that DuckDB refuses in an encoding."""
    if encoding == "latin-1":
        value = re.sub("[^\x00-\x7f\xa0-\xff]", "?", value)
    if encoding == "utf-16" and duckdb.__version__.startswith("1."):
        value = re.sub("[^\x00-\uffff]", "?", value)
    return value


def numbers_of(values: list[str], notation: dict[str, str]) -> list[str] | None:
    """Numbers of a notation as Python writes them; None without any, or if a text is not a number."""
    point, thousands = notation.get("decimal", "."), notation.get("thousands", "")
    group = f"|[0-9]{{1,3}}({re.escape(thousands)}[0-9]{{3}})+" if thousands else ""
    number = re.compile(f"[+-]?([0-9]+{group})({re.escape(point)}[0-9]+)?")
    if not values or not all(map(number.fullmatch, values)):
        return None
    return [value.replace(thousands, "").replace(point, ".") for value in values]


@settings(max_examples=examples(200))
@given(
    columns=COLUMNS,
    rows=st.integers(1, 12),
    form=FORMS,
    encoding=st.sampled_from([*ENCODINGS]),
    notation=st.sampled_from(NOTATIONS),
    missing=st.sets(st.integers(0, 9), max_size=2),
    first_type=st.sampled_from([None, None, "VARCHAR", "DOUBLE"]),
    names_delimiter=st.booleans(),
    late=st.integers(0, 2_100),
)
def test_every_value_is_as_it_is_written(
    session: sa.Session,
    tmp_path_factory: pytest.TempPathFactory,
    columns: list[list[str]],
    rows: int,
    form: dict[str, Any],
    encoding: str,
    notation: dict[str, str],
    missing: set[int],
    first_type: str | None,
    names_delimiter: bool,
    late: int,
) -> None:
    """Also where odd values come after many equal ones; numbers in the notation of the settings are as SQL has them."""
    columns = [[encoded(value, encoding) for value in values] for values in columns]
    names = [f"name {place}" for place in range(len(columns))]
    first = [[values[0] for values in columns] for _ in range(late)]
    written = first + [[values[row % len(values)] for values in columns] for row in range(rows)]
    text = io.StringIO(newline="")
    csv.writer(text, **form).writerows([names, *written])
    path = tmp_path_factory.getbasetemp() / "values.csv"
    path.write_bytes(text.getvalue().encode(encoding))

    kept = [row for row in written if any(row)]
    values_there = [value for value in dict.fromkeys(value for row in written for value in row) if value]
    codes = [value for place, value in enumerate(values_there) if place in missing]
    expected = [[None if value in ("", *codes) else value for value in column] for column in zip(*kept, strict=True)]
    said: dict[str, Any] = {**notation, "nullstr": codes, "encoding": ENCODINGS[encoding]}
    said |= {"quote": form["quotechar"], "delim": form["delimiter"] if names_delimiter or len(columns) == 1 else None}
    for place, column in enumerate(expected):
        numbers = numbers_of([value for value in column if value is not None], notation)
        has_type = place == 0 and first_type is not None and (numbers is not None or first_type == "VARCHAR")
        if has_type:
            said["types"] = {names[0]: first_type}
        if numbers is None or (has_type and first_type == "VARCHAR"):
            continue
        in_turn = iter(numbers)
        plain = [None if value is None else next(in_turn) for value in column]
        if has_type:
            expected[place] = [None if value is None else str(float(value)) for value in plain]
        elif notation:
            expected[place] = plain

    engine = engine_of(session)
    with engine.reading_frames():
        csv_settings = {name: value for name, value in said.items() if value}
        engine.read_as(sa.Policy(quasi_identifiers=names[:1], privacy=[sa.KAnonymity(2)], csv=csv_settings).csv)
        relation = engine.resolve(str(path)).relation.sql("duckdb")
    found = session.connection.execute(f"SELECT COLUMNS(*)::VARCHAR FROM {relation}").fetchall()
    if said.get("types") == {names[0]: "DOUBLE"}:
        found = [(value and str(float(value)), *others) for value, *others in found]
    assert sorted(map(repr, found)) == sorted(map(repr, zip(*expected, strict=True)))
