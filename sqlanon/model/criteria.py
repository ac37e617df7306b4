"""Criteria by which classes of a node are judged: privacy models and a loss."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlanon.model.bounds import CLASS_SIZE, Bound
from sqlanon.model.lattice import ClassLoss
from sqlanon.model.privacy import PrivacyModel
from sqlanon.model.quality import ALWAYS_REPORTED, Entropy, QualityModel


@dataclass(frozen=True)
class Criteria:
    """The criteria by which the classes of a node are judged; without models every class is kept.

    Attributes:
        models: a class is kept if it meets all of them.
        certain_bounds: the bounds that, where a node violates them beyond the suppression limit, every less general
            node violates beyond it too.
        quality: the loss that is minimized.
        counts_individuals: whether classes count individuals, who may stand in several, in place of rows.
    """

    models: tuple[PrivacyModel, ...] = ()
    certain_bounds: tuple[Bound, ...] = ()
    quality: QualityModel = field(default_factory=Entropy)
    counts_individuals: bool = False

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
