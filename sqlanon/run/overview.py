"""The tables of a warehouse at a glance: their rows, and which of them are releases."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.engines.duckdb import Compute
from sqlanon.model.record import Record, RecordError
from sqlanon.model.release.measurement import PartialResult, Result
from sqlanon.queries.kit.named import Queries
from sqlanon.report.document import Part, Table, count, paragraph

SQL = Queries("tables")


class TableOverview(PartialResult):
    """A table or view of the warehouse."""

    name: str  # with its schema, unless that is the current one
    rows: int | None  # about how many it has; None of a view
    columns: int  # how many it has
    kind: str  # what its provenance says that it is, or ``"view"``; empty of any other table


class Overview(Result):
    """The tables and views of a database, by name."""

    database: str
    tables: tuple[TableOverview, ...]

    @property
    def heading(self) -> str:
        return f"Session on {self.database}"

    def parts(self) -> Iterator[Part]:
        yield paragraph(f"sqlanon session on {self.database}")
        rows = [(each.name, count(each.rows), count(each.columns), each.kind) for each in self.tables]
        yield Table(("table", "rows", "columns", ""), rows, numbers=(1, 2)) if rows else paragraph("no table yet")


def overview(engine: Compute) -> Overview:
    """List the tables and views of the current database, without those of sqlanon.

    Raises:
        EngineError: the database is closed.
    """
    found = engine.fetch(SQL.query("overview"), "the tables of the database")
    tables = tuple(
        TableOverview(
            name=row["table_name"],
            rows=row["row_count"],
            columns=row["column_count"],
            kind="view" if row["row_count"] is None else _kind(row["comment"]),
        )
        for row in found
        if row["table_name"] is not None
    )
    return Overview(database=found[0]["database_name"], tables=tables)


def _kind(comment: str | None) -> str:
    """Return what a table is by the provenance in its comment."""
    try:
        record = Record.parse(comment)
    except RecordError:
        return "of another version of sqlanon"
    match record:
        case None:
            return ""
        case Record(companion=companion) if companion is not None:
            return f"{companion.name} of a release"
        case Record(lattice=lattice) if lattice is not None:
            return "nodes of a lattice"
        case Record(flattened=flattened) if flattened is not None:
            return "individuals, flattened"
        case Record(generalized=generalized) if generalized is not None:
            return "new rows with the labels of a release"
        case _:
            return "release"
