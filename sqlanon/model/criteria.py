"""Criteria for classes: the bounds on measures that privacy models consist of, and a loss."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, overload

from sqlanon.model.class_losses import ALWAYS_REPORTED
from sqlanon.model.lattice import ClassLoss
from sqlanon.model.quality import Entropy, QualityModel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sqlanon.model.privacy import PrivacyModel

TOLERANCE = 1e-9
"""Relative slack of bounds on sums of floats: a class that meets a bound exactly must pass despite rounding."""

Comparison = Literal[">=", "<=", "<"]
Grain = Literal["class", "node"]

View = Literal[
    "size",
    "values",
    "shares",
    "sized shares",
    "ordered",
    "hierarchical",
    "attacker",
    "population",
    "sample",
    "labels",
]
"""The view of a class that a measure takes:

- ``size``: its rows, or its individuals, alone;
- ``values``: the rows of each value of a sensitive column; ``shares``: with the share of the value in the whole table;
  ``sized shares``: also with the rows of the class;
- ``ordered``, ``hierarchical``: the values in their order, and the labels above them;
- ``attacker``: the possible knowledge of an attacker about each row;
- ``population``: the people that the class matches there;
- ``sample``: its rows and their weights, and the weights of the labels at the node;
- ``labels``: its rows, and what its labels lose at a node.
"""


@dataclass(frozen=True)
class Measure:
    """A number of each equivalence class: one macro computes it for a class, another one for a whole table."""

    name: str
    column: str | None = None  # its sensitive column; None for none or several
    argument: int | tuple[tuple[str, float], ...] | None = None  # the l of a ratio, the prior of an attacker
    view: View = "values"
    of_class: str | None = None  # the scalar macro of the view's columns and the argument; None if the view has a query
    of_table: tuple[str, str] = ("", "")  # the table macro, and the result column with the worst class
    field: str | None = None  # of the model that bounds it, which can be relaxed
    # The scalar macro of the same arguments and a threshold: the share of the rows of a class that every less general
    # node suppresses (``sql/macros/57_certain_rows.sql``), proven by a class that violates a bound which isn't
    # monotonic. Of a mean, the macro of the sum over all rows, their number and a threshold: the rows that every less
    # general node has to suppress to keep the bound. None if no proof is known.
    certainty: str | None = None
    # Whether it is a sum over the rows of a class, and bounds are on its mean over all published rows; of the view
    # ``size`` without a macro it is 1 in every class.
    is_mean: bool = False
    # In place of a mean, the aggregate macro of the rows of all published classes and of the argument.
    of_all: str | None = None


# More than six parameters: the fields of a measure.
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
    """Make a measure of the values of a column, by the macros named after it."""
    of_class = f"{of_class or name}_of"
    return Measure(name, column, argument, view, of_class, of_table, field, certainty=f"{name}_certainty_of")


@dataclass(frozen=True)
class Bound:
    """A bound on a measure that every published class keeps."""

    measure: Measure
    comparison: Comparison  # a passing measure with the threshold
    required: int | float  # by the user
    threshold: int | float  # with the slack that rounding needs
    # Whether generalizing a node never adds rows in violating classes, with any suppression; for grain node, whether
    # all nodes below a rejected one are rejected.
    monotonic: bool = False
    grain: Grain = "class"  # whether to suppress a violating class, or to reject a node that publishes one

    @property
    def at_least(self) -> bool:
        return self.comparison == ">="

    @overload
    def met_by(self, value: int | float) -> bool: ...
    @overload
    def met_by(self, value: NDArray[Any]) -> NDArray[np.bool_]: ...
    # guarded: tests/unit/test_bounds.py
    def met_by(self, value: Any) -> Any:
        """Return whether a measure passes, or which measures of an array do."""
        if self.comparison == ">=":
            return value >= self.threshold
        return value < self.threshold if self.comparison == "<" else value <= self.threshold


# guarded: tests/unit/test_bounds.py
def at_least(measure: Measure, required: int | float, *, monotonic: bool = False) -> Bound:
    """Bound a measure to be ``required`` or more; floats have slack."""
    threshold = required if isinstance(required, int) else required * (1 - TOLERANCE)
    return Bound(measure, ">=", required, threshold, monotonic)


# guarded: tests/unit/test_bounds.py
def at_most(measure: Measure, required: float, *, grain: Grain = "class") -> Bound:
    """Bound a measure to be ``required`` or less, with slack."""
    return Bound(measure, "<=", required, required * (1 + TOLERANCE), grain=grain)


def exactly(measure: Measure, comparison: Comparison, required: float, *, grain: Grain = "class") -> Bound:
    """Bound a measure without slack: a ratio of integers compares exactly with a decimal."""
    return Bound(measure, comparison, required, required, grain=grain)


def bounds_of_field(bounds: Iterable[Bound], bound: Bound) -> list[Bound]:
    """Return those of a model's bounds that the field of ``bound`` sets, among them ``bound``."""
    name = bound.measure.field
    return [each for each in bounds if name is not None and each.measure.field == name] or [bound]


CLASS_SIZE = Measure("class_size", view="size", of_table=("k_anonymity", "k"), field="k")

DISTINCT_DIVERSITY = "distinct_diversity"  # the name of the measure that counts the values of a class


@dataclass(frozen=True)
class Criteria:
    """The criteria for the classes of a node; without models every class is kept."""

    models: tuple[PrivacyModel, ...] = ()  # a kept class meets all of them
    # If a node violates these beyond the suppression limit, so does every less general node.
    certain_bounds: tuple[Bound, ...] = ()
    quality: QualityModel = field(default_factory=Entropy)  # the loss to minimize
    counts_individuals: bool = False  # whether classes count individuals, who may be in several, instead of rows

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return tuple(bound for model in self.models for bound in model.bounds)

    @property
    def class_bounds(self) -> tuple[Bound, ...]:
        return tuple(bound for bound in self.bounds if bound.grain == "class")

    @property
    def node_bounds(self) -> tuple[Bound, ...]:
        """The bounds of grain node that a published class violates by itself."""
        return tuple(bound for bound in self.bounds if bound.grain == "node" and not bound.measure.is_mean)

    @property
    def mean_bounds(self) -> tuple[Bound, ...]:
        """The bounds on means over the published rows."""
        return tuple(bound for bound in self.bounds if bound.measure.is_mean)

    @property
    def looks_at_values(self) -> bool:
        """Whether criteria depend on more than class sizes."""
        return any(bound.measure.view != "size" for bound in self.bounds)

    @property
    def bounded_columns(self) -> tuple[str, ...]:
        """The sensitive columns with bounds on their values in a class."""
        columns = dict.fromkeys(bound.measure.column for bound in self.class_bounds)
        return tuple(name for name in columns if name is not None)

    # guarded: tests/unit/test_guarded_settings.py::TestModels
    @property
    def partly_certain_bounds(self) -> tuple[Bound, ...]:
        """Bounds where a violating class proves that some of its rows are suppressed at all less general nodes.

        Counts of individuals prove nothing: one may be in several parts of a class. See :attr:`Measure.certainty`.
        """
        if self.counts_individuals:
            return ()
        return tuple(
            bound
            for bound in self.class_bounds
            if bound.measure.certainty is not None and bound not in self.certain_bounds
        )

    # guarded: tests/unit/test_guarded_settings.py::TestModels
    @property
    def k(self) -> int:
        """The largest required k, 1 without k-anonymity."""
        return max((int(bound.required) for bound in self.bounds if bound.measure == CLASS_SIZE), default=1)

    @property
    def loss_measure(self) -> Measure | None:
        """The share of the most frequent value of the column that the loss counts, if it counts one."""
        name = self.quality.counted_column
        return None if name is None else Measure("largest_share", name, of_class="largest_share_of")

    @property
    def class_losses(self) -> tuple[ClassLoss, ...]:
        """The reported losses of classes: a few standard ones, and the loss to minimize."""
        return tuple(dict.fromkeys((*ALWAYS_REPORTED, *self.quality.class_losses)))
