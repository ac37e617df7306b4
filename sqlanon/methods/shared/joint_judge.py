"""Values of the joint classes of many nodes beside earlier releases, from cells as arrays.

What is left out is that of the queries of ``queries.classes.earlier``, which say why: the hidden persons of a joint
class of earlier releases keep the bounds; where they do not, its smallest class is hidden with them, or all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.engines.base import Compute
from sqlanon.methods.shared.absent import absent_persons
from sqlanon.methods.shared.arrays import Ints, Mask, changes, numbers_of, sums_by
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.class_values import NodeClasses, ValueCounter, ValueJudge, are_within, combined
from sqlanon.methods.shared.coded_cells import CodedCells
from sqlanon.methods.shared.measures import Values
from sqlanon.methods.shared.packing import NarrowInts
from sqlanon.methods.shared.sensitive import Reference
from sqlanon.model.bounds import Bound
from sqlanon.queries.cells.earlier import NUMBER_OF_ABSENT
from sqlanon.queries.cells.encoding import EARLIER, Encoding, ShownValues
from sqlanon.queries.cells.keys import KeyLayout
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


@dataclass(frozen=True)
class JointJudge(ValueJudge):
    """Judges the classes of nodes beside earlier releases.

    Attributes:
        count: how many joint classes earlier releases show; theirs are the numbers from 1 on.
        numbers: the number of the joint class of each combination of values, ascending.
        shown: the bounds on what earlier releases show.
        absent: the persons of joint classes without a row.
        layout: the keys of the database, in whose order the smallest class of several is found.
    """

    count: int
    numbers: Ints
    shown: Sequence[ShownBounds]
    absent: Persons
    layout: KeyLayout

    def _are_first(self, keys: NarrowInts, combinations: NarrowInts) -> Mask:
        are_first: Mask = changes(keys) | changes(self.numbers[np.newaxis, combinations])
        return are_first

    def _shown(self, classes: NodeClasses, met: Mask) -> Mask:
        of_classes = self.numbers[classes.combinations[classes.starts]]
        met = self._keeping_changed_values(classes, of_classes, met)
        hides_badly = np.zeros(self.count + 1, dtype=bool)
        hides_badly[of_classes[met]] = True
        hides_badly[0] = False
        hides_badly &= ~self._hide_well(classes, of_classes, met, hides_badly)
        if hides_badly.any():
            met[self._smallest(classes, of_classes, met & hides_badly[of_classes])] = False
            hides_badly &= ~self._hide_well(classes, of_classes, met, hides_badly)
            met &= ~hides_badly[of_classes]
        return met

    def _keeping_changed_values(self, classes: NodeClasses, of_classes: Ints, met: Mask) -> Mask:
        """Those of some classes that keep the bounds on values which other sources have of their persons."""
        met = met.copy()
        for shown in self.shown:
            if shown.is_changed and (looked_at := met & shown.is_shown[of_classes]).any():
                found = looked_at[classes.of_cells]
                codes = self.codes[shown.column][classes.combinations[found]]
                numbers, keeps = self._keep(shown, classes.of_cells[found], codes, classes.rows[found])
                met[numbers[~keeps]] = False
        return met

    def _hide_well(self, classes: NodeClasses, of_classes: Ints, met: Mask, numbers: Mask) -> Mask:
        """Whether those whom some joint classes of earlier releases hide keep the bounds, if there are any.

        Args:
            classes: the classes of a node.
            of_classes: the number of the joint class of each.
            met: the classes that are shown.
            numbers: by number of a joint class, whether it is looked at.
        """
        hidden = self._persons(classes, (numbers[of_classes] & ~met)[classes.of_cells])
        hidden += self.absent.of(numbers[self.absent.numbers])
        counts = np.bincount(hidden.numbers, hidden.counts, len(numbers)).astype(np.int64)
        hide_well: Mask = (counts == 0) | (counts >= self.criteria.k)
        for shown in self.shown:
            found = hide_well[hidden.numbers] & shown.is_shown[hidden.numbers]
            if found.any():
                few = hidden.of(found)
                looked_at, keeps = self._keep(shown, few.numbers, few.codes[shown.column], few.counts)
                hide_well[looked_at[~keeps]] = False
        return hide_well

    def _persons(self, classes: NodeClasses, found: Mask) -> Persons:
        """Those of some cells."""
        combinations = classes.combinations[found]
        codes = {name: self.codes[name][combinations] for name in self.absent.codes}
        return Persons(self.numbers[combinations], codes, classes.rows[found])

    def _keep(self, shown: ShownBounds, groups: Ints, codes: Ints, counts: Ints) -> tuple[Ints, Mask]:
        """Some groups, ascending, and whether they keep the bounds on values that a release shows."""
        reference = self.references[shown.column]
        width = len(reference.rows)
        found, sums = sums_by(groups * width + codes, counts, (int(groups.max()) + 1) * width)
        firsts = np.flatnonzero(changes(found[np.newaxis] // width))
        values = Values(numbers_of(firsts, len(found)), found % width, sums, reference)
        keeps = np.ones(len(firsts), dtype=bool)
        for bound in shown.bounds:
            keeps &= are_within(bound, values)
        return found[firsts] // width, keeps

    def _smallest(self, classes: NodeClasses, of_classes: Ints, found: Mask) -> Ints:
        """The smallest of some classes in each joint class of earlier releases; of several, that of the first key."""
        places = np.flatnonzero(found)
        numbers, sizes = of_classes[places], classes.sizes[places]
        keys = self._keys(classes, places)
        order = np.lexsort((*keys[::-1], sizes, numbers))
        smallest: Ints = places[order[changes(numbers[np.newaxis, order])]]
        return smallest

    def _keys(self, classes: NodeClasses, places: Ints) -> Ints:
        """The words of the keys that some classes have in the database."""
        cells, starts = classes.cells, classes.starts[places]
        keys = np.zeros((self.layout.word_count, len(places)), dtype=np.int64)
        for place, field in self.layout.fields.items():
            if place[1] >= classes.levels[place[0]] and field.width:
                here = cells.layout.fields[place]
                labels = cells.words[here.word, starts].astype(np.int64) >> here.shift & ((1 << here.width) - 1)
                keys[field.word] |= labels << field.shift
        return keys


def joint_counter(engine: Compute, table: EncodedTable, coded: CodedCells) -> ValueCounter:
    """What counts the nodes of a table beside earlier releases, whose classes are judged by their values."""
    encoding, joint, earlier = table.encoding, coded.joint, table.encoding.spec.earlier
    assert joint is not None
    assert earlier is not None
    levels = (0,) * len(encoding.spec.shapes)
    cells, codes = combined(coded, levels, {EARLIER: joint.numbers, **coded.codes, **joint.codes})
    numbers = codes.pop(EARLIER)
    judge = JointJudge(
        criteria=encoding.criteria,
        codes=codes,
        references={**coded.references, **{name: _reference(engine, encoding, name) for name in joint.codes}},
        count=earlier.count,
        numbers=numbers,
        shown=[ShownBounds.of(encoding, shown) for shown in encoding.spec.shown_values],
        absent=_absent(engine, encoding),
        layout=encoding.keys,
    )
    return ValueCounter(engine, table, cells, judge)


def _absent(engine: Compute, encoding: Encoding) -> Persons:
    """The persons without a row; all have one where they are rows of one unchanged table."""
    spec, none = encoding.spec, np.zeros(0, dtype=np.int64)
    if spec.earlier is None or not spec.earlier.is_by_person:
        return Persons(none, {shown.column: none for shown in spec.shown_values}, none)
    found = {name: each.astype(np.int64) for name, each in absent_persons(engine, spec.coded).items()}
    return Persons(found[EARLIER], {name: found[name] - 1 for name in spec.coded}, found[NUMBER_OF_ABSENT])


def _reference(engine: Compute, encoding: Encoding, name: str) -> Reference:
    """How many persons of its source have each value of a column of persons."""
    table = encoding.spec.references[name].table
    found = engine.arrays(select([column("anon_code"), column("anon_rows")], table), "values of a source")
    rows = np.zeros(int(found["anon_code"].max(initial=0)), dtype=np.int64)
    rows[found["anon_code"].astype(np.int64) - 1] = found["anon_rows"]
    return Reference(rows, np.zeros((1, len(rows)), dtype=np.int64))
