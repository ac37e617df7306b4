"""Targets of several tables, published in one step: a folder with a file per table, or a schema of the warehouse."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from pathlib import Path

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
from sqlanon.publish.targets import TableTarget, content_of_table
from sqlanon.queries.kit.nodes import drop_table, identifier

WHERE = "a release of several tables goes to a folder, whose name ends in a slash, or to a schema of the warehouse"


def linked_destination(place: str | Path) -> Destination:
    """Return the folder, or the schema as a table's name, that a user names; a TargetError for anything else."""
    if isinstance(place, Path) and place.suffix.lower() not in FORMATS:
        place = f"{place}/"
    found = destination(place)
    if found.kind not in ("folder", "table"):
        what = "is one file" if found.kind == "file" else "is not for several tables yet"
        raise TargetError(f"{found.name} {what}: {WHERE}", step="target")
    return found


def linked_target(
    engine: Engine, into: Destination, tables: Sequence[str], read: Mapping[str, ResolvedSource], replace: Replace
) -> LinkedTarget:
    """Return the target of a release of several tables: all of them appear at the end of ``opened``, or none.

    A folder appears as a whole if the block succeeds. Tables of a schema are written in the transaction that the block
    opens around them and their record.

    Args:
        tables: that of persons first.
        read: the inputs, by role, which the release may not replace.
        replace: a folder is replaced if it holds nothing but a release; tables if they are ours, unless "anything".

    Raises:
        TargetError, EngineError: the place is not free or cannot be written, or the names of tables are impossible.
    """
    if any(engine.is_far(source.relation) for source in read.values()):
        raise EngineError("rows on a server are not for several tables yet: read them here", step="target")
    _refuse(_equal_names(tables))
    if into.kind == "table":
        return LinkedSchema(engine, into, tables, read, replace)
    _refuse(_impossible_files(tables))
    return LinkedFolder(engine, into, read, replace)


class LinkedFolder(FolderTarget):
    """A folder with a Parquet file per table, named by it."""

    def place_of(self, table: str) -> str:
        """Return the file of a table."""
        return str(Path(self.name, file_of(table)))

    @property
    def holder(self) -> FolderTarget:
        """The target that holds the record."""
        return self

    def transaction(self) -> AbstractContextManager[None]:
        """Surround what is written and its record."""
        return nullcontext()

    def write_table(self, table: str, query: exp.Query) -> ResolvedSource:
        """Write the rows of a table in the order of a query, and return them as a source to verify."""
        path = self.path / f"{table}{STAGED_SUFFIX}"
        query, columns = self.with_columns(query)
        self.engine.write_parquet(path, query, columns, streamed=query.args.get("order") is None)
        types = {found.name: found.type for found in columns}
        written = self.engine.read_files(Files(escaped(path), columns=types))
        self.engine.refuse_altered_parquet(query, written, columns)
        return ResolvedSource(written, f"Parquet file {file_of(table)} of {self.name}")

    def marker_text(self) -> str:
        assert self.record is not None and self.record.linked is not None
        linked, sizes = self.record.linked, self.named()
        contents = {table: ContentRecord(file_sha256=sha256_of(self.path / file_of(table))) for table in linked.tables}
        return self.record.sealed(linked.written(contents, listing(sizes))).text


class TableOfSchema(TableTarget):
    def __init__(
        self, engine: Engine, schema: exp.Table, table: str, read: Mapping[str, ResolvedSource], replace: Replace
    ) -> None:
        super().__init__(engine, Destination(table_named((schema.db, table)), "table"), read, replace)
        self._place = exp.Table(this=identifier(table), db=schema.args["db"], catalog=schema.args["catalog"])

    @cached_property
    def table(self) -> exp.Table:
        return self.engine.refuse_target(self._place, self.read, replace=bool(self.replace))


class LinkedSchema:
    """Tables of a schema, which is made if it is not there; other tables of it stay.

    The table of persons has the record as its comment, each other one the record of a companion.
    """

    def __init__(
        self,
        engine: Engine,
        into: Destination,
        tables: Sequence[str],
        read: Mapping[str, ResolvedSource],
        replace: Replace,
    ) -> None:
        self.engine = engine
        self.replace = replace
        self.schema = engine.place_schema(into.name)
        self.targets = {table: TableOfSchema(engine, self.schema, table, read, replace) for table in tables}
        self.is_begun = False

    @contextmanager
    def opened(self) -> Iterator[None]:
        _refuse(self._taken())
        self._left_over()  # refuses tables of other releases
        yield

    def place_of(self, table: str) -> str:
        """Return the name of a table, with its schema."""
        return self.targets[table].name

    @property
    def holder(self) -> TableTarget:
        """The target that holds the record."""
        return next(iter(self.targets.values()))

    def transaction(self) -> AbstractContextManager[None]:
        """Surround what is written and its record."""
        return self.engine.transaction()

    def write_table(self, table: str, query: exp.Query) -> ResolvedSource:
        """Write the rows of a table in the order of a query, and return them as a source to verify."""
        if not self.is_begun:
            self.engine.make_schema(self.schema)
            for table_left in self._left_over():
                self.engine.execute(drop_table(table_left), "replace the release")
            self.is_begun = True
        return self.targets[table].write(query)

    def add_record(self, record: Record) -> LinkedRecord:
        """Add the record, once all tables are written; it is sealed with the hashes of each."""
        assert record.linked is not None
        (root, holder), *others = self.targets.items()
        policy = {name: getattr(record, name) for name in ("policy", "policy_sha256", "policy_files")}
        contents = {root: content_of_table(self.engine, holder.table)}
        for table, target in others:
            companion = CompanionRecord(name=table, release=root)
            contents[table] = target.add_record(new_record(**policy, companion=companion))
        written = record.linked.written(contents)
        self.engine.comment_table(holder.table, record.sealed(written).text)
        return written

    def _taken(self) -> Iterator[str]:
        for target in self.targets.values():
            try:
                target.refuse_others()
            except EngineError as error:
                yield str(error)

    def _left_over(self) -> list[exp.Table]:
        """Return the other tables of the release that is replaced, whose keys would join with new rows."""
        found = (
            {folded(each.table.name): each for each in self.engine.relations_in(self.schema)} if self.replace else {}
        )
        roots = {name: root for name, each in found.items() if (root := root_of(each)) is not None}
        records = [record.linked for each in found.values() if (record := readable_record(each.comment)) is not None]
        former = {folded(table) for linked in records if linked is not None for table in linked.tables}
        written = {*map(folded, self.targets)}
        for name, root in roots.items():
            if name in written and root in roots.keys() - written and self.replace != "anything":
                raise TargetError(
                    f'the table "{found[name].table.name}" is of the release with "{root}", which would lose it: '
                    "name another schema, or drop the tables of that release",
                    step="target",
                )
        return [found[name].table for name, root in roots.items() if root in written and name in former - written]


LinkedTarget = LinkedFolder | LinkedSchema


def file_of(table: str) -> str:
    return f"{table}{FILE_SUFFIX}"


def root_of(found: Stored) -> str | None:
    """Return the table of persons that a table of a release of several belongs to, in lower case; None for others."""
    record = readable_record(found.comment)
    if record is None or (record.linked is None and record.companion is None):
        return None
    return folded(found.table.name if record.companion is None else record.companion.release)


def _refuse(problems: Iterable[str]) -> None:
    if found := "; ".join(dict.fromkeys(problems)):
        raise TargetError(found, step="target")


def _impossible_files(tables: Sequence[str]) -> Iterator[str]:
    for table in tables:
        if reason := why_no_file(file_of(table) if table.strip() else table):
            yield f"the table {in_quotes(table)} cannot be a file of the folder: {reason}"


def _equal_names(tables: Sequence[str]) -> Iterator[str]:
    """Yield names that a file system, or a warehouse, may take for one."""
    alike = {table: unicodedata.normalize("NFC", table).casefold() for table in tables}
    times = Counter(alike.values())
    if repeated := [in_quotes(table) for table in tables if times[alike[table]] > 1]:
        yield f"the tables {enumerated(repeated)} differ at most in the case of their names: rename one"
