"""What a search expects of nodes before it checks them, and what that saves."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

import sqlanon as sa
from sqlanon.model.lattice import Lattice, LevelLosses, Levels, LossContext, NodeSummary
from sqlanon.search import SEARCHES, SearchOutcome, SearchProblem
from sqlanon.search.informative import most_informative
from sqlanon.search.optimal import search as optimal
from sqlanon.search.optimal.forecast import Odds

HEIGHTS = (5, 4, 4, 3, 3)
ROWS = 1000
LOST = tuple(tuple(100.0 * level / height for level in range(height + 1)) for height in HEIGHTS)
PREC = tuple(tuple(level / height / len(HEIGHTS) for level in range(height + 1)) for height in HEIGHTS)
CONTEXT = LossContext(
    lattice=Lattice(tuple("abcde"), HEIGHTS),
    losses=LevelLosses(prec=PREC, entropy=LOST, lm=PREC, ncp=PREC),
    row_count=ROWS,
    allowed_rows=0,
    k=2,
)
NOTHING = np.zeros(CONTEXT.lattice.shape, dtype=bool)


def marked(*nodes: Levels) -> np.ndarray:
    mask = NOTHING.copy()
    for node in nodes:
        mask[node] = True
    return mask


class TestOdds:
    def test_before_a_check_a_node_is_the_likelier_to_fail_the_less_general_it_is(self) -> None:
        odds = Odds(CONTEXT).of_failure(NOTHING, NOTHING)
        bottom, middle, top = odds[0, 0, 0, 0, 0], odds[2, 2, 2, 2, 1], odds[HEIGHTS]
        assert 0 < top < middle < bottom < 1
        assert bottom == pytest.approx(1 - top)

    def test_nodes_that_lose_as_much_are_alike(self) -> None:
        node, other, far = (2, 2, 2, 2, 2), (3, 2, 2, 1, 2), (0, 0, 0, 1, 0)
        before = Odds(CONTEXT).of_failure(NOTHING, NOTHING)
        failed = Odds(CONTEXT).of_failure(marked(node), marked(node))
        satisfied = Odds(CONTEXT).of_failure(marked(node), NOTHING)
        assert satisfied[other] < before[other] < failed[other]
        assert abs(failed[far] - before[far]) < 0.01

    def test_nothing_is_lost_where_no_label_loses_anything(self) -> None:
        losses = LevelLosses(prec=PREC, entropy=tuple((0.0,) * len(losses) for losses in LOST), lm=PREC, ncp=PREC)
        odds = Odds(LossContext(CONTEXT.lattice, losses, ROWS, 0, 2)).of_failure(NOTHING, NOTHING)
        assert np.isfinite(odds).all()


def test_the_likelier_a_failure_the_more_it_rules_out() -> None:
    """On a line of nine: the middle if nobody knows, nearer to the top if most fail."""
    line = np.ones(9, dtype=bool)
    known = np.zeros(9)
    assert most_informative(line, known, 1) == [(4,)]
    assert most_informative(line, known, 1, np.full(9, 0.5)) == [(4,)]
    [(rather_high,)] = most_informative(line, known, 1, np.full(9, 0.9))
    [(rather_low,)] = most_informative(line, known, 1, np.full(9, 0.1))
    assert rather_low < 4 < rather_high


@pytest.mark.parametrize("quality", [sa.DM(), sa.Prec()], ids=lambda quality: quality.measure)
def test_few_nodes_are_checked_where_few_satisfy(quality: sa.DM | sa.Prec) -> None:
    """And the best is the same."""
    found = searched(quality)
    with mock.patch.object(Odds, "of_failure", lambda *_: None):
        blind = searched(quality)
    assert (found.loss, found.ties) == (blind.loss, blind.ties)
    assert found.proven_optimal
    assert found.checked_nodes < blind.checked_nodes


def searched(quality: sa.DM | sa.Prec) -> SearchOutcome:
    search = SEARCHES["optimal"](SearchProblem(quality, CONTEXT))
    with mock.patch.object(optimal, "BATCH_SIZE", 2):
        try:
            inquiry = next(search)
            while True:
                inquiry = search.send([summary_of(levels) for levels in inquiry.nodes])
        except StopIteration as finished:
            outcome: SearchOutcome = finished.value
            return outcome


def summary_of(levels: Levels) -> NodeSummary:
    """Nodes satisfy that lose nearly all; a level less, and some rows are suppressed."""
    fails = sum(weight * level for weight, level in zip((1.0, 1.3, 1.1, 1.7, 1.5), levels, strict=True)) < 21
    classes = 1 + sum(height - level for height, level in zip(HEIGHTS, levels, strict=True)) ** 2
    squares = ROWS**2 / classes
    return NodeSummary(
        levels=levels,
        class_count=classes,
        kept_class_count=classes - fails,
        suppressed_rows=int(fails),
        certain_suppressed_rows=int(fails),
        class_losses={"dm_star": squares, "dm": squares, "aecs": ROWS / classes},
    )
