"""The privacy loss of all draws for synthetic rows by individuals of two rows, on all tables of up to two in a cell."""

import pytest

from tests.full.test_synthetic_exactly import SHARES, WORKLOADS, refuse_losses, scripted

__all__ = ["scripted"]


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("share", SHARES)
def test_no_draw_loses_more_than_its_portion(share: str, workload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_losses(share, workload, 2, 2, monkeypatch)
