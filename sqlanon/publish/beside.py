"""Tables that belong to a release in a warehouse, as a matrix of PRAM does."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import Stored
from sqlanon.model.record import readable_record


def table_beside(engine: Engine, release: exp.Expr, name: str) -> Stored | None:
    """Find a table that a release names, in the schema of the release first."""
    places: list[str | exp.Table] = [name]
    if isinstance(release, exp.Table):
        places.insert(0, exp.table_(name, release.db, release.catalog, quoted=True))
    return next(filter(None, map(engine.find, places)), None)


def tables_beside_release(engine: Engine, release: exp.Table, note: str | None) -> Iterator[exp.Table]:
    """Yield the tables that the note of a release names, as long as their own notes are those it was sealed with."""
    record = readable_record(note)
    for written in () if record is None else record.tables.values():
        found = table_beside(engine, release, written.table)
        own = None if found is None else readable_record(found.comment)
        if found is None or own is None or own.companion is None or own.content != written.content:
            continue
        named = table_beside(engine, release, own.companion.release)
        if named is not None and named.table == release:
            yield found.table
