"""Generalizing rows at a cut against a dictionary of labels, on random cuts and rows with NULLs and hostile names."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from sqlanon.queries.kit.macros import expand, install_script, macros
from sqlanon.queries.kit.nodes import DIALECT
from tests.case_tables import quoted
from tests.effort import examples
from tests.strategies import HOSTILE_NAMES

EXAMPLES = settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])

TEXTS = ("a", "b", "B", "", " ", "a, b", "[a", "NULL", "é", "\x01", "\x02x")
LABELS = ("*", "", "x", "y", "\x01", "\x02", "\x03x", "a, b")

MODES = ("called", "expanded")
NUMBERS = st.integers(-30, 30) | st.floats(allow_nan=True, allow_infinity=True, width=32)


@dataclass(frozen=True)
class Case:
    """A cut, by predictor, and rows, of which the last column is none."""

    categories: Mapping[str, Mapping[str, str]]
    numbers: Mapping[str, tuple[list[int], list[str]]]
    sets: Mapping[str, Mapping[str | None, str]]
    rows: list[tuple[Any, ...]]

    @property
    def predictors(self) -> list[str]:
        return [*self.categories, *self.numbers, *self.sets]

    def label(self, name: str, value: Any) -> Any:
        if value is None:
            return None
        if name in self.categories:
            return self.categories[name][value]
        if name in self.numbers:
            bounds, labels = self.numbers[name]
            # DuckDB has NaN above all numbers.
            return labels[-1] if math.isnan(value) else labels[max(0, sum(low <= value for low in bounds[:-1]) - 1)]
        items = {item for item in value if item is not None}
        found = {self.sets[name][item] for item in items} if items else {self.sets[name].get(None)} - {None}
        return sorted(found, key=lambda label: label.encode())

    def generalized(self) -> Counter[str]:
        return Counter(
            repr((*(self.label(name, value) for name, value in zip(self.predictors, row, strict=False)), row[-1]))
            for row in self.rows
        )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    names = draw(st.lists(st.sampled_from(HOSTILE_NAMES), unique_by=str.lower, min_size=1, max_size=5))
    kinds = [draw(st.sampled_from(("category", "number", "set"))) for _ in names]
    by_kind = {kind: [name for name, each in zip(names, kinds, strict=True) if each == kind] for kind in set(kinds)}
    values = st.lists(st.sampled_from(TEXTS), unique=True, min_size=1)
    categories = {
        name: {value: draw(st.sampled_from(LABELS)) for value in draw(values)} for name in by_kind.get("category", [])
    }
    numbers = {}
    for name in by_kind.get("number", []):
        bounds = sorted(draw(st.lists(st.integers(-20, 20), unique=True, min_size=2, max_size=6)))
        numbers[name] = (bounds, [draw(st.sampled_from(LABELS)) for _ in bounds[1:]])
    sets: dict[str, Mapping[str | None, str]] = {}
    for name in by_kind.get("set", []):
        items: dict[str | None, str] = {value: draw(st.sampled_from(LABELS)) for value in draw(values)}
        sets[name] = {**items, None: "*"} if draw(st.booleans()) else items
    columns: list[st.SearchStrategy[Any]] = [st.none() | st.sampled_from(sorted(each)) for each in categories.values()]
    columns += [st.none() | NUMBERS for _ in numbers]
    for known in sets.values():
        item = st.none() | st.sampled_from(sorted(value for value in known if value is not None))
        columns.append(st.none() | st.lists(item, max_size=4))
    return Case(categories, numbers, sets, draw(st.lists(st.tuples(*columns, st.integers(0, 3)), max_size=12)))


@cache
def connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(install_script())
    connection.execute("CREATE TABLE cuts (attribute VARCHAR, value VARCHAR, low DOUBLE, high DOUBLE, label VARCHAR)")
    return connection


def load(case: Case) -> None:
    types = [
        *("VARCHAR" for _ in case.categories),
        *("DOUBLE" for _ in case.numbers),
        *("VARCHAR[]" for _ in case.sets),
    ]
    columns = [f"{quoted(name)} {kind}" for name, kind in zip(case.predictors, types, strict=True)]
    connection().execute(f"CREATE OR REPLACE TABLE given ({', '.join(columns)}, other_column INTEGER)")
    insert("given", case.rows)
    cut: list[tuple[Any, ...]] = [
        (name, value, None, None, label)
        for each in (case.categories, case.sets)
        for name, known in each.items()
        for value, label in known.items()
    ]
    for name, (bounds, labels) in case.numbers.items():
        cut += [(name, None, *ends, label) for *ends, label in zip(bounds, bounds[1:], labels, strict=False)]
    connection().execute("DELETE FROM cuts")
    insert("cuts", cut)


def insert(table: str, rows: list[tuple[Any, ...]]) -> None:
    if rows:
        marks = ", ".join("?" for _ in rows[0])
        values = ", ".join(f"({marks})" for _ in rows)
        connection().execute(f"INSERT INTO {table} VALUES {values}", [value for row in rows for value in row])


def call(macro: str, case: Case) -> exp.Select:
    lists = [
        exp.Array(expressions=list(map(exp.Literal.string, each)))
        for each in (case.categories, case.numbers, case.sets)
    ]
    arguments = [exp.Literal.string("given"), exp.Literal.string("cuts"), *lists]
    function = exp.Anonymous(this=macro, expressions=arguments)
    return exp.select("*").from_(exp.Table(this=function, db=exp.to_identifier(macros()[macro].schema)))


def fetched(macro: str, case: Case, mode: str) -> list[dict[str, Any]]:
    query: exp.Expr = call(macro, case)
    cursor = connection().execute((expand(query) if mode == "expanded" else query).sql(DIALECT))
    names = [column[0] for column in cursor.description or []]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@EXAMPLES
@given(case=cases(), unknown=st.sampled_from(TEXTS))
def test_every_row_has_the_labels_of_its_values(case: Case, unknown: str) -> None:
    """Rows with what the cut does not know are counted, and refused."""
    load(case)
    places = {name: place for place, name in enumerate(case.predictors)}
    wanted = {
        name: sum(
            row[places[name]] is not None
            and (unknown in row[places[name]] if name in case.sets else row[places[name]] == unknown)
            for row in case.rows
        )
        for name in case.predictors
    }
    for mode in MODES:
        found = fetched("apply_cut", case, mode)
        shown = Counter(repr(tuple(row[name] for name in (*case.predictors, "other_column"))) for row in found)
        assert shown == case.generalized()
    connection().execute("DELETE FROM cuts WHERE value = ?", [unknown])
    for mode in MODES:
        found = fetched("rows_without_label", case, mode)
        assert {row["attribute"]: row["row_count"] for row in found} == wanted
        if any(wanted.values()):
            with pytest.raises(duckdb.Error, match="in the cut"):
                fetched("apply_cut", case, mode)
