"""The marginals that may be measured: those of all sets of columns within a workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from sqlanon.methods.synthetic.tree import Columns, cells_of


def candidates_of(sizes: Sequence[int], workload: Mapping[Columns, int], max_cells: int) -> dict[Columns, int]:
    """All sets within a set of the workload that have few enough cells, with their weights.

    The weight of a set is the sum over the workload of how many columns it shares with each set of it, times the weight
    of that: a measurement of it improves what these ask for (McKenna et al. 2022, section 4).

    Args:
        sizes: how many values each column has.
        workload: the weight of each set, a whole number of 1 or more.
        max_cells: how many cells a set may have; single columns may have more.
    """
    found = {
        subset for columns in workload for size in range(len(columns)) for subset in combinations(columns, size + 1)
    }
    found |= {(column,) for column in range(len(sizes))}
    kept = sorted(each for each in found if len(each) == 1 or cells_of(sizes, each) <= max_cells)
    return {
        each: sum(weight * len({*each}.intersection(columns)) for columns, weight in workload.items()) for each in kept
    }
