"""The private file beside the partitions of a table: the fit, and the counts of everything published with it.

A run that dies between publishing a partition and counting it here must not leave wrong counts. So an entry is first
made as *pending*, and settled afterwards: whoever opens the file next looks at the target of a pending entry, and keeps
the entry if and only if the release there has its identity.

The file also holds the fit's taxonomies, so that partitions can be published anywhere. It is a DuckDB database,
attached and locked for one run, and written without a write-ahead log, which would be a second file with the
permissions of the
process: a change becomes durable in one step, with a checkpoint.

Anyone with the file could have changed it. It is only read if it has nothing but plain tables, so that nothing in it is
executed, and if each table has its stored hash. These hashes are not signatures: whoever changes them as well goes
unnoticed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict
from sqlglot import exp

from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.engines.paths import note_of
from sqlanon.errors import EngineError, Refusal
from sqlanon.model.destination import Destination
from sqlanon.model.fitted import Fit
from sqlanon.model.names import folded, possible
from sqlanon.model.record import readable_record
from sqlanon.model.release import RowCounts
from sqlanon.partitions.increment import SQL, counted_columns
from sqlanon.publish.targets import columns_sha256, content_of_table, note_of_file
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.nodes import aliased, cast, column, f, identifier, number, select, string, subquery


class Place(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: str  # as the user spelled it
    file: str | None  # the file or folder, or the database file that holds the table; None in memory
    table: tuple[str, ...] = ()  # database, schema and name of the table; empty for a file or folder

    @property
    def key(self) -> tuple[str | None, ...]:
        """The identity of the place, however it is spelled.

        A database file has another name in each session; only one in memory is identified by name.
        """
        kept = self.table if self.file is None else self.table[1:]
        return (self.file, *map(folded, kept))


def place_of(engine: Engine, into: Destination) -> Place:
    """Find the place of a target; refuse lakes and stores."""
    if into.kind in ("lake", "store"):
        reason = f"partitions cannot be published to the {into.described}: use a table, a file or a folder"
        raise EngineError(reason, step="target")
    if into.kind != "table":
        return Place(name=into.name, file=str(into.path.resolve()))
    table = engine.refuse_target(into.name, {}, replace=True)
    files = _files(engine)
    return Place(name=into.name, file=files.get(table.catalog), table=(table.catalog, table.db, table.name))


def note_at(engine: Engine, place: Place) -> str | None:
    """Read the provenance of the release at a place, if any; refuse an unreadable one."""
    if not place.table:
        return _note_of_file(engine, place)
    known, schema, name = place.table
    for catalog, file in _files(engine).items():
        if file == place.file and (file is not None or catalog == known):
            found = engine.find(exp.Table(this=identifier(name), db=identifier(schema), catalog=identifier(catalog)))
            return None if found is None else found.comment
    if place.file is None:
        return None
    raise EngineError(
        f'a run that published the table "{place.name}" of {place.file} was cut short: open that warehouse to finish '
        "it",
        step="sidecar",
    )


def _note_of_file(engine: Engine, place: Place) -> str | None:
    assert place.file is not None
    file = Path(place.file)
    if not file.parent.is_dir():
        raise EngineError(
            f"a run that published {file} was cut short, and its folder is missing: finish it where the folder is",
            step="sidecar",
        )
    if not file.exists():
        return None
    if file.is_dir():
        return note_of(file)
    try:
        return note_of_file(engine, file)
    except EngineError as error:
        reason = "cannot be read, so that it is not known whether the partition there was published; move it away"
        raise error.reworded(f"{file} {reason}", "sidecar") from None


def _files(engine: Engine) -> dict[str, str | None]:
    found = engine.databases()
    return {database.name: None if database.file is None else str(database.file.resolve()) for database in found}


def release_at(engine: Engine, place: Place) -> str | None:
    found = readable_record(note_at(engine, place))
    return None if found is None or found.fit is None else found.fit.release


CATALOG = "anon_fit"  # the name under which the file is attached

FORMAT = 3

RELEASE = "anon_release"


def table_of(name: str, catalog: str = CATALOG) -> exp.Table:
    return exp.Table(this=identifier(name), db=identifier("main"), catalog=identifier(catalog))


REFERENCE = table_of("reference")  # counts of the values that classes are compared with
LISTED = table_of("classes")  # the classes of a fit of local recoding
TAXONOMY = table_of("taxonomy")  # the taxonomies of the fit, beside the table of their domains


CHANGING = ("releases", "counts")  # the tables that each partition changes

TABLES = ("fit", *CHANGING, "reference", "taxonomy", "taxonomy_domain")  # of each fit, beside the classes of some

HASHES = "hashes"  # the table with the hashes of the others


class Entry(BaseModel):
    model_config = ConfigDict(frozen=True)

    number: int
    release: str  # the identity of the release
    pending: bool  # whether its publication is unconfirmed
    place: Place
    replaces: int | None  # the number of the entry that it replaces
    rows: int  # of the partition
    released: int  # rows
    unknown: int  # rows left out for a value that a taxonomy lacks
    fingerprint: str  # of the rows

    @property
    def row_counts(self) -> RowCounts:
        dropped = self.rows - self.released - self.unknown
        return RowCounts(source=self.rows, released=self.released, masked=0, dropped=dropped, unknown=self.unknown)


@dataclass(frozen=True)
class Sidecar:
    engine: Engine
    path: Path
    fit: Fit

    @property
    def entries(self) -> list[Entry]:
        return _read_entries(self.engine)

    def counts(self, numbers: Collection[int]) -> exp.Subquery:
        is_chosen = exp.In(this=column(RELEASE), expressions=[*map(number, numbers)]) if numbers else exp.false()
        columns = counted_columns(self.fit.policy)
        query = SQL.query("published_counts", counts=table_of("counts"), columns=columns, is_chosen=is_chosen)
        return subquery(query, "anon_published")

    def announce(
        self, place: Place, counts: exp.Query, *, rows: RowCounts, fingerprint: str, replaces: Entry | None
    ) -> Entry:
        """Make a pending entry of a partition and its counts."""
        last = max((entry.number for entry in self.entries), default=0)
        values = {
            "number": number(last + 1),
            "release": cast(f.uuid(), "VARCHAR"),
            "pending": exp.true(),
            "place": string(place.model_dump_json()),
            "replaces": exp.null() if replaces is None else number(replaces.number),
            "rows": number(rows.source),
            "released": number(rows.released),
            "unknown": number(rows.unknown),
            "fingerprint": string(fingerprint),
        }
        entry = exp.Select(expressions=[aliased(value, name) for name, value in values.items()])
        numbered = select([aliased(number(last + 1), RELEASE), exp.Star()], subquery(counts, "anon_kept_counts"))
        with self._written():
            self.engine.execute(exp.Insert(this=table_of("releases"), expression=entry, by_name=True), "the sidecar")
            self.engine.execute(exp.Insert(this=table_of("counts"), expression=numbered, by_name=True), "the sidecar")
        return self.entries[-1]

    def settle(self, entry: Entry) -> bool:
        """Keep a pending entry if its release is published, else drop it; return whether it was kept."""
        published = release_at(self.engine, entry.place) == entry.release
        with self._written():
            if published:
                if entry.replaces is not None:
                    self._drop(entry.replaces)
                settled = exp.EQ(this=column("pending"), expression=exp.false())
                chosen = column("number").eq(number(entry.number))
                update = exp.Update(this=table_of("releases"), expressions=[settled], where=exp.Where(this=chosen))
                self.engine.execute(update, "the sidecar")
            else:
                self._drop(entry.number)
        return published

    def settle_all(self) -> None:
        for entry in self.entries:
            if entry.pending:
                self.settle(entry)

    def _drop(self, dropped: int) -> None:
        for table, key in (("counts", RELEASE), ("releases", "number")):
            chosen = exp.Where(this=column(key).eq(number(dropped)))
            self.engine.execute(exp.Delete(this=table_of(table), where=chosen), "the sidecar")

    @contextmanager
    def _written(self) -> Iterator[None]:
        """Make the transaction of the block durable."""
        with self.engine.transaction():
            yield
            keep_hashes(self.engine, CHANGING)
        self.engine.save(CATALOG)


@contextmanager
def opened(engine: Engine, path: Path) -> Iterator[Sidecar]:
    """Open a sidecar for one run, and settle the pending entries of dead runs."""
    possible(path, "sidecar")
    if not os.path.exists(path):  # noqa: PTH110 (that of a Path raises where a name is too long)
        raise EngineError(f"the fit {path} does not exist; make it by `sqlanon fit` or partitions.fit", step="sidecar")
    with attached(engine, path):
        refuse_other_parts(engine, path)
        sidecar = Sidecar(engine, path, _read_fit(engine, path))
        sidecar.settle_all()
        yield sidecar


@contextmanager
def attached(engine: Engine, path: Path, name: str = CATALOG, *, new: bool = False) -> Iterator[None]:
    """Attach and lock a sidecar's file within the block, unless it is in use."""
    with ExitStack() as stack:
        try:
            stack.enter_context(engine.attached(path, name, new=new))
        except EngineError as error:
            reason = str(error)
            if error.refusal in (Refusal.LOCKED, Refusal.OPEN):
                reason = f"{path} is in use by another run{error.held_by}: partitions are published one after another"
                reason += ", so wait for it"
            elif error.refusal is Refusal.UNWRITABLE:
                reason = f"{path} is not writable, and publishing a partition writes to it"
            raise error.reworded(reason, "sidecar") from None
        yield


def refuse_other_parts(engine: Compute, path: Path, catalog: str = CATALOG) -> None:
    """Refuse a file with anything that reading or writing its tables would execute."""
    query = SQL.query("other_parts", catalog=string(catalog))
    if engine.fetch(query, "the parts of the sidecar")[0]["part_count"]:
        reason = f"{path} was not made by `sqlanon fit`: it has more than plain tables, and nothing in it was read"
        raise EngineError(reason, step="sidecar")


def _read_fit(engine: Engine, path: Path) -> Fit:
    """Read the fit of a file whose tables are as a run of this version wrote them."""
    try:
        [found] = engine.fetch(_all_of("fit"), "the fit")
        if found["format"] == FORMAT:
            return _unchanged_fit(engine, path, Fit.model_validate_json(str(found["document"])))
    except (KeyError, ValueError):
        raise _not_a_fit(path) from None
    except EngineError as error:
        raise (error if error.step == "sidecar" or error.refusal is not None else _not_a_fit(path)) from None
    raise EngineError(f"{path} was made by another version of sqlanon: use that one", step="sidecar")


def _not_a_fit(path: Path) -> EngineError:
    return EngineError(f"{path} was not made by `sqlanon fit`, or is damaged", step="sidecar")


def _unchanged_fit(engine: Engine, path: Path, fit: Fit) -> Fit:
    """Refuse a fit whose tables differ from their stored hashes, or have contents that no run writes."""
    rows = engine.fetch(_all_of(HASHES), "the hashes of the sidecar")
    kept = {row["name"]: (row["columns_sha256"], row["rows_sha256"]) for row in rows}
    names = (*TABLES, *(() if fit.class_count is None else ("classes",)))
    contents = {name: content_of_table(engine, table_of(name)) for name in names}
    changed = [name for name, now in contents.items() if kept.get(name) != (now.columns_sha256, now.rows_sha256)]
    if changed:
        raise EngineError(
            f"{path} was changed since sqlanon wrote it, in {', '.join(changed)}: bring back a copy of it, or make "
            "another fit, which knows nothing of the partitions that were published with this one",
            step="sidecar",
        )
    _read_entries(engine)
    query = SQL.query("unreadable_counts", counts=table_of("counts"), reference=REFERENCE)
    if engine.fetch(query, "the counts of the sidecar")[0]["unreadable"]:
        raise _not_a_fit(path)
    return fit


def _all_of(name: str) -> exp.Query:
    return select([exp.Star()], table_of(name))


def _read_entries(engine: Compute) -> list[Entry]:
    rows = engine.fetch(_all_of("releases"), "the entries of the sidecar")
    found = [Entry(**{**row, "place": Place.model_validate_json(str(row["place"]))}) for row in rows]
    return sorted(found, key=lambda entry: entry.number)


def keep_hashes(engine: Engine, names: Iterable[str]) -> None:
    """Store the hashes of written tables: of their rows, and of the names and types of their columns."""
    for name in names:
        table, chosen = table_of(name), exp.Where(this=column("name").eq(string(name)))
        row = SQL.query(
            "hashes_of",
            content=table_call("content_hash", table),
            name=string(name),
            columns_sha256=string(columns_sha256(engine, table)),
        )
        engine.execute(exp.Delete(this=table_of(HASHES), where=chosen), "the sidecar")
        engine.execute(exp.Insert(this=table_of(HASHES), expression=row, by_name=True), "the sidecar")
