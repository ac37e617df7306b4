"""Classes that are left out for others, so that those whom a release hides of joint classes keep the bounds, too.

Source: spec/earlier.md, E3 and E5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.engines.base import Compute
from sqlanon.methods.local.arrays import CellArrays
from sqlanon.methods.local.settling import OUT, Parts
from sqlanon.methods.shared.arrays import Ints, Mask
from sqlanon.methods.shared.joint_bounds import JointBounds, Persons, joint_bounds
from sqlanon.methods.shared.measures import measured
from sqlanon.methods.shared.sensitive import Reference
from sqlanon.queries.cells.encoding import Encoding


@dataclass(frozen=True)
class JointHiding:
    """Which classes are hidden for others.

    Attributes:
        bounds: what joint classes keep.
        persons: those of the cells.
    """

    bounds: JointBounds
    persons: Persons

    @classmethod
    def of(cls, engine: Compute, encoding: Encoding, cells: CellArrays) -> JointHiding:
        """That of cells beside earlier releases, whose joint classes are the last of their quasi-identifiers."""
        of_columns = dict(zip(cells.sensitive, cells.codes, strict=True))
        own = {
            name: Reference(np.bincount(codes, cells.rows).astype(np.int64), cells.sensitive[name].labels)
            for name, codes in of_columns.items()
            if name not in encoding.spec.coded
        }
        bounds = joint_bounds(
            engine, encoding, own, lambda bound, values: bound.met_by(measured(bound.measure, values))
        )
        codes = {name: of_columns[name] - (name in encoding.spec.coded) for name in bounds.absent.codes}
        return cls(bounds, Persons(cells.joint_numbers, codes, cells.rows))

    def hide(self, parts: Parts) -> None:
        """Leave the smallest class of each joint class out, or all of it, if those whom it hides are out of bounds."""
        shown = parts.joint_numbers[parts.of_keys != OUT]
        hides_badly = self.bounds.hidden_badly(shown, self._hidden(parts))
        self._leave_out(parts, _smallest(parts, hides_badly))
        hides_badly &= ~self.bounds.hide_well(self._hidden(parts), hides_badly)
        self._leave_out(parts, parts.of_keys[hides_badly[parts.joint_numbers]])
        parts.describe()

    def _hidden(self, parts: Parts) -> Persons:
        return self.persons.of(parts.of_cells == OUT)

    @staticmethod
    def _leave_out(parts: Parts, classes: Ints) -> None:
        parts.of_keys[np.isin(parts.of_keys, classes)] = OUT


def _smallest(parts: Parts, wanted: Mask) -> Ints:
    """The smallest class of each of some joint classes."""
    numbers, kept = parts.joint_numbers, np.flatnonzero(parts.of_keys != OUT)
    classes, firsts = np.unique(parts.of_keys[kept], return_index=True)
    rows = np.bincount(parts.of_keys[kept], parts.key_rows[kept]).astype(np.int64)[classes]
    of_classes = numbers[kept[firsts]]
    order = np.lexsort((classes, rows, of_classes))
    found, smallest = np.unique(of_classes[order], return_index=True)
    return classes[order[smallest[wanted[found]]]]
