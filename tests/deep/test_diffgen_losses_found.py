"""Losses of DiffGen that are too large: the check of tests/full/test_diffgen_losses.py finds them."""

from typing import Any

import pytest

import sqlanon as sa
from sqlanon.methods.cut_pieces import Piece
from sqlanon.methods.diffgen.draws import Scored
from tests import exact_diffgen
from tests.full.test_diffgen_losses import worst_loss
from tests.naive_diffgen import Case


def numbers(*values: int) -> list[dict[str, Any]]:
    return [{"number 0": value, "target": "c0" if place % 2 else "c1"} for place, value in enumerate(values)]


ONE_NUMBER = Case([], {}, {"number 0": (15, 45)}, {}, ("c0", "c1"), ("number 0",), 1)


def test_the_check_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """If numbers are split between the values of rows alone, a row makes possible what was not (spec, D4)."""
    case = Case(**{**vars(ONE_NUMBER), "rows": numbers(20, 30)})
    (row,) = numbers(40)
    loss, spent = worst_loss(case, row)
    assert 0 < loss <= spent

    honest = exact_diffgen.split_probabilities

    def within_values(interval: Piece, scored: Scored, scale: float) -> Any:
        first, last = scored.values[0], scored.values[-1]
        return honest(Piece(interval.position, int(first), int(last) + 1), scored, scale)

    monkeypatch.setattr(exact_diffgen, "split_probabilities", within_values)
    with pytest.raises(KeyError):
        worst_loss(case, row)


@pytest.mark.parametrize(("utility", "difference"), [("infogain", 2**16), ("max", 1 / 16)])
def test_a_sensitivity_that_is_too_small_is_found(
    utility: str, difference: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Information can change by a whole bit, and the rows of a largest class by one."""
    case = Case(**{**vars(ONE_NUMBER), "numbers": {"number 0": (0, 4)}, "rows": numbers(0)})
    row = {"number 0": 1, "target": "c0"}
    options: dict[str, Any] = {"utility": utility, "budget": sa.Budget(40)}
    loss, spent = worst_loss(case, row, **options)
    assert 0 < loss <= spent
    monkeypatch.setitem(exact_diffgen.DIFFERENCES, utility, difference)
    with pytest.raises(AssertionError):
        worst_loss(case, row, **options)
