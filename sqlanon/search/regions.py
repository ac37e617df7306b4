"""How what is left of a lattice is held, by the size of the lattice."""

from __future__ import annotations

from sqlanon.search.dense import DenseRegion
from sqlanon.search.optimal.wide import WideRegion
from sqlanon.search.problem import SearchProblem

DENSE_NODES = 2**20
"""The most nodes of a lattice that is held as arrays with an entry per node: a pass over them takes milliseconds."""


def region_of(problem: SearchProblem) -> DenseRegion | WideRegion:
    """Every node of the lattice, none of them checked yet."""
    return DenseRegion(problem) if problem.context.lattice.size <= DENSE_NODES else WideRegion(problem)
