"""DiffGen in SQL against DiffGen over lists of rows, without noise; and its budget, whatever is drawn."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import sqlglot
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.queries.kit.macros import expand
from sqlanon.queries.kit.nodes import DIALECT
from tests.case_tables import store
from tests.effort import examples
from tests.fixed_noise import FixedNoise
from tests.naive_diffgen import Case, Labels, Naive, set_threshold

EXAMPLES = settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])

KINDS = ("category", "number", "set")


@st.composite
def labels(draw: st.DrawFn, most: int) -> Labels:
    """A taxonomy with a top, whose labels can stand for one value alone."""
    height = draw(st.integers(1, 3))
    size = draw(st.integers(1, most))
    paths = {}
    for place in range(size):
        above = ["*"]
        for _ in range(height - 1):
            # Below another label it is another label, whatever number it has.
            above.append(f"{above[-1]}{draw(st.integers(0, 2))}")
        value = f"v{place}"
        paths[value] = (*above, value)
    return Labels(paths)


@st.composite
def cases(draw: st.DrawFn, predictors: int = 3, values: int = 8, rounds: int = 6) -> Case:
    """Rows of up to so many predictors, with taxonomies of up to so many values, and the number of specializations."""
    order = tuple(f"{draw(st.sampled_from(KINDS))} {place}" for place in range(draw(st.integers(1, predictors))))
    categories = {name: draw(labels(values)) for name in order if name.startswith("category")}
    sets = {name: draw(labels(values)) for name in order if name.startswith("set")}
    numbers = {}
    for name in order:
        if name.startswith("number"):
            low = draw(st.integers(-5, 5))
            numbers[name] = (low, low + draw(st.integers(1, 3 * values // 2)))
    classes = tuple(f"c{place}" for place in range(draw(st.integers(2, 3))))
    of_row = {"target": st.sampled_from(classes) | st.none()}
    for name, found in categories.items():
        of_row[name] = st.sampled_from(sorted(found.paths)) | st.none()
    for name, (low, high) in numbers.items():
        of_row[name] = st.integers(low - 2, high + 2) | st.none()
    for name, found in sets.items():
        of_row[name] = st.lists(st.sampled_from(sorted(found.paths)) | st.none(), max_size=4) | st.none()
    rows = draw(st.lists(st.fixed_dictionaries(of_row), max_size=25))
    return Case(rows, categories, numbers, sets, classes, order, draw(st.integers(1, rounds)))


@contextmanager
def session_of(case: Case) -> Iterator[sa.Session]:
    types = {name: "BIGINT" if name in case.numbers else "VARCHAR[]" for name in (*case.numbers, *case.sets)}
    with duckdb.connect(config={"threads": 1}) as connection:
        columns = {name: types.get(name, "VARCHAR") for name in (*case.order, "target")}
        store(connection, "given", columns, case.rows)
        session = sa.connect(connection)
        for name, found in {**case.categories, **case.sets}.items():
            session.taxonomies.load(name, sa.Taxonomy.from_rows([path[::-1] for path in found.paths.values()]))
        session.taxonomies.load("target", sa.Taxonomy.flat(case.classes))
        yield session


def policy(case: Case, **options: Any) -> sa.Policy:
    method = sa.DiffGen(specializations=case.rounds, numeric=case.numbers, sets=tuple(case.sets), **options)
    return sa.Policy(quasi_identifiers=case.order, sensitive=["target"], method=method)


def released(session: sa.Session, table: str) -> Counter[tuple[Any, ...]]:
    """The groups of a release, sets of labels as sorted tuples."""
    found: Counter[tuple[Any, ...]] = Counter()
    for *labels, count in session.connection.execute(f"FROM {table}").fetchall():
        found[tuple(tuple(sorted(each)) if isinstance(each, list) else each for each in labels)] += count
    return found


@EXAMPLES
@given(cases(), st.integers(1, 60))
def test_without_noise_it_is_the_naive_algorithm(case: Case, epsilon: int) -> None:
    """And new rows get the labels of its cut, by the release and by the macro."""
    wanted = policy(case, budget=sa.Budget(epsilon), threshold=0)
    names = ([*case.categories], [*case.numbers], [*case.sets])
    columns = ", ".join(f'"{name}"' for name in (*case.order, "target"))
    applied = f"anon.apply_cut('given', 'cuts', {', '.join(map(str, names))})"
    naive = Naive(case, least_set=set_threshold(wanted.method.step))
    with session_of(case) as session:
        session.anonymize("given", wanted, "release", tables={"cuts": "cuts"}, random_source=FixedNoise(0))
        assert released(session, "release") == naive.run()
        done = session.generalize("given", "release", "generalized")
        own = session.connection.execute("FROM generalized LIMIT 0").description
        queries = (f"SELECT {columns} FROM generalized", expanded(f"SELECT {columns} FROM {applied}"))
        tables = [session.connection.execute(query).fetchall() for query in queries]
    expected = Counter(
        repr([*(None if row[name] is None else naive.shown(name, row) for name in case.order), row["target"]])
        for row in case.rows
    )
    for rows in tables:
        found = Counter(repr([tuple(each) if isinstance(each, list) else each for each in row]) for row in rows)
        assert found == expected
    assert [column[0] for column in own or []] == [*case.order, "target"] == list(done.columns)
    assert (done.rows, done.generalized) == (len(case.rows), case.order)


def expanded(query: str) -> str:
    """A query without its macros: to install all of them takes longer than a run."""
    return expand(sqlglot.parse_one(query, dialect=DIALECT)).sql(DIALECT)


def test_more_children_than_a_number_has_bits() -> None:
    """The first label has eleven children of twelve items each: 132 of them are distinguished at once."""
    drawn = np.random.default_rng(0)
    items = Labels(
        {f"{branch} {leaf}": ("*", str(branch), f"{branch} {leaf}") for branch in range(11) for leaf in range(12)}
    )
    classes = ("c0", "c1")
    rows = [
        {"set": drawn.choice(sorted(items.paths), drawn.integers(6)).tolist(), "target": str(drawn.choice(classes))}
        for _ in range(60)
    ]
    case = Case(rows, {}, {}, {"set": items}, classes, ("set",), 3)
    wanted = policy(case, budget=sa.Budget(60), threshold=0)
    with session_of(case) as session:
        session.anonymize("given", wanted, into="release", random_source=FixedNoise(0))
        assert released(session, "release") == Naive(case, least_set=set_threshold(wanted.method.step)).run()


@EXAMPLES
@given(cases(), st.integers(0, 1000), st.fractions(Fraction(1, 10), 20))
def test_the_budget_is_spent_to_the_last_part(case: Case, seed: int, epsilon: Fraction) -> None:
    """And a release of rows has as many copies of a group as one of counts says."""
    wanted, of_rows = (policy(case, budget=sa.Budget(epsilon), output=output) for output in ("counts", "rows"))
    with session_of(case) as session:
        release = session.anonymize("given", wanted, into="counts", random_source=sa.SeededSource(seed))
        session.anonymize("given", of_rows, into="rows", random_source=sa.SeededSource(seed))
        session.connection.execute("CREATE TABLE counted AS SELECT *, count(*) FROM rows GROUP BY ALL")
        assert released(session, "counted") == released(session, "counts")
    spent = {each.step: each.budget.epsilon for each in release.report.spent}
    assert sum(spent.values()) == epsilon
    assert spent["leaves"] >= epsilon / 2
    specialized = release.report.specialized
    assert spent.get("choices", 0) == wanted.method.step * len(specialized)
    sets, numbers = (sum(name.startswith(kind) for name in specialized) for kind in ("set", "number"))
    assert spent.get("item sets", 0) == wanted.method.step * sets
    assert spent.get("splits", 0) <= wanted.method.step * (len(case.numbers) + numbers)
