"""The probability that a row of a group belongs to a person whom the adversary knows to be in its class.

The adversary has the table, the catalog and k, and considers all ways to label rows of the hosts as counterfeits
equally likely that agree with the catalog and leave each class a real row. Where n rows of class t are real, each of
them is the person's with probability 1 / n. So a row of t has the probability

    P(row) = E[1 / n if the row is real, else 0],

and link is the highest of the group. Its inverse, k_eff, is k for classes of k rows without counterfeits. With a
catalog it is less, even where condition F holds: for two classes {D, D, A, F} and one counterfeit D, A is the person's
with ½ · ¼ + ½ · ⅓ = 7/24, more than ¼ (spec/hceiling.md H6).

Source: spec/hceiling.md (G), *Metric*. It states that 1 / min n_t, of the true counts, bounds link. That is false: the
mean of 1 / n over worlds can exceed it. The bound here is proven.

Counting the ways. A class of n rows has n - 1 counterfeits at most if and only if not all of its rows are. Without
that,
the values would be independent of each other: of the M rows of a value, any C. With it, by inclusion and exclusion over
the sets B of classes that are *full*, all of whose rows are counterfeits, the number of ways is

    Σ_B (-1)^|B| ways in which the classes of B are full,

and likewise for the ways in which a certain row is real, with 1 / n for each where its class is left n real rows. Few
sets fit into the catalog, often only the empty one. Where there are too many, truncated sums are bounds (Bonferroni).

All counts are integers: ways are a product over values, up to a common factor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, lcm, perm, prod
from operator import add, le, mul, sub
from typing import NamedTuple

from sqlanon.methods.h_ceiling.conditions import FilledClasses


class Links:
    """The links of groups of classes; a class is a position, a group is a sequence of positions."""

    def __init__(self, classes: FilledClasses) -> None:
        self._classes = classes
        self._hosts = (classes.most_counterfeits > 0).tolist()
        self._rows = classes.by_position(classes.published)

    def of(self, group: Sequence[int]) -> Link:
        return self.highest(group, group)

    def highest(self, targets: Sequence[int], group: Sequence[int]) -> Link:
        totals: Counter[int] = Counter()
        for position in group:
            totals.update(self._classes.own_counterfeits.get(position, {}))
        values = sorted(totals)
        kinds = {}
        for position in group:
            counts = self._rows[position]
            kinds[position] = Rows(sum(counts.values()), tuple(counts.get(value, 0) for value in values))
        hosts = [kinds[position] for position in group if self._hosts[position]]
        worlds = Worlds(tuple(totals[value] for value in values), hosts)
        links = {worlds.likeliest(kind) for kind in {kinds[target] for target in targets if self._hosts[target]}}
        links |= {Link(Fraction(1, kinds[target].size), exact=True) for target in targets if not self._hosts[target]}
        return Link(max(link.probability for link in links), all(link.exact for link in links))


MAX_TERMS = 30_000
"""The most terms in the sums of a group.

tests.benchmarks.catalogs, condition F: of 5,000 classes, all of them filled up to 5, 24 groups of 686 are not exact,
in 5 CPU s; with 100,000 terms 11, in 11 s; with 10,000 33, in 3 s. Of 500 filled up to 10 and 20 others 3 of 67, in
6 s; 1, in 14 s; 7, in 1.6 s.
"""

Vector = tuple[int, ...]  # rows by value of the catalog


class Rows(NamedTuple):
    """The size of a class, and its rows by value of the catalog; its other rows are real."""

    size: int
    counts: Vector


@dataclass(frozen=True)
class Link:
    """The probability that the likeliest row is the person's, or an upper bound of it."""

    probability: Fraction
    exact: bool

    @property
    def effective_k(self) -> Fraction:
        """k_eff: the size of a class without counterfeits that conceals a person equally well."""
        return 1 / self.probability


class Worlds:
    def __init__(self, totals: Vector, hosts: Sequence[Rows]) -> None:
        self._totals = totals
        self._fillable = Counter(host.counts for host in hosts if self._can_be_full(host))
        self._exact, self._sets = self._signed_sets(MAX_TERMS // max(1, len(set(hosts))))
        furthest = [max(counts) for counts in zip(*self._sets, *self._fillable, strict=True)]
        columns = zip(*(host.counts for host in hosts), strict=True)
        self._values = [
            _Value(total, sum(counts), max(counts) + most)
            for total, counts, most in zip(totals, columns, furthest, strict=True)
        ]
        self._ways = sum(sign * self._ways_of(full) for full, sign in self._sets.items())
        if not self._exact:
            self._ways -= sum(count * self._ways_of(full) for full, count in self._fillable.items())

    def likeliest(self, rows: Rows) -> Link:
        """Return E[1 / n if the row is real, else 0] for the likeliest row of a host with n real rows."""
        inside = [place for place, count in enumerate(rows.counts) if count]
        outside = [place for place, count in enumerate(rows.counts) if not count]
        elsewhere: Counter[Vector] = Counter()  # ways for values outside this class, by the full rows of its own values
        for full, sign in self._sets_without(rows).items():
            if sign:  # 0 if sets cancel out, or no other classes make this sum
                elsewhere[tuple(full[place] for place in inside)] += sign * self._ways_of(full, outside)
        shares = lcm(*range(1, rows.size + 1))
        of_row = [shares // (rows.size - fakes) for fakes in range(rows.size)]
        # A row whose value is not in the catalog is real for sure: no other row is likelier.
        best = max(
            sum(ways * sum(map(mul, of_row, self._ways_inside(rows, full, row))) for full, ways in elsewhere.items())
            for row in ([-1] if rows.size > sum(rows.counts) else inside)
        )
        if self._exact:
            return Link(Fraction(best, shares * self._ways), exact=True)
        bound = Fraction(1, max(1, rows.size - sum(map(min, rows.counts, self._totals))))
        return Link(min(bound, Fraction(best, shares * self._ways)) if self._ways > 0 else bound, exact=False)

    def _ways_inside(self, rows: Rows, full: Vector, row: int) -> list[int]:
        """Return the ways for a class's values by its number of counterfeits, given that a row of one value is real.

        ``full`` are the rows of its values in full classes, and ``row`` is the place of the value, -1 for none.
        """
        ways = [1]
        inside = ((place, count) for place, count in enumerate(rows.counts) if count)
        for already, (place, count) in zip(full, inside, strict=True):
            of_value = self._values[place].ways(already, count, real=place == row)
            product = [0] * (len(ways) + len(of_value) - 1)
            for i, a in enumerate(ways):
                for j, b in enumerate(of_value):
                    product[i + j] += a * b
            ways = product
        return ways

    def _ways_of(self, full: Vector, places: Iterable[int] | None = None) -> int:
        """Count the ways in which the rows of full classes are counterfeits, for values at some places or all."""
        places = range(len(full)) if places is None else places
        return prod(self._values[place].ways(full[place], 0)[0] for place in places)

    def _can_be_full(self, rows: Rows) -> bool:
        return rows.size == sum(rows.counts) and all(map(le, rows.counts, self._totals))

    # guarded: tests/unit/h_ceiling/test_catalog_links.py
    def _signed_sets(self, most: int) -> tuple[bool, dict[Vector, int]]:
        """Sum (-1)^|B| over sets B of classes that can be full, by the rows in them, smallest first.

        Return only the empty set, and False, if there are more than ``most`` such sums.
        """
        nothing = (0,) * len(self._totals)
        sets = {nothing: 1}  # no mutants: what all have as a factor cancels
        for full in self._fillable.elements():
            for some, sign in list(sets.items()):
                joined = tuple(map(add, some, full))
                if all(map(le, joined, self._totals)):  # no mutants: other sets have no ways
                    sets[joined] = sets.get(joined, 0) - sign
            if len(sets) > most:  # no mutants: a limit of time
                return False, {nothing: 1}
        return True, dict(sorted(sets.items(), key=lambda item: sum(item[0])))

    def _sets_without(self, rows: Rows) -> Mapping[Vector, int]:
        """Return the sets without a class: the generating function is divided by 1 - z^rows."""
        if not self._exact or not self._can_be_full(rows):
            return self._sets
        rest: dict[Vector, int] = {}
        for full, sign in self._sets.items():
            rest[full] = sign + rest.get(tuple(map(sub, full, rows.counts)), 0)
        return rest


class _Value:
    def __init__(self, total: int, pool: int, furthest: int) -> None:
        self._total = total  # of the rows that are counterfeits
        self._pool = pool  # of rows of the value
        self._furthest = min(pool, furthest)  # how many of these rows the common factor draws one by one
        self._known: dict[tuple[int, int, bool], list[int]] = {}

    def ways(self, full: int, count: int, real: bool = False) -> list[int]:
        """Return the ways by number of counterfeits among ``count`` rows of a class; one may be known to be real.

        ``full`` rows of other classes are all counterfeits.
        """
        key = (full, count, real)
        if key not in self._known:
            free, rest = count - real, self._furthest - full - count
            others = perm(self._pool - full - count, rest)
            self._known[key] = [
                comb(free, fakes)
                * perm(self._total, full + fakes)
                * perm(self._pool - self._total, count - fakes)
                * others
                for fakes in range(free + 1)
            ]
        return self._known[key]
