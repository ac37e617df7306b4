"""The lower bound of local recodings against enumeration, on tiny tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.methods.local.arrays import UNITS
from sqlanon.methods.local.bound import lower_bound
from sqlanon.methods.local.settling import UnsettledError
from tests.certain_rows import partitions
from tests.effort import examples
from tests.naive_peel import Case, Row, at_node, cell_arrays
from tests.property.test_peeling import cases, peeled


def bound_of(case: Case, k: int) -> float:
    return lower_bound(cell_arrays(case), case.lattice, k, case.shares)


def loss_of(case: Case, classes: list[list[Row]], k: int) -> float:
    """What rows lose in classes; those of small classes, or of labels that are not allowed, are left out."""
    lost = 0
    for rows in classes:
        levels = case.finest(rows)
        is_allowed = all(level <= most for level, most in zip(levels, case.lattice.top, strict=True))
        lost += len(rows) * (case.loss(levels, rows[0].values) if len(rows) >= k and is_allowed else UNITS)
    return lost / UNITS / len(case.rows)


@settings(max_examples=examples(400), deadline=None)
@given(cases(), st.integers(2, 6))
def test_every_row_at_its_cheapest_labels(case: Case, k: int) -> None:
    least = [UNITS] * len(case.rows)
    for node in case.lattice.nodes():
        for indexes in at_node(case, node, range(len(case.rows))):
            for index in indexes:
                if len(indexes) >= k:
                    least[index] = min(least[index], case.loss(node, case.rows[index].values))
    assert np.isclose(bound_of(case, k), sum(least) / UNITS / len(case.rows), rtol=1e-12)


@settings(max_examples=examples(200), deadline=None)
@given(cases(max_rows=6), st.integers(2, 3))
def test_no_recoding_loses_less(case: Case, k: int) -> None:
    best = min(loss_of(case, classes, k) for classes in partitions(list(case.rows)))
    assert bound_of(case, k) <= best + 1e-12


@settings(max_examples=examples(200), deadline=None)
@given(cases(), st.integers(2, 4))
def test_peeling_loses_no_less(case: Case, k: int) -> None:
    bounds = sa.KAnonymity(k).bounds
    try:
        found = peeled(replace(case, bounds=bounds, counts_individuals=False))
    except UnsettledError:
        return
    assert bound_of(replace(case, bounds=bounds, counts_individuals=False), k) <= found.loss + 1e-9
