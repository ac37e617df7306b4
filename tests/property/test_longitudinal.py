"""Sequences of events against the oracle: the macro called and expanded, and tables of individuals."""

from dataclasses import dataclass
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

import sqlanon as sa
from tests import oracle
from tests.sql.test_oracle import EXAMPLES, ask, assert_same_rows, connection, load_table, table_call
from tests.strategies import INTEGER_VALUES, TEXT_VALUES, distinct_names


@dataclass(frozen=True)
class Events:
    """A table of events with many ties, and the roles of its columns."""

    rows: oracle.Rows
    columns: dict[str, str]
    individual: str
    events: list[str]
    order: list[str]
    keep: list[str]


@st.composite
def event_tables(draw: st.DrawFn, *, strangers: bool) -> Events:
    """Random events; with ``strangers`` some have no individual, without them nothing that is kept varies."""
    individual, first_event, second_event, first_key, second_key, kept = draw(distinct_names(6, 6))
    types = {name: draw(st.sampled_from(["VARCHAR", "INTEGER"])) for name in (first_event, second_event, first_key)}
    columns = {individual: "VARCHAR", second_key: "INTEGER", kept: "INTEGER", **types}
    columns = {name: columns[name] for name in draw(st.permutations(list(columns)))}
    values = {"VARCHAR": st.sampled_from([None, *TEXT_VALUES]), "INTEGER": st.sampled_from([None, *INTEGER_VALUES])}
    people = st.sampled_from(["a", "A", "", " a", *([None] if strangers else [])])
    row = st.fixed_dictionaries({**{name: values[kind] for name, kind in columns.items()}, individual: people})
    rows = draw(st.lists(row, max_size=14))
    constant = {person: draw(values["INTEGER"]) for person in ("a", "A", "", " a", None)}
    return Events(
        rows=[{**one, kept: constant[one[individual]]} for one in rows],
        columns=columns,
        individual=individual,
        events=[first_event, second_event][: draw(st.integers(1, 2))],
        order=draw(st.permutations([first_key, second_key]))[: draw(st.integers(1, 2))],
        keep=[kept][: draw(st.integers(0, 1))],
    )


@cache
def session() -> sa.Session:
    return sa.connect(connection())


@EXAMPLES
@given(event_tables(strangers=True), st.integers(1, 4))
def test_first_events(table: Events, n: int) -> None:
    load_table("data", table.columns, table.rows)
    expected = oracle.first_events(table.rows, table.individual, table.events[0], table.order, n)
    found = ask(table_call("first_events", "data", table.individual, table.events[0], table.order, n))
    assert_same_rows(found, expected)


@EXAMPLES
@given(event_tables(strangers=False), st.integers(1, 4))
def test_flatten(table: Events, first: int) -> None:
    load_table("data", table.columns, table.rows)
    done = session().flatten(
        "data",
        "wide",
        individual=table.individual,
        event=table.events,
        order=table.order,
        first=first,
        keep=table.keep,
        count="number of events",
        replace=True,
    )
    expected = oracle.flatten(
        table.rows, table.individual, table.events, table.order, first, table.keep, "number of events"
    )
    cursor = connection().execute("FROM wide")
    assert [column[0] for column in cursor.description or []] == list(done.columns)
    assert cursor.fetchall() == [tuple(row.values()) for row in expected]
    sizes = [row["number of events"] for row in expected]
    assert (done.individuals, done.events) == (len(sizes), len(table.rows))
    assert done.cut_individuals == sum(size > first for size in sizes)
    assert done.cut_events == sum(max(size - first, 0) for size in sizes)
