"""The lower bound of local recodings against enumeration, on tiny tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.methods.local.arrays import UNITS, CellArrays
from sqlanon.methods.local.bound import lower_bound
from sqlanon.methods.local.labels import Ladders
from sqlanon.methods.local.settling import UnsettledError
from sqlanon.methods.local.tight import Prices, tight_lower_bound
from sqlanon.methods.progress import never
from sqlanon.methods.shared.arrays import Ints
from sqlanon.model.lattice import Lattice
from tests.certain_rows import partitions
from tests.effort import examples
from tests.naive_peel import Case, Row, Tree, at_node, cell_arrays
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


def prices_of(case: Case, k: int) -> Prices:
    cells = cell_arrays(case)
    return Prices(cells, Ladders.of(cells, case.lattice, case.shares), k)


def are_feasible(case: Case, cells: CellArrays, prices: Ints, k: int) -> bool:
    """Whether no k rows of a class pay more than its loss, at any node of the whole table."""
    rows = tuple(Row(tuple(values)) for values in np.repeat(cells.values.T, cells.rows, axis=0).tolist())
    of_rows = np.repeat(prices, cells.rows).tolist()
    return all(
        sum(sorted((of_rows[index] for index in indexes), reverse=True)[:k]) <= k * case.loss(node, rows[first].values)
        for node in case.lattice.nodes()
        for indexes in at_node(replace(case, rows=rows), node, range(len(rows)))
        for first in indexes[:1]
        if len(indexes) >= k
    )


@settings(max_examples=examples(400), deadline=None)
@given(cases(), st.integers(1, 4), st.data())
def test_raised_prices_are_feasible(case: Case, k: int, data: st.DataObject) -> None:
    prices = prices_of(case, k)
    count, shares = prices.cells.count, st.sampled_from([0, 1, 2, UNITS // 100, UNITS // 3, UNITS])
    raised = prices.raised(np.array(data.draw(st.lists(shares, min_size=count, max_size=count))))
    assert are_feasible(case, prices.cells, raised, k)
    assert (raised <= UNITS).all()
    assert (prices.raised(raised) >= raised).all()
    assert (prices.lowered(raised) == raised).all()


@settings(max_examples=examples(400), deadline=None)
@given(cases(), st.integers(1, 4), st.data())
def test_prices_are_lowered_if_and_only_if_they_are_not_feasible(case: Case, k: int, data: st.DataObject) -> None:
    prices = prices_of(case, k)
    count, added = prices.cells.count, st.sampled_from([0, 0, 0, 1, UNITS // 8])
    some = prices.raised(np.full(count, UNITS // data.draw(st.sampled_from([1, 2, 4, 8]))))
    some += np.array(data.draw(st.lists(added, min_size=count, max_size=count)))
    lowered = prices.lowered(some)
    assert (lowered <= some).all()
    assert are_feasible(case, prices.cells, lowered, k)
    assert (lowered == some).all() == are_feasible(case, prices.cells, some, k)


@settings(max_examples=examples(400), deadline=None)
@given(cases(max_rows=6), st.integers(2, 3))
def test_no_recoding_loses_less_than_the_tight_bound(case: Case, k: int) -> None:
    case = replace(case, bounds=sa.KAnonymity(k).bounds, counts_individuals=False, allowed_rows=len(case.rows))
    try:
        found = peeled(case)
    except UnsettledError:
        return
    best = min(loss_of(case, classes, k) for classes in partitions(list(case.rows)))
    for stopped in (never, lambda: True):
        tight = tight_lower_bound(cell_arrays(case), case.lattice, k, case.shares, found, stopped)
        assert bound_of(case, k) <= tight <= best + 1e-12


def test_a_tight_bound_is_tighter() -> None:
    """Two equal rows lose nothing. A third one, which would lose a half beside one of them, would take it along."""
    tree = Tree(((0, 1, 2, 3), (0, 0, 1, 1), (0, 0, 0, 0)))
    lattice = Lattice(("q0",), (2,), (0,), (2,))
    case = Case((tree,), (Row((0,)), Row((0,)), Row((1,))), lattice, sa.KAnonymity(2).bounds)
    assert bound_of(case, 2) == 1 / 6
    assert tight_lower_bound(cell_arrays(case), lattice, 2, None, peeled(case)) == 1 / 3
