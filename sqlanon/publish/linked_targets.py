"""Targets of several tables, published in one step: a folder with a file per table, or a schema of the warehouse."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Protocol

from sqlglot import exp

from sqlanon.engines.csv_notes import sha256_of
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.paths import escaped, listing
from sqlanon.engines.relations import Files, ResolvedSource, Stored
from sqlanon.errors import EngineError, TargetError
from sqlanon.model.destination import FILE_SUFFIX, FORMATS, Destination, Replace, destination
from sqlanon.model.names import enumerated, folded, in_quotes, table_named
from sqlanon.model.record import CompanionRecord, ContentRecord, LinkedRecord, Record, readable_record
from sqlanon.publish.files import why_no_file
from sqlanon.publish.folders import STAGED_SUFFIX, FolderTarget
from sqlanon.publish.provenance import new_record
from sqlanon.publish.targets import PlacedTarget, TableTarget
from sqlanon.queries.kit.nodes import drop_table, identifier

WHERE = "a release of several tables goes to a folder, whose name ends in a slash, or to a schema of the warehouse"


class LinkedTarget(Protocol):
    """A target of several tables. All of them appear at the end of its block, or none."""

    @property
    def name(self) -> str:
        """The name that the user gave."""

    @property
    def places(self) -> dict[str, str]:
        """The name of the file, or of the table with its schema, by table."""

    @property
    def holder(self) -> PlacedTarget:
        """The target that holds the record: the folder, or the table of persons."""

    def write_table(self, table: str, query: exp.Query) -> ResolvedSource:
        """Write the rows of a table in the order of a query, and return them as a source to verify."""

    def add_record(self, record: Record) -> ContentRecord | LinkedRecord:
        """Add the record of the release, whose ``linked`` part lists the tables, once all of them are written.

        It is sealed with the columns and the hashes of each, which are returned; those of a folder come later.
        """


def linked_destination(place: str | Path) -> Destination:
    """Return the folder, or the schema as a table's name, that a user names; a TargetError for anything else."""
    if isinstance(place, Path) and place.suffix.lower() not in FORMATS:
        place = f"{place}/"
    found = destination(place)
    if found.kind not in ("folder", "table"):
        what = "is one file" if found.kind == "file" else "is not for several tables yet"
        raise TargetError(f"{found.name} {what}: {WHERE}", step="target")
    return found


def holder_of(engine: Engine, into: str | Path, root: str) -> Destination:
    """Return the place of the record: the folder, or the table of persons in a schema."""
    place = linked_destination(into)
    if place.kind != "table":
        return place
    schema = engine.place_schema(place.name)
    return Destination(table_named((schema.db, root)), "table")


# More than six parameters: the target of target_for, and its tables.
@contextmanager
def linked_target(
    engine: Engine, into: str | Path, tables: Sequence[str], read: Mapping[str, ResolvedSource], *, replace: Replace
) -> Iterator[LinkedTarget]:
    """Open the target of a release of several tables: a folder (a Path, or a name with a slash at its end) or a schema.

    A folder appears as a whole if the block succeeds. Tables of a schema are written in the transaction that the block
    opens around them and their record.

    Args:
        tables: that of persons first.
        read: the inputs, by role, which the release may not replace.
        replace: a folder is replaced if it holds nothing but a release; tables if they are ours, unless "anything".

    Raises:
        TargetError, EngineError: the place is not free or cannot be written, or the names of tables are impossible.
    """
    place = linked_destination(into)
    if any(engine.is_far(source.relation) for source in read.values()):
        raise EngineError("rows on a server are not for several tables yet: read them here", step="target")
    if place.kind == "table":
        yield LinkedSchema(engine, place.name, tables, read, replace)
        return
    _refuse([*_impossible_files(tables)])
    folder = LinkedFolder(engine, place, tables, read, replace)
    with folder.opened():
        yield folder


class LinkedFolder(FolderTarget):
    """A folder with a Parquet file per table, named by it."""

    def __init__(
        self,
        engine: Engine,
        into: Destination,
        tables: Sequence[str],
        read: Mapping[str, ResolvedSource],
        replace: Replace,
    ) -> None:
        super().__init__(engine, into, read, replace)
        self.types: dict[str, dict[str, str]] = {table: {} for table in tables}

    @property
    def places(self) -> dict[str, str]:
        return {table: str(Path(self.name, file_of(table))) for table in self.types}

    @property
    def holder(self) -> PlacedTarget:
        return self

    def write_table(self, table: str, query: exp.Query) -> ResolvedSource:
        path = self.path / f"{table}{STAGED_SUFFIX}"
        query, columns = self.with_columns(query)
        self.engine.write_parquet(path, query, columns, streamed=query.args.get("order") is None)
        self.types[table] = {found.name: found.type for found in columns}
        written = self.engine.read_files(Files(escaped(path), columns=self.types[table]))
        self.engine.refuse_altered_parquet(query, written, columns)
        return ResolvedSource(written, f"Parquet file {file_of(table)} of {self.name}")

    def marker_text(self) -> str:
        assert self.record is not None and self.record.linked is not None
        sizes = self.named()
        contents = {table: ContentRecord(file_sha256=sha256_of(self.path / file_of(table))) for table in self.types}
        return self.record.sealed(self.record.linked.written(self.types, contents, listing(sizes))).text


def file_of(table: str) -> str:
    return f"{table}{FILE_SUFFIX}"


class TableOfSchema(TableTarget):
    def __init__(self, engine: Engine, place: exp.Table, read: Mapping[str, ResolvedSource], replace: Replace) -> None:
        super().__init__(engine, Destination(table_named((place.db, place.name)), "table"), read, replace)
        self._place = place

    @cached_property
    def table(self) -> exp.Table:
        return self.engine.refuse_target(self._place, self.read, replace=bool(self.replace))


class LinkedSchema:
    """Tables of a schema, which is made if it is not there; other tables of it stay.

    The table of persons has the record as its comment, each other one the record of a companion.
    """

    def __init__(
        self, engine: Engine, name: str, tables: Sequence[str], read: Mapping[str, ResolvedSource], replace: Replace
    ) -> None:
        self.name = name
        self.tables = tuple(tables)
        self.engine = engine
        self.replace = replace
        self.schema = engine.place_schema(name)
        _refuse([*_equal_names(tables, folded)])
        self.targets = {table: TableOfSchema(engine, self._place(table), read, replace) for table in tables}
        self.is_begun = False
        _refuse([*self._taken()])
        list(self._left_over())  # refuses tables of other releases

    @property
    def places(self) -> dict[str, str]:
        return {table: target.name for table, target in self.targets.items()}

    def write_table(self, table: str, query: exp.Query) -> ResolvedSource:
        if not self.is_begun:
            self.engine.make_schema(self.schema)
            for found in self._left_over():
                self.engine.execute(drop_table(found.table), "replace the release")
            self.is_begun = True
        return self.targets[table].write(query)

    @property
    def holder(self) -> PlacedTarget:
        return self.targets[self.tables[0]]

    def add_record(self, record: Record) -> ContentRecord | LinkedRecord:
        assert record.linked is not None
        root, contents, types = self.tables[0], {}, {}
        policy = {name: getattr(record, name) for name in ("policy", "policy_sha256", "policy_files")}
        for table, target in self.targets.items():
            companion = new_record(**policy, companion=CompanionRecord(name=table, release=root))
            contents[table] = target.add_record(record if table == root else companion)
            types[table] = {found.name: found.type for found in self.engine.describe(target.table)}
        written = record.linked.written(types, contents)
        self.engine.comment_table(self.targets[root].table, record.sealed(written).text)
        return written

    def _place(self, table: str) -> exp.Table:
        place = self.schema.copy()
        place.set("this", identifier(table))
        return place

    def _taken(self) -> Iterator[str]:
        for target in self.targets.values():
            try:
                target.refuse_others()
            except EngineError as error:
                yield str(error)

    def _left_over(self) -> Iterator[Stored]:
        """Yield the other tables of the release that is replaced, whose keys would join with new rows."""
        written = {*map(folded, self.tables)}
        found = self.engine.relations_in(self.schema) if self.replace else []
        roots = {folded(each.table.name): root_of(each) for each in found}
        for each in found:
            name, root = folded(each.table.name), roots[folded(each.table.name)]
            if root is None:
                continue
            if name not in written and root in written:
                yield each
            elif name in written and root not in written and root in roots and self.replace != "anything":
                raise TargetError(
                    f'the table "{each.table.name}" is of the release with "{root}", which would lose it: name another '
                    "schema, or drop the tables of that release",
                    step="target",
                )


def root_of(found: Stored) -> str | None:
    """Return the table of persons that a table of a release of several belongs to, in lower case; None for others."""
    record = readable_record(found.comment)
    if record is None or (record.linked is None and record.companion is None):
        return None
    return folded(found.table.name if record.companion is None else record.companion.release)


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise TargetError("; ".join(dict.fromkeys(problems)), step="target")


def _impossible_files(tables: Sequence[str]) -> Iterator[str]:
    for table in tables:
        if reason := why_no_file(file_of(table) if table.strip() else table):
            yield f"the table {in_quotes(table)} cannot be a file of the folder: {reason}"
    yield from _equal_names(tables, lambda name: unicodedata.normalize("NFC", name).casefold())


def _equal_names(tables: Sequence[str], alike: Callable[[str], str]) -> Iterator[str]:
    times = Counter(map(alike, tables))
    if repeated := [in_quotes(table) for table in tables if times[alike(table)] > 1]:
        yield f"the tables {enumerated(repeated)} differ at most in the case of their names: rename one"
