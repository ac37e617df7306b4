"""Where partitions are published, however that is spelled, and which release is there."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict
from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.errors import EngineError
from sqlanon.model.destination import Destination
from sqlanon.model.names import folded
from sqlanon.model.record import readable_record
from sqlanon.publish.listings import note_of
from sqlanon.publish.targets import note_of_file
from sqlanon.queries.kit.nodes import identifier


class Place(BaseModel):
    """The place of a release.

    Attributes:
        name: as the user spelled it.
        file: the file or folder itself, or the file of the database that holds the table; None for one in memory.
        table: database, schema and name of the table; empty for a file or folder.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    file: str | None
    table: tuple[str, ...] = ()

    def same_as(self, other: Place) -> bool:
        """Whether it is the same place, however it is spelled."""
        return self._found_by == other._found_by

    @property
    def _found_by(self) -> tuple[str | None, ...]:
        """A database has another name in each session that attaches its file; only one in memory is found by name."""
        kept = self.table if self.file is None else self.table[1:]
        return (self.file, *map(folded, kept))


def place_of(engine: Engine, into: Destination) -> Place:
    """Where a partition goes.

    Raises:
        EngineError: the warehouse refuses the table, or it is one of a lake or a store.
    """
    if into.kind in ("lake", "store"):
        reason = f"a sidecar counts no partition in the {into.described}: publish it to a table, a file or a folder"
        raise EngineError(reason, step="target")
    if into.kind != "table":
        return Place(name=into.name, file=str(into.path.resolve()))
    table = engine.refuse_target(into.name, {}, replace=True)
    files = _files(engine)
    return Place(name=into.name, file=files.get(table.catalog), table=(table.catalog, table.db, table.name))


def note_at(engine: Engine, place: Place) -> str | None:
    """The provenance of the release at a place, if there is one; an EngineError where that cannot be looked at."""
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
        f'a run that published the table "{place.name}" of {place.file} was cut short: open that warehouse to go on',
        step="sidecar",
    )


def _note_of_file(engine: Engine, place: Place) -> str | None:
    assert place.file is not None
    file = Path(place.file)
    if not file.parent.is_dir():
        raise EngineError(
            f"a run that published {file} was cut short, and its folder is not there: go on where it is", step="sidecar"
        )
    if not file.exists():
        return None
    if file.is_dir():
        return note_of(file)
    try:
        return note_of_file(engine, file)
    except EngineError as error:
        reason = (
            f"{file} cannot be read, so that it is not known whether the partition there was published; move it away"
        )
        raise error.reworded(reason, "sidecar") from None


def _files(engine: Engine) -> dict[str, str | None]:
    found = engine.databases()
    return {database.name: None if database.file is None else str(database.file.resolve()) for database in found}


def release_at(engine: Engine, place: Place) -> str | None:
    """The identity of the release at a place, as its provenance names it; see :func:`note_at`."""
    found = readable_record(note_at(engine, place))
    return None if found is None or found.fit is None else found.fit.release
