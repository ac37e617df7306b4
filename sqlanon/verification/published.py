"""Releases that were published earlier, as they are found: what is in them, and what travels with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.engines.csv_notes import is_csv
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.frames import is_frame
from sqlanon.engines.relations import Files, ResolvedSource
from sqlanon.errors import EngineError
from sqlanon.model.dataset_names import PARQUET_SUFFIXES
from sqlanon.model.destination import Destination
from sqlanon.model.labels import ClassesRecord, LabelsRecord
from sqlanon.model.record import Record, RecordError, RowsRecord
from sqlanon.publish.files import bring_back
from sqlanon.publish.targets import note_of_file, standing_at, target_at
from sqlanon.verification.integrity import changes_beside, changes_of_content, changes_of_record

NOT_COMPARED = "its content, the number of its rows, its node and its labels are not compared with what was released"

NOT_NEEDED = "to hold it against its policy alone, ask for that (without_provenance=True, --without-provenance)"


@dataclass(frozen=True)
class Published:
    """A release as it is found.

    Attributes:
        source: what is to be measured.
        columns: the names of all columns that its table or its files have.
        record: what its provenance records, of all of its parts together; None if there is nothing to compare.
        policies: the hashes of the policies that it was made by.
        shortfalls: how it is not the release that was written.
        notes: why it is compared with no provenance, or with that of a part.
        record_sha256: the hash of its record, computed anew; None if it has none, or several.
        is_of_fit: whether it is partitions of a fit, whose source is that of the fit and not that of their rows.
    """

    source: ResolvedSource
    columns: tuple[str, ...]
    record: Record | None = None
    policies: frozenset[str] = frozenset()
    shortfalls: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    record_sha256: str | None = None
    is_of_fit: bool = False


def published(
    engine: Engine,
    release: Any,
    resolve: Callable[[Any], ResolvedSource],
    *,
    without_provenance: bool = False,
    hashes_rows: bool = True,
) -> Published:
    """A release, whatever was done to it since it was written.

    Args:
        engine: the database.
        release: what the user calls it.
        resolve: finds all that is not a folder of ours.
        without_provenance: whether it may be a table or file without a record.
        hashes_rows: whether the rows of a table are compared with their hash, which takes a scan.

    Raises:
        EngineError: there is none, or it cannot be read.
    """
    if not is_frame(release):
        bring_back(str(release))
    if isinstance(release, str | Path) and (standing := standing_at(engine, str(release))) is not None:
        may_lack_note = without_provenance and standing.may_be_of_others
        found = _recorded(standing.source, standing.columns, [standing.note], without_provenance=may_lack_note)
        return _with_shortfalls(found, standing.changes)
    source = resolve(release)
    notes = notes_of(engine, source)
    changes = [*changes_of_content(engine, source, notes)] if hashes_rows or source.files else []
    if not source.files and notes:
        changes += changes_beside(engine, source.relation, notes[0])
    found = _recorded(source, columns_of(engine, source), notes, without_provenance=without_provenance)
    return _with_shortfalls(found, changes)


def columns_of(engine: Engine, source: ResolvedSource) -> tuple[str, ...]:
    """The columns of a source; those of a file alone, without what the folders that it is in may be called."""
    is_file = len(source.files) == 1 and source.files[0].lower().endswith(PARQUET_SUFFIXES)
    relation = engine.read_files(Files(source.files)) if is_file else source.relation
    return tuple(column.name for column in engine.describe(relation))


def notes_of(engine: Engine, source: ResolvedSource) -> list[str | None]:
    """The notes that travel with a table, or with each file of a source; none with a query."""
    if source.files:
        return [_note_of_file(engine, file) for file in source.files]
    if isinstance(source.relation, exp.Table) and source.relation.name:
        found = engine.find(source.relation)
        return [None if found is None else found.comment]
    return []


def provenance_at(engine: Engine, source: ResolvedSource, place: Destination) -> str | None:
    """The provenance that travels with a source that was published at a place; None without one.

    Raises:
        EngineError: it cannot hold a release, such as a view.
    """
    if place.kind != "table":
        return target_at(engine, place).found_note()
    notes = [] if source.files else notes_of(engine, source)
    if not notes:
        raise EngineError("only a table, a Parquet or CSV file, or a folder has a provenance", step="provenance")
    return notes[0]


def _note_of_file(engine: Engine, file: str) -> str | None:
    return note_of_file(engine, file) if is_csv(file) or file.lower().endswith(PARQUET_SUFFIXES) else None


def _with_shortfalls(found: Published, shortfalls: Sequence[str]) -> Published:
    return replace(found, shortfalls=(*shortfalls, *found.shortfalls))


def _recorded(
    source: ResolvedSource, columns: tuple[str, ...], notes: Sequence[str | None], *, without_provenance: bool
) -> Published:
    changes = tuple(dict.fromkeys(change for note in notes for change in changes_of_record(note)))
    try:
        parsed = [Record.parse(note) for note in notes]
    except RecordError:
        return Published(source, columns, shortfalls=changes)
    records = [record for record in parsed if record is not None and record.is_release]
    policies = frozenset[str]().union(*(record.policies for record in records))
    record = together(records) if records and len(records) == len(notes) else None
    shortfalls, missing = (*changes, *_repeated(records)), tuple(_without(records, len(notes)))
    if missing and not without_provenance:
        shortfalls = (*shortfalls, *(f"{each}; {NOT_NEEDED}" for each in missing))
        missing = ()
    digest = records[0].sha256 if record is not None and len(notes) == 1 else None
    notes_on_it = (*missing, *_missing(records, record, len(notes)))
    is_of_fit = any(each.fit is not None for each in records)
    return Published(source, columns, record, policies, shortfalls, notes_on_it, digest, is_of_fit)


def together(records: Sequence[Record]) -> Record | None:
    """What is recorded of several parts as one release; None if they have other labels, or of other taxonomies."""
    first, *others = records
    if not others:
        return first
    labels, *other_labels = _joined_classes([record.labels for record in records])
    if any(other != labels for other in other_labels):
        return None
    if any(other.taxonomy_sha256 != first.taxonomy_sha256 for other in others):
        return None
    parts = [part.rows for part in records if part.rows is not None]
    rows = RowsRecord(released=sum(part.released for part in parts), masked=sum(part.masked for part in parts))
    is_complete = len(parts) == len(records)
    # What each promises is of its own rows.
    found = {"labels": labels, "rows": rows if is_complete else None, "promise": None, "report": None, "fit": None}
    return first.model_copy(update=found)


def _joined_classes(parts: Sequence[LabelsRecord | None]) -> Sequence[LabelsRecord | None]:
    """What parts record of labels: for classes of the same labels all of them, in each part."""
    classes = [part for part in parts if isinstance(part, ClassesRecord)]
    if len(classes) < len(parts) or any(each.labels != classes[0].labels for each in classes):
        return parts
    return [classes[0].joined(classes[1:])] * len(parts)


def _repeated(records: Sequence[Record]) -> tuple[str, ...]:
    """Every part has a provenance of its own, with what its run took or with an identity."""
    repeated = len(records) - len({record.sha256 for record in records})
    if not repeated:
        return ()
    return (f"a part is there more than once: {repeated:,} of its files have the provenance of another one",)


def _without(records: Sequence[Record], parts: int) -> Iterator[str]:
    """That a release, or a part of it, has no provenance."""
    if not records:
        yield f"it has no provenance: {NOT_COMPARED}"
    elif len(records) < parts:
        yield f"{parts - len(records):,} of its {parts:,} files have no provenance: {NOT_COMPARED}"


def _missing(records: Sequence[Record], record: Record | None, parts: int) -> Iterator[str]:
    """What is not known of a release though each of its parts has a provenance."""
    if record is None and len(records) == parts > 0:
        yield f"its parts are at several nodes, or of several taxonomies: {NOT_COMPARED}"
    fits = [part.fit for part in records if part.fit is not None]
    known = max((fit.partitions for fit in fits), default=0)
    if fits and known > len(fits):
        yield (
            f"it is {len(fits):,} of {known:,} partitions that were published with one fit, which meet the policy "
            "together: verify all of them at once, by a glob or a query"
        )
