"""What a node says of what less general ones need, where small classes are suppressed: held against all of these."""

import itertools
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from sqlanon.methods.h_ceiling.ceiling_search import OUT_OF_LIMIT, FewestCounterfeits, Need, need_of
from sqlanon.model.lattice import NodeSummary

Sizes = tuple[int, ...]


def need(sizes: Sizes, k: int, fewest: int, allowed: int) -> Need:
    """What a node of classes of these sizes needs."""
    by_k, by_fewest = (
        NodeSummary(
            (0,),
            class_count=len(sizes),
            kept_class_count=sum(size >= least for size in sizes),
            suppressed_rows=sum(size for size in sizes if size < least),
            certain_suppressed_rows=0,
        )
        for least in (k, fewest)
    )
    return need_of(by_k, by_fewest if fewest > 1 else None, k, fewest, allowed)


@cache
def parts(size: int) -> tuple[Sizes, ...]:
    """All ways to part a class."""
    found = {(size,)}
    for first in range(1, size):
        found |= {tuple(sorted((first, *rest))) for rest in parts(size - first)}
    return tuple(sorted(found))


def less_general(sizes: Sizes) -> Iterator[Sizes]:
    for parted in itertools.product(*map(parts, sizes)):
        yield tuple(itertools.chain.from_iterable(parted))


@pytest.mark.parametrize("sizes", [(7,), (3, 4), (2, 2, 3), (1, 6), (3, 3), (5, 1, 1), (4, 4)])
@pytest.mark.parametrize(("k", "fewest"), [(4, 1), (4, 2), (5, 3), (4, 4)])
def test_no_less_general_node_costs_less_than_is_said(sizes: Sizes, k: int, fewest: int) -> None:
    for allowed in range(sum(sizes)) if fewest > 1 else (0,):
        found = need(sizes, k, fewest, allowed)
        assert found.counterfeits == sum(k - size for size in sizes if fewest <= size < k)
        assert found.suppressed == sum(size for size in sizes if size < fewest)
        assert (found.cost == OUT_OF_LIMIT) == (found.suppressed > allowed)
        assert found.cost_below <= min(need(below, k, fewest, allowed).cost for below in less_general(sizes))


@pytest.mark.parametrize(
    ("sizes", "counterfeits", "cost", "cost_below"), [((1, 3, 3, 3), 6, 25, 13), ((1, 3, 6), 2, 9, 1)]
)
def test_counterfeits_cost_more_than_suppressed_rows(
    sizes: Sizes, counterfeits: int, cost: int, cost_below: int
) -> None:
    """One more than all rows that may be suppressed; the two that are left to suppress save three at most."""
    found = need(sizes, 5, 2, 3)
    assert (found.counterfeits, found.suppressed, found.cost, found.cost_below) == (counterfeits, 1, cost, cost_below)


def test_what_is_suppressed_saves_counterfeits() -> None:
    """A class of 3 needs 2 of 5, and none where it is parted and suppressed."""
    whole, parted = need((3, 5), 5, 3, 3), need((1, 2, 5), 5, 3, 3)
    assert (whole.counterfeits, parted.counterfeits, parted.suppressed) == (2, 0, 3)
    assert whole.cost_below <= parted.cost < whole.cost


def test_fewer_suppressed_rows_decide_between_as_many_counterfeits() -> None:
    costs = [need(sizes, 4, 2, 9).cost for sizes in ((3, 9), (3, 1, 8), (3, 1, 1, 7), (2, 10))]
    assert costs == sorted(set(costs))


def test_a_node_above_the_ceiling_is_never_the_best() -> None:
    """It is looked at for what less general nodes need."""
    search = FewestCounterfeits(np.array([True, True, False]), np.arange(3), [np.array([0.0, 0.5, 1.0])])
    search.learn((1,), 5, 5)
    search.learn((2,), 0, 0)
    assert search.best == (1,)
