"""The table ``anon.ledger``: made, brought up to date, read and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import pyarrow as pa
from sqlglot import exp

from sqlanon.engines.base import Engine, Warehouse
from sqlanon.model.ledger import ADDED, Entry
from sqlanon.queries.kit.macros import template
from sqlanon.queries.kit.nodes import DIALECT, Relation, aliased, column, identifier, select

NEW = Relation("anon_new_entries", "count")
TYPES = {
    "position": pa.int64(),
    "spent_at": pa.timestamp("us"),
    "rows_per_individual": pa.int64(),
    "files": pa.list_(pa.struct([("path", pa.string()), ("fingerprint", pa.string())])),
}
NEW_COLUMNS = {"rows_per_individual": "BIGINT", "files": "STRUCT(path VARCHAR, fingerprint VARCHAR)[]"}
"""The types of columns that ledgers of earlier versions do not have; the others are text."""


def table_of(entries: Sequence[Entry]) -> pa.Table:
    """The rows with the columns of ``anon.ledger``; times in UTC."""
    columns = [(field.name, TYPES.get(field.name, pa.string())) for field in fields(Entry)]
    return pa.Table.from_pylist([vars(entry) for entry in entries], schema=pa.schema(columns))


def ledger_of(engine: Warehouse) -> exp.Table:
    """The table that is the ledger of a warehouse."""
    return engine.warehouse.anon("ledger")


def create(engine: Engine) -> None:
    """The table of the ledger, when its first row is written, or the columns that it did not have before."""
    create_schema(engine)
    engine.execute(located(engine, "ledger_table"), "the ledger")
    for name in _missing(engine):
        column_type = exp.DataType.build(NEW_COLUMNS.get(name, "VARCHAR"), dialect=DIALECT)
        add = exp.ColumnDef(this=identifier(name), kind=column_type)
        engine.execute(exp.Alter(this=ledger_of(engine), kind="TABLE", actions=[add]), "the ledger")


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


def _missing(engine: Engine) -> list[str]:
    """The columns that a ledger of an earlier version does not have."""
    there = {found.name for found in engine.describe(ledger_of(engine))}
    return [name for name in ADDED if name not in there]


def rows(engine: Engine) -> exp.Select:
    """The rows of the ledger; NULL in columns that those of an earlier version do not have."""
    missing = [aliased(exp.null(), name) for name in _missing(engine)]
    present = [column(name) for name in ADDED if name not in {each.alias for each in missing}]
    return located(engine, "ledger_rows").select(*present, *missing, copy=False)


def located(engine: Warehouse, name: str) -> exp.Select:
    """A template over the ledger of an engine, or what is beside it."""
    statement = template(name)
    for table in statement.find_all(exp.Table):
        table.set("catalog", identifier(engine.warehouse.name))
    return statement
