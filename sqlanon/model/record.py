"""The record of a release or another output: a JSON document, written and read by one class.

It has hashes, counts, thresholds and labels of taxonomies, but no cell value. A table has it as its comment, a Parquet
file in its footer, a folder in its marker, and a CSV file in the note beside it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import ConfigDict, Field, ValidationError, model_validator

from sqlanon.model.budget import Budget
from sqlanon.model.destination import NOTE_KEY
from sqlanon.model.labels import LabelsRecord, Part
from sqlanon.model.policy.fields import Unknown
from sqlanon.model.policy.policy_parts import Csv
from sqlanon.model.policy_value import Level, respelled
from sqlanon.model.release.reports import Guarantee, PrivateGuarantee

FORMAT: Literal[1] = 1  # records of other formats aren't read

Count: TypeAlias = Annotated[int, Field(ge=0, strict=True)]


class RecordError(ValueError):
    """A text has the key of our records, but not a record of this version."""


class OpenPart(Part):
    """A part of a record with more fields than are read here: a policy, or the report of a method."""

    model_config = ConfigDict(extra="allow")

    @property
    def as_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json")


class PolicyRecord(OpenPart):
    """A policy, as JSON; this reads the fields for rows that are later generalized or read like the release."""

    unknown: Unknown = Field(default_factory=dict)
    csv: Csv | None = None

    @property
    def perturbed_columns(self) -> list[str]:
        """The columns whose values were changed."""
        perturbations = self.as_json.get("perturbation", {}).items()
        return [name for own, each in perturbations for name in (own, *each.get("together", ()))]


class PolicyFile(Part):
    """A file that a policy names; without a hash if it is a glob, a folder, or missing."""

    name: str
    sha256: str | None


class BoundRecord(Part):
    """A bound of a privacy model, and the value that kept classes attain."""

    model: str
    measure: str
    required: int | float | None
    attained: int | float | None


class PromiseRecord(Part):
    """The guarantee of the release in words for recipients, as :class:`~sqlanon.model.release.Guarantee`.

    Private methods add the fields of :class:`~sqlanon.model.release.PrivateGuarantee`.
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
        facts = self.model_dump(mode="json")
        if self.neighbours is None:
            return Guarantee(**{name: facts[name] for name in Guarantee.model_fields})
        return PrivateGuarantee(**facts)


class RowsRecord(Part):
    """The counts of rows of the source, as in :class:`~sqlanon.model.release.RowCounts`.

    A method that adds rows records only released rows.
    """

    source: Count | None = None
    released: Count
    masked: Count = 0
    dropped: Count | None = None
    unknown: Count | None = None


class ReportRecord(OpenPart):
    """The report of a release, as JSON; this reads the fields that a table is verified against.

    Private methods record no classes, but the numbers of rows and of groups of equal ones.
    """

    class_count: Count | None = None
    min_class_size: Count | None = None
    released_rows: Count | None = None
    released_groups: Count | None = None


class Inputs(Part):
    """The inputs of a release, as hashes: a run with equal inputs would make an equal release."""

    policy_sha256: str  # of the given policy; Inverse OLA meets a different one
    taxonomy_sha256: dict[str, str]  # of every taxonomy of the run
    files_sha256: str | None  # None for tables and queries, whose changes aren't detected
    node: dict[str, Level] | None  # the given node; None if it was searched for
    rows_per_file: int | None  # of the target, like the next two
    partition_by: tuple[str, ...]
    csv_formulas: str
    csv: dict[str, Any] | None = None  # the given settings of CSV files


class PartitionRecord(Part):
    """A partition of a fit."""

    release: str  # the identity of the release
    partitions: Count  # published so far, including this one
    every_partition: bool  # whether each meets the privacy models on its own, too
    rows: RowsRecord  # of all partitions


class CompanionRecord(Part):
    """Another table of a release: its name, and the table with the rows of the release."""

    name: str
    release: str


class LatticeRecord(Part):
    """A table of nodes: the number of nodes, and of nodes that satisfy the policy."""

    nodes: Count
    satisfying_nodes: Count
    # If the check was stopped: the nodes of the lattice, a proven lower bound of the loss of satisfying ones, and the
    # difference between the least loss in the table and this bound.
    lattice_nodes: Count | None = None
    lower_bound: float | None = None
    gap: float | None = None


class EarlierRecord(Part):
    """An earlier release that a release is held together with: its name, and the hash of its record."""

    release: str
    record_sha256: str | None


class FlattenedRecord(Part):
    """A table of individuals: its flattening, and the number of events."""

    flattening: dict[str, Any]
    events: Count
    individuals: Count


class GeneralizedRecord(Part):
    """New rows at the cut of a release: their number, the columns with its labels, and the hash of its policy."""

    columns: tuple[str, ...]
    policy_sha256: str | None
    rows: Count


class ContentRecord(Part):
    """The hashes of the output; which ones depends on the kind of target."""

    columns_sha256: str | None = None
    rows_sha256: str | None = None
    file_sha256: str | None = None
    form_sha256: str | None = None


class TableRecord(Part):
    """A companion table of a release, with the hashes of its content."""

    table: str
    content: ContentRecord


class Listing(Part):
    """The files of a folder without the marker: their number and bytes, and a hash of their names and sizes.

    It has no names, since names of partitions are values of the release.
    """

    count: Count
    bytes: Count
    sha256: str


class FolderRecord(Part):
    """The files of a folder."""

    columns: Annotated[dict[str, str], Field(min_length=1)]  # types by name, in order
    partition_by: tuple[str, ...]  # the columns in names of folders
    files: Listing
    files_sha256: tuple[str | None, ...]  # in the order of names

    @model_validator(mode="after")
    def _partitioned_by_its_columns(self) -> FolderRecord:
        if not self.columns.keys() >= {*self.partition_by}:
            raise ValueError("it is partitioned by columns that it does not have")
        return self


class LinkedTableRecord(Part):
    """One of several tables of a release: its rows, and the hashes of its content."""

    rows: RowsRecord
    content: ContentRecord | None = None


class LinkedRecord(Part):
    """The tables of a release of several, that of persons first, and the files of a folder that has them."""

    SEALED: ClassVar[dict[str, Any]] = {"files": True, "tables": {"__all__": {"content"}}}
    """The fields that follow from what was written."""

    tables: Annotated[dict[str, LinkedTableRecord], Field(min_length=1)]
    files: Listing | None = None

    def written(self, contents: Mapping[str, ContentRecord], files: Listing | None = None) -> LinkedRecord:
        """Return the record of the tables as they were written, by the same names."""
        assert self.tables.keys() == contents.keys()
        tables = {name: each.model_copy(update={"content": contents[name]}) for name, each in self.tables.items()}
        return LinkedRecord(tables=tables, files=files)


class Record(Part):
    """The record of a release, or of another table or file that this package has written.

    Attributes:
        format: see :data:`FORMAT`.
        version, code_sha256: of the package that wrote it.
        policy, policy_sha256: the policy that was met, and its hash.
        policy_files: the files that the policy names by absolute paths; the record has only their names.
        taxonomy_sha256: the hash of each taxonomy.
        labels: the labels that the release can have; None if there are very many.
        privacy: every bound of the policy with the attained value; of a partition together with earlier ones.
        promise: the guarantee of a release.
        rows: counts of rows; None for a private release.
        stamp: a warning that the release is not private.
        ledger_sha256: the hash of the ledger after the charge, if there was one.
        fit: the partition of a fit, if it is one.
        earlier: the releases that it is held together with, oldest first.
        made_from: the inputs; None if a run with equal inputs may make a different release.
        report: the report of a release; None for partitions of a fit.
        companion, lattice, flattened, generalized: the kind of output, if it isn't a release.
        tables: the companion tables of the release, by kind.
        content: the hashes of the output; a folder has them in ``folder``.
        folder: the files of a folder.
        linked: the tables of a release of several.
        record_sha256: the hash of all other fields.
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
    linked: LinkedRecord | None = None
    record_sha256: str | None = None

    @classmethod
    def parse(cls, text: str | None) -> Record | None:
        """Return the record in a text; None if there is none, as in a user's own comment.

        Raise RecordError for a record of another format, or one that isn't valid.
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
        # Fields keep their order: nodes are in the order of the policy, and reports of existing releases read it here.
        return json.dumps({NOTE_KEY: self.model_dump(mode="json")})

    @property
    def sha256(self) -> str:
        """The hash of the document without its own hash."""
        return sha256_of_json(self.model_dump(mode="json", exclude={"record_sha256"}))

    def sealed(self, content: ContentRecord | FolderRecord | LinkedRecord) -> Record:
        """Return the record with the hashes of the output, and its own hash."""
        name = {ContentRecord: "content", FolderRecord: "folder", LinkedRecord: "linked"}[type(content)]
        record = self.model_copy(update={name: content, "record_sha256": None})
        return record.model_copy(update={"record_sha256": record.sha256})

    @property
    def is_release(self) -> bool:
        return self.report is not None or self.fit is not None

    @property
    def policies(self) -> frozenset[str]:
        """The hashes of the policies that it was made by."""
        given = None if self.made_from is None else self.made_from.policy_sha256
        return frozenset(found for found in (self.policy_sha256, given) if found is not None)

    def spelled_like(self, names: Sequence[str]) -> Record:
        labels = None if self.labels is None else self.labels.spelled_like(names)
        hashes = respelled(self.taxonomy_sha256, names)
        return self.model_copy(update={"labels": labels, "taxonomy_sha256": hashes})


def readable_record(text: str | None) -> Record | None:
    """Return the record in a text; None if there is none, or an unreadable one."""
    try:
        return Record.parse(text)
    except RecordError:
        return None


def readable_layout(text: str | None) -> FolderRecord | None:
    """Return the files of a folder from the record in a text, if it has them."""
    record = readable_record(text)
    return None if record is None else record.folder


def facts_of(text: str | bytes | None) -> dict[str, Any]:
    """Read the object under the key of this package in a text, by any writer; empty without one."""
    try:
        facts = json.loads(text or "null")[NOTE_KEY]
    except (ValueError, TypeError, KeyError, RecursionError):
        return {}
    return facts if isinstance(facts, dict) else {}


def sha256_of_json(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
