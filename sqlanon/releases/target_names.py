"""Names of targets and of data sets in the list of releases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.paths import lies_in
from sqlanon.engines.relations import ResolvedSource, Source
from sqlanon.errors import EngineError
from sqlanon.model.destination import DELTA, ICEBERG, Destination
from sqlanon.model.names import (
    FILE,
    FILE_SUFFIXES,
    MAIN,
    TABLE,
    dataset_named,
    dataset_of_files,
    dataset_of_table,
    parts_of,
    table_named,
)

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
    values = (place for place, part in enumerate(parts) if "=" in part and not part.lower().endswith(FILE_SUFFIXES))
    return "/".join(parts[: next(values, len(parts))]) or "/"


def in_folders(names: Sequence[str]) -> list[str]:
    """Replace several files of one folder by the folder, and drop duplicates: a query may read thousands."""
    found = list(dict.fromkeys(names))
    counts = Counter(map(_folder_of, found))
    return list(dict.fromkeys(_folder_of(name) if counts[_folder_of(name)] > 1 else name for name in found))


def _folder_of(name: str) -> str:
    return name.rpartition("/")[0] if FILE.match(name) else name
