"""Criteria by which classes are judged: bounds on measures, which privacy models are made of, and a loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, overload

from sqlanon.model.lattice import ClassLoss
from sqlanon.model.quality import ALWAYS_REPORTED, Entropy, QualityModel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sqlanon.model.privacy import PrivacyModel

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
    """A number that each equivalence class has: a macro makes it of a class, another one measures a whole table."""

    name: str
    column: str | None = None  # the sensitive column that it looks at, None if it looks at none or at several
    argument: int | tuple[tuple[str, float], ...] | None = None  # the l of a ratio, the prior of an attacker
    view: View = "values"
    of_class: str | None = None  # the scalar macro of the view's columns and the argument; None if the view has a query
    of_table: tuple[str, str] = ("", "")  # the table macro, and the column of its one row with the worst class
    field: str | None = None  # of the model that bounds it, which can be relaxed
    # The scalar macro that makes of the same, and of a threshold, the share of the rows of a class that is suppressed
    # at every less general node (``sql/macros/57_certain_rows.sql``): what a class proves that is out of a bound which
    # is not monotonic. None if it is not known to prove anything.
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
    """Make a measure of the values of a column, by the macros that have its name."""
    of_class = f"{of_class or name}_of"
    return Measure(name, column, argument, view, of_class, of_table, field, certainty=f"{name}_certainty_of")


@dataclass(frozen=True)
class Bound:
    """A bound on a measure that every published class keeps."""

    measure: Measure
    comparison: Comparison  # of a measure with the threshold where it passes
    required: int | float  # by the user
    threshold: int | float  # the same, with the slack that rounding needs
    # Whether the rows of classes out of bounds can only become fewer when a node is generalized, whatever is
    # suppressed; of a node that is rejected, whether every less general one is rejected too.
    monotonic: bool = False
    grain: Grain = "class"  # what is given up: a class out of bounds, or the node that publishes one

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
        """Return whether a measure passes; of an array of measures, whether each does."""
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


def exactly(measure: Measure, comparison: Comparison, required: float) -> Bound:
    """Bound a measure without slack: a ratio of integers compares exactly with a decimal."""
    return Bound(measure, comparison, required, required)


CLASS_SIZE = Measure("class_size", view="size", of_table=("k_anonymity", "k"), field="k")

DISTINCT_DIVERSITY = "distinct_diversity"  # the name of the measure that counts the values of a class


@dataclass(frozen=True)
class Criteria:
    """The criteria by which the classes of a node are judged; without models every class is kept."""

    models: tuple[PrivacyModel, ...] = ()  # a class is kept if it meets all of them
    # Where a node violates these beyond the suppression limit, every less general node violates them beyond it, too.
    certain_bounds: tuple[Bound, ...] = ()
    quality: QualityModel = field(default_factory=Entropy)  # the loss that is minimized
    counts_individuals: bool = False  # whether classes count individuals, who may stand in several, in place of rows

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """The bounds of the models on every class that is kept, in their order."""
        return tuple(bound for model in self.models for bound in model.bounds)

    @property
    def class_bounds(self) -> tuple[Bound, ...]:
        """The bounds on classes, not on whole nodes."""
        return tuple(bound for bound in self.bounds if bound.grain == "class")

    @property
    def looks_at_values(self) -> bool:
        """Whether classes are judged by more than their sizes."""
        return any(bound.measure != CLASS_SIZE for bound in self.bounds)

    @property
    def bounded_columns(self) -> tuple[str, ...]:
        """The sensitive columns whose values in a class are bounded, each once."""
        columns = dict.fromkeys(bound.measure.column for bound in self.class_bounds)
        return tuple(name for name in columns if name is not None)

    # guarded: tests/unit/test_guarded_settings.py::TestModels
    @property
    def partly_certain_bounds(self) -> tuple[Bound, ...]:
        """The other bounds: a class that exceeds one proves that some of its rows are suppressed further down.

        Those of individuals prove nothing: one may stand in several parts of a class. See :attr:`Measure.certainty`.
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
        """The largest k asked for, 1 without k-anonymity."""
        return max((int(bound.required) for bound in self.bounds if bound.measure == CLASS_SIZE), default=1)

    @property
    def class_losses(self) -> tuple[ClassLoss, ...]:
        """The losses that are reported of the classes of a chosen node: some always, and the one that is minimized."""
        return tuple(dict.fromkeys((*ALWAYS_REPORTED, *self.quality.class_losses)))
