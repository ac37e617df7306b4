"""Classes that are left out for others: of a joint class of earlier releases, none or k persons at least are hidden.

Source: spec/earlier.md, E3 and E5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.methods.local.settling import OUT, Parts
from sqlanon.methods.shared.arrays import Ints


@dataclass(frozen=True)
class JointHiding:
    """What is hidden of the joint classes of earlier releases.

    Attributes:
        k: how many persons every joint class is to have.
        absent: by number of a joint class, from 0, its persons who have no row any more. No earlier release shows
            those of class 0.
    """

    k: int
    absent: Ints

    def hide(self, parts: Parts) -> None:
        """Leave the smallest class out of each joint class that hides some persons, but fewer than k.

        A class has k rows at least. Where a joint class has none, all of its persons are hidden already.
        """
        numbers, count = parts.joint_numbers, len(self.absent)
        is_out = parts.of_keys == OUT
        hidden = self.absent + np.bincount(numbers[is_out], parts.key_rows[is_out], count).astype(np.int64)
        is_short = (hidden > 0) & (hidden < self.k)
        is_short[0] = False
        kept = np.flatnonzero(~is_out)
        classes, firsts = np.unique(parts.of_keys[kept], return_index=True)
        rows = np.bincount(parts.of_keys[kept], parts.key_rows[kept]).astype(np.int64)[classes]
        of_classes = numbers[kept[firsts]]
        order = np.lexsort((classes, rows, of_classes))
        found, smallest = np.unique(of_classes[order], return_index=True)
        left_out = classes[order[smallest[is_short[found]]]]
        parts.of_keys[np.isin(parts.of_keys, left_out)] = OUT
        parts.describe()
