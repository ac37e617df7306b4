"""What a search foresees, and that it saves checks of nodes with many classes."""

from __future__ import annotations

import itertools
from unittest import mock

import numpy as np
import pytest

import sqlanon as sa
from sqlanon.model.lattice import Lattice, LevelLosses, Levels, LossContext, NodeSummary
from sqlanon.model.quality import QualityModel
from sqlanon.search import SEARCHES, SearchOutcome, SearchProblem
from sqlanon.search.optimal import search as optimal
from sqlanon.search.optimal.forecast import expected_shares

SHAPE = (6, 5, 5, 4)
STEPS = ((0.2, 0.15, 0.1, 0.1, 0.05), (0.15, 0.1, 0.1, 0.05), (0.1, 0.08, 0.06, 0.05), (0.12, 0.07, 0.03))
"""By how much each level lowers the fourth root of the share of suppressed rows."""

INFORMATION = [np.concatenate([[0.0], np.cumsum(steps)]) / sum(map(sum, STEPS)) for steps in STEPS]
NO_INFORMATION = [np.zeros(size) for size in SHAPE]
ROWS = 1_000_000


def share(levels: Levels) -> float:
    root = 1.0 - sum(sum(steps[:level]) for steps, level in zip(STEPS, levels, strict=True))
    return float(max(root, 0.0) ** 4)


SHARES = np.array([share(levels) for levels in itertools.product(*map(range, SHAPE))]).reshape(SHAPE)


def known_shares(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Some nodes as checked ones, with their shares; 0 elsewhere."""
    chosen = np.random.default_rng(3).permutation(SHARES.size)[:count]
    checked = np.zeros(SHARES.size, dtype=bool)
    checked[chosen] = True
    checked = checked.reshape(SHAPE)
    return checked, np.where(checked, SHARES, 0.0)


class TestExpectedShares:
    @pytest.mark.parametrize("information", [INFORMATION, NO_INFORMATION], ids=["informed", "uninformed"])
    def test_follow_from_those_of_some_nodes_where_roots_are_sums(self, information: list[np.ndarray]) -> None:
        expected = expected_shares(*known_shares(120), target=0.03, lost_information=information)
        near = (SHARES > 0.005) & (SHARES < 0.2)
        assert near.sum() > 100
        assert np.abs(expected - SHARES)[near].max() < 0.004

    def test_follow_from_lost_information_where_no_node_has_a_level(self) -> None:
        checked, suppressed = known_shares(240)
        checked[0], checked[:, :, :2] = False, False
        suppressed[~checked] = 0
        assert 100 < checked.sum() < 200
        informed, uninformed = (
            expected_shares(checked, suppressed, target=0.03, lost_information=information)
            for information in (INFORMATION, NO_INFORMATION)
        )
        unseen = np.zeros(SHAPE, dtype=bool)
        unseen[0], unseen[:, :, :2] = True, True
        unseen &= (SHARES > 0.01) & (SHARES < 0.2)
        assert unseen.sum() > 50
        assert np.abs(informed - SHARES)[unseen].max() < 0.03
        assert (uninformed < SHARES / 2)[unseen].any()

    def test_stay_between_those_of_the_nodes_above_and_below(self) -> None:
        checked, suppressed = known_shares(5)
        suppressed[checked] = [0.9, 0.9, 0.9, 0.9, 0.9]
        expected = expected_shares(checked, suppressed, target=0.03, lost_information=INFORMATION)
        assert np.allclose(expected[checked], 0.9)
        for node in np.argwhere(checked):
            assert expected[tuple(slice(0, step + 1) for step in node)].min() >= 0.9
            assert expected[tuple(slice(step, None) for step in node)].max() <= 0.9

    @pytest.mark.parametrize("information", [INFORMATION, NO_INFORMATION], ids=["informed", "uninformed"])
    def test_are_shares_whatever_is_known(self, information: list[np.ndarray]) -> None:
        for count in (1, 2, 30, SHARES.size):
            expected = expected_shares(*known_shares(count), target=1e-6, lost_information=information)
            assert ((expected >= 0) & (expected <= 1)).all()
        checked = np.ones((2, 1, 1, 1), dtype=bool)
        few = [lost[:size] for lost, size in zip(information, checked.shape, strict=True)]
        assert not expected_shares(checked, np.zeros(checked.shape), target=0.5, lost_information=few).any()


def searched(quality: QualityModel, limit: float, foreseen: int) -> tuple[SearchOutcome, float, int]:
    """The outcome of a search, the shares of all checked nodes together, and how many these are."""
    lattice = Lattice(tuple("abcd"), tuple(size - 1 for size in SHAPE))
    losses = tuple(tuple(0.25 * level / (size - 1) for level in range(size)) for size in SHAPE)
    largest = tuple(tuple(level / (size - 1) for level in range(size)) for size in SHAPE)
    levels = LevelLosses(losses, losses, losses, losses, largest_lm=largest, largest_ncp=largest)
    context = LossContext(lattice, levels, ROWS, int(limit * ROWS), k=5)
    search = SEARCHES["optimal"](SearchProblem(quality, context))
    total, checked = 0.0, 0
    with mock.patch.multiple(optimal, FORESEEN_NODES=foreseen, FORESEEN_ROWS=0):
        try:
            inquiry = next(search)
            while True:
                if inquiry.asks != "loss":
                    total += sum(map(share, inquiry.nodes))
                    checked += len(inquiry.nodes)
                inquiry = search.send([summary(node, context) for node in inquiry.nodes])
        except StopIteration as finished:
            return finished.value, total, checked


def summary(levels: Levels, context: LossContext) -> NodeSummary:
    rows = round(share(levels) * ROWS)
    loss = sa.NCP().bounds_with_suppression(np.array([levels]).T, np.array([rows / ROWS]), context)[0]
    return NodeSummary(levels, ROWS, 1, rows, rows, lm=float(loss), ncp=float(loss))


@pytest.mark.parametrize("quality", [sa.LM(), sa.NCP(), sa.Prec(), sa.Entropy()], ids=lambda quality: quality.measure)
@pytest.mark.parametrize("limit", [0.02, 0.03, 0.3])
def test_the_same_node_is_found_by_checks_of_fewer_classes(quality: QualityModel, limit: float) -> None:
    plain, plain_total, _ = searched(quality, limit, foreseen=0)
    outcome, total, _ = searched(quality, limit, foreseen=512)
    assert outcome.best == plain.best
    assert outcome.ties == plain.ties
    assert outcome.proven_optimal
    assert plain.proven_optimal
    assert total < plain_total


def test_nothing_is_foreseen_where_no_row_may_be_suppressed() -> None:
    with mock.patch("sqlanon.search.optimal.forecast.expected_shares", side_effect=AssertionError):
        assert searched(sa.NCP(), 0.0, foreseen=512)[0].proven_optimal
    with (
        mock.patch("sqlanon.search.optimal.forecast.expected_shares", side_effect=ZeroDivisionError),
        pytest.raises(ZeroDivisionError),
    ):
        searched(sa.NCP(), 0.05, foreseen=512)
