"""Fixtures of the tests of the searches."""

import sys
from collections.abc import Iterator

import pytest

import sqlanon.search  # noqa: F401 - the modules that are patched


@pytest.fixture(scope="module")
def small_batches() -> Iterator[None]:
    """Two nodes a batch, so that the search of a small lattice takes many."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("problem", "optimal"):
            patch.setattr(sys.modules[f"sqlanon.search.{module}"], "BATCH_SIZE", 2)
        patch.setattr(sys.modules["sqlanon.search.optimal"], "FEW_NODES", 2)
        yield
