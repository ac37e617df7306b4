"""Values of the joint classes of many nodes beside earlier releases, from cells as arrays.

What is left out is that of the queries of ``queries.classes.earlier``, which say why: the hidden persons of a joint
class of earlier releases keep the bounds; where they do not, its smallest class is hidden with them, or all others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.engines.base import Compute
from sqlanon.methods.shared.arrays import Ints, Mask, changes
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.class_values import NodeClasses, ValueCounter, ValueJudge, are_within, combined
from sqlanon.methods.shared.coded_cells import CodedCells
from sqlanon.methods.shared.joint_bounds import JointBounds, Persons, joint_bounds
from sqlanon.methods.shared.packing import NarrowInts
from sqlanon.queries.cells.encoding import EARLIER
from sqlanon.queries.cells.keys import KeyLayout


@dataclass(frozen=True)
class JointJudge(ValueJudge):
    """Judges the classes of nodes beside earlier releases.

    Attributes:
        numbers: the number of the joint class of each combination of values, ascending.
        bounds: what joint classes keep.
        layout: the keys of the database, in whose order the smallest class of several is found.
    """

    numbers: Ints
    bounds: JointBounds
    layout: KeyLayout

    def _are_first(self, keys: NarrowInts, combinations: NarrowInts) -> Mask:
        are_first: Mask = changes(keys) | changes(self.numbers[np.newaxis, combinations])
        return are_first

    def _shown(self, classes: NodeClasses, met: Mask) -> Mask:
        of_classes = self.numbers[classes.combinations[classes.starts]]
        met = self._keeping_changed_values(classes, of_classes, met)
        hides_badly = self.bounds.hidden_badly(of_classes[met], self._hidden(classes, met))
        if hides_badly.any():
            met[self._smallest(classes, of_classes, met & hides_badly[of_classes])] = False
            hides_badly &= ~self.bounds.hide_well(self._hidden(classes, met), hides_badly)
            met &= ~hides_badly[of_classes]
        return met

    def _keeping_changed_values(self, classes: NodeClasses, of_classes: Ints, met: Mask) -> Mask:
        """Those of some classes that keep the bounds on values which other sources have of their persons."""
        met = met.copy()
        for shown in self.bounds.shown:
            if shown.is_changed and (looked_at := met & shown.is_shown[of_classes]).any():
                found = looked_at[classes.of_cells]
                codes = self.codes[shown.column][classes.combinations[found]]
                numbers, keeps = self.bounds.keep(shown, classes.of_cells[found], codes, classes.rows[found])
                met[numbers[~keeps]] = False
        return met

    def _hidden(self, classes: NodeClasses, met: Mask) -> Persons:
        """The persons of classes that are not shown."""
        found = ~met[classes.of_cells]
        combinations = classes.combinations[found]
        codes = {name: self.codes[name][combinations] for name in self.bounds.absent.codes}
        return Persons(self.numbers[combinations], codes, classes.rows[found])

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
    encoding, joint = table.encoding, coded.joint
    assert joint is not None
    levels = (0,) * len(encoding.spec.shapes)
    cells, codes = combined(coded, levels, {EARLIER: joint.numbers, **coded.codes, **joint.codes})
    numbers, bounds = codes.pop(EARLIER), joint_bounds(engine, encoding, coded.references, are_within)
    judge = JointJudge(encoding.criteria, codes, coded.references, numbers, bounds, encoding.keys)
    return ValueCounter(engine, table, cells, judge)
