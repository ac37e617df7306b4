"""The node with a catalog: of those that need few counterfeits, the one of least reconstruction error.

A catalog shows recipients which rows may be invented, so that counterfeits cost the true rows beside them: if half
the rows of a value in a group were invented, each is true with even odds. That decides between nodes, whereas
without a catalog counterfeits cost nothing (spec/hceiling.md (b) 5 and H13). It depends on the values that are drawn,
which is why nodes are filled up to be judged, and the best one is made again from what was drawn for it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlanon.engines.base import Compute
from sqlanon.errors import UnsatisfiableError
from sqlanon.mechanisms.source import RandomSource
from sqlanon.methods.h_ceiling.catalog.grouping import Catalog
from sqlanon.methods.h_ceiling.catalogs import Cataloged, group_again, group_classes, linked
from sqlanon.methods.h_ceiling.choice import DIGITS
from sqlanon.methods.h_ceiling.counterfeits import Filled, fill, fill_again, settings_of
from sqlanon.methods.h_ceiling.queries import catalog_error
from sqlanon.methods.progress import Stopped
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.model.lattice import NodeSummary, total

TRIED_NODES = 8
"""Of how many nodes a catalog is looked for: each takes a while, and the values that are drawn decide as much."""


@dataclass(frozen=True)
class Candidate:
    """A node that was filled up to be judged.

    Attributes:
        filled: what is needed to fill it up again.
        catalog: its groups; None if its classes cannot be grouped.
        error: the mean reconstruction error of true rows with that catalog, in [0, 1]; infinite without one.
    """

    filled: Filled
    catalog: Catalog | None
    error: float

    @property
    def order(self) -> tuple[float, ...]:
        """What candidates are compared by: of two, the one with less is better (spec/hceiling.md (b) 5)."""
        filled = self.filled
        lm = total(filled.table.context.losses.lm, filled.levels)
        return (round(self.error, DIGITS), filled.added.count, round(lm, DIGITS), *filled.levels)

    @cached_property
    def cataloged(self) -> Cataloged:
        """The rows of the catalog, and what they imply."""
        assert self.catalog is not None
        return linked(self.catalog, self.filled.settings)

    @property
    def problem(self) -> str | None:
        """Why there is no such catalog of the node; None if there is one."""
        if self.catalog is None:
            return "its classes cannot be grouped so that their counterfeits are concealed"
        settings = self.filled.settings
        if settings.catalog != "strict" or self.cataloged.effective_k >= settings.least_effective_k:
            return None
        known = "is" if self.cataloged.is_exact else "cannot be shown to be more than"
        found, least = self.cataloged.effective_k, settings.least_effective_k
        return f"the effective k of a group {known} {found:.4g}, less than {least:.4g}; others may have less still"


def best_with_catalog(
    engine: Compute, table: EncodedTable, nodes: Sequence[NodeSummary], source: RandomSource, stopped: Stopped
) -> Candidate:
    """Fill up the node of least reconstruction error, and make its catalog.

    Args:
        engine: the database.
        table: the cells.
        nodes: those that keep to the ceiling, those first that need the fewest counterfeits.
        source: where the values of counterfeits are drawn from.
        stopped: asked before every node but the first whether to make do with those so far, if one has a catalog.

    Raises:
        UnsatisfiableError: there is no catalog of any that was tried.
    """
    untried, problems = deque(nodes[:TRIED_NODES]), list[str]()
    while untried:
        candidates: list[Candidate] = []
        while untried and not (candidates and stopped()):
            levels = untried.popleft().levels
            with engine.scratch():
                try:
                    candidates.append(_candidate(engine, fill(engine, table, levels, source)))
                except UnsatisfiableError as error:  # within, for a scope that fails leaves its tables
                    problems += error.problems
        # The best one first: what keeps a node from having a catalog may take a while to know.
        for candidate in sorted(candidates, key=lambda each: each.order):
            if candidate.problem is None:
                _make_again(engine, table, candidate)
                return candidate
            count = candidate.filled.added.count
            problems.append(f"{count:,} counterfeits at {tuple(candidate.filled.levels)}: {candidate.problem}")
    kind = settings_of(table).catalog
    raise UnsatisfiableError(
        f"no {kind} catalog was found for the {len(problems)} nodes that need the fewest counterfeits, "
        'by the values that were drawn; try again, or with another h, a smaller effective_k, or catalog "none":',
        problems,
    )


def _make_again(engine: Compute, table: EncodedTable, candidate: Candidate) -> None:
    """Make the tables of a candidate, with the values and groups that it was judged by."""
    assert candidate.catalog is not None
    fill_again(engine, table, candidate.filled)
    group_again(engine, candidate.filled, candidate.catalog)


def _candidate(engine: Compute, filled: Filled) -> Candidate:
    catalog = group_classes(engine, filled)
    if catalog is None:
        return Candidate(filled, None, math.inf)
    query = catalog_error(filled.table.encoding, filled.levels)
    return Candidate(filled, catalog, float(engine.fetch(query, "reconstruction error with a catalog")[0]["error"]))
