"""How likely a row of a group is that of a person whom the adversary knows to be in its class.

The adversary has the table, the catalog and k, and takes every way in which rows of the hosts can be labelled as
counterfeits for equally likely, if it agrees with the catalog and leaves each class a real row. Where n rows of class t
are real, each of them is the person's with probability 1 / n. So a row of t has the probability

    P(row) = E[1 / n if the row is real, else 0],

and link is the highest of the group. Its inverse, k_eff, is k for classes of k rows without counterfeits, and with a
catalog it is less, even where condition F holds: for two classes {D, D, A, F} and one counterfeit D, A is the person's
with ½ · ¼ + ½ · ⅓ = 7/24, more than ¼ (spec/hceiling.md H6).

Source: spec/hceiling.md (G), *Metric*. That 1 / min n_t, of the true counts, is a bound of link, as is said there, is
not so: the mean of 1 / n over worlds can be above it. The bound here is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from sqlanon.methods.h_ceiling.catalog.classes import FilledClasses
from sqlanon.methods.h_ceiling.catalog.estimate import estimated_probability
from sqlanon.methods.h_ceiling.catalog.worlds import Link, Rows, Vector, Worlds


class Links:
    """What links groups of the given classes; a class is a position, a group is a sequence of positions.

    Args:
        classes: the classes.
        rule_known: whether the adversary knows the rule by which classes are filled.
    """

    def __init__(self, classes: FilledClasses, *, rule_known: bool = True) -> None:
        self._classes = classes
        self._hosts = (classes.most_counterfeits(rule_known=rule_known) > 0).tolist()
        self._rows = classes.by_position(classes.published)

    def of(self, group: Sequence[int]) -> Link:
        """The link of a group: the highest of its classes."""
        return self._highest(group, group)

    def of_class(self, target: int, group: Sequence[int]) -> Link:
        """The highest probability of a row of one class of a group."""
        return self._highest([target], group)

    def estimate(self, group: Sequence[int]) -> float:
        """An estimate of the probability of the link of a group, for links that are not exact."""
        totals, kinds = self._group(group)
        others = [1 / kinds[position].size for position in group if not self._hosts[position]]
        hosts = [kinds[position] for position in group if self._hosts[position]]
        return max([estimated_probability(totals, hosts), *others] if hosts else others)

    def _highest(self, targets: Sequence[int], group: Sequence[int]) -> Link:
        totals, kinds = self._group(group)
        worlds = Worlds(totals, [kinds[position] for position in group if self._hosts[position]])
        links = {worlds.likeliest(kind) for kind in {kinds[target] for target in targets if self._hosts[target]}}
        links |= {Link(Fraction(1, kinds[target].size), exact=True) for target in targets if not self._hosts[target]}
        return Link(max(link.probability for link in links), all(link.exact for link in links))

    def _group(self, group: Sequence[int]) -> tuple[Vector, dict[int, Rows]]:
        """The totals of the catalog, and the rows of each class."""
        totals: Counter[int] = Counter()
        for position in group:
            totals.update(self._classes.own_counterfeits.get(position, {}))
        values = sorted(totals)
        rows = {position: self._rows[position] for position in group}
        return tuple(totals[value] for value in values), {
            position: Rows(sum(counts.values()), tuple(counts.get(value, 0) for value in values))
            for position, counts in rows.items()
        }
