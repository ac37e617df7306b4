"""CSV files that a query names as tables: they are read as a source that names them is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from sqlglot import exp

from sqlanon.engines.duckdb import catalog
from sqlanon.engines.duckdb.catalog import Rows
from sqlanon.engines.duckdb.reading.lake import CSV
from sqlanon.engines.duckdb.reading.origins import is_of_with
from sqlanon.queries.kit.nodes import identifier

BY_NAME = ("this", "db", "catalog")
"""The parts of a table in a query that name it."""


def with_files_as_text(
    query: exp.Table | exp.Subquery, rows: Rows, read: Callable[[str], exp.Table | exp.Subquery]
) -> tuple[exp.Table | exp.Subquery, tuple[str, ...]]:
    """A query that reads the CSV files that it names as tables by ``read``, and the names of these.

    Raises:
        EngineError: one cannot be read.
    """
    query, names = query.copy(), list[str]()
    for table in [*query.find_all(exp.Table)]:
        name = table.name
        is_name = isinstance(table.this, exp.Identifier) and not table.db and CSV.has(name)
        if is_name and not is_of_with(table) and catalog.find(rows, table.sql("duckdb")) is None:
            relation = read(name).copy()
            for part, value in table.args.items():
                if part not in BY_NAME and value:
                    relation.set(part, value)
            if not table.alias:
                relation.set("alias", exp.TableAlias(this=identifier(PurePosixPath(name).name.partition(".")[0])))
            table.replace(relation)
            names.append(name)
    return query, (*dict.fromkeys(names),)
