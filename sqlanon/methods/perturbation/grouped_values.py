"""Microaggregation of one column: groups of neighbours with the least sum of squares show their mean or median.

Source: Hansen and Mukherjee 2003, within stretches of 2,000 to 4,000 sorted values, which lose next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlanon.methods.perturbation.change import SQL, Change
from sqlanon.methods.perturbation.unfit_numbers import number_counts, unfit_numbers
from sqlanon.model.names import in_quotes
from sqlanon.model.perturbation import GroupedValues
from sqlanon.queries.kit.nodes import Relation, column, string, try_cast
from sqlanon.report.document import percent

if TYPE_CHECKING:
    from sqlanon.chance.random_source import RandomSource

STRETCH = 2_000  # values, at least, if the stratum has them; groups have fewer

STATISTICS = {"mean": "avg", "median": "median"}  # of DuckDB


class LeastSquaresGroups(Change[GroupedValues]):
    def problems(self) -> Iterator[str]:
        name, k = self.columns[0], self.settings.k
        few = f"with fewer than k = {k} values: lower k, or name fewer columns in within"
        yield from unfit_numbers(name, number_counts(self, name, k), few)

    def make(self, source: RandomSource) -> Relation:
        name = self.columns[0]
        value, shown = column(name), try_cast(column("anon_number"), self.rows.columns[name].type)
        queries = SQL.given(rows=self.rows.relation, value=value, stratum=self.stratum, least=self.settings.k)
        stretches = Relation(f"anon_stretches_{self.place}", "row")
        groups = Relation(f"anon_groups_{self.place}", "class")
        statistic = string(STATISTICS[self.settings.value])
        self.engine.run(queries.step(stretches, "stretches", length=STRETCH))
        self.engine.run(queries.step(groups, "least_squares_groups", stretches=stretches))
        self.engine.run(queries.step(self.made, "grouped_values", groups=groups, number=shown, statistic=statistic))
        self._counted = self.engine.fetch(SQL.query("equal_groups", groups=groups), "groups")[0]
        self.engine.drop(stretches)
        self.engine.drop(groups)
        return self.made

    def remarks(self) -> Iterator[str]:
        groups, equal = self._counted["groups"], self._counted["equal"]
        if groups:
            yield (
                f"{percent(equal / groups)} of the {groups:,} groups of {in_quotes(self.columns[0])} have one value, "
                "and show it: it is the true one of each of their rows"
            )
