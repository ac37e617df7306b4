"""PRAM: values become others of their stratum with the probabilities of a matrix.

Source: Gouweleeuw, Kooiman, Willenborg and De Wolf 1998; :class:`~sqlanon.Pram` says what each form does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.methods.perturbation.change import SQL, Change
from sqlanon.model.names import counted, in_quotes
from sqlanon.model.perturbation import Pram
from sqlanon.queries.kit.macros import exact_text_in_memory, table_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, column, double, string, subquery

if TYPE_CHECKING:
    from sqlanon.chance.random_source import RandomSource

MAX_STRATUM_VALUES = 1000

MAX_MATRIX_CELLS = 10_000_000  # of all matrices: 1 GB while they are added up

MIN_STRATUM_ROWS = 100  # for a matrix with the values of a stratum to be published

MIN_VALUE_ROWS = 5  # for one with their shares, also where no model asks for classes of k rows


class RandomizedValues(Change[Pram]):
    def problems(self) -> Iterator[str]:
        query = SQL.query(
            "pram_strata",
            shares=self._shares,
            most_values=MAX_STRATUM_VALUES,
            least_stratum=MIN_STRATUM_ROWS,
            least_count=self._least_count,
        )
        found = self.engine.fetch(query, "strata and their values")[0]
        unfit, name = [*self._problems_of_strata(found)], in_quotes(self.columns[0])
        of_matrix = self._problems_of_matrix(found) if self.settings.matrix == "publish" else ()
        yield from (f"{name} has {problem}" for problem in (*unfit, *of_matrix))
        if self.settings.form == "two-step" and not unfit and (below := self._chances["values_below"]):
            yield (
                f"{name} has {counted(below, 'value')} that would stay with a probability below least_stay = "
                f"{self.settings.least_stay:g}, the least {self._chances['least_stay']:.3g}: lower change or alpha, or "
                'set form = "invariant"'
            )

    def _problems_of_strata(self, found: Mapping[str, int]) -> Iterator[str]:
        if of_one := found["of_one_value"]:
            yield f"one value{self._in(of_one)}, which cannot become another: {self._advice('do not perturb it')}"
        if of_many := found["of_many_values"]:
            yield (
                f"more than {MAX_STRATUM_VALUES:,} values{self._in(of_many)}: publish groups of values, or take "
                'kind = "swap"'
            )
        elif found["cells"] > MAX_MATRIX_CELLS:
            yield (
                f"matrices of {found['cells']:,} probabilities in {found['strata']:,} strata, more than "
                f"{MAX_MATRIX_CELLS:,}: name fewer columns in within"
            )

    def _problems_of_matrix(self, found: Mapping[str, int]) -> Iterator[str]:
        advice = self._advice("publish groups of values")
        if small := found["small_strata"]:
            yield (
                f"fewer than {MIN_STRATUM_ROWS} rows{self._in(small)}, whose values a published matrix would show: set "
                f'matrix = "keep", or {advice}'
            )
        if found["rare_values"] and self.settings.form != "plain":
            yield (
                f"{counted(found['rare_values'], 'value')} of fewer than {self._least_count} rows, whose exact shares "
                f'a published matrix would have: set matrix = "keep" or form = "plain", or {advice}'
            )

    @property
    def _least_count(self) -> int:
        """The fewest rows of a value whose share may be published."""
        return max(self.rows.k, MIN_VALUE_ROWS)

    def _in(self, strata: int) -> str:
        return f" in {strata:,} of its strata" if self.settings.within else ""

    def _advice(self, without_strata: str) -> str:
        return "name fewer columns in within" if self.settings.within else without_strata

    def make(self, source: RandomSource) -> None:
        draws = self.put_draws(source, ["anon_draw"])
        self.engine.run(
            self._roles.step(self.made, "randomized_values", draws=draws, shares=self._shares, edges=self._edges)
        )
        self.engine.drop(draws)

    def remarks(self) -> Iterator[str]:
        found = self._chances
        if found["least_stay"] is None:
            return
        name = in_quotes(self.columns[0])
        yield (
            f"{name}: values stayed with a probability of {found['mean_stay']:.3g} on average and "
            f"{found['least_stay']:.3g} at least; a shown value is the true one with a probability of at most "
            f"{found['most_true']:.2f}, for whoever knows the shares of its stratum"
        )
        if self.settings.form == "plain":
            few, many = found["least_values"], found["most_values"]
            values = f"{many:,}" if few == many else f"{few:,} to {many:,}"
            largest = max(map(self.settings.epsilon, (few, many)))
            yield f"{name}: local differential privacy has ε = {largest:.4g} for the {values} values"

    def beside(self) -> Mapping[str, exp.Query]:
        roles = SQL.given(within=[*self.settings.within], shares=self._shares, edges=self._edges)
        return {name: roles.query("pram_matrix") for name in self.settings.tables(self.columns[0])}

    @cached_property
    def _shares(self) -> Relation:
        relation = self.relation("pram_shares", "cell")
        self.engine.run(self._roles.step(relation, "pram_shares", keep=double(1 - self.settings.change)))
        return relation

    @cached_property
    def _edges(self) -> Relation:
        relation, settings = self.relation("pram_edges", "cell"), self.settings
        if settings.form == "two-step":
            matrices = table_call("two_step_matrices", self._shares.table, double(settings.alpha))
        else:
            given = double(settings.change), string(settings.form)
            matrices = table_call("one_step_matrices", self._shares.table, *given)
        self.engine.run(SQL.step(relation, "pram_edges", matrices=subquery(matrices, "anon_matrices")))
        return relation

    @cached_property
    def _chances(self) -> Mapping[str, Any]:
        least = double(self.settings.least_stay)
        query = SQL.query("pram_chances", edges=self._edges, shares=self._shares, least_stay=least)
        return self.engine.fetch(query, "how likely values stay")[0]

    @property
    def _roles(self) -> Queries:
        value = column(self.columns[0], "anon_rows")
        return SQL.given(
            rows=self.rows.relation,
            within=[*self.settings.within],
            value=value,
            text=exact_text_in_memory(value),
        )
