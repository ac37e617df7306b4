"""The bounds that joint classes of earlier releases keep, and those whom a later release hides of them, from arrays.

The queries of ``queries.classes.earlier`` state the same, and say why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.engines.base import Compute
from sqlanon.methods.shared.absent import absent_persons
from sqlanon.methods.shared.arrays import Ints, Mask, changes, numbers_of, sums_by
from sqlanon.methods.shared.measures import Values
from sqlanon.methods.shared.sensitive import Reference, sensitive_values
from sqlanon.model.bounds import Bound
from sqlanon.queries.cells.earlier import NUMBER_OF_ABSENT
from sqlanon.queries.cells.encoding import EARLIER, Encoding, ShownValues
from sqlanon.queries.kit.nodes import column, select


@dataclass(frozen=True)
class ShownBounds:
    """The bounds that values which an earlier release shows keep in the joint classes that it shows.

    Attributes:
        column: the protected column with the values.
        bounds: the bounds on it.
        is_changed: whether they are not those of the present source.
        is_shown: by number of a joint class, whether the release shows it.
    """

    column: str
    bounds: Sequence[Bound]
    is_changed: bool
    is_shown: Mask

    @classmethod
    def of(cls, encoding: Encoding, shown: ShownValues) -> ShownBounds:
        """Those of what a release shows."""
        assert encoding.spec.earlier is not None
        is_shown = np.zeros(encoding.spec.earlier.count + 1, dtype=bool)
        for first, last in shown.numbers:
            is_shown[first : None if last is None else last + 1] = True
        return cls(shown.column, encoding.bounds_on(shown), shown.column != shown.bounded, is_shown)


@dataclass(frozen=True)
class Persons:
    """Persons of joint classes of earlier releases, counted by what releases show of their values.

    Attributes:
        numbers: the number of their joint class.
        codes: by protected column, the code of their value.
        counts: how many they are.
    """

    numbers: Ints
    codes: Mapping[str, Ints]
    counts: Ints

    def of(self, found: Mask) -> Persons:
        """Some of them."""
        codes = {name: codes[found] for name, codes in self.codes.items()}
        return Persons(self.numbers[found], codes, self.counts[found])

    def __add__(self, others: Persons) -> Persons:
        codes = {name: np.concatenate([codes, others.codes[name]]) for name, codes in self.codes.items()}
        numbers, counts = (np.concatenate([self.numbers, others.numbers]), np.concatenate([self.counts, others.counts]))
        return Persons(numbers, codes, counts)


Within = Callable[[Bound, Values], Mask]
"""Whether classes keep a bound on their values."""


@dataclass(frozen=True)
class JointBounds:
    """The bounds that joint classes keep.

    Attributes:
        k: how many persons they have at least.
        count: how many joint classes earlier releases show; theirs are the numbers from 1 on.
        shown: the bounds on what earlier releases show.
        references: by column with that, its values in their whole source.
        absent: the persons of joint classes without a row.
        are_within: judges classes by a bound.
    """

    k: int
    count: int
    shown: Sequence[ShownBounds]
    references: Mapping[str, Reference]
    absent: Persons
    are_within: Within

    def hidden_badly(self, numbers: Ints, hidden: Persons) -> Mask:
        """By number of a joint class, whether those whom it hides are out of bounds while it shows others.

        Args:
            numbers: the numbers of what is shown.
            hidden: persons with a row who are hidden.
        """
        shows = np.zeros(self.count + 1, dtype=bool)
        shows[numbers] = True
        shows[0] = False  # persons whom no earlier release shows
        return shows & ~self.hide_well(hidden, shows)

    def hide_well(self, hidden: Persons, numbers: Mask) -> Mask:
        """Whether those whom some joint classes hide keep the bounds, if there are any.

        Args:
            hidden: persons with a row who are hidden.
            numbers: by number of a joint class, whether it is looked at.
        """
        hidden = hidden.of(numbers[hidden.numbers]) + self.absent.of(numbers[self.absent.numbers])
        counts = np.bincount(hidden.numbers, hidden.counts, len(numbers)).astype(np.int64)
        hide_well: Mask = (counts == 0) | (counts >= self.k)
        for shown in self.shown:
            found = hide_well[hidden.numbers] & shown.is_shown[hidden.numbers]
            if found.any():
                few = hidden.of(found)
                looked_at, keeps = self.keep(shown, few.numbers, few.codes[shown.column], few.counts)
                hide_well[looked_at[~keeps]] = False
        return hide_well

    def keep(self, shown: ShownBounds, groups: Ints, codes: Ints, counts: Ints) -> tuple[Ints, Mask]:
        """Some groups, ascending, and whether they keep the bounds on values that a release shows."""
        reference = self.references[shown.column]
        width = len(reference.rows)
        found, sums = sums_by(groups * width + codes, counts, (int(groups.max()) + 1) * width)
        firsts = np.flatnonzero(changes(found[np.newaxis] // width))
        values = Values(numbers_of(firsts, len(found)), found % width, sums, reference)
        keeps = np.ones(len(firsts), dtype=bool)
        for bound in shown.bounds:
            keeps &= self.are_within(bound, values)
        return found[firsts] // width, keeps


def joint_bounds(engine: Compute, encoding: Encoding, own: Mapping[str, Reference], are_within: Within) -> JointBounds:
    """Those of a run beside earlier releases.

    Args:
        engine: the database.
        encoding: that of the run.
        own: by bounded column, the values of the present source.
        are_within: judges classes by a bound.
    """
    spec = encoding.spec
    assert spec.earlier is not None
    return JointBounds(
        k=encoding.criteria.k,
        count=spec.earlier.count,
        shown=[ShownBounds.of(encoding, shown) for shown in spec.shown_values],
        references={**own, **{name: _reference(engine, encoding, name) for name in spec.coded}},
        absent=_absent(engine, encoding),
        are_within=are_within,
    )


def _absent(engine: Compute, encoding: Encoding) -> Persons:
    """The persons without a row; all have one where they are rows of one unchanged table."""
    spec, none = encoding.spec, np.zeros(0, dtype=np.int64)
    if spec.earlier is None or not spec.earlier.is_by_person:
        return Persons(none, {shown.column: none for shown in spec.shown_values}, none)
    found = {name: each.astype(np.int64) for name, each in absent_persons(engine, spec.coded).items()}
    return Persons(found[EARLIER], {name: found[name] - 1 for name in spec.coded}, found[NUMBER_OF_ABSENT])


def _reference(engine: Compute, encoding: Encoding, name: str) -> Reference:
    """How many persons of its source have each value of a column of persons, and the labels of these."""
    table = encoding.spec.references[name].table
    found = engine.arrays(select([column("anon_code"), column("anon_rows")], table), "values of a source")
    rows = np.zeros(int(found["anon_code"].max(initial=0)), dtype=np.int64)
    rows[found["anon_code"].astype(np.int64) - 1] = found["anon_rows"]
    levels, codes = range(max(encoding.sensitive_height(name), 1)), found["anon_code"]
    if len(levels) > 1:
        labels = [column(encoding.sensitive_label(name, level)) for level in levels]
        found = engine.arrays(select(labels, encoding.values(name).table), "labels of a source")
        codes = found[encoding.sensitive(name)]
    return Reference(rows, sensitive_values(encoding, name, found, codes.astype(np.int64) - 1, levels).labels)
