"""What sets of quasi-identifiers give away, and how fine their taxonomies may be for a search to be quick."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from sqlanon.engines.base import Compute
from sqlanon.queries.source import SourceColumn
from sqlanon.queries.tables import suggestions as queries
from sqlanon.suggestion.suggestion import SetMeasures
from sqlanon.suggestion.taxonomies import SuggestedTaxonomy

MAX_NODES = 100_000
"""Nodes of the suggested lattice, at most: a search among them takes less than a minute."""

SETS_AT_ONCE = 50


@dataclass(frozen=True)
class MeasuredSets:
    """The measures of all quasi-identifiers together, of each alone, and of all but each."""

    together: SetMeasures | None
    alone: tuple[SetMeasures, ...] = ()
    without: tuple[SetMeasures, ...] = ()

    @property
    def least_telling(self) -> list[str]:
        """The quasi-identifiers, those first without which most is still given away."""
        names = self.together.columns if self.together else ()
        pairs = zip(names, self.without, strict=True)
        return [
            name
            for name, _ in sorted(pairs, key=lambda pair: (-(pair[1].distinction or 0), -(pair[1].separation or 0)))
        ]


def measured_sets(engine: Compute, source: exp.Expr, columns: Sequence[SourceColumn]) -> MeasuredSets:
    """The measures of some quasi-identifiers, from one look at the rows."""
    if not columns:
        return MeasuredSets(None)
    step = queries.cells(source, columns)
    engine.run(step)
    places = [*range(len(columns))]
    alone = [[place] for place in places]
    without = [[other for other in places if other != place] for place in places]
    found = [*_measures(engine, columns, [places, *alone, *without])]
    engine.drop(step.makes)
    count = len(columns)
    return MeasuredSets(found[0], tuple(found[1 : count + 1]), tuple(found[count + 1 :]))


def _measures(engine: Compute, columns: Sequence[SourceColumn], sets: Sequence[Sequence[int]]) -> Iterator[SetMeasures]:
    for start in range(0, len(sets), SETS_AT_ONCE):
        some = sets[start : start + SETS_AT_ONCE]
        rows = engine.fetch(queries.set_measures(some), "what sets of columns give away")
        by_place: dict[int, dict[str, Any]] = {row.pop("place"): row for row in rows}
        for place, keys in enumerate(some):
            yield SetMeasures(columns=tuple(columns[key].name for key in keys), **by_place[place])


def lattice_nodes(taxonomies: Mapping[str, SuggestedTaxonomy]) -> int:
    """Nodes of the lattice: a column has its values, the levels of its rule, and the top."""
    return math.prod(taxonomy.levels + 2 for taxonomy in taxonomies.values())


def coarsened(taxonomies: Mapping[str, SuggestedTaxonomy]) -> dict[str, SuggestedTaxonomy]:
    """The taxonomies, those of most levels without their finest ones, until the lattice is small or no more can go."""
    found = dict(taxonomies)
    while lattice_nodes(found) > MAX_NODES:
        coarser = {name: less for name, taxonomy in found.items() if (less := taxonomy.coarser()) is not None}
        if not coarser:
            break
        name = max(coarser, key=lambda name: found[name].levels)
        found[name] = coarser[name]
    return found
