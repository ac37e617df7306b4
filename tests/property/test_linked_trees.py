"""Whole trees of linked tables by brute force: persons who look alike in all of their rows (tests.linked_oracle)."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from math import log, log2
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

import sqlanon as sa
from sqlanon.binding.linked import bound_linked
from sqlanon.engines.duckdb import Engine
from sqlanon.errors import VerificationError
from sqlanon.methods.linked import tree_rows
from sqlanon.methods.linked.encoded import EncodedLinked, encode_linked
from sqlanon.methods.linked.keyed_rows import ShownRows
from sqlanon.methods.linked.node_counts import choose_linked_node, loss_of
from sqlanon.methods.linked.trees import TreeCounter
from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.queries.kit.nodes import Relation, Step, f, select
from tests.engines import engine_of
from tests.linked_oracle import (
    Label,
    Levels,
    Node,
    Persons,
    Row,
    Schema,
    Value,
    best_nodes,
    loss,
    records_of,
    rows_of,
    shown_rows,
    whole_persons,
)
from tests.sql.test_oracle import FEW_EXAMPLES

PERSONS, VISITS, DIAGNOSES, BILLS = "persons", "vis its", 'diag"noses', "bills"
COLUMNS = {PERSONS: ("a", "b"), VISITS: ("c",), DIAGNOSES: ("d",), BILLS: ("e",)}
PARENTS = {VISITS: PERSONS, DIAGNOSES: VISITS, BILLS: PERSONS}
ROWS = [["x", "xy", "*"], ["y", "xy", "*"], ["z", "z", "*"]]
TAXONOMY: list[dict[Value, Label]] = [{row[0]: row[level] for row in ROWS} for level in range(3)]
SCHEMA = Schema({name: [TAXONOMY for _ in columns] for name, columns in COLUMNS.items()})

VALUES = st.sampled_from(["x", "y", "z", None])
NO_ROWS: st.SearchStrategy[tuple[Row, ...]] = st.just(())
DIAGNOSIS = st.builds(Row, st.just(DIAGNOSES), st.tuples(VALUES), NO_ROWS)
VISIT = st.builds(Row, st.just(VISITS), st.tuples(VALUES), st.lists(DIAGNOSIS, max_size=2).map(tuple))
BILL = st.builds(Row, st.just(BILLS), st.tuples(VALUES), NO_ROWS)
PERSON = st.builds(Row, st.just(PERSONS), st.tuples(VALUES, VALUES), st.lists(VISIT | BILL, max_size=3).map(tuple))
OF_ALL_TABLES = Row(PERSONS, ("x", "x"), (Row(VISITS, ("y",), (Row(DIAGNOSES, ("z",)),)), Row(BILLS, (None,))))
DATABASES = st.lists(PERSON, min_size=1, max_size=5).flatmap(
    lambda some: st.lists(st.sampled_from([*some, OF_ALL_TABLES]), max_size=12).map(
        lambda found: [*found, OF_ALL_TABLES]
    )
)


def policy(k: int = 2, limit: float = 1.0, **more: Any) -> LinkedPolicy:
    tables = {
        name: {
            "parent": PARENTS.get(name),
            "key": "above" if name in PARENTS else None,
            "row_key": "id",
            "quasi_identifiers": columns,
            "sensitive": ["secret"],
            "taxonomies": {column: {"kind": "rows", "rows": ROWS} for column in columns},
            "suppression_limit": 1.0 if name in PARENTS else None,
        }
        for name, columns in COLUMNS.items()
    }
    fields = {"privacy": [{"model": "k-anonymity", "k": k}], "suppression_limit": limit, "tables": tables}
    return LinkedPolicy(**{**fields, **more})


def load(engine: Engine, persons: Persons) -> None:
    """Make the tables; rows have their position as key, and their first value as secret, too."""
    rows = rows_of(persons)
    for name, columns in COLUMNS.items():
        listed = ", ".join(f'"{column}" VARCHAR' for column in columns)
        engine.connection.execute(
            f"CREATE OR REPLACE TABLE {quoted(name)} (id VARCHAR, above VARCHAR, {listed}, secret VARCHAR)"
        )
        for place, row in rows.items():
            if row.table == name:
                values = [str(place), str(place[:-1]), *row.values, row.values[0]]
                marks = ", ".join("?" for _ in values)
                engine.connection.execute(f"INSERT INTO {quoted(name)} VALUES ({marks})", values)
        if name == PERSONS:
            engine.connection.execute(f"ALTER TABLE {quoted(name)} DROP above")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def encoded_tables(persons: Persons, policy: LinkedPolicy) -> Iterator[tuple[Engine, EncodedLinked]]:
    engine = engine_of(session())
    load(engine, persons)
    sources = {name: engine.resolve(name) for name in COLUMNS}
    with bound_linked(engine, sources, policy) as bound, engine.scratch():
        yield engine, encode_linked(engine, bound)


@cache
def session() -> sa.Session:
    return sa.connect()


def node_at(encoded: EncodedLinked, levels: Levels) -> Node:
    return Node.at({name: encoded.own_levels(name, levels) for name in COLUMNS})


def shown_records(engine: Engine, encoded: EncodedLinked, shown: Mapping[str, ShownRows]) -> Counter[Any]:
    """What is shown of each person, by the numbers of rows."""
    below: dict[tuple[str, int], list[Any]] = {}
    for name in reversed(encoded.policy.ordered):
        table = encoded.bound.tables[name]
        engine.run(
            Step(Relation("anon_labels", "row"), select([exp.Star()], shown[name].labelled()), "rows", is_again=True)
        )
        columns = ", ".join(map(quoted, table.own))
        parent = "anon_row" if name == PERSONS else "anon_parent"
        query = f"SELECT anon_row, {parent}, {columns} FROM temp.main.anon_labels"
        found = engine.connection.execute(query).fetchall()
        for row, above, *labels in found:
            record = (name, tuple(labels), tuple(sorted(below.get((name, row), []), key=repr)))
            below.setdefault((PARENTS.get(name, ""), above), []).append(record)
    return Counter(itertools.chain.from_iterable(found for (name, _), found in below.items() if not name))


def as_shown(row: Row) -> Any:
    labels = tuple(label for _, label in row.values)
    return row.table, labels, tuple(sorted(map(as_shown, row.below), key=repr))


@FEW_EXAMPLES
@given(DATABASES, st.integers(2, 3), st.lists(st.tuples(*[st.integers(0, 2)] * 5), min_size=3, max_size=6))
def test_nodes_leave_out_persons_whose_trees_fewer_than_k_have(persons: Persons, k: int, nodes: list[Levels]) -> None:
    with encoded_tables(persons, policy(k)) as (engine, encoded):
        counter = TreeCounter(engine, encoded)
        for levels, counts in zip(nodes, counter.counts(nodes, with_losses=True), strict=True):
            node = node_at(encoded, levels)
            left_out = whole_persons(k, None)(persons, SCHEMA, node)
            gone = Counter(rows_of(persons)[place].table for place in left_out)
            alike = Counter(SCHEMA.label(person, node) for person in persons)
            assert {name: table.left_out for name, table in counts.tables.items()} == {
                name: gone[name] for name in COLUMNS
            }
            assert (counts.class_count, counts.kept_class_count) == (len(alike), sum(n >= k for n in alike.values()))
            kept = shown_rows(persons, node, left_out)
            assert loss_of(encoded, counts) == pytest.approx(float(loss(persons, SCHEMA, kept)))
        [bound] = counter.bounds([levels])
        assert bound.tables[PERSONS].left_out <= counts.tables[PERSONS].left_out
        assert shown_records(engine, encoded, counter.show(levels)) == Counter(
            map(as_shown, records_of(persons, SCHEMA, kept).values())
        )


LIMITS: dict[str, tuple[dict[str, Any], Callable[[float, float], bool]]] = {
    "alpha": ({"model": "alpha-k-anonymity", "alpha": 0.5, "k": 2}, lambda p, _: p <= 0.5),
    "beta": ({"model": "beta-likeness", "beta": 0.5}, lambda p, q: p / q <= 1.5 + 1e-9),
    "enhanced": (
        {"model": "beta-likeness", "beta": 0.8, "variant": "enhanced"},
        lambda p, q: p / q <= 1 + min(0.8 + 1e-9, -log(q)),
    ),
    "delta": ({"model": "delta-disclosure", "delta": 1.0}, lambda p, q: log2(p / q) < 1 - 1e-9),
}
"""Models, and whether the share of a class is within the bound, given that of all persons."""


def shares(persons: Persons, table: str) -> dict[Value, float]:
    """The share of persons who have a value in some row; a person without rows has none."""
    held = Counter(
        value for row in persons for value in {r.values[0] for r in rows_of([row]).values() if r.table == table}
    )
    return {value: count / len(persons) for value, count in held.items()}


@FEW_EXAMPLES
@given(DATABASES, st.sampled_from([*LIMITS]), st.sampled_from([PERSONS, VISITS, DIAGNOSES]), st.data())
def test_classes_beyond_a_share_are_left_out(persons: Persons, name: str, table: str, data: st.DataObject) -> None:
    model, is_within = LIMITS[name]
    models = [{"model": "k-anonymity", "k": 2}, {**model, "column": f"{table}.secret"}]
    nodes = data.draw(st.lists(st.tuples(*[st.integers(0, 2)] * 5), min_size=3, max_size=6))
    of_all = shares(persons, table)
    with encoded_tables(persons, policy(privacy=models)) as (engine, encoded):
        counter = TreeCounter(engine, encoded)
        for levels, counts in zip(nodes, counter.counts(nodes, with_losses=True), strict=True):
            classes: dict[Row, list[Row]] = {}
            for person in persons:
                classes.setdefault(SCHEMA.label(person, node_at(encoded, levels)), []).append(person)
            small = [each for each in classes.values() if len(each) < 2]
            beyond = [
                each
                for each in classes.values()
                if len(each) < 2 or not all(is_within(p, of_all[value]) for value, p in shares(each, table).items())
            ]
            gone = Counter(row.table for each in beyond for row in rows_of(each).values())
            certain = Counter(row.table for each in small for row in rows_of(each).values())
            assert {key: (each.left_out, each.certain) for key, each in counts.tables.items()} == {
                key: (gone[key], certain[key]) for key in COLUMNS
            }


@FEW_EXAMPLES
@given(DATABASES)
def test_the_search_finds_the_least_loss(persons: Persons) -> None:
    limits = {PERSONS: 0.4, VISITS: 1.0, DIAGNOSES: 1.0, BILLS: 1.0}
    best = best_nodes(persons, SCHEMA, whole_persons(2, None), limits)
    with encoded_tables(persons, policy(2, 0.4)) as (engine, encoded):
        outcome = choose_linked_node(encoded, TreeCounter(engine, encoded), lambda *_: None, lambda: False)
    assert (outcome.loss is None) == (best is None)
    if best is not None:
        assert outcome.loss == pytest.approx(float(best[0]))


HEART, LUNG, KNEE = (Row(VISITS, (value,)) for value in "xyz")
OF_SEVEN = [
    *(Row(PERSONS, ("x", "x"), rows) for rows in ((HEART, LUNG), (LUNG, HEART), (HEART,), (HEART, HEART))),
    *(Row(PERSONS, ("y", "x"), rows) for rows in ((LUNG,), (LUNG, KNEE), ())),
]
"""The seven persons of spec/linked.md, fact L1: their wards are visits."""


@pytest.mark.parametrize(("ward", "classes", "alone"), [(0, 6, 5), (2, 5, 4)])
def test_the_seven_persons_of_the_spec(ward: int, classes: int, alone: int) -> None:
    with encoded_tables([*OF_SEVEN, OF_ALL_TABLES], policy()) as (engine, encoded):
        [counts] = TreeCounter(engine, encoded).counts([(0, 0, ward, 0, 0)], with_losses=False)
    # Another person, who is alone, has rows of the other tables.
    assert (counts.class_count, counts.tables[PERSONS].left_out) == (classes + 1, alone + 1)


def visitor(visits: int) -> Row:
    return Row(PERSONS, ("x", "x"), (Row(VISITS, (None,)),) * visits)


COUNTED = [*map(visitor, (0, 1, 2, 3)), OF_ALL_TABLES]
"""Persons who differ in the number of equal rows: their key is 0, as is DuckDB's hash of it."""


def test_rows_with_a_key_of_zeros_count() -> None:
    with encoded_tables(COUNTED, policy()) as (engine, encoded):
        [counts] = TreeCounter(engine, encoded).counts([(0, 0, 0, 0, 0)], with_losses=False)
    assert counts.class_count == 5


def test_signatures_that_say_too_little_are_found_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tree_rows, "hashed", lambda values, _: f.hash(*values[:1] or [0]))
    persons = [*map(visitor, (0, 1, 2, 3)), OF_ALL_TABLES, OF_ALL_TABLES]
    load(engine_of(session()), persons)
    with pytest.raises(VerificationError, match="withdrawn"):
        session().anonymize({name: name for name in COLUMNS}, policy(), f"{tmp_path}/released/")
    assert not [*tmp_path.iterdir()]
