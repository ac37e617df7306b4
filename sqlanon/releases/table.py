"""The table ``anon.releases`` of a warehouse, in which its sessions write down what they publish."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.locks import OVERTAKEN, retry_while_locked
from sqlanon.errors import EngineError
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import identifier

SQL = Queries("releases")


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


def table_of(engine: Engine) -> exp.Table:
    """The table of a warehouse."""
    return engine.warehouse.anon("releases")


def is_there(engine: Engine) -> bool:
    """Whether the table is there.

    Raises:
        EngineError: there is another table or view of that name.
    """
    table = table_of(engine)
    found = engine.find(table)
    if found is None:
        return False
    if found.is_view or [each.name for each in engine.describe(table)] != [field.name for field in fields(Row)]:
        raise EngineError(
            "the releases of this warehouse are listed in anon.releases, and there is another table or view of that "
            "name: rename it (ALTER TABLE anon.releases RENAME TO releases_before), and run again",
            step="releases",
        )
    return True


def make(engine: Engine) -> None:
    """Make the table, unless it is there.

    Raises:
        EngineError: the warehouse cannot be written.
    """
    retry_while_locked(lambda: _make(engine), OVERTAKEN)


def _make(engine: Engine) -> None:
    schema = table_of(engine)
    schema.set("this", None)
    with engine.transaction():
        engine.execute(exp.Create(this=schema, kind="SCHEMA", exists=True), "schema anon")
        engine.execute(_statement(engine, "releases_table"), "the list of releases")


def rows(engine: Engine) -> list[Row]:
    """All rows, in the order in which the releases were made; none without the table.

    Raises:
        EngineError: there is another table of that name.
    """
    if not is_there(engine):
        return []
    found = engine.fetch(_statement(engine, "release_rows"), "the list of releases")
    return [Row(**{**row, "node": None if row["node"] is None else json.loads(row["node"])}) for row in found]


def make_and_add(engine: Engine, row: Row) -> None:
    """Write a row into the table, which is made if it is not there."""
    make(engine)
    add(engine, row)


def add(engine: Engine, row: Row) -> None:
    """Write a row."""
    node = None if row.node is None else json.dumps(row.node)
    values = [row.target, list(row.datasets), row.method, row.policy_sha256, node, row.row_count, row.min_class_size]
    _run(engine, "note_release", [*values, row.record_sha256, row.fit_sha256, row.made_at])


def note_record(engine: Engine, row: Row, record_sha256: str) -> None:
    """Write the hash of a record into the row of its release."""
    _run(engine, "note_record", [record_sha256, row.target, row.made_at])


def take_back(engine: Engine, row: Row) -> None:
    """Remove the row of a release that was not published."""
    _run(engine, "take_back_release", [row.target, row.made_at])


def forget(engine: Engine, targets: Sequence[str], at: datetime, reason: str) -> None:
    """Mark the releases of some targets as forgotten that are not."""
    _run(engine, "forget_releases", [list(targets), at, reason])


def _run(engine: Engine, name: str, values: Sequence[object]) -> None:
    engine.execute(_statement(engine, name), "the list of releases", values)


def _statement(engine: Engine, name: str) -> exp.Select:
    """A statement on the table of an engine, whatever the connection takes for its own."""
    statement = SQL.query(name)
    for table in statement.find_all(exp.Table):
        table.set("catalog", identifier(engine.warehouse.name))
    return statement
