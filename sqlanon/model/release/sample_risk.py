"""The risk of a sample in its population: what the rows of a survey give away."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.model.release.measurement import Result
from sqlanon.report.document import (
    Paragraph,
    Part,
    Table,
    at_least,
    count,
    estimate,
    facts,
    figure,
    notes,
    paragraph,
    percent,
)

PROMISE = (
    "Of {rows:,} rows, an attacker who knows these columns of everybody in the population is expected to find between "
    "{low} and {high}. Both are estimates from the weights; where the truth was known it lay between them in "
    "32 of 33 cases. They are no bounds. They hold for the columns that you named, and not for one who knows that a "
    "person is in the sample (anon.prosecutor_risk)."
)


class RiskBand(Result):
    """Rows by the power of ten of their risk.

    Attributes:
        power: the risk is at least 10 to this power, and below the next one; -7 has all lower risks as well.
        binomial_rows, poisson_rows: rows by the individual risk of Benedetti and Franconi, and by that of independent
            keys.
    """

    power: int
    binomial_rows: int
    poisson_rows: int

    @property
    def name(self) -> str:
        """The risks of the band in words."""
        if self.power >= 0:
            return "100 %"
        return f"{100 * 10.0**self.power:g} % and more" if self.power > -7 else "less"


class SpecialSize(Result):
    """Special rows whose least minimal set has a size.

    Attributes:
        set_size: keys of the set.
        row_count: the rows.
    """

    set_size: int
    row_count: int


class KeyContribution(Result):
    """What a key adds to the scores of special rows.

    Attributes:
        key: the column.
        set_count: minimal sets that contain it.
        contribution: their share of all scores, in percent; shares of keys add up to more than 100. None without
            special rows.
    """

    key: str
    set_count: int
    contribution: float | None


class SpecialUniques(Result):
    """The rows that few of their values single out (SUDA), and the keys that do so.

    Attributes:
        key_count: the keys.
        max_size: the largest sets of keys that were looked at.
        sizes: the special rows by the size of their least minimal set, in rising order.
        keys: the keys, the one to recode first at the head.
    """

    key_count: int
    max_size: int
    sizes: tuple[SpecialSize, ...]
    keys: tuple[KeyContribution, ...]

    def parts(self, k: int | None = None) -> Iterator[Part]:
        """Show rows by size, without counts below ``k`` if one is given, and the keys."""
        rows = [(f"{each.set_size} of {self.key_count} keys", at_least(each.row_count, k)) for each in self.sizes]
        headings = ("singled out by", "rows")
        yield Table(headings, rows or [("no set of keys", "0")], numbers=(1,), title="Special rows")
        shares = [
            (each.key, count(each.set_count), "–" if each.contribution is None else f"{each.contribution:.1f} %")
            for each in self.keys
        ]
        yield Table(("key", "minimal sets", "share of scores"), shares, numbers=(1, 2), title="What to recode first")


class HouseholdRisk(Result):
    """The expected re-identifications of households.

    Attributes:
        household_count: the households.
        households_found: those with a member who is found, if members are found independently.
        rows_found: the rows in them, as sdcMicro prints.
        unique_households: those that no other household of the sample is like in the keys of all members.
        matched_households: those that are found by the keys of all members; None if members' weights differ by more
            than a factor of 2.
        matched_rows: the rows in them.
    """

    household_count: int
    households_found: float | None
    rows_found: float | None
    unique_households: int
    matched_households: float | None
    matched_rows: float | None


class PopulationUniques(Result):
    """People of the population whom nobody looks like in the keys, by three estimates from the sizes of classes.

    Attributes:
        population: the number of people.
        pitman, zayatz, snb: the estimates; None for one that cannot be had. Of samples below a tenth, the best was off
            by a factor of 0.7 to 2.8 where the truth was known.
        estimate: one of them by the rule of Dankar et al. (2012).
        estimator: its name, or ``census`` if all people are in the table.
    """

    population: float
    pitman: float | None
    zayatz: float | None
    snb: float | None
    estimate: float | None
    estimator: str | None

    def parts(self) -> Iterator[Part]:
        rows = [("Pitman", estimate(self.pitman)), ("Zayatz", estimate(self.zayatz)), ("SNB", estimate(self.snb))]
        rows.append((f"by the rule ({self.estimator or 'none'})", estimate(self.estimate)))
        yield Table(("estimate", "people"), rows, numbers=(1,), title="Unique people of the population")


class SampleRisk(Result):
    """The risk of a sample in its population.

    Attributes:
        source: the table in words.
        keys: the columns that an attacker knows.
        weight: the column of weights; None where all rows have the same one, population / rows.
        row_count, class_count: rows, and rows that agree on all keys.
        population_size: the sum of the weights; None without rows, as all measures are.
        unique_rows: rows that are alone in their class.
        expected_low, expected_high: rows that are found, by the lower and the higher of two estimates: the individual
            risk of Benedetti and Franconi, and that of independent keys. They are no bounds.
        uniques_low, uniques_high: of the unique rows, those that are unique in the population, by the same estimates.
        correct_match: the chance that a match of a unique row is right (DIS); None where weights differ by more than
            a factor of 3, or no row is unique.
        weight_ratio: the greatest weight by the least.
        uniques: unique people of the population; None without rows.
        bands: rows by their risk, the highest first.
        special: the special rows; None if they were not counted.
        households: of the sample; None if no column of households was named.
        at_most: the largest acceptable share of rows that are found; None if none was named.
        notes: what was left out, and why.
    """

    source: str
    keys: tuple[str, ...]
    weight: str | None
    row_count: int
    class_count: int
    population_size: float | None
    unique_rows: int
    expected_low: float | None
    expected_high: float | None
    uniques_low: float | None
    uniques_high: float | None
    correct_match: float | None
    weight_ratio: float | None
    uniques: PopulationUniques | None
    bands: tuple[RiskBand, ...]
    special: SpecialUniques | None
    households: HouseholdRisk | None = None
    at_most: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def high_share(self) -> float | None:
        """The share of rows that are found by the higher estimate; None without rows."""
        return None if self.expected_high is None else self.expected_high / self.row_count

    @property
    def met(self) -> bool:
        """Whether the higher estimate is at most ``at_most``; a table without rows is not."""
        return self.at_most is None or (self.high_share is not None and self.high_share <= self.at_most)

    @property
    def heading(self) -> str:
        return f"Risk of {self.source} in its population"

    def promise(self) -> Iterator[Paragraph]:
        """Say what the estimates are, and what they are not; nothing without rows."""
        if self.expected_low is not None and self.expected_high is not None:
            yield paragraph(
                PROMISE.format(rows=self.row_count, low=estimate(self.expected_low), high=estimate(self.expected_high))
            )

    def parts(self) -> Iterator[Part]:
        yield from self.promise()
        yield facts(self._figures())
        names = ("risk of a row", "rows by their own weights", "rows if keys are independent")
        rows = [(each.name, count(each.binomial_rows), count(each.poisson_rows)) for each in self.bands]
        yield Table(names, rows, numbers=(1, 2), title="Rows by their risk")
        if self.uniques is not None:
            yield from self.uniques.parts()
        if self.special is not None:
            yield from self.special.parts()
        yield from notes("Notes", self.notes)

    def _figures(self) -> Iterator[tuple[str, str]]:
        yield "keys", ", ".join(self.keys)
        yield "rows", count(self.row_count)
        yield "people that they stand for", figure(self.population_size)
        yield "classes", count(self.class_count)
        yield "rows alone in their class", count(self.unique_rows)
        yield "of them alone in the population", f"{estimate(self.uniques_low)} to {estimate(self.uniques_high)}"
        yield "share of rows that are found, higher estimate", percent(self.high_share)
        if self.at_most is not None:
            yield "accepted share", percent(self.at_most)
        if self.correct_match is not None:
            yield "chance that a match of a row alone in its class is right", percent(self.correct_match)
            yield "the greatest weight by the least", figure(self.weight_ratio)
        if self.households is not None:
            yield "households", count(self.households.household_count)
            yield "households that are found, by single members", estimate(self.households.households_found)
            yield "rows in these households", estimate(self.households.rows_found)
            yield "households that no other is like", count(self.households.unique_households)
            yield (
                "households that are found, by all members, lower estimate",
                estimate(self.households.matched_households),
            )
            yield "rows in those households", estimate(self.households.matched_rows)
