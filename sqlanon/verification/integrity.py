"""Whether a release is the one that was written: its content and its record, held against the hashes in the record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError
from sqlglot import exp

from sqlanon.engines.csv_notes import is_csv, look_at, note_text, read_note, sha256_of
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource, Stored
from sqlanon.errors import PolicyError
from sqlanon.model.dataset_names import PARQUET_SUFFIXES
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import ContentRecord, PolicyRecord, Record, RecordError, readable_record
from sqlanon.model.taxonomy.hierarchies import note_path
from sqlanon.publish.csv import content_of_csv
from sqlanon.publish.parquet import content_of_parquet
from sqlanon.publish.warehouse_tables import content_of_table

CHANGED = {
    "columns_sha256": "its columns have other names or types than those that were written",
    "rows_sha256": "its rows are not those that were written",
    "file_sha256": "its file was changed since it was written",
    "form_sha256": "the note beside its file has other types of its columns than were written",
}
"""What it means that a hash of the content is another one."""


def changes_of_record(note: str | None) -> Iterator[str]:
    """How a record is not the one that was written, a sentence each; nothing of a note that is not ours."""
    try:
        record = Record.parse(note)
    except RecordError as error:
        yield str(error)
        return
    if record is None:
        return
    if (note or "").rstrip("\n") != record.text:
        yield "its provenance was written anew since: it is not spelled as sqlanon spells it"
    if record.record_sha256 != record.sha256:
        yield "its provenance was changed since it was written: its hash is another one"
    # Paths of files are left out of the policy in the record, so that only the others can be hashed again.
    if record.policy is not None and not record.policy_files and _sha256(record.policy) != record.policy_sha256:
        yield "the policy in its provenance does not have the hash that is recorded beside it"


def changes_of_content(engine: Engine, source: ResolvedSource, notes: Sequence[str | None]) -> Iterator[str]:
    """How a table, or files, with notes of ours are not what was written, a sentence each."""
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
    """How a table is not the one that was written, and what was added to its columns."""
    yield from _other_content(written, content_of_table(engine, table))
    yield from engine.additions(table)
    found = engine.find(table)
    if found is not None and found.is_view:
        yield "it is a view, where a table was written"


def changes_beside(engine: Engine, release: exp.Expr, note: str | None) -> Iterator[str]:
    """How the tables that were published beside a release are not those that were written."""
    record = readable_record(note)
    for what, written in () if record is None else record.tables.items():
        found = _table_beside(engine, release, written.table)
        changes = ["it is not there"] if found is None else _changes_beside(engine, found, written.content)
        yield from (f'of the table "{written.table}", its {what}: {change}' for change in changes)


def _changes_beside(engine: Engine, found: Stored, written: ContentRecord) -> Iterator[str]:
    record = readable_record(found.comment)
    if record is None or record.companion is None:
        yield "it has no provenance"
    yield from changes_of_record(found.comment)
    yield from changes_of_table(engine, found.table, written)


def _table_beside(engine: Engine, release: exp.Expr, name: str) -> Stored | None:
    """A table in the schema of a release, or else wherever its name leads."""
    places: list[str | exp.Table] = [name]
    if isinstance(release, exp.Table):
        beside = release.copy()
        beside.set("this", exp.to_identifier(name, quoted=True))
        places.insert(0, beside)
    return next(filter(None, map(engine.find, places)), None)


def _changes_of_file(path: Path, note: str | None) -> Iterator[str]:
    record = readable_record(note)
    written = None if record is None else record.content
    if is_csv(path):
        found = look_at(path)
        if found.is_changed:
            yield CHANGED["file_sha256"]
        elif found.entry is not None:
            if note_path(path).read_text(encoding="utf-8") != note_text(read_note(path)):
                yield "the note beside its file has more in it than sqlanon writes"
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


def _sha256(policy: PolicyRecord) -> str | None:
    try:
        return Policy(**policy.as_json).sha256()
    except (PolicyError, ValidationError, TypeError):
        return None
