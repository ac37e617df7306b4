"""The record that travels with what was made: one document of JSON, written and read by the same class.

It has hashes, counts, thresholds and labels of taxonomies, and never a cell value. A table has it as its comment, a
Parquet file in its footer, a folder in its marker, and a CSV file in the note beside it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import ConfigDict, Field, ValidationError, model_validator

from sqlanon.model.budget import Budget
from sqlanon.model.destination import NOTE_KEY
from sqlanon.model.labels import LabelsRecord, Part
from sqlanon.model.policy.fields import Unknown
from sqlanon.model.policy.policy_parts import Csv
from sqlanon.model.policy_value import Level, respelled
from sqlanon.model.release.reports import Guarantee, PrivateGuarantee

FORMAT: Literal[1] = 1  # the number of the format. A record of another one is not read

Count: TypeAlias = Annotated[int, Field(ge=0, strict=True)]


class RecordError(ValueError):
    """A text has the key of our records, and what it has there is none that this version writes."""


class OpenPart(Part):
    """A part of a record that has more in it than is read here: a policy, or the report of a method."""

    model_config = ConfigDict(extra="allow")

    @property
    def as_json(self) -> dict[str, Any]:
        """All that it has."""
        return self.model_dump(mode="json")


class PolicyRecord(OpenPart):
    """A policy, as JSON; read here is what it says of rows that are generalized or read like the release later."""

    unknown: Unknown = Field(default_factory=dict)
    csv: Csv | None = None


class PolicyFile(Part):
    """A file that a policy names; without a hash where it is a glob, a folder, or was not there."""

    name: str
    sha256: str | None


class BoundRecord(Part):
    """A bound of a privacy model, and what the kept classes attain of it."""

    model: str
    measure: str
    required: int | float | None
    attained: int | float | None


class PromiseRecord(Part):
    """The promises of the release, as in :class:`~sqlanon.model.release.Guarantee`, in words for recipients.

    That of a private method has the fields of :class:`~sqlanon.model.release.PrivateGuarantee` as well.
    """

    claims: tuple[str, ...]
    conditions: tuple[str, ...]
    not_covered: tuple[str, ...]
    budget: Budget | None = None
    neighbours: str | None = None
    theorem: str | None = None
    void: str | None = None

    @property
    def guarantee(self) -> Guarantee:
        """It as a guarantee."""
        facts = self.model_dump(mode="json")
        if self.neighbours is None:
            return Guarantee(**{name: facts[name] for name in Guarantee.model_fields})
        return PrivateGuarantee(**facts)


class RowsRecord(Part):
    """The counts of rows of the source, as in :class:`~sqlanon.model.release.RowCounts`.

    A method that adds rows records those that were released alone.
    """

    source: Count | None = None
    released: Count
    masked: Count = 0
    dropped: Count | None = None
    unknown: Count | None = None


class ReportRecord(OpenPart):
    """The report of a release, as JSON; read here is what a table can be held against.

    Private methods record no classes, but how many rows there are, and how many groups of equal ones.
    """

    class_count: Count | None = None
    min_class_size: Count | None = None
    released_rows: Count | None = None
    released_groups: Count | None = None


class Inputs(Part):
    """All that a release depends on, as hashes: a run with the same again would make the same release."""

    policy_sha256: str  # of the policy that was given: after Inverse OLA the one that was met is another
    taxonomy_sha256: dict[str, str]  # of every taxonomy of the run
    files_sha256: str | None  # None for tables and queries, whose changes are not known
    node: dict[str, Level] | None  # the node that was given; None if it was searched for
    rows_per_file: int | None  # of the target, as the next two
    partition_by: tuple[str, ...]
    csv_formulas: str
    csv: dict[str, Any] | None = None  # how CSV files were read, as far as that was said


class PartitionRecord(Part):
    """A partition of a fit."""

    release: str  # the identity of the release
    partitions: Count  # how many there were with it when it was published
    every_partition: bool  # whether each meets the privacy models on its own, too
    rows: RowsRecord  # what became of the rows of all of them


class CompanionRecord(Part):
    """Another table of a release: what it is, and the table that the rows of the release are in."""

    name: str
    release: str


class LatticeRecord(Part):
    """A table of nodes: how many there are, and how many satisfy the policy."""

    nodes: Count
    satisfying_nodes: Count
    # Where the check was stopped: the nodes of the lattice, a number that is proven to be at most the loss of every
    # satisfying one, and the least loss of those in the table less that.
    lattice_nodes: Count | None = None
    lower_bound: float | None = None
    gap: float | None = None


class EarlierRecord(Part):
    """An earlier release that a release is held together with: what it is called, and the hash of its record."""

    release: str
    record_sha256: str | None


class FlattenedRecord(Part):
    """A table of individuals: how it was flattened, and from how many events."""

    flattening: dict[str, Any]
    events: Count
    individuals: Count


class GeneralizedRecord(Part):
    """New rows at the cut of a release: how many, the columns that have its labels, and the hash of its policy."""

    columns: tuple[str, ...]
    policy_sha256: str | None
    rows: Count


class ContentRecord(Part):
    """The hashes of what was written; which ones depends on what it was written to."""

    columns_sha256: str | None = None
    rows_sha256: str | None = None
    file_sha256: str | None = None
    form_sha256: str | None = None


class TableRecord(Part):
    """A companion table of a release, with the hashes of what was written to it."""

    table: str
    content: ContentRecord


class Listing(Part):
    """The files of a folder but the marker: how many, their bytes, and a hash of their names and sizes.

    Not the names: those of partitions are values of the release.
    """

    count: Count
    bytes: Count
    sha256: str


class FolderRecord(Part):
    """The files of a folder."""

    columns: Annotated[dict[str, str], Field(min_length=1)]  # their types, by name and in order
    partition_by: tuple[str, ...]  # the columns that the names of folders have
    files: Listing
    files_sha256: tuple[str | None, ...]  # the hash of each, in the order of their names

    @model_validator(mode="after")
    def _partitioned_by_its_columns(self) -> FolderRecord:
        if not self.columns.keys() >= {*self.partition_by}:
            raise ValueError("it is partitioned by columns that it does not have")
        return self


class Record(Part):
    """The record of a release, or of another table or file that this package has written.

    Attributes:
        format: see :data:`FORMAT`.
        version, code_sha256: of the package that wrote it.
        policy, policy_sha256: the policy that was met, and its hash.
        policy_files: the files that the policy names by their absolute paths; the record has their names alone.
        taxonomy_sha256: the hash of each taxonomy.
        labels: which labels the release can have; None if they are very many, and of all but releases.
        privacy: every bound of the policy with what is attained, of a partition together with those published before.
        promise: what it promises; None of all but releases.
        rows: what became of the rows; None of a private release.
        stamp: a warning that the release is not private.
        ledger_sha256: the hash of the ledger once it was charged; None if none was.
        fit: None unless it is a partition of a fit.
        earlier: the releases that it is held together with, in the order in which they were made.
        made_from: None if a run with the same again may make another release.
        report: None of partitions of a fit, and of all but releases.
        companion, lattice, flattened, generalized: what it is, if it is not a release.
        tables: the companion tables of the release, by what they are.
        content: the hashes of what was written; a folder has them in ``folder``.
        folder: None of all but folders.
        record_sha256: the hash of all else.
    """

    format: Literal[1]
    version: str
    code_sha256: str
    policy: PolicyRecord | None = None
    policy_sha256: str | None = None
    policy_files: tuple[PolicyFile, ...] = ()
    taxonomy_sha256: dict[str, str] = Field(default_factory=dict)
    labels: LabelsRecord | None = None
    privacy: tuple[BoundRecord, ...] = ()
    promise: PromiseRecord | None = None
    rows: RowsRecord | None = None
    stamp: str | None = None
    ledger_sha256: str | None = None
    fit: PartitionRecord | None = None
    earlier: tuple[EarlierRecord, ...] = ()
    made_from: Inputs | None = None
    report: ReportRecord | None = None
    companion: CompanionRecord | None = None
    lattice: LatticeRecord | None = None
    flattened: FlattenedRecord | None = None
    generalized: GeneralizedRecord | None = None
    tables: dict[str, TableRecord] = Field(default_factory=dict)
    content: ContentRecord | None = None
    folder: FolderRecord | None = None
    record_sha256: str | None = None

    @classmethod
    def parse(cls, text: str | None) -> Record | None:
        """Return the record in a text; None if the text is another one, such as a comment of the user's own.

        A record of another format, or that is not what is written here, is a RecordError.
        """
        facts = facts_of(text)
        if not facts:
            return None
        if isinstance(found := facts.get("format"), int) and found != FORMAT:
            raise RecordError(f"its provenance has format {found}, and this version of sqlanon reads format {FORMAT}")
        try:
            return cls.model_validate(facts)
        except (ValidationError, RecursionError):
            raise RecordError("its provenance is not what a run writes") from None

    @property
    def text(self) -> str:
        """The document, in one line."""
        # In their own order: that of a node is the policy's, and the report of a release that is there is read off it.
        return json.dumps({NOTE_KEY: self.model_dump(mode="json")})

    @property
    def sha256(self) -> str:
        """The hash of the document, whatever hash of it is in it."""
        return sha256_of_json(self.model_dump(mode="json", exclude={"record_sha256"}))

    def sealed(self, content: ContentRecord | FolderRecord) -> Record:
        """Return the record with the hashes of what was written, and the hash of all of it."""
        name = "content" if isinstance(content, ContentRecord) else "folder"
        record = self.model_copy(update={name: content, "record_sha256": None})
        return record.model_copy(update={"record_sha256": record.sha256})

    @property
    def is_release(self) -> bool:
        """Whether it is that of a release."""
        return self.report is not None or self.fit is not None

    @property
    def policies(self) -> frozenset[str]:
        """The hashes of the policies that it was made by."""
        given = None if self.made_from is None else self.made_from.policy_sha256
        return frozenset(found for found in (self.policy_sha256, given) if found is not None)

    def spelled_like(self, names: Sequence[str]) -> Record:
        """Return the record with the names of columns as they are spelled elsewhere."""
        labels = None if self.labels is None else self.labels.spelled_like(names)
        hashes = respelled(self.taxonomy_sha256, names)
        return self.model_copy(update={"labels": labels, "taxonomy_sha256": hashes})


def readable_record(text: str | None) -> Record | None:
    """Return the record in a text; None if there is none, or none that is read here."""
    try:
        return Record.parse(text)
    except RecordError:
        return None


def readable_layout(text: str | None) -> FolderRecord | None:
    """Read the files of a release from the record in a text; None if it has no record that lists them."""
    record = readable_record(text)
    return None if record is None else record.folder


def facts_of(text: str | bytes | None) -> dict[str, Any]:
    """Read the object under the key of this package in a text, whatever wrote it; empty without one."""
    try:
        facts = json.loads(text or "null")[NOTE_KEY]
    except (ValueError, TypeError, KeyError, RecursionError):
        return {}
    return facts if isinstance(facts, dict) else {}


def sha256_of_json(value: Any) -> str:
    """Return the hash of a value that JSON can spell."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
