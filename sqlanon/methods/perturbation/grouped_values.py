"""Microaggregation of one column: groups of neighbours with the least sum of squares show their mean or median.

Source: Hansen and Mukherjee 2003, within stretches of 2,000 to 4,000 sorted values, which lose next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.methods.perturbation.change import SQL, Change
from sqlanon.methods.perturbation.unfit_numbers import number_counts, unfit_numbers
from sqlanon.model.names import counted, in_quotes
from sqlanon.model.perturbation import GroupedValues
from sqlanon.queries.kit.nodes import Relation, cast, column, try_cast
from sqlanon.report.document import percent

if TYPE_CHECKING:
    from sqlanon.chance.random_source import RandomSource

STRETCH = 2_000  # values, at least, if the stratum has them; groups have fewer


class LeastSquaresGroups(Change[GroupedValues]):
    def problems(self) -> Iterator[str]:
        name, k = self.columns[0], self.settings.k
        few = f"with fewer than k = {k} values: lower k, or name fewer columns in within"
        yield from unfit_numbers(name, number_counts(self, name, k), few)
        if self.weight is not None:
            counts = SQL.query("unfit_weights", rows=self.rows.relation, value=column(name), weight=self.weight)
            if found := self.engine.fetch(counts, "rows without a weight that fits")[0]["rows"]:
                yield (
                    f"{in_quotes(name)} has {counted(found, 'value')} in rows whose row_weight is NULL, or not "
                    "between 1e-12 and 1e12: correct the weights in a view"
                )

    @property
    def weight(self) -> exp.Expr | None:
        """The weight of a row in means."""
        weight = self.rows.weight if self.settings.value == "mean" else None
        return None if weight is None else cast(column(weight, "anon_rows"), "DOUBLE")

    def make(self, source: RandomSource) -> None:
        name = self.columns[0]
        shown = try_cast(column(f"anon_{self.settings.value}"), self.rows.columns[name].type)
        stretches = Relation(f"anon_stretches_{self.place}", "row")
        grouped, groups = Relation(f"anon_grouped_{self.place}", "row"), Relation(f"anon_groups_{self.place}", "class")
        queries = SQL.given(
            rows=self.rows.relation,
            stratum=self.stratum,
            value=column(name),
            least=self.settings.k,
            grouped=grouped,
            groups=groups,
        )
        self.engine.run(queries.step(stretches, "stretches", length=STRETCH))
        self.engine.run(queries.step(grouped, "least_squares_groups", stretches=stretches))
        self.engine.drop(stretches)
        if self.weight is None:
            summed = queries.query("plain_groups")
        else:
            summed = queries.query("weighted_groups", weight=self.weight)
        self.engine.run(queries.step(groups, "group_values", summed=summed, number=shown))
        self.engine.run(queries.step(self.made, "grouped_values"))
        self._counted = self.engine.fetch(queries.query("equal_groups"), "groups of one value")[0]
        self.engine.drop(grouped)
        self.engine.drop(groups)

    def remarks(self) -> Iterator[str]:
        groups, equal = self._counted["groups"], self._counted["equal"]
        if equal:
            yield (
                f"{percent(equal / groups)} of the {groups:,} groups of {in_quotes(self.columns[0])} have one value, "
                "and show it: it is the true one of each of their rows"
            )
