"""Which nodes keep to the ceiling: those at which the labels of no row are more general than it allows.

The degree of generalization of a row is the mean of what its labels lose, a number that follows from taxonomies. Rows
whose labels lose the same at all levels, in all quasi-identifiers, are alike to every node, so that few combinations
determine the largest degree of every node. It does not decrease with the node, so that nodes are pruned from below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from sqlanon.engines.duckdb import Compute
from sqlanon.errors import UnsatisfiableError
from sqlanon.methods.h_ceiling import queries
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.model.lattice import Lattice
from sqlanon.queries.cells.information import labelled_values
from sqlanon.queries.kit.nodes import number, values
from sqlanon.search.arrays import Bounds, Mask

Profiles = Sequence[Mapping[int, tuple[float, ...]]]
"""By quasi-identifier and number of a profile, what labels lose at every level."""

WITHIN = 1e-12
"""By how much a degree may exceed the ceiling: what sums of floats are off by (spec/hceiling.md (a))."""


def largest_degrees(engine: Compute, table: EncodedTable) -> Bounds:
    """The largest degree of generalization of a row at every node, in [0, 1] (Lee et al. 2017, equation 3).

    Returns:
        an array of the shape of the lattice; 0 for a table without rows.
    """
    with engine.scratch():
        profiles, rows = _profiles_of_rows(engine, table)
    return degrees_of(table.context.lattice, profiles, rows)


def nodes_below(degrees: Bounds, h: float | None) -> Mask:
    """Whether each node keeps to a ceiling, shape of the lattice; all do without one.

    Raises:
        UnsatisfiableError: none does.
    """
    allowed: Mask = degrees <= (1 if h is None else h) + WITHIN
    if not allowed.any():
        raise UnsatisfiableError(
            f"no node keeps to the ceiling h = {h:g}:",
            [f"the least general node that the policy allows has a degree of {degrees.min():.6g}"],
        )
    return allowed


def degrees_of(lattice: Lattice, profiles: Profiles, rows: Sequence[Sequence[int]]) -> Bounds:
    """The same from the profiles of labels, and of each kind of row the profile in each quasi-identifier."""
    largest: Bounds = np.zeros(lattice.shape)
    terms = [
        {number: _allowed(np.array(losses) / len(profiles), lattice, position) for number, losses in found.items()}
        for position, found in enumerate(profiles)
    ]
    for row in _undominated(profiles, rows):
        degrees = reduce(np.add.outer, (terms[position][number] for position, number in enumerate(row)))
        np.maximum(largest, degrees, out=largest)
    return largest


def _allowed(losses: NDArray[np.float64], lattice: Lattice, position: int) -> NDArray[np.float64]:
    return losses[lattice.bottom[position] : lattice.top[position] + 1]


def _undominated(profiles: Profiles, rows: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    """The kinds of rows without those that lose no more than another kind at every level of every quasi-identifier."""
    if len(rows) < 2:
        return list(rows)
    losses = np.array([[loss for place, number in enumerate(row) for loss in profiles[place][number]] for row in rows])
    order = np.argsort(-losses.sum(axis=1), kind="stable")
    kept: list[int] = []
    for index in order:
        if not kept or not (losses[kept] >= losses[index]).all(axis=1).any():
            kept.append(int(index))
    return [rows[index] for index in kept]


def _profiles_of_rows(engine: Compute, table: EncodedTable) -> tuple[Profiles, list[tuple[int, ...]]]:
    encoding = table.encoding
    named = queries.about(encoding)
    engine.run(named.step(queries.PROFILES, "profiles"))
    profiles: list[dict[int, tuple[float, ...]]] = [{} for _ in encoding.spec.shapes]
    for row in engine.fetch(named.query("distinct_profiles"), "what labels lose at all levels", "node"):
        profiles[row["position"]][row["anon_profile"]] = tuple(row["anon_losses"])
    for position, shape in enumerate(encoding.spec.shapes):
        if not profiles[position]:  # values alone, which lose nothing
            profiles[position][1] = (0.0,) * (shape.height + 1)
    several = [position for position, found in enumerate(profiles) if len(found) > 1]
    only = tuple(next(iter(found)) for found in profiles)
    if table.context.row_count == 0:
        return profiles, []
    if not several:
        return profiles, [only]
    rows = engine.fetch(queries.profiles_of_rows(encoding, several), "how general rows are", "node")
    return profiles, [
        tuple(row.get(f"profile_{position}", number) for position, number in enumerate(only)) for row in rows
    ]


def level_errors(engine: Compute, table: EncodedTable) -> Bounds:
    """The mean reconstruction error of every node, in [0, 1], over rows that are known to be real (spec/metrics.md).

    A mean over rows, quasi-identifiers and the sensitive value, which is published as it is: a sum over levels.
    """
    lattice, width = table.context.lattice, len(table.encoding.spec.shapes) + 1
    terms = [np.zeros(height + 1) for height in lattice.heights]
    sizes = ([number(position), number(shape.domain_size)] for position, shape in enumerate(table.encoding.spec.shapes))
    domains = values("anon_domains", ("position", "domain_size"), sizes)
    query = queries.SQL.query("level_errors", levels=labelled_values(table.encoding), domains=domains)
    for row in engine.fetch(query, "reconstruction errors of levels", "node"):
        terms[row["position"]][row["depth"]] = row["error"] / width
    return reduce(np.add.outer, (_allowed(each, lattice, position) for position, each in enumerate(terms)))
