"""Relocation against brute force: which node is chosen, which rows are moved, and where to."""

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.methods.relocation import moving
from sqlanon.methods.relocation.relocation_run import RelocationReport
from tests import oracle
from tests.case_tables import session_of
from tests.effort import examples
from tests.property.test_h_ceiling import nodes_of
from tests.strategies import Case, cases

EXAMPLES = settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])

LIMITS = st.sampled_from([0.0, 0.1, 0.25, 0.34, 0.5, 1.0])


def policy_of(case: Case, k: int, limit: float) -> sa.Policy:
    """A policy under which every row is known by its number, which nobody else has."""
    return sa.Policy(
        quasi_identifiers=case.quasi_identifiers,
        sensitive=[case.sensitive],
        insensitive=[_number(case)],
        method=sa.Relocation(k, limit=limit),
    )


def _number(case: Case) -> str:
    return next(name for name in case.rows[0] if name not in {*case.quasi_identifiers, case.sensitive})


def released_rows(session: sa.Session) -> list[dict[str, Any]]:
    relation = session.connection.table("released")
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


@contextmanager
def comparing_at_most(pairs: int, neighbours: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(moving, "MAX_PAIRS", pairs)
        patched.setattr(moving, "MIN_NEIGHBOURS", neighbours)
        yield


def allowed_losses(case: Case, k: int, limit: float) -> dict[tuple[int, ...], float]:
    """By node that keeps within the limit, its LM with rows that are moved at 1."""
    allowed = int(Decimal(repr(limit)) * len(case.rows))
    found = {}
    for node in nodes_of(case):
        sizes = oracle.class_sizes(oracle.generalize(case.rows, case.taxonomies, node), case.quasi_identifiers)
        if oracle.suppressed_rows(sizes, k) <= allowed and max(sizes) >= k:
            loss = oracle.mean_loss(case.rows, case.taxonomies, node, k, oracle.lm_share)
            found[tuple(node.values())] = loss or 0.0
    return found


@EXAMPLES
@given(cases(min_rows=2, max_rows=14), st.integers(2, 4), LIMITS)
def test_releases(case: Case, k: int, limit: float) -> None:
    wanted = allowed_losses(case, k, limit)
    policy = policy_of(case, k, limit)
    with session_of(case) as session:
        if not wanted:
            with pytest.raises(sa.UnsatisfiableError):
                session.anonymize("given", policy, "released")
            return
        release = session.anonymize("given", policy, "released")
        released = released_rows(session)
        assert session.verify("released", policy).met
    report = release.report
    assert isinstance(report, RelocationReport)
    assert report.loss == pytest.approx(min(wanted.values()))
    assert wanted[tuple(release.node.values())] == pytest.approx(report.loss)
    assert report.proven_optimal
    nearest = oracle.nearest_classes(case.rows, case.taxonomies, release.node, k)
    names, number = case.quasi_identifiers, _number(case)
    shown = {row[number]: row for row in released}
    assert len(shown) == len(released) == len(case.rows)
    moved: dict[tuple[Any, ...], set[tuple[Any, ...]]] = {}
    far = []
    for row, labelled in zip(case.rows, oracle.generalize(case.rows, case.taxonomies, release.node), strict=True):
        own = tuple(labelled[name] for name in names)
        here = shown[row[number]]
        assert here[case.sensitive] == row[case.sensitive]
        there = tuple(here[name] for name in names)
        if own in nearest:
            distance, classes = nearest[own]
            assert there in {tuple(map(oracle.text, labels)) for labels in classes}
            moved.setdefault(own, set()).add(there)
            far.append(distance)
        else:
            assert there == tuple(map(oracle.text, own))
    assert all(len(places) == 1 for places in moved.values())
    assert (report.relocated_rows, report.relocated_classes) == (len(far), len(nearest))
    assert report.untruthful_share == pytest.approx(len(far) / len(case.rows))
    assert report.mean_distance == (pytest.approx(sum(far) / len(far)) if far else None)
    assert min(oracle.class_sizes(released, names)) == report.min_class_size >= k


def test_keys_of_several_words() -> None:
    """Ten quasi-identifiers of 128 values, whose labels take more bits than a word has."""
    draws = np.random.default_rng(5)
    names = [f"q{number}" for number in range(10)]
    taxonomy = [[str(value), f"{value // 16}x", "*"] for value in range(128)]
    large = [{name: int(draws.integers(128)) for name in names} for _ in range(20)]
    small = [{name: value ^ int(draws.choice([0, 0, 1, 8, 64])) for name, value in row.items()} for row in large]
    rows = [{**row, "value": number % 3, "number": number} for number, row in enumerate([*large, *large, *small])]
    case = Case(
        rows=rows,
        columns=dict.fromkeys((*names, "value", "number"), "INTEGER"),
        taxonomies=dict.fromkeys(names, taxonomy),
        sensitive="value",
        node=dict.fromkeys(names, 0),
    )
    policy = policy_of(case, 2, 1.0).model_copy(update={"maximum_levels": case.node})
    with session_of(case) as session:
        session.anonymize("given", policy, "released")
        words = session.explain("given", policy)
        shown = {row["number"]: tuple(row[name] for name in names) for row in released_rows(session)}
    assert any("anon_key_1" in step.sql for step in words)
    nearest = oracle.nearest_classes(rows, case.taxonomies, case.node, 2)
    assert len(nearest) > 15
    for row in rows:
        own = tuple(str(row[name]) for name in names)
        assert shown[row["number"]] in (nearest[own][1] if own in nearest else {own})


@settings(EXAMPLES, max_examples=examples(20))
@given(cases(min_rows=4, max_rows=14), st.integers(2, 3), st.integers(1, 3), st.randoms())
def test_classes_that_are_compared_with_few(case: Case, k: int, neighbours: int, order: random.Random) -> None:
    """Then not all go to the nearest one, but all go somewhere, and to the same whatever the order of the source."""
    if not allowed_losses(case, k, 1.0):
        return
    rows, number = [], _number(case)
    for _ in range(2):
        with comparing_at_most(0, neighbours), session_of(case) as session:
            release = session.anonymize("given", policy_of(case, k, 1.0), "released")
            rows.append({row[number]: row for row in released_rows(session)})
        order.shuffle(case.rows)
    assert rows[0] == rows[1]
    nearest = oracle.nearest_classes(case.rows, case.taxonomies, release.node, k)
    true = oracle.generalize(case.rows, case.taxonomies, release.node)
    large = {
        labels for labels, members in oracle.classes(true, case.quasi_identifiers).items() if labels not in nearest
    }
    there = Counter(tuple(row[name] for name in case.quasi_identifiers) for row in rows[0].values())
    assert set(there) == {tuple(map(oracle.text, labels)) for labels in large}
    assert min(there.values()) >= k
    report = release.report
    assert isinstance(report, RelocationReport)
    least = sum(
        nearest[labels][0] for row in true if (labels := tuple(row[name] for name in case.quasi_identifiers)) in nearest
    )
    assert (report.mean_distance or 0) * report.relocated_rows >= least - 1e-9
