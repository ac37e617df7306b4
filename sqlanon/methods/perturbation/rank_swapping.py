"""Rank swapping: values of a block of neighbouring ranks are permuted at random.

Source: Moore 1996, with blocks from a random offset in place of pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlanon.methods.perturbation.change import SQL, Change
from sqlanon.methods.perturbation.unfit_numbers import number_counts
from sqlanon.model.names import in_quotes
from sqlanon.model.perturbation import RankSwapping
from sqlanon.queries.kit.nodes import column, double

if TYPE_CHECKING:
    from sqlanon.chance.random_source import RandomSource


class SwappedRanks(Change[RankSwapping]):
    def problems(self) -> Iterator[str]:
        # A block has ceil(share * values) ranks: with two, something moves.
        found = number_counts(self, self.columns[0], math.floor(1 / self.settings.share) + 1)
        name = in_quotes(self.columns[0])
        if found["strata"]:
            yield (
                f"{name} has {found['strata']:,} strata, of {found['rows']:,} values together, with blocks of one "
                "rank, in which no value moves: raise share, or name fewer columns in within"
            )
        elif found["are_alike"]:
            yield (
                f"{name} has one value in each stratum, which would stay: do not perturb it, or name no columns in "
                "within"
            )

    def make(self, source: RandomSource) -> None:
        draws = self.put_draws(source, ["anon_tie", "anon_turn", "anon_offset"])
        swapped = SQL.step(
            self.made,
            "swapped_ranks",
            rows=self.rows.relation,
            draws=draws,
            stratum=self.stratum,
            value=column(self.columns[0]),
            share=double(self.settings.share),
            columns=[*self.columns],
        )
        self.engine.run(swapped)
        self.engine.drop(draws)
