"""Top-down specialization in SQL against the same over lists of rows."""

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from tests.case_tables import store
from tests.effort import examples
from tests.naive_top_down import Case, Naive
from tests.property.test_diffgen import labels

EXAMPLES = settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])

KINDS = ("category", "number")


@st.composite
def cases(draw: st.DrawFn) -> Case:
    order = tuple(f"{draw(st.sampled_from(KINDS))} {place}" for place in range(draw(st.integers(1, 3))))
    categories = {name: draw(labels(8)) for name in order if name.startswith("category")}
    numbers = {}
    for name in order:
        if name.startswith("number"):
            low = draw(st.integers(-5, 5))
            numbers[name] = (low, low + draw(st.integers(1, 12)))
    classes = [f"c{place}" for place in range(draw(st.integers(1, 3)))]
    values = {"target": st.sampled_from(classes)}
    for name, found in categories.items():
        values[name] = st.sampled_from(sorted(found.paths))
    for name, (low, high) in numbers.items():
        values[name] = st.integers(low, high - 1)
    k = draw(st.integers(2, 5))
    rows = draw(st.lists(st.fixed_dictionaries(values), min_size=k, max_size=40))
    return Case(rows, categories, numbers, order, k)


@contextmanager
def session_of(case: Case) -> Iterator[sa.Session]:
    with duckdb.connect(config={"threads": 1}) as connection:
        columns = {name: "BIGINT" if name in case.numbers else "VARCHAR" for name in (*case.order, "target")}
        store(connection, "given", columns, case.rows)
        session = sa.connect(connection)
        for name, found in case.categories.items():
            session.taxonomies.load(name, sa.Taxonomy.from_rows([path[::-1] for path in found.paths.values()]))
        yield session


def policy_of(case: Case) -> sa.Policy:
    method = sa.TopDownSpecialization(case.k, numeric=case.numbers)
    return sa.Policy(quasi_identifiers=case.order, sensitive=["target"], method=method)


@EXAMPLES
@given(cases(), st.randoms())
def test_it_is_the_naive_algorithm(case: Case, order: random.Random) -> None:
    """Whatever the order of rows, which the release does not tell."""
    with session_of(case) as session:
        release = session.anonymize("given", policy_of(case), into="released")
        verification = session.verify("released", policy_of(case))
        rows = session.connection.execute("FROM released").fetchall()
    naive, shown = Naive(case), Counter(rows)
    assert shown == naive.run()
    report = release.report
    assert list(report.specialized) == naive.specialized
    assert report.labels == {name: len(naive.cuts[name]) for name in case.order}
    assert verification.met
    assert not verification.notes
    classes = Counter(row[:-1] for row in shown.elements())
    assert min(classes.values()) == report.min_class_size >= case.k
    assert report.loss == pytest.approx(naive.lm())
    order.shuffle(case.rows)
    with session_of(case) as session:
        session.anonymize("given", policy_of(case), into="released")
        assert session.connection.execute("FROM released").fetchall() == rows
