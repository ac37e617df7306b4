"""Fixtures of the tests on Adult that take long to make."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlanon as sa
from tests.adult import Rows, checked_nodes, rows_by_node, uci_policy


@pytest.fixture(scope="session")
def uci_lattices(uci_adult: Path) -> dict[int, Rows]:
    """The whole lattice at each k of spec/ola.md, 10,368 nodes each: once as a user gets it, then as a search does."""
    with sa.connect(uci_adult, read_only=True) as session:
        lattice = rows_by_node(session.lattice("adult", uci_policy(5)))
        return {5: lattice, **{k: checked_nodes(session, uci_policy(k)) for k in (25, 100)}}
