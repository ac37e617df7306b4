"""Releases of several tables as they are found, and how they differ from what was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlanon.engines.csv_notes import sha256_of
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.paths import escaped, note_of, sizes_in
from sqlanon.engines.relations import Files, ResolvedSource, Stored
from sqlanon.errors import EngineError
from sqlanon.model.destination import FILE_SUFFIX
from sqlanon.model.names import counted, folded, listed
from sqlanon.model.record import LinkedRecord, Record, readable_record
from sqlanon.publish.files import bring_back
from sqlanon.publish.linked_targets import file_of, linked_destination, root_of
from sqlanon.verification.found_release import CHANGED, changes_of_record, changes_of_table

NO_RECORD = "it has no provenance of a release of several tables: nothing is compared with what was released"


@dataclass(frozen=True)
class FoundLinked:
    tables: Mapping[str, ResolvedSource]  # those that are there and can be read
    record: Record | None = None
    shortfalls: tuple[str, ...] = ()  # differences from the release that was written


def find_linked(engine: Engine, place: str | Path) -> FoundLinked:
    """Find a release of several tables in a folder or a schema, whatever happened to it since it was written.

    Raises:
        EngineError: the folder or schema does not exist, or holds something else.
    """
    bring_back(str(place))
    into = linked_destination(place)
    return _in_folder(engine, into.path, into.name) if into.kind == "folder" else _in_schema(engine, into.name)


def _in_folder(engine: Engine, folder: Path, name: str) -> FoundLinked:
    if not folder.is_dir():
        raise EngineError(f"the folder {name} does not exist", step="source")
    note, sizes = note_of(folder), sizes_in(folder)
    record = readable_record(note)
    if record is not None and record.linked is None:
        raise EngineError(f"{name} holds a release of one table: its policy is of one, too", step="source")
    if record is None or record.linked is None:
        files = {file.removesuffix(FILE_SUFFIX): file for file in sizes if file.endswith(FILE_SUFFIX)}
        changes = [NO_RECORD, *changes_of_record(note)]
    else:
        # Only files of this folder: a changed record could name others.
        files = {table: file_of(table) for table in record.linked.tables if file_of(table) in sizes}
        changes = [*changes_of_record(note), *_changes_of_files(folder, record.linked, sizes)]
    tables = dict[str, ResolvedSource]()
    for table, file in files.items():
        try:
            tables[table] = _file(engine, folder / file, name)
        except EngineError:
            changes.append(of_table(table, "it cannot be read as a Parquet file"))
    return FoundLinked(tables, record, tuple(changes))


def _file(engine: Engine, path: Path, name: str) -> ResolvedSource:
    relation = engine.read_files(Files(escaped(path)))
    engine.describe(relation)
    return ResolvedSource(relation, f"Parquet file {path.name} of {name}", (str(path),))


def _changes_of_files(folder: Path, linked: LinkedRecord, sizes: Mapping[str, int]) -> Iterator[str]:
    for table, written in linked.tables.items():
        if file_of(table) not in sizes:
            yield of_table(table, "it is not there")
        elif written.content is None or written.content.file_sha256 != sha256_of(folder / file_of(table)):
            yield of_table(table, CHANGED["file_sha256"])
    if added := {*sizes} - {*map(file_of, linked.tables)}:
        yield f"it has {counted(len(added), 'file')} more than were written"


def _in_schema(engine: Engine, name: str) -> FoundLinked:
    table = engine.find(name)
    if table is not None and root_of(table) is None:
        table = None
    schema = engine.place_schema(name) if table is None else table.table
    found = {folded(each.table.name): each for each in engine.relations_in(schema)}
    if not found:
        raise EngineError(f'the schema "{name}" does not exist, or has no table', step="source")
    roots = {root for root in map(root_of, found.values() if table is None else [table]) if root is not None}
    if len(roots) > 1:
        raise EngineError(
            f'the schema "{name}" has several releases: give the table of persons of one, as "{name}.{min(roots)}"; '
            f"they are {listed(sorted(roots))}",
            step="source",
        )
    if not roots:
        return FoundLinked({key: _table(each) for key, each in found.items()}, shortfalls=(NO_RECORD,))
    return _release_of(engine, roots.pop(), found)


def _release_of(engine: Engine, root: str, found: Mapping[str, Stored]) -> FoundLinked:
    """Compare the tables of a release with the record at its table of persons."""
    note = found[root].comment if root in found else None
    record = readable_record(note)
    changes = [*changes_of_record(note)]
    if record is None or record.linked is None:
        there = [each for each in found.values() if root_of(each) == root or folded(each.table.name) == root]
        changes += [of_table(root, "it has no provenance" if root in found else "it is not there")]
        return FoundLinked({each.table.name: _table(each) for each in there}, None, (*changes, NO_RECORD))
    tables = dict[str, ResolvedSource]()
    for table, written in record.linked.tables.items():
        each = found.get(folded(table))
        if each is None:
            changes.append(of_table(table, "it is not there"))
            continue
        tables[table] = _table(each)
        changes += [of_table(table, change) for change in changes_of_table(engine, each.table, written.content)]
        if root_of(each) != root:
            changes.append(of_table(table, "it has no provenance of this release"))
        if folded(table) != root:
            changes += [of_table(table, change) for change in changes_of_record(each.comment)]
    return FoundLinked(tables, record, tuple(changes))


def _table(found: Stored) -> ResolvedSource:
    return ResolvedSource(found.table, f'table "{found.table.db}.{found.table.name}"')


def of_table(table: str, change: str) -> str:
    return f'of the table "{table}": {change}'
