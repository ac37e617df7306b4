"""Classification accuracy on random tables: features as the oracle has them, and weights that are copies of rows."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.evaluation import classification
from sqlanon.evaluation.combinations import Roles, columns_of, combinations, matrices
from tests import oracle
from tests.effort import examples
from tests.engines import engine_of
from tests.strategies import distinct_names

EXAMPLES = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
FEW_EXAMPLES = settings(EXAMPLES, max_examples=examples(25))

TEXTS = ("a", "b", "A", "", "*", "é")
VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int64(): st.integers(-3, 3),
    pa.float64(): st.sampled_from([-0.5, 0.0, 0.1, 7.25]),
    pa.string(): st.sampled_from(TEXTS),
    pa.list_(pa.string()): st.lists(st.sampled_from([*TEXTS, None]), max_size=3),
}


@cache
def session() -> sa.Session:
    return sa.connect(duckdb.connect(config={"threads": 1}))


@st.composite
def tables(draw: st.DrawFn) -> tuple[pa.Schema, str, oracle.Rows, oracle.Rows]:
    """Training and test rows with their types, and the target; test rows have values that training rows do not have."""
    *predictors, target = draw(distinct_names(2, 5))
    types = {name: draw(st.sampled_from(list(VALUES))) for name in predictors}
    values = {name: st.none() | VALUES[kind] for name, kind in types.items()}
    rows = st.fixed_dictionaries({**values, target: st.sampled_from(["yes", "no", "perhaps"])})
    training = draw(st.lists(rows, min_size=2, max_size=12))
    test = draw(st.lists(rows, min_size=1, max_size=8))
    labels = {row[target] for row in training}
    assume(len(labels) > 1 and labels & {row[target] for row in test})
    assume(any(oracle.items_of(row[name]) not in (None, ()) for row in training for name in predictors))
    return pa.schema([*types.items(), (target, pa.string())]), target, training, test


def table(rows: oracle.Rows, schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=schema)


def in_order(features: Iterator[Any] | list[Any]) -> list[Any]:
    """Features beside labels, in an order that rounding does not change."""
    return sorted(features, key=lambda row: ([round(value, 6) + 0.0 for value in row[0]], row[1]))


@EXAMPLES
@given(tables())
def test_features_are_those_of_the_oracle(drawn: tuple[pa.Schema, str, oracle.Rows, oracle.Rows]) -> None:
    schema, target, training, test = drawn
    roles = Roles(tuple(name for name in schema.names if name != target), target, None)
    engine = engine_of(session())
    with engine.reading_frames():
        parts = [
            combinations(engine, columns_of(engine, "the table", engine.resolve(table(rows, schema))), roles)
            for rows in (training, test)
        ]
    found = [each.toarray().tolist() for each in matrices(*parts)]
    expected = oracle.encoded(training, test, roles.predictors)
    for rows, part, features, wanted in zip((training, test), parts, found, expected, strict=True):
        copied = [
            (row, label)
            for row, label, weight in zip(features, part.labels, part.weights, strict=True)
            for _ in range(int(weight))
        ]
        labelled = [(features, row[target]) for features, row in zip(wanted, rows, strict=True)]
        for (ours, label), (theirs, truth) in zip(in_order(copied), in_order(labelled), strict=True):
            assert (ours, label) == (pytest.approx(theirs, abs=1e-9), truth)


@FEW_EXAMPLES
@given(tables(), st.data())
def test_weights_are_copies_of_rows(
    drawn: tuple[pa.Schema, str, oracle.Rows, oracle.Rows], data: st.DataObject
) -> None:
    """Those of weight 0 are no rows, in whatever order all come; and raw rows are as good as an equal release."""
    schema, target, training, test = drawn
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(training), max_size=len(training)))
    copied = [row for row, weight in zip(training, weights, strict=True) for _ in range(weight)]
    labels, tested = [row[target] for row in copied], [row[target] for row in test]
    assume(len(set(labels)) > 1 and set(labels) & set(tested))
    assume(any(oracle.items_of(row[name]) not in (None, ()) for row in copied for name in row if name != target))
    name = next(each for each in ("count", "rows", "copies") if each not in schema.names)
    weighed = [{**row, name: weight} for row, weight in zip(training, weights, strict=True)]
    asked = {"target": target, "seeds": range(2)}
    by_weight = classification(
        session(),
        table(data.draw(st.permutations(weighed)), schema.append(pa.field(name, pa.int64()))),
        table(test, schema),
        weight=name,
        **asked,
    )
    of_copies = table(data.draw(st.permutations(copied)), schema), table(test[::-1], schema)
    by_copies = classification(session(), *of_copies, raw=of_copies, **asked)
    assert by_copies.ca == by_copies.ba
    assert by_weight == by_copies.model_copy(update={"ba": None})
    assert by_weight.la == pytest.approx(oracle.majority_accuracy(labels, tested))
    assert (by_weight.training_weight, by_weight.test_weight) == (len(copied), len(test))
