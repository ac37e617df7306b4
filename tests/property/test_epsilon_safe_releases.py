"""What ε-safe anonymization scores and shows, against the oracle; how many rows are sampled is fixed and known."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from unittest import mock

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.chance.exact import Integers
from sqlanon.engines.duckdb import Engine
from sqlanon.methods.noisy_node import epsilon_safe as method
from sqlanon.methods.noisy_node.epsilon_safe import scores
from sqlanon.methods.noisy_node.shared import prepared
from sqlanon.nodes.table import EncodedTable, encode_table
from sqlanon.queries.noise import WHOLE
from tests import oracle
from tests.case_tables import session_of
from tests.effort import examples
from tests.engines import engine_of
from tests.fixed_noise import FixedNoise
from tests.oracle import Value
from tests.strategies import Case, cases

EXAMPLES = settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
CASES = cases(max_rows=12, max_quasi_identifiers=3)


class HalfOfEach(FixedNoise):
    """A source that has the larger half of every count in the sample, and takes the node of the largest score."""

    def __init__(self) -> None:
        super().__init__(0)

    def thinned(self, counts: Integers, probability: Fraction) -> Integers:
        return (counts + 1) // 2


def half(count: int) -> int:
    """What is sampled of so many."""
    return (count + 1) // 2


@contextmanager
def table_of(case: Case, **options: object) -> Iterator[tuple[sa.Session, sa.Policy]]:
    with session_of(case) as session:
        others = [name for name in case.columns if name not in case.quasi_identifiers]
        wanted = sa.EpsilonSafe(**{"k": 2, "beta": "1/2", **options})
        yield session, sa.Policy(quasi_identifiers=case.quasi_identifiers, identifiers=others, method=wanted)


@contextmanager
def encoded(case: Case) -> Iterator[tuple[Engine, EncodedTable]]:
    with table_of(case) as (session, policy):
        engine = engine_of(session)
        bound = prepared(engine, engine.resolve("given"), policy)
        with engine.transaction(), engine.scratch():
            yield engine, encode_table(engine, bound, label_losses=())


def published(case: Case, levels: tuple[int, ...], k: int, *, of_cells: bool) -> Counter[tuple[Value, ...]]:
    """The rows of the classes that have k rows in the sample, with their number."""
    node = dict(zip(case.quasi_identifiers, levels, strict=True))
    found: Counter[tuple[Value, ...]] = Counter()
    if not of_cells:
        for labels, count in oracle.counts(oracle.generalize(case.rows, case.taxonomies, node), list(node)).items():
            found[labels] += half(count)
        return Counter({labels: count for labels, count in found.items() if count >= k})
    for cell, count in oracle.counts(case.rows, list(node)).items():
        row = dict(zip(node, cell, strict=True))
        (labels,) = oracle.counts(oracle.generalize([row], case.taxonomies, node), list(node))
        found[labels] += half(count)
    return Counter({labels: count for labels, count in found.items() if count >= k})


@EXAMPLES
@given(CASES, st.integers(1, 6), st.sampled_from([1, 5, 7]))
def test_scores_are_those_of_the_oracle(case: Case, threshold: int, weight: int) -> None:
    """Up to what rounding losses down to parts of a whole takes away, which is the same for every table."""
    with encoded(case) as (engine, table):
        nodes = table.context.lattice.nodes()
        found = scores(engine, table, threshold=threshold, weight=weight, reach=weight * WHOLE * len(case.rows))
    for levels, score in zip(nodes, map(int, found), strict=True):
        node = dict(zip(case.quasi_identifiers, levels, strict=True))
        expected = oracle.sampling_score(case.rows, case.taxonomies, node, threshold, weight)
        assert abs(Fraction(score, WHOLE) - expected) <= Fraction(2 * len(case.rows) * len(levels), WHOLE)


@EXAMPLES
@given(CASES, st.integers(1, 6), st.integers(0, 4 * WHOLE))
def test_those_far_below_the_best_are_raised_to_the_reach(case: Case, threshold: int, reach: int) -> None:
    with encoded(case) as (engine, table):
        exact = scores(engine, table, threshold=threshold, weight=5, reach=5 * WHOLE * len(case.rows))
        found = scores(engine, table, threshold=threshold, weight=5, reach=reach)
    assert list(found) == list(np.maximum(exact, exact.max() - reach))


@EXAMPLES
@given(CASES, st.data())
def test_a_row_changes_no_score_by_more_than_is_said(case: Case, data: st.DataObject) -> None:
    """In parts of a row, to the last bit: what is drawn with is a whole number."""
    if not case.rows:
        return
    weight, threshold = data.draw(st.sampled_from([1, 5])), data.draw(st.integers(1, 6))
    fewer = Case(case.rows[:-1], case.columns, case.taxonomies, case.sensitive, case.node)
    found = []
    for each in (case, fewer):
        with encoded(each) as (engine, table):
            far = weight * WHOLE * len(case.rows)
            found.append(scores(engine, table, threshold=threshold, weight=weight, reach=far))
    assert np.abs(found[0] - found[1]).max() <= weight * WHOLE


@EXAMPLES
@given(CASES, st.integers(2, 3), st.booleans())
def test_a_release_is_what_the_oracle_makes(case: Case, k: int, on_sample: bool) -> None:
    options = {"select_on": "sample", "delta": "1/2"} if on_sample else {}
    # What so small a k costs on a sample is all of δ.
    is_cheap = mock.patch.object(method, "delta_on_sample", lambda *_: 0.0)
    with is_cheap, table_of(case, k=k, **options) as (session, policy):
        release = session.anonymize("given", policy, "released", random_source=HalfOfEach())
        names = ", ".join(f'"{name.replace(chr(34), chr(34) * 2)}"' for name in case.quasi_identifiers)
        rows = session.connection.execute(f"SELECT {names} FROM released").fetchall()
    levels = tuple(release.report.node[name] for name in case.quasi_identifiers)
    expected = published(case, levels, k, of_cells=on_sample)
    assert Counter(rows) == Counter({_as_text(labels): count for labels, count in expected.items()})
    assert release.report.released_rows == sum(expected.values())
    assert release.report.released_groups == len(expected)


def _as_text(labels: tuple[Value, ...]) -> tuple[str | None, ...]:
    return tuple(oracle.text(label) for label in labels)
