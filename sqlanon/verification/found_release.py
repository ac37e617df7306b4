"""Published releases as they are found, and how they differ from what was written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from sqlglot import exp

from sqlanon.engines.csv_notes import is_csv, look_at, note_text, read_note, sha256_of
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.frames import is_frame
from sqlanon.engines.relations import Files, ResolvedSource, Stored
from sqlanon.errors import EngineError, PolicyError
from sqlanon.model.destination import Destination
from sqlanon.model.labels import ClassesRecord, LabelsRecord
from sqlanon.model.names import PARQUET_SUFFIXES, in_quotes
from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import ContentRecord, Record, RecordError, RowsRecord, readable_record
from sqlanon.model.taxonomy.hierarchies import note_path
from sqlanon.publish.beside import table_beside
from sqlanon.publish.csv import content_of_csv
from sqlanon.publish.files import bring_back
from sqlanon.publish.parquet import content_of_parquet
from sqlanon.publish.targets import content_of_table, note_of_file, standing_at, target_at

NOT_COMPARED = "its content, the number of its rows, its node and its labels are not compared with what was released"

NOT_NEEDED = "to verify it against its policy only, pass without_provenance=True (--without-provenance)"

CHANGED = {
    "columns_sha256": "its columns have other names or types than those written",
    "rows_sha256": "its rows are not those written",
    "file_sha256": "its file was changed since it was written",
    "form_sha256": "the note beside its file has other column types than those written",
}  # by hash of the content that differs


@dataclass(frozen=True)
class FoundRelease:
    source: ResolvedSource
    columns: tuple[str, ...]  # of its table or files
    record: Record | None = None  # joined over its parts; None if there is nothing to compare
    policies: frozenset[str] = frozenset()  # hashes of its policies
    shortfalls: tuple[str, ...] = ()  # differences from the release that was written
    notes: tuple[str, ...] = ()  # why provenance is not compared, or only in part
    record_sha256: str | None = None  # computed anew; None without a single record
    is_of_fit: bool = False  # partitions of a fit: the recorded source is the fit's, not theirs


def find_release(
    engine: Engine,
    release: Any,
    resolve: Callable[[Any], ResolvedSource],
    *,
    without_provenance: bool = False,
    hashes_rows: bool = True,
) -> FoundRelease:
    """Find a release by the name that the user gives, whatever happened to it since it was written.

    Args:
        resolve: finds any source that is not a folder written by sqlanon.
        without_provenance: accept a table or file without a record.
        hashes_rows: compare the rows of a table with their hash, which takes a scan.
    """
    if not is_frame(release):
        bring_back(str(release))
    if isinstance(release, str | Path) and (standing := standing_at(engine, str(release))) is not None:
        may_lack = without_provenance and standing.may_be_of_others
        found = (standing.source, standing.columns, [standing.note], standing.changes)
        return _recorded(*found, without_provenance=may_lack)
    source = resolve(release)
    notes = notes_of(engine, source)
    changes = [*_changes_of_content(engine, source, notes)] if hashes_rows or source.files else []
    if not source.files and notes:
        changes += _changes_beside_release(engine, source.relation, notes[0])
    return _recorded(source, columns_of(engine, source), notes, changes, without_provenance=without_provenance)


def columns_of(engine: Engine, source: ResolvedSource) -> tuple[str, ...]:
    """List the columns of a source; of a single file without those that its folders' names imply."""
    is_file = len(source.files) == 1 and source.files[0].lower().endswith(PARQUET_SUFFIXES)
    relation = engine.read_files(Files(source.files)) if is_file else source.relation
    return tuple(column.name for column in engine.describe(relation))


def notes_of(engine: Engine, source: ResolvedSource) -> list[str | None]:
    """Read the notes that travel with a table, or with each file of a source; a query has none."""
    if source.files:
        return [
            note_of_file(engine, file) if is_csv(file) or file.lower().endswith(PARQUET_SUFFIXES) else None
            for file in source.files
        ]
    if isinstance(source.relation, exp.Table) and source.relation.name:
        found = engine.find(source.relation)
        return [None if found is None else found.comment]
    return []


def provenance_at(engine: Engine, source: ResolvedSource, place: Destination) -> str | None:
    """Read the provenance of a published source; refuse what cannot hold a release, such as a view."""
    if place.kind != "table":
        return target_at(engine, place).found_note()
    notes = [] if source.files else notes_of(engine, source)
    if not notes:
        raise EngineError("only a table, a Parquet or CSV file, or a folder has a provenance", step="provenance")
    return notes[0]


def _recorded(
    source: ResolvedSource,
    columns: tuple[str, ...],
    notes: Sequence[str | None],
    changes: Sequence[str],
    *,
    without_provenance: bool,
) -> FoundRelease:
    changes = (*changes, *dict.fromkeys(change for note in notes for change in changes_of_record(note)))
    try:
        parsed = [Record.parse(note) for note in notes]
    except RecordError:
        return FoundRelease(source, columns, shortfalls=changes)
    records = [record for record in parsed if record is not None and record.is_release]
    policies = frozenset[str]().union(*(record.policies for record in records))
    record = _together(records) if records and len(records) == len(notes) else None
    shortfalls, missing = changes, tuple(_without(records, len(notes)))
    if repeated := len(records) - len({each.sha256 for each in records}):
        # Provenances are unique, by the duration of the run or by an identity.
        there = f"{repeated:,} of its files have the provenance of another file"
        shortfalls = (*shortfalls, f"a part occurs more than once: {there}")
    if missing and not without_provenance:
        shortfalls = (*shortfalls, *(f"{each}; {NOT_NEEDED}" for each in missing))
        missing = ()
    digest = records[0].sha256 if record is not None and len(notes) == 1 else None
    notes_on_it = (*missing, *_missing(records, record, len(notes)))
    is_of_fit = any(each.fit is not None for each in records)
    return FoundRelease(source, columns, record, policies, shortfalls, notes_on_it, digest, is_of_fit)


def _together(records: Sequence[Record]) -> Record | None:
    first, *others = records
    if not others:
        return first
    of_parts: Sequence[LabelsRecord | None] = [record.labels for record in records]
    classes = [part for part in of_parts if isinstance(part, ClassesRecord)]
    if len(classes) == len(records) and all(each.labels == classes[0].labels for each in classes):
        of_parts = [classes[0].joined(classes[1:])]
    if any(other != of_parts[0] for other in of_parts):
        return None
    if any(other.taxonomy_sha256 != first.taxonomy_sha256 for other in others):
        return None
    parts = [part.rows for part in records if part.rows is not None]
    rows = RowsRecord(released=sum(part.released for part in parts), masked=sum(part.masked for part in parts))
    is_complete = len(parts) == len(records)
    # A promise is about the rows of one part.
    found = {"labels": of_parts[0], "rows": rows if is_complete else None, "promise": None, "report": None, "fit": None}
    return first.model_copy(update=found)


def _without(records: Sequence[Record], parts: int) -> Iterator[str]:
    if not records:
        yield f"it has no provenance: {NOT_COMPARED}"
    elif len(records) < parts:
        yield f"{parts - len(records):,} of its {parts:,} files have no provenance: {NOT_COMPARED}"


def _missing(records: Sequence[Record], record: Record | None, parts: int) -> Iterator[str]:
    if record is None and len(records) == parts > 0:
        yield f"its parts are at several nodes, or of several taxonomies: {NOT_COMPARED}"
    fits = [part.fit for part in records if part.fit is not None]
    known = max((fit.partitions for fit in fits), default=0)
    if fits and known > len(fits):
        yield (
            f"it is {len(fits):,} of {known:,} partitions that were published with one fit, which meet the policy "
            "together: verify all of them at once, by a glob or a query"
        )


def changes_of_record(note: str | None) -> Iterator[str]:
    """Yield how a record differs from what sqlanon wrote; nothing for a foreign note."""
    try:
        record = Record.parse(note)
    except RecordError as error:
        yield str(error)
        return
    if record is None:
        return
    if (note or "").rstrip("\n") != record.text:
        yield "its provenance was rewritten: sqlanon spells it differently"
    if record.record_sha256 != record.sha256:
        yield "its provenance was changed since it was written: its hash differs"
    # Records omit file paths, so a policy with files cannot be hashed again.
    if record.policy is not None and not record.policy_files:
        try:
            fields = record.policy.as_json
            digest = (LinkedPolicy if "tables" in fields else Policy)(**fields).sha256()
        except (PolicyError, ValidationError, TypeError):
            digest = None
        if digest != record.policy_sha256:
            yield "the policy in its provenance does not have its recorded hash"


def _changes_of_content(engine: Engine, source: ResolvedSource, notes: Sequence[str | None]) -> Iterator[str]:
    if not source.files:
        for record in filter(None, map(readable_record, notes)):
            assert isinstance(source.relation, exp.Table)
            yield from changes_of_table(engine, source.relation, record.content)
        return
    pairs = [(Path(file), note) for file, note in zip(source.files, notes, strict=True)]
    of_files = [set(_changes_of_file(path, note)) for path, note in pairs]
    for sentence in dict.fromkeys(each for found in of_files for each in sorted(found)):
        count = sum(sentence in found for found in of_files)
        yield sentence if len(of_files) == 1 else f"of {count:,} of its files: {sentence}"


def changes_of_table(engine: Engine, table: exp.Table, written: ContentRecord | None) -> Iterator[str]:
    yield from _other_content(written, content_of_table(engine, table))
    yield from engine.additions(table)
    found = engine.find(table)
    if found is not None and found.is_view:
        yield "it is a view, where a table was written"


def _changes_beside_release(engine: Engine, release: exp.Expr, note: str | None) -> Iterator[str]:
    record = readable_record(note)
    for what, written in () if record is None else record.tables.items():
        found = table_beside(engine, release, written.table)
        changes = ["it is not there"] if found is None else _changes_of_companion(engine, found, written.content)
        yield from (f"of the table {in_quotes(written.table)}, its {what}: {change}" for change in changes)


def _changes_of_companion(engine: Engine, found: Stored, written: ContentRecord) -> Iterator[str]:
    record = readable_record(found.comment)
    if record is None or record.companion is None:
        yield "it has no provenance"
    yield from changes_of_record(found.comment)
    yield from changes_of_table(engine, found.table, written)


def _changes_of_file(path: Path, note: str | None) -> Iterator[str]:
    record = readable_record(note)
    written = None if record is None else record.content
    if is_csv(path):
        found = look_at(path)
        if found.is_changed:
            yield CHANGED["file_sha256"]
        elif found.entry is not None:
            if note_path(path).read_text(encoding="utf-8") != note_text(read_note(path)):
                yield "the note beside its file has more than sqlanon writes"
            yield from _other_content(written, content_of_csv(sha256_of(path) or "", found.entry.form))
    elif record is not None and path.name.lower().endswith(PARQUET_SUFFIXES):
        try:
            content = content_of_parquet(path, note or "")
        except (OSError, ValueError):
            content = ContentRecord(file_sha256="")
        yield from _other_content(written, content)


def _other_content(written: ContentRecord | None, found: ContentRecord) -> Iterator[str]:
    if written is None:
        yield "its provenance has no hash of its content"
        return
    yield from (CHANGED[name] for name, digest in found if digest is not None and getattr(written, name) != digest)
