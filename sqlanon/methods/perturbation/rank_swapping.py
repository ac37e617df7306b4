"""Rank swapping: values of a block of neighbouring ranks are permuted at random.

Source: Moore 1996, with blocks from a random offset in place of pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlanon.methods.perturbation.change import SQL, Change
from sqlanon.model.names import in_quotes
from sqlanon.model.perturbation import RankSwapping
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import column, double

if TYPE_CHECKING:
    from sqlanon.chance.random_source import RandomSource


class SwappedRanks(Change[RankSwapping]):
    def problems(self) -> Iterator[str]:
        found, name = (
            self.engine.fetch(self._roles.query("unswappable_strata"), "strata")[0],
            in_quotes(self.columns[0]),
        )
        if found["narrow"]:
            yield (
                f"{name} has {found['narrow']:,} strata, of {found['rows']:,} values together, with blocks of one "
                "rank, in which no value moves: raise share, or name fewer columns in within"
            )
        elif 0 < found["alike"] == found["strata"]:
            yield (
                f"{name} has one value in each stratum, which would stay: do not perturb it, or name no columns in "
                "within"
            )

    def make(self, source: RandomSource) -> None:
        draws = self.put_draws(source, ["anon_tie", "anon_turn", "anon_offset"])
        self.engine.run(self._roles.step(self.made, "swapped_ranks", draws=draws, columns=[*self.columns]))
        self.engine.drop(draws)

    @property
    def _roles(self) -> Queries:
        value, share = column(self.columns[0]), double(self.settings.share)
        return SQL.given(rows=self.rows.relation, stratum=self.stratum, value=value, share=share)
