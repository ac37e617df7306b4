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
    """Yield the tables that the note of a release names, if their own notes are those of its parts."""
    record = readable_record(note)
    for written in () if record is None else record.tables.values():
        found = table_beside(engine, release, written.table)
        own = None if found is None else readable_record(found.comment)
        if found is not None and own is not None and own.companion is not None and own.content == written.content:
            yield found.table
