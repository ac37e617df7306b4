"""The table ``anon.releases`` of a warehouse, and rows that wait to be written into it.

A run that publishes a file opens its warehouse read-only, so that others can read it, and must not publish an
unregistered release. Its row is a file in a hidden folder beside the warehouse until a session with write access takes
it up. The list includes such rows. The names by which it calls targets and data sets are made here, too.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from datetime import datetime
from pathlib import Path

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.locks import OVERTAKEN, retry_while_locked
from sqlanon.engines.paths import lies_in
from sqlanon.engines.relations import ResolvedSource, Source
from sqlanon.errors import EngineError
from sqlanon.model.criteria import CLASS_SIZE
from sqlanon.model.destination import DELTA, ICEBERG, Destination
from sqlanon.model.labels import NodeRecord
from sqlanon.model.names import (
    FILE,
    MAIN,
    SOURCE_SUFFIXES,
    TABLE,
    dataset_named,
    dataset_of_files,
    dataset_of_table,
    parts_of,
    table_named,
)
from sqlanon.model.record import Record, sha256_of_json
from sqlanon.publish.files import cannot_be_written, flush
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import identifier

SQL = Queries("releases")
SUFFIX, STAGED = ".row", ".staged"  # file suffixes of a waiting row, and of one being written


@dataclass(frozen=True)
class Row:
    """A row of the table; see :class:`sqlanon.model.release.joint.ListedRelease`."""

    target: str
    datasets: Sequence[str]
    method: str
    policy_sha256: str
    node: dict[str, int] | None
    row_count: int | None
    min_class_size: int | None
    record_sha256: str | None
    fit_sha256: str | None
    made_at: datetime
    forgotten_at: datetime | None = None
    forgotten_reason: str | None = None
    perturbed: Sequence[str] | None = None  # columns; None in a row of an earlier version


COLUMNS = [each.name for each in fields(Row)]
OLDER_COLUMNS = COLUMNS[:-1]


def row_of(name: str, datasets: Sequence[str], record: Record, fit_sha256: str | None, made_at: datetime) -> Row:
    """Return the row of an unconfirmed release; a partition's counts include all partitions of its fit."""
    assert record.policy is not None
    assert record.policy_sha256 is not None
    labels, report = record.labels, record.report
    persons = None if record.linked is None else next(iter(record.linked.tables.values())).rows
    rows = persons or (record.rows if record.fit is None else record.fit.rows)
    drawn = None if report is None else report.released_rows
    method = record.policy.as_json["method"]
    sizes = [bound.attained for bound in record.privacy if bound.measure == CLASS_SIZE.name]
    smallest = None if not sizes or sizes[0] is None else int(sizes[0])
    return Row(
        target=name,
        datasets=datasets,
        method=method if isinstance(method, str) else method["model"],
        policy_sha256=record.policy_sha256,
        node=labels.levels if isinstance(labels, NodeRecord) and labels.levels else None,
        row_count=drawn if rows is None else rows.released,
        min_class_size=smallest if report is None or persons is not None else report.min_class_size,
        record_sha256=None,
        fit_sha256=fit_sha256,
        made_at=made_at,
        perturbed=record.policy.perturbed_columns,
    )


def table_of(engine: Engine) -> exp.Table:
    return engine.warehouse.anon("releases")


def columns(engine: Engine) -> list[str]:
    """Return the columns of the table, none if it does not exist; refuse another table or view of that name."""
    table = table_of(engine)
    found = engine.find(table)
    if found is None:
        return []
    names = [each.name for each in engine.describe(table)]
    if found.is_view or names not in (OLDER_COLUMNS, COLUMNS):
        raise EngineError(
            "sqlanon lists releases in anon.releases, but another table or view has that name: rename it (ALTER TABLE "
            "anon.releases RENAME TO releases_before), and run again",
            step="releases",
        )
    return names


def make(engine: Engine) -> None:
    def attempt() -> None:
        schema = table_of(engine)
        schema.set("this", None)
        with engine.transaction():
            engine.execute(exp.Create(this=schema, kind="SCHEMA", exists=True), "schema anon")
            engine.execute(_statement(engine, "releases_table"), "the list of releases")
            if columns(engine) == OLDER_COLUMNS:
                engine.execute(_statement(engine, "perturbed_column"), "the list of releases")

    retry_while_locked(attempt, OVERTAKEN)


def rows(engine: Engine) -> list[Row]:
    if not columns(engine):
        return []
    found = engine.fetch(_statement(engine, "release_rows"), "the list of releases")
    return [Row(**{**row, "node": None if row["node"] is None else json.loads(row["node"])}) for row in found]


def add(engine: Engine, row: Row) -> None:
    node = None if row.node is None else json.dumps(row.node)
    perturbed = None if row.perturbed is None else list(row.perturbed)
    values = [row.target, list(row.datasets), row.method, row.policy_sha256, node, row.row_count, row.min_class_size]
    _run(engine, "note_release", [*values, row.record_sha256, row.fit_sha256, row.made_at, perturbed])


def note_record(engine: Engine, row: Row, record_sha256: str) -> None:
    _run(engine, "note_record", [record_sha256, row.target, row.made_at])


def take_back(engine: Engine, row: Row) -> None:
    _run(engine, "take_back_release", [row.target, row.made_at])


def forget(engine: Engine, targets: Sequence[str], at: datetime, reason: str) -> None:
    _run(engine, "forget_releases", [list(targets), at, reason])


def _run(engine: Engine, name: str, values: Sequence[object]) -> None:
    engine.execute(_statement(engine, name), "the list of releases", values)


def _statement(engine: Engine, name: str) -> exp.Select:
    """Return a statement on the warehouse's table, whatever the connection's current database is."""
    statement = SQL.query(name)
    for table in statement.find_all(exp.Table):
        table.set("catalog", identifier(engine.warehouse.name))
    return statement


def waiting_folder(file: Path) -> Path:
    place = Path(os.path.realpath(file))
    return place.with_name(f".{place.name}.releases")


def can_wait(engine: Engine) -> bool:
    """Return whether a row may wait beside the warehouse: its file is writable and has tables of sqlanon."""
    file = engine.warehouse.file
    if file is None or not (os.access(file, os.W_OK) and os.access(waiting_folder(file).parent, os.W_OK)):
        return False
    return any(engine.find_all(table_of(engine), engine.warehouse.anon("taxonomy")))


def waiting_rows(engine: Engine) -> list[Row]:
    return [_read_waiting(path) for path in _waiting_files(engine, SUFFIX)]


def write_waiting(engine: Engine, row: Row) -> None:
    """Store a waiting row durably, replacing an earlier one of the same release."""
    file = engine.warehouse.file
    assert file is not None
    path = _waiting_file(file, row)
    staged = path.with_suffix(STAGED)
    with cannot_be_written(path, "releases"):
        if not path.parent.exists():
            path.parent.mkdir(exist_ok=True)
            # The permissions of the warehouse apply to its waiting rows.
            path.parent.chmod(path.parent.parent.stat().st_mode & 0o777)
            flush(path.parent.parent)
        staged.write_text(json.dumps({**vars(row), "made_at": row.made_at.isoformat()}), encoding="utf-8")
        staged.chmod(file.stat().st_mode & 0o666)
        flush(staged)
        staged.replace(path)
        flush(path.parent)


def remove_waiting(engine: Engine, row: Row) -> None:
    file = engine.warehouse.file
    if file is not None:
        with suppress(OSError):
            _waiting_file(file, row).unlink()
            waiting_folder(file).rmdir()  # fails while other rows wait


def take_up(engine: Engine) -> None:
    found = waiting_rows(engine)

    def attempt() -> None:
        with engine.transaction():
            known = {(row.target, row.made_at): row for row in rows(engine)}
            for row in found:
                before = known.get((row.target, row.made_at))
                if before is None:
                    add(engine, row)
                elif before.record_sha256 is None and row.record_sha256 is not None:
                    note_record(engine, row, row.record_sha256)

    if found or columns(engine) == OLDER_COLUMNS:
        make(engine)
        retry_while_locked(attempt, OVERTAKEN)
    for path in _waiting_files(engine, STAGED):  # left by runs killed while writing
        with suppress(OSError):
            path.unlink()
    for row in found:
        remove_waiting(engine, row)


def _waiting_file(file: Path, row: Row) -> Path:
    return waiting_folder(file) / f"{sha256_of_json([row.target, row.made_at.isoformat()])}{SUFFIX}"


def _waiting_files(engine: Engine, suffix: str) -> list[Path]:
    file = engine.warehouse.file
    return [] if file is None else sorted(waiting_folder(file).glob(f"*{suffix}"))


def _read_waiting(path: Path) -> Row:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return replace(Row(**found), made_at=datetime.fromisoformat(found["made_at"]))
    except (OSError, ValueError, TypeError, KeyError) as error:
        reason = "is not a release's row, or cannot be read: the list would be incomplete without it"
        raise EngineError(f"the file {path} {reason}", step="releases", original=error) from None


WEB = ("http://", "https://")


def target_name(engine: Engine, into: Destination, table: exp.Table | None) -> str:
    """Name a target independently of session, folder and schema: by its table, a path or an address."""
    if table is not None:
        # Without the warehouse's name, so that names hold in a copy or a renamed file.
        if table.catalog != engine.warehouse.name:
            return table_named([table.catalog, table.db, table.name])
        return table_named([table.name] if table.db == MAIN else [table.db, table.name])
    if into.kind == "file":
        return place(into.path)
    if into.kind == "folder":
        return f"{place(into.path)}/"
    if into.name.startswith(DELTA):
        return f"{DELTA}{dataset_of_files(into.name).removeprefix(DELTA)}"
    return into.name


def table_called(target: str, warehouse: str) -> exp.Table | None:
    """Return the qualified table of a target, or None."""
    if not TABLE.fullmatch(target):
        return None
    match parts_of(target):
        case [database, schema, name]:
            return exp.table_(name, schema, database, quoted=True)
        case [schema, name]:
            return exp.table_(name, schema, warehouse, quoted=True)
        case parts:
            return exp.table_(parts[-1], MAIN, warehouse, quoted=True)


def comparable(target: str) -> str:
    """Normalize a target: a table without regard to case, a path with links resolved."""
    if TABLE.fullmatch(target):
        return dataset_named(target)
    return target if target.startswith(ICEBERG) or "://" in target else place(Path(target.removeprefix(DELTA)))


def comparables(name: str) -> tuple[str, ...]:
    """List the targets that a user may mean by a name, likeliest first: a table or an address, or a path."""
    return dataset_named(name), comparable(name), place(Path(name).absolute())


def place(path: Path) -> str:
    """Resolve links in a path's folder but not the path itself: a release replaces a link."""
    return str(Path(dataset_of_files(str(path.parent)), path.name))


def datasets_of(engine: Engine, source: ResolvedSource) -> tuple[str, ...]:
    """Return the names in a ledger of the tables and files that a source reads; none for frames."""
    if source.dataset is not None:
        return tuple(_without_values([source.dataset]))
    origins = engine.origins(source)
    files = map(dataset_of_files, (*origins.files, *source.read))
    tables = sorted({dataset_of_table(table.db, table.name) for table in origins.tables})
    return (*tables, *in_folders(_without_values(files)))


def datasets_called(engine: Engine, source: Source, resolve: Callable[[Source], ResolvedSource]) -> tuple[str, ...]:
    """Return the data sets that a user names, which may be gone by now; refuse an impossible name."""
    try:
        return datasets_of(engine, resolve(source))
    except EngineError:
        if not isinstance(source, str | Path):
            raise
        return tuple(_without_values([dataset_named(str(source))]))


# guarded: tests/unit/test_guarded_warehouse.py::test_names_of_data_sets
def have_common(datasets: Iterable[str], others: Sequence[str]) -> bool:
    """Return whether two lists share a table or files: equal names, or files in a folder or a glob."""
    return any(one == other or lies_in(one, other) or lies_in(other, one) for one in datasets for other in others)


def _without_values(paths: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(map(_without_value, paths)))


def _without_value(path: str) -> str:
    """Cut a path at its first folder ``column=value``, and a web address at its question mark.

    The former holds a value of the rows, and a query string may hold a signature.
    """
    if not FILE.match(path):
        return path
    bare = path.partition("?")[0] if path.startswith(WEB) else path
    parts = bare.split("/")
    values = (place for place, part in enumerate(parts) if "=" in part and not part.lower().endswith(SOURCE_SUFFIXES))
    return "/".join(parts[: next(values, len(parts))]) or "/"


def in_folders(names: Sequence[str]) -> list[str]:
    """Replace several files of one folder by the folder, and drop duplicates: a query may read thousands."""
    found = list(dict.fromkeys(names))
    counts = Counter(map(_folder_of, found))
    return list(dict.fromkeys(_folder_of(name) if counts[_folder_of(name)] > 1 else name for name in found))


def _folder_of(name: str) -> str:
    return name.rpartition("/")[0] if FILE.match(name) else name
