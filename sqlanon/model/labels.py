"""The labels of a release in its record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import ConfigDict, Field, StrictInt, model_validator

from sqlanon.model.methods.cut_methods import as_text, interval_label
from sqlanon.model.policy_value import Level, respelled
from sqlanon.model.release.measurement import PartialResult

Number: TypeAlias = StrictInt | Annotated[float, Field(strict=True, allow_inf_nan=False)]

CutLabel: TypeAlias = tuple[Level | None, str]
"""A label with its level; level None is the label for all values of a taxonomy without a top."""
ItemLabel: TypeAlias = tuple[Level | None, str | None]  # of items; both are None for a set without items
Interval: TypeAlias = tuple[Number, Number]  # from the first number up to but excluding the second


class Part(PartialResult):
    """A part of a record. It omits fields that don't apply, and refuses unknown ones."""

    model_config = ConfigDict(ser_json_inf_nan="constants")


class NodeRecord(Part):
    """A release at a node: the level of every quasi-identifier."""

    kind: Literal["node"] = "node"
    levels: dict[str, Level]

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.levels,)

    @property
    def used_levels(self) -> Iterator[tuple[str, int]]:
        """Pairs of a quasi-identifier and a level with labels."""
        yield from self.levels.items()

    def of(self, names: Collection[str]) -> NodeRecord:
        return NodeRecord(levels=_only(self.levels, names))

    def spelled_like(self, names: Sequence[str]) -> NodeRecord:
        return NodeRecord(levels=respelled(self.levels, names))


class RungsRecord(Part):
    """A release of rows at several levels: those that each quasi-identifier has."""

    kind: Literal["rungs"] = "rungs"
    levels: dict[str, tuple[Level, ...]]

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.levels,)

    @property
    def used_levels(self) -> Iterator[tuple[str, int]]:
        yield from ((name, level) for name, levels in self.levels.items() for level in levels)

    def of(self, names: Collection[str]) -> RungsRecord:
        return RungsRecord(levels=_only(self.levels, names))

    def spelled_like(self, names: Sequence[str]) -> RungsRecord:
        return RungsRecord(levels=respelled(self.levels, names))


class CutRecord(Part):
    """A release at a cut of each column."""

    kind: Literal["cut"] = "cut"
    labels: dict[str, tuple[CutLabel, ...]] = Field(default_factory=dict)  # by column with a taxonomy
    intervals: dict[str, tuple[Interval, ...]] = Field(default_factory=dict)  # by column of numbers
    items: dict[str, tuple[ItemLabel, ...]] = Field(default_factory=dict)  # by column of sets

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns with recorded labels and one label per row."""
        return (*self.labels, *self.intervals)

    @property
    def used_levels(self) -> Iterator[tuple[str, int]]:
        yield from _levels_of(self.labels)

    @property
    def interval_labels(self) -> dict[str, tuple[str, ...]]:
        return {
            name: tuple(interval_label(as_text(low), as_text(high)) for low, high in intervals)
            for name, intervals in self.intervals.items()
        }

    def of(self, names: Collection[str]) -> CutRecord:
        """Return the record of some columns; numbers have no taxonomy that could differ, and stay."""
        return CutRecord(labels=_only(self.labels, names), intervals=self.intervals, items=self.items)

    def spelled_like(self, names: Sequence[str]) -> CutRecord:
        return CutRecord(
            labels=respelled(self.labels, names), intervals=respelled(self.intervals, names), items=self.items
        )


class ClassesRecord(Part):
    """A release of classes, each at its own levels."""

    kind: Literal["classes"] = "classes"
    labels: dict[str, tuple[tuple[Level | None, str | None], ...]]  # with levels; masked rows have no level
    # For each class its number of rows, and by quasi-identifier the place of its label in ``labels``, from 0.
    classes: tuple[tuple[StrictInt, ...], ...]
    ordered: tuple[str, ...] = ()  # quasi-identifiers with intervals of values, which no taxonomy has

    @model_validator(mode="after")
    def _check_classes(self) -> ClassesRecord:
        counts = [*map(len, self.labels.values())]
        if not all(self.classes):
            raise ValueError("a class has no number of rows")
        for places in (each[1:] for each in self.classes):
            if len(places) != len(counts) or not all(0 <= at < end for at, end in zip(places, counts, strict=True)):
                raise ValueError("a class has other labels than those that are listed")
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.labels,)

    @property
    def used_levels(self) -> Iterator[tuple[str, int]]:
        yield from _levels_of(self.labels)

    def of(self, names: Collection[str]) -> CutRecord:
        """Return the labels of some quasi-identifiers, without the mask and without intervals."""
        return CutRecord(
            labels={
                name: tuple((level, label) for level, label in labels if level is not None and label is not None)
                for name, labels in _only(self.labels, names).items()
                if name not in self.ordered
            }
        )

    def spelled_like(self, names: Sequence[str]) -> ClassesRecord:
        ordered = {"ordered": respelled(self.ordered, names)} if self.ordered else {}
        return ClassesRecord(labels=respelled(self.labels, names), classes=self.classes, **ordered)

    def joined(self, others: Iterable[ClassesRecord]) -> ClassesRecord:
        """Merge the classes of several parts of a release with the same labels."""
        rows: Counter[tuple[int, ...]] = Counter()
        for part in (self, *others):
            for count, *places in part.classes:
                rows[*places] += count
        return ClassesRecord(labels=self.labels, classes=tuple((count, *places) for places, count in rows.items()))


def _levels_of(labels: Mapping[str, Iterable[tuple[int | None, str | None]]]) -> Iterator[tuple[str, int]]:
    for name, of_name in labels.items():
        yield from ((name, level) for level in sorted({level for level, _ in of_name if level is not None}))


def _only(found: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name in names}


LabelsRecord: TypeAlias = Annotated[NodeRecord | RungsRecord | CutRecord | ClassesRecord, Field(discriminator="kind")]
"""The labels of a release."""
