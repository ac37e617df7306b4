"""What users spell → what is read: a table, Parquet files, a folder of them, or a query."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from sqlglot import exp

from sqlanon.compiler.macros import DIALECT, template
from sqlanon.engines import catalog, lake
from sqlanon.engines.base import ResolvedSource
from sqlanon.engines.catalog import Rows
from sqlanon.errors import EngineError
from sqlanon.model.datasets import dataset_of_files

Describe = Callable[[exp.Expr], object]
"""Looks at the columns of a relation, which has to be readable for that."""


def resolve(source: str, rows: Rows, describe: Describe, warehouse: str) -> ResolvedSource:
    """The source of a spelling, a table first; ``warehouse`` is the database whose tables the ledger knows by name.

    Raises:
        EngineError: there is none; or there is, and it cannot be read.
    """
    found = catalog.find(rows, source)
    if found is not None:
        return ResolvedSource(found.table, f'table "{source}"', dataset=catalog.dataset_of(found, warehouse))
    if lake.is_folder(source):
        return _readable(source, _folder(source, rows), describe)
    if catalog.is_path(source):
        dataset = dataset_of_files(_at_home(source, rows))
        return _readable(source, _files(f"Parquet {source}", source, rows, dataset), describe)
    if catalog.is_query(source):
        return catalog.parse_query(source)
    raise catalog.not_found(rows, source)


def _at_home(path: str, rows: Rows) -> str:
    """A path with the home that the connection says; without one, it is that of the user."""
    home = rows(template("home_directory").sql(DIALECT), ())[0][0] if path.startswith("~") else None
    return home + path.removeprefix("~") if home else path


def _folder(source: str, rows: Rows) -> ResolvedSource:
    """A folder with all that is below it; a release of ours with its own columns and types."""
    pattern = lake.pattern_below(source)
    found = _files(f"Parquet folder {source}", pattern, rows, dataset_of_files(source))
    note = lake.marked(source)
    if note is None:
        return found
    relation = lake.release_reader(pattern, note["folder"]["columns"], note["folder"]["partition_by"])
    return dataclasses.replace(found, relation=relation)


def _files(description: str, pattern: str, rows: Rows, dataset: str) -> ResolvedSource:
    matched = _matched(pattern, rows)
    files = lake.published(matched)
    # The pattern itself where it will do: a list of many files makes every statement long.
    paths = pattern if len(files) == len(matched) else files
    return ResolvedSource(lake.reader(paths), description, files, dataset)


def _matched(pattern: str, rows: Rows) -> list[str]:
    try:
        return [row[0] for row in rows(template("glob_files").sql(DIALECT), (pattern,))]
    except EngineError:
        return []  # what is wrong with it will show when it is read


def _readable(source: str, found: ResolvedSource, describe: Describe) -> ResolvedSource:
    try:
        describe(found.relation)
    except EngineError as error:
        reason = f"no Parquet file can be read at {source}"
        raise EngineError(reason, step="source", original=error.original) from None
    return found
