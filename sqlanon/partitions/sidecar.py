"""The private file beside the partitions of a table: the fit, and the counts of all that was published with it.

A run that dies between the publication of a partition and its entry here must not leave the counts wrong. So an entry
is made first, as *pending*, and settled afterwards; whoever opens the file next looks at the target of a pending entry
and keeps it just if the release there carries its identity.

It has the taxonomies of the fit, too, so that partitions can be published wherever they are. It is a DuckDB database
that is attached for the time of one run, which locks it. It is written without a write-ahead log, which would be a
second file with the permissions of the process: a change is there once the database has made its checkpoint, in one
step.

Who has the file could have changed it. It is read only where it has nothing but plain tables, so that nothing in it is
executed, and where each table has the hash that was kept beside it. These hashes are no signatures: who changes them as
well is not seen.
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
from sqlanon.errors import EngineError, Refusal, TargetError
from sqlanon.model.fit import Fit
from sqlanon.model.names import possible
from sqlanon.model.release import RowCounts
from sqlanon.partitions.increment import SQL, counted_columns
from sqlanon.partitions.places import Place, release_at
from sqlanon.publish.files import staged_file
from sqlanon.publish.targets import columns_sha256, content_of_table
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.nodes import aliased, cast, column, f, identifier, number, select, string, subquery
from sqlanon.queries.tables import taxonomies

CATALOG = "anon_fit"
"""The name under which the file is attached."""

FORMAT = 3

RELEASE = "anon_release"


def table_of(name: str, catalog: str = CATALOG) -> exp.Table:
    """A table of a sidecar."""
    return exp.Table(this=identifier(name), db=identifier("main"), catalog=identifier(catalog))


REFERENCE = table_of("reference")
"""The counts of the values that classes are compared with."""

LISTED = table_of("classes")
"""The list of classes of a fit of local recoding."""

TAXONOMY = table_of("taxonomy")
"""The taxonomies of the fit, beside which it says where their domains come from."""


CHANGING = ("releases", "counts")
"""The tables that each partition changes."""

TABLES = ("fit", *CHANGING, "reference", "taxonomy", "taxonomy_domain")
"""The tables that each fit has; that of local recoding has its classes besides."""

HASHES = "hashes"
"""The table with the hash of each other one."""


class Entry(BaseModel):
    """A partition that was published, or is about to be.

    Attributes:
        number: counts the entries of the file.
        release: the identity of the release.
        pending: whether it is not known yet to be published.
        place: where it was published.
        replaces: the number of the entry that it takes the place of, if any.
        rows, released: of the partition, and how many of them were published.
        unknown: how many of them were left out for a value that a taxonomy does not have.
        fingerprint: of its rows.
    """

    model_config = ConfigDict(frozen=True)

    number: int
    release: str
    pending: bool
    place: Place
    replaces: int | None
    rows: int
    released: int
    unknown: int
    fingerprint: str


@dataclass(frozen=True)
class Sidecar:
    """An open sidecar, for this run alone."""

    engine: Engine
    path: Path
    fit: Fit

    @property
    def entries(self) -> list[Entry]:
        """All entries, in their order."""
        return _read_entries(self.engine)

    def counts(self, numbers: Collection[int]) -> exp.Subquery:
        """The counts of some entries together: labels, protected values, ``anon_row_count``."""
        is_chosen = exp.In(this=column(RELEASE), expressions=[*map(number, numbers)]) if numbers else exp.false()
        columns = counted_columns(self.fit.policy)
        query = SQL.query("published_counts", counts=table_of("counts"), columns=columns, is_chosen=is_chosen)
        return subquery(query, "anon_published")

    def announce(
        self,
        place: Place,
        counts: exp.Query,
        *,
        rows: RowCounts,
        fingerprint: str,
        replaces: Entry | None,
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
        """Keep a pending entry if its release is published, drop it if not; returns whether it was kept."""
        published = release_at(self.engine, entry.place) == entry.release
        with self._written():
            if published:
                self._drop(entry.replaces)
                settled = exp.EQ(this=column("pending"), expression=exp.false())
                chosen = column("number").eq(number(entry.number))
                update = exp.Update(this=table_of("releases"), expressions=[settled], where=exp.Where(this=chosen))
                self.engine.execute(update, "the sidecar")
            else:
                self._drop(entry.number)
        return published

    def settle_all(self) -> None:
        """Settle what runs that were cut short have left pending."""
        for entry in self.entries:
            if entry.pending:
                self.settle(entry)

    def _drop(self, dropped: int | None) -> None:
        if dropped is None:
            return
        for table, key in (("counts", RELEASE), ("releases", "number")):
            chosen = exp.Where(this=column(key).eq(number(dropped)))
            self.engine.execute(exp.Delete(this=table_of(table), where=chosen), "the sidecar")

    @contextmanager
    def _written(self) -> Iterator[None]:
        """A transaction that is durable when the block ends."""
        with self.engine.transaction():
            yield
            _keep_hashes(self.engine, CHANGING)
        self.engine.save(CATALOG)


@contextmanager
def opened(engine: Engine, path: Path) -> Iterator[Sidecar]:
    """Open a sidecar for one run; entries that a dead run has left pending are settled first.

    Raises:
        EngineError: it is not there, is not a sidecar or was changed, is in use, or a pending release cannot be looked
            at.
    """
    possible(path, "sidecar")
    if not os.path.exists(path):  # noqa: PTH110 (that of a Path raises where a name is too long)
        raise EngineError(f"the fit {path} does not exist; make it by `sqlanon fit` or partitions.fit", step="sidecar")
    with attached(engine, path):
        _refuse_other_parts(engine, path)
        sidecar = Sidecar(engine, path, _read_fit(engine, path))
        sidecar.settle_all()
        yield sidecar


@contextmanager
def attached(engine: Engine, path: Path, name: str = CATALOG, *, new: bool = False) -> Iterator[None]:
    """The file of a sidecar, attached under a name and locked within the block, unless it is in use."""
    with ExitStack() as stack:
        try:
            stack.enter_context(engine.attached(path, name, new=new))
        except EngineError as error:
            reason = str(error)
            if error.refusal in (Refusal.LOCKED, Refusal.OPEN):
                reason = f"{path} is in use by another run{error.held_by}: partitions are published one after another"
                reason += ", so wait for it"
            elif error.refusal is Refusal.UNWRITABLE:
                reason = f"{path} cannot be written, which publishing a partition does"
            raise error.reworded(reason, "sidecar") from None
        yield


def _refuse_other_parts(engine: Compute, path: Path, catalog: str = CATALOG) -> None:
    """Refuse a file with anything that would be executed where its tables are read or written."""
    query = SQL.query("other_parts", catalog=string(catalog))
    if engine.fetch(query, "the parts of the sidecar")[0]["part_count"]:
        reason = f"{path} is not what `sqlanon fit` makes: it has more than plain tables, and none of it was read"
        raise EngineError(reason, step="sidecar")


def _read_fit(engine: Engine, path: Path) -> Fit:
    """The fit of a file whose tables are those that were written.

    Raises:
        EngineError: it is not a fit, is one of another version, or was changed.
    """
    try:
        [found] = engine.fetch(_all_of("fit"), "the fit")
        if found["format"] == FORMAT:
            return _unchanged_fit(engine, path, Fit.model_validate_json(str(found["document"])))
    except (KeyError, ValueError):
        raise _not_a_fit(path) from None
    except EngineError as error:
        raise (error if error.step == "sidecar" or error.refusal is not None else _not_a_fit(path)) from None
    raise EngineError(f"{path} was made by another version of sqlanon: take that one", step="sidecar")


def _not_a_fit(path: Path) -> EngineError:
    return EngineError(f"{path} is not what `sqlanon fit` makes", step="sidecar")


def _unchanged_fit(engine: Engine, path: Path, fit: Fit) -> Fit:
    """A fit, unless its tables have other hashes than were kept of them, or what no run writes."""
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


def _keep_hashes(engine: Engine, names: Iterable[str]) -> None:
    """Keep the hashes of tables that were written: of their rows, and of the names and types of their columns."""
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


REPLACED = "anon_replaced_fit"
"""The name under which a file that is replaced is attached."""

OWNER_ONLY = 0o600


@contextmanager
def created(engine: Engine, path: Path, *, replace: bool = False) -> Iterator[None]:
    """A new sidecar, attached and empty; it appears under its name when the block ends, not at all when it fails.

    Args:
        engine: the database.
        path: its file.
        replace: whether it may take the place of a sidecar that nothing was published with.

    Raises:
        EngineError: there is a file of that name that may not be replaced, or none can be written.
    """
    possible(path, "sidecar")
    is_there = os.path.lexists(path) and not path.is_dir()
    if is_there and not replace:
        raise TargetError(
            f"the file {path} exists; give another name, or replace=True for a fit that nothing was published with",
            step="sidecar",
        )
    with ExitStack() as stack:
        if is_there:
            stack.enter_context(_unused(engine, path))
        staged = stack.enter_context(staged_file(path, replace=is_there))
        stack.enter_context(attached(engine, staged, new=True))
        staged.chmod(OWNER_ONLY)
        yield


@contextmanager
def _unused(engine: Engine, path: Path) -> Iterator[None]:
    """A sidecar that is to be replaced, with which nothing was published, locked within the block."""
    with opened(engine, path) as replaced:  # which settles what a dead run has left
        _refuse_published(path, len(replaced.entries))
    with attached(engine, path, REPLACED):
        _refuse_other_parts(engine, path, REPLACED)
        count = SQL.query("entry_count", entries=table_of("releases", REPLACED))
        _refuse_published(path, int(engine.fetch(count, "the entries of the sidecar")[0]["entries"]))
        yield


def _refuse_published(path: Path, entries: int) -> None:
    if entries:
        raise EngineError(
            f"{path} holds the counts of {entries:,} published partitions, without which no other can be proved with "
            "them: give another name for the new fit",
            step="sidecar",
        )


def write_fit(
    engine: Engine, fit: Fit, counts: exp.Query, reference: exp.Query, classes: exp.Query | None = None
) -> None:
    """Fill a new sidecar, within the transaction of the run.

    Args:
        engine: the database.
        fit: the fit.
        counts: a query of no rows with the counted columns as they are published.
        reference: the counts of the values that classes are compared with.
        classes: the list of classes, if these have levels of their own.
    """
    document, used = string(fit.model_dump_json(exclude={"findings"})), [*map(string, fit.taxonomy_sha256)]
    domains = taxonomies.domains_of(engine.taxonomy)
    queries = {
        "fit": SQL.query("document", format=FORMAT, document=document),
        "releases": SQL.query("no_entries"),
        "counts": SQL.query("no_counts", shape=counts),
        "reference": reference,
        **({} if classes is None else {"classes": classes}),
        "taxonomy": taxonomies.SQL.query("rows_of", taxonomy=engine.taxonomy, attributes=used),
        "taxonomy_domain": taxonomies.SQL.query("rows_of", taxonomy=domains, attributes=used),
    }
    for name, query in {**queries, HASHES: SQL.query("no_hashes")}.items():
        engine.execute(exp.Create(this=table_of(name), kind="TABLE", expression=query), "the sidecar")
    _keep_hashes(engine, queries)
