"""Bounds on measures of equivalence classes: what privacy models are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TOLERANCE = 1e-9
"""Relative slack of bounds on sums of floats: a class that meets a bound exactly must pass whatever the rounding."""

Comparison = Literal[">=", "<=", "<"]
Grain = Literal["class", "node"]


View = Literal["size", "values", "shares", "sized shares", "ordered", "hierarchical", "attacker", "population"]
"""What a measure looks at in a class:

- ``size``: its rows, or its individuals;
- ``values``: the rows of each value of a sensitive column; ``shares``: the same with the share of the value in the
  whole table; ``sized shares``: the same with the rows of the class;
- ``ordered``, ``hierarchical``: the values in their order, and the labels above them;
- ``attacker``: what an attacker may know of each row;
- ``population``: the people that the class matches there.
"""


@dataclass(frozen=True)
class Measure:
    """A number that each equivalence class has: a macro makes it of a class, another one measures a whole table.

    Attributes:
        name: the name of the measure.
        column: the sensitive column that it looks at, None if it looks at none or at several.
        argument: what else it depends on: the l of a ratio, the prior of an attacker.
        view: what it looks at.
        of_class: the scalar macro that makes it of the columns of the view, and of the argument; None for a view that
            has a query of its own.
        of_table: the table macro that measures a table, and the column of its one row with the worst class.
        field: the field of a model that bounds it, which can be relaxed.
        certainty: the scalar macro that makes of the same, and of a threshold, the share of the rows of a class that is
            suppressed at every less general node (``sql/macros/57_certain_rows.sql``): what a class proves that is out
            of a bound which is not monotonic. None if it is not known to prove anything.
    """

    name: str
    column: str | None = None
    argument: int | tuple[tuple[str, float], ...] | None = None
    view: View = "values"
    of_class: str | None = None
    of_table: tuple[str, str] = ("", "")
    field: str | None = None
    certainty: str | None = None


# More than six parameters: they are fields of a measure.
def of_values(
    name: str,
    column: str,
    *,
    of_table: tuple[str, str],
    field: str,
    view: View = "shares",
    argument: int | None = None,
    of_class: str | None = None,
) -> Measure:
    """A measure of the values of a column, by the macros that have its name."""
    of_class = f"{of_class or name}_of"
    return Measure(name, column, argument, view, of_class, of_table, field, certainty=f"{name}_certainty_of")


@dataclass(frozen=True)
class Bound:
    """A bound on a measure that every published class keeps.

    Attributes:
        measure: what is bounded.
        comparison: how a measure compares with the threshold where it passes.
        required: what the user asked for.
        threshold: the same, with the slack that rounding needs.
        monotonic: whether the rows of classes out of bounds can only become fewer when a node is generalized, whatever
            is suppressed; of a node that is rejected, whether every less general one is rejected too.
        grain: whether a class that is out of bounds is suppressed, or the node with a published class that is out of
            bounds rejected.
    """

    measure: Measure
    comparison: Comparison
    required: int | float
    threshold: int | float
    monotonic: bool = False
    grain: Grain = "class"

    @property
    def at_least(self) -> bool:
        """Whether large values pass."""
        return self.comparison == ">="

    @overload
    def met_by(self, value: int | float) -> bool: ...
    @overload
    def met_by(self, value: NDArray[Any]) -> NDArray[np.bool_]: ...
    # guarded: tests/unit/test_bounds.py
    def met_by(self, value: Any) -> Any:
        """Whether a measure passes; of an array of measures, whether each does."""
        if self.comparison == ">=":
            return value >= self.threshold
        return value < self.threshold if self.comparison == "<" else value <= self.threshold


# guarded: tests/unit/test_bounds.py
def at_least(measure: Measure, required: int | float, *, monotonic: bool = False) -> Bound:
    """The measure is ``required`` or more; floats have slack."""
    threshold = required if isinstance(required, int) else required * (1 - TOLERANCE)
    return Bound(measure, ">=", required, threshold, monotonic)


# guarded: tests/unit/test_bounds.py
def at_most(measure: Measure, required: float, *, grain: Grain = "class") -> Bound:
    """The measure is ``required`` or less, with slack."""
    return Bound(measure, "<=", required, required * (1 + TOLERANCE), grain=grain)


def exactly(measure: Measure, comparison: Comparison, required: float) -> Bound:
    """A bound without slack: a ratio of integers compares exactly with a decimal."""
    return Bound(measure, comparison, required, required)


CLASS_SIZE = Measure("class_size", view="size", of_table=("k_anonymity", "k"), field="k")

DISTINCT_DIVERSITY = "distinct_diversity"
"""The name of the measure that counts the values of a class."""
