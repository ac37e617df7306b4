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
    """Name a target for any session, folder or schema: by its table, a path or an address."""
    if table is not None:
        # Without the warehouse, so that a copy of it, or one whose file has another name, has tables of the same names.
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
    """Return the fully qualified table that a target is; None if it is not a table."""
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
    """A target of the list as all its spellings are: a table without regard to case, a path without links to it."""
    if TABLE.fullmatch(target):
        return dataset_named(target)
    return target if target.startswith(ICEBERG) or "://" in target else place(Path(target.removeprefix(DELTA)))


def comparables(name: str) -> tuple[str, ...]:
    """List the targets that a user may mean by a name, likeliest first: a table or an address, or a path."""
    return dataset_named(name), comparable(name), place(Path(name).absolute())


def place(path: Path) -> str:
    """A path with the links to its folder followed, but not the path itself: a link that is a target is replaced."""
    return str(Path(dataset_of_files(str(path.parent)), path.name))


def datasets_of(engine: Engine, source: ResolvedSource) -> tuple[str, ...]:
    """Return the tables and files that a source reads, by the names that a ledger has for them; none for frames."""
    if source.dataset is not None:
        return tuple(_without_values([source.dataset]))
    origins = engine.origins(source)
    files = map(dataset_of_files, (*origins.files, *source.read))
    tables = sorted({dataset_of_table(table.db, table.name) for table in origins.tables})
    return (*tables, *in_folders(_without_values(files)))


def datasets_called(engine: Engine, source: Source, resolve: Callable[[Source], ResolvedSource]) -> tuple[str, ...]:
    """The data sets of what a user names, which may not be here any more; refused if it can be no name either."""
    try:
        return datasets_of(engine, resolve(source))
    except EngineError:
        if not isinstance(source, str | Path):
            raise
        return tuple(_without_values([dataset_named(str(source))]))


# guarded: tests/unit/test_guarded_warehouse.py::test_names_of_data_sets
def have_common(datasets: Iterable[str], others: Sequence[str]) -> bool:
    """Return whether data sets have a table or files in common: equal ones, or files in a folder or a glob."""
    return any(one == other or lies_in(one, other) or lies_in(other, one) for one in datasets for other in others)


def _without_values(paths: Iterable[str]) -> list[str]:
    """Paths without what can be a value or a secret, each once."""
    return list(dict.fromkeys(map(_without_value, paths)))


def _without_value(path: str) -> str:
    """Return a path up to its first folder ``column=value``, and an address of the web up to the question mark.

    The name of such a folder is a value of the rows, and behind a question mark there can be a signature.
    """
    if not FILE.match(path):
        return path
    bare = path.partition("?")[0] if path.startswith(WEB) else path
    parts = bare.split("/")
    values = (place for place, part in enumerate(parts) if "=" in part and not part.lower().endswith(FILE_SUFFIXES))
    return "/".join(parts[: next(values, len(parts))]) or "/"


def in_folders(names: Sequence[str]) -> list[str]:
    """Data sets, each once; where several are files in one folder, that folder: a query can read thousands."""
    found = list(dict.fromkeys(names))
    counts = Counter(map(_folder_of, found))
    return list(dict.fromkeys(_folder_of(name) if counts[_folder_of(name)] > 1 else name for name in found))


def _folder_of(name: str) -> str:
    """Return the folder of a file; of a table its name."""
    return name.rpartition("/")[0] if FILE.match(name) else name
