"""The table ``anon.ledger``: made, read and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.engines.base import Engine, Warehouse
from sqlanon.model.ledger import Entry
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, column, identifier, select

if TYPE_CHECKING:
    import pyarrow as pa

NEW = Relation("anon_new_entries", "count")


def table_of(entries: Sequence[Entry]) -> pa.Table:
    """The rows with the columns of ``anon.ledger``; times in UTC."""
    import pyarrow as pa  # here, because most runs charge nothing

    types = {
        "position": pa.int64(),
        "spent_at": pa.timestamp("us"),
        "rows_per_individual": pa.int64(),
        "sources": pa.list_(pa.struct([("name", pa.string()), ("fingerprint", pa.string())])),
        "public": pa.list_(pa.string()),
    }
    columns = [(field.name, types.get(field.name, pa.string())) for field in fields(Entry)]
    return pa.Table.from_pylist([vars(entry) for entry in entries], schema=pa.schema(columns))


def ledger_of(engine: Warehouse) -> exp.Table:
    """The table that is the ledger of a warehouse."""
    return engine.warehouse.anon("ledger")


def create(engine: Engine) -> None:
    """The table of the ledger, when its first row is written."""
    create_schema(engine)
    engine.execute(located(engine, "ledger_table"), "the ledger")


def create_schema(engine: Engine) -> None:
    """Schema ``anon`` of the warehouse, where it is missing."""
    schema = ledger_of(engine)
    schema.set("this", None)
    engine.execute(exp.Create(this=schema, kind="SCHEMA", exists=True), "schema anon")


def insert(engine: Engine, entries: Sequence[Entry]) -> None:
    engine.put(NEW, table_of(entries))
    new = select([column(field.name) for field in fields(Entry)], NEW.table)
    engine.execute(
        exp.insert(new, ledger_of(engine), columns=[identifier(field.name) for field in fields(Entry)]), "the ledger"
    )
    engine.drop(NEW)


def rows(engine: Engine) -> exp.Select:
    """The rows of the ledger."""
    return located(engine, "ledger_rows")


def located(engine: Warehouse, name: str) -> exp.Select:
    """A query over the ledger of an engine, or what is beside it."""
    statement = Queries("ledger").query(name)
    for table in statement.find_all(exp.Table):
        table.set("catalog", identifier(engine.warehouse.name))
    return statement
