"""What the provenance of a release records of it, as far as a release can be held against it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Annotated, cast

from pydantic import BaseModel, ConfigDict, Field

from sqlanon.model.base import Level, respelled
from sqlanon.model.policy.ranges import as_text, interval_label
from sqlanon.model.policy.unknown import Unknown
from sqlanon.publish.provenance import parse_note

Count = Annotated[int, Field(ge=0, strict=True)]

CutLabel = tuple[Level | None, str]
"""A label with its level; with None, that of all values of a taxonomy without a top."""

ItemLabel = tuple[Level | None, str | None]
"""The same of items; with neither that of no items, which is none."""

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]

Interval = tuple[Number, Number]
"""The numbers from one on and below another."""


class _Facts(BaseModel):
    """A part of a provenance; what else it says does not matter here."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Rows(_Facts):
    """How many rows were released, and how many of them masked."""

    released: Count
    masked: Count = 0


class Classes(_Facts):
    """How many classes there are, and how many rows the smallest has.

    Private methods record neither, but the number of rows and of groups of equal rows.
    """

    class_count: Count | None = None
    min_class_size: Count | None = None
    released_rows: Count | None = None
    released_groups: Count | None = None


class Origin(_Facts):
    """The policy that was given, where the one that was met is another, as after Inverse OLA."""

    policy_sha256: str | None = None


class Given(_Facts):
    """What the policy says of rows that are generalized like the release later."""

    unknown: Unknown = Field(default_factory=dict)


class Partition(_Facts):
    """A partition of a fit, and how many there were when it was published."""

    release: str
    partitions: Count


class Record(_Facts):
    """What is recorded of a release; what its method does not record is missing.

    Attributes:
        node: the level of every quasi-identifier that is at one.
        cut: the labels of the others, each with its level, or the intervals of numbers.
        cut_of_items: the labels of the items of sets.
        rows: None if it was not recorded.
        taxonomy_sha256: the hash of each taxonomy.
        policy: what its policy says of other rows.
        policy_sha256, made_from: the hashes of its policy.
        report: None for partitions of a fit.
        fit: None for a release that is not a partition of a fit.
    """

    node: dict[str, Level]
    cut: dict[str, tuple[CutLabel, ...] | tuple[Interval, ...]] = Field(default_factory=dict)
    cut_of_items: dict[str, tuple[ItemLabel, ...]] = Field(default_factory=dict)
    rows: Rows | None = None
    taxonomy_sha256: dict[str, str] = Field(default_factory=dict)
    policy: Given = Field(default_factory=Given)
    policy_sha256: str | None = None
    made_from: Origin | None = None
    report: Classes | None = None
    fit: Partition | None = None

    @property
    def policies(self) -> frozenset[str]:
        """The hashes of the policies that it was made by."""
        given = None if self.made_from is None else self.made_from.policy_sha256
        return frozenset(found for found in (self.policy_sha256, given) if found is not None)

    @property
    def labels(self) -> tuple[object, ...]:
        """What determines the labels that a release can have."""
        return (self.node, self.cut, self.taxonomy_sha256)

    @property
    def labels_of_cut(self) -> dict[str, tuple[CutLabel, ...]]:
        """The labels of the cut, of quasi-identifiers that have taxonomies."""
        return {name: cast(tuple[CutLabel, ...], each) for name, each in self.cut.items() if not _is_numeric(each)}

    @property
    def intervals(self) -> dict[str, tuple[str, ...]]:
        """The labels of the intervals of the cut, of quasi-identifiers that are numbers."""
        return {
            name: tuple(interval_label(as_text(low), as_text(high)) for low, high in cast(tuple[Interval, ...], each))
            for name, each in self.cut.items()
            if _is_numeric(each)
        }

    @property
    def levels(self) -> Iterator[tuple[str, int]]:
        """The quasi-identifiers, each with every level that it has labels of."""
        yield from self.node.items()
        for name, labels in self.labels_of_cut.items():
            yield from ((name, level) for level in sorted({level for level, _ in labels if level is not None}))

    def of(self, names: Collection[str]) -> Record:
        """The same of some quasi-identifiers alone."""
        return self.model_copy(
            update={
                "node": {name: level for name, level in self.node.items() if name in names},
                "cut": {name: labels for name, labels in self.cut.items() if name in names},
            }
        )

    def spelled_like(self, names: Sequence[str]) -> Record:
        """The same with the names of columns as they are spelled elsewhere."""
        hashes = respelled(self.taxonomy_sha256, names)
        node, cut = respelled(self.node, names), respelled(self.cut, names)
        return self.model_copy(update={"node": node, "cut": cut, "taxonomy_sha256": hashes})


def _is_numeric(parts: tuple[CutLabel, ...] | tuple[Interval, ...]) -> bool:
    return any(isinstance(label, float) for _, label in parts)


def record_of(note: str | None) -> Record | None:
    """What a note records of a release; None if it is not that of a release.

    Raises:
        pydantic.ValidationError: it is none that a run writes.
    """
    facts = parse_note(note)
    return Record.model_validate(facts) if "node" in facts else None


def together(records: Sequence[Record]) -> Record | None:
    """What is recorded of several parts as one release; None if they have other labels, or of other taxonomies."""
    first, *others = records
    if not others:
        return first
    if any(other.labels != first.labels for other in others):
        return None
    return first.model_copy(update={"rows": _sum(part.rows for part in records), "report": None, "fit": None})


def _sum(parts: Iterable[Rows | None]) -> Rows | None:
    """The rows of all parts, None if one has no number."""
    released = masked = 0
    for part in parts:
        if part is None:
            return None
        released, masked = released + part.released, masked + part.masked
    return Rows(released=released, masked=masked)
