"""What sets of quasi-identifiers give away, and how fine their taxonomies may be for a search to be quick."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.queries.tables import suggestions as queries
from sqlanon.suggestion.evidence import Evidence
from sqlanon.suggestion.suggestion import SetMeasures
from sqlanon.suggestion.taxonomies import SuggestedTaxonomy

MAX_NODES = 100_000
"""Nodes of the suggested lattice, at most: a search among them takes less than a minute."""


MAX_LEFT_OUT = 50
"""The most quasi-identifiers that are left out in turn: 1,000 sets of 999 names are a million names."""


@dataclass(frozen=True)
class MeasuredSets:
    """The measures of all quasi-identifiers together, of each alone, and of all but each unless there are many."""

    together: SetMeasures | None
    alone: tuple[SetMeasures, ...] = ()
    without: tuple[SetMeasures, ...] = ()

    @property
    def least_telling(self) -> list[str]:
        """The quasi-identifiers, those first without which most is still given away."""
        names = self.together.columns if self.together else ()
        pairs = zip(names, self.without, strict=False)
        return [
            name
            for name, _ in sorted(pairs, key=lambda pair: (-(pair[1].distinction or 0), -(pair[1].separation or 0)))
        ]


def measured_sets(engine: Compute, source: exp.Expr, evidence: Sequence[Evidence]) -> MeasuredSets:
    """The measures of some quasi-identifiers, from one look at the rows.

    Most cells are alone already by half of the columns, and then by all but one column of the other half, too: only the
    others are grouped once a column.
    """
    if not evidence:
        return MeasuredSets(None)
    made = [queries.cells(source, [each.column for each in evidence])]
    left_out = evidence if len(evidence) <= MAX_LEFT_OUT else ()
    halves = _halves(left_out)
    for number, half in enumerate(halves if left_out else ()):
        made += queries.half(number, half)
    for step in made:
        engine.run(step)
    without = [int(place in halves[0]) for place in range(len(left_out))]
    rows = sorted(
        engine.fetch(queries.set_measures(without), "what sets of columns give away"), key=itemgetter("place")
    )
    for step in made:
        engine.drop(step.makes)
    names = [each.name for each in evidence]
    sets = [names, *([name for name in names if name != each.name] for each in left_out)]
    together, *others = (_measures(columns, row) for columns, row in zip(sets, rows, strict=True))
    return MeasuredSets(together, tuple(map(_alone, evidence)), tuple(others))


def _measures(columns: Sequence[str], row: Mapping[str, Any]) -> SetMeasures:
    return SetMeasures(columns=tuple(columns), **{name: value for name, value in row.items() if name != "place"})


def _alone(found: Evidence) -> SetMeasures:
    return SetMeasures(
        columns=(found.name,),
        k=found.smallest,
        unique_rows=found.unique_rows,
        distinction=found.distinction,
        separation=found.separation,
    )


def _halves(evidence: Sequence[Evidence]) -> tuple[list[int], list[int]]:
    """The places of the columns, in two halves with about as many combinations of values."""
    places = sorted(range(len(evidence)), key=lambda place: -evidence[place].values)
    return places[::2], places[1::2]


def lattice_nodes(taxonomies: Mapping[str, SuggestedTaxonomy]) -> int:
    """Nodes of the lattice: a column has its values, the levels of its rule, and the top."""
    return math.prod(taxonomy.levels + 2 for taxonomy in taxonomies.values())


def coarsened(taxonomies: Mapping[str, SuggestedTaxonomy]) -> dict[str, SuggestedTaxonomy]:
    """The taxonomies, those of most levels without their finest ones, until the lattice is small or no more can go."""
    coarsest = {name: _coarsest(taxonomy) for name, taxonomy in taxonomies.items()}
    if lattice_nodes(coarsest) > MAX_NODES:
        return coarsest
    found = dict(taxonomies)
    while lattice_nodes(found) > MAX_NODES:
        coarser = {name: less for name, taxonomy in found.items() if (less := taxonomy.coarser()) is not None}
        name = max(coarser, key=lambda name: found[name].levels)
        found[name] = coarser[name]
    return found


def _coarsest(taxonomy: SuggestedTaxonomy) -> SuggestedTaxonomy:
    while (less := taxonomy.coarser()) is not None:
        taxonomy = less
    return taxonomy
