"""What users spell → what is read: a table, Parquet files, a folder of them, or a query."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from functools import partial

from sqlglot import exp

from sqlanon.compiler.macros import DIALECT, template
from sqlanon.engines import catalog, lake
from sqlanon.engines.base import ResolvedSource
from sqlanon.engines.catalog import Rows
from sqlanon.errors import EngineError
from sqlanon.model.datasets import dataset_of_files

Describe = Callable[[exp.Expr], object]
"""Looks at the columns of a relation, which has to be readable for that."""

Reader = Callable[[str | Sequence[str]], exp.Table | exp.Subquery]
"""A glob, or files, as a relation."""


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
        query = catalog.parse_query(source)
        return dataclasses.replace(query, globbed=_globbed(query, rows))
    raise catalog.not_found(rows, source)


def _globbed(query: ResolvedSource, rows: Rows) -> tuple[str, ...]:
    """The files of the globs that the tables of a query are spelled with."""
    spelled = [
        text.name for table in query.relation.find_all(exp.Table) for text in (table, *table.find_all(exp.Literal))
    ]
    return tuple(file for pattern in sorted({*filter(lake.is_glob, spelled)}) for file in _matched(pattern, rows))


def _at_home(path: str, rows: Rows) -> str:
    """A path with the home that the connection says; without one, it is that of the user."""
    home = rows(template("home_directory").sql(DIALECT), ())[0][0] if path.startswith("~") else None
    return home + path.removeprefix("~") if home else path


def _folder(source: str, rows: Rows) -> ResolvedSource:
    """A folder with all that is below it; a release of ours with its own columns and types."""
    if (unreadable := lake.unreadable_below(source)) is not None:
        raise EngineError(f"the folder {unreadable} cannot be read, so its files would be left out", step="source")
    note = lake.marked(source)
    read: Reader = lake.reader
    if note is not None:
        layout = note["folder"]
        read = partial(lake.release_reader, columns=layout["columns"], partition_by=layout["partition_by"])
    pattern = lake.pattern_below(source)
    return _files(f"Parquet folder {source}", pattern, rows, dataset_of_files(source), read)


def _files(description: str, pattern: str, rows: Rows, dataset: str, read: Reader = lake.reader) -> ResolvedSource:
    matched = _matched(pattern, rows)
    _refuse_left_out(_at_home(pattern, rows), matched, rows)
    files = lake.published(matched)
    if len(files) > 1:
        _refuse_unlike(description, files, rows)
    # The pattern itself where it will do: a list of many files makes every statement long.
    paths = pattern if len(files) == len(matched) else files
    return ResolvedSource(read(paths), description, files, dataset)


def _refuse_left_out(pattern: str, matched: Sequence[str], rows: Rows) -> None:
    """Refuse links to folders, which DuckDB's ``**`` passes by without a word, unless nothing is left out so.

    Raises:
        EngineError: names the link.
    """
    folders, rest = lake.walked(pattern)
    for folder in folders:
        for link in lake.links_below(folder):
            below = lake.escaped(link) + rest
            if lake.is_above(link, folder) or _has_more(below, matched, rows):
                raise EngineError(
                    f"{link} is a symbolic link to a folder, whose files would be left out: remove it, or name the "
                    f"folders one by one in a query over read_parquet(['{pattern}', '{below}'])",
                    step="source",
                )


def _has_more(pattern: str, matched: Sequence[str], rows: Rows) -> bool:
    """Whether a glob stands for a file that is not matched already, under whatever name."""
    known = {os.path.realpath(file) for file in matched}
    return any(os.path.realpath(file) not in known for file in lake.published(_matched(pattern, rows)))


def _refuse_unlike(description: str, files: Sequence[str], rows: Rows) -> None:
    """Refuse files of several layouts: DuckDB takes the columns of the first, and casts the others to its types.

    Raises:
        EngineError: one has other columns or types than the first, or is no Parquet file.
    """
    unlike = template("unlike_files").sql(DIALECT)
    try:
        found = rows(unlike, (list(files),))
    except EngineError as error:
        broken = next((file for file in files if not _is_parquet(file, rows)), None)
        reason = f"{description} cannot be read" if broken is None else f"{broken} cannot be read as a Parquet file"
        raise EngineError(reason, step="source", original=error.original) from None
    for first, other, *alone in found:
        here, there = (", ".join(columns) or "nothing else" for columns in alone)
        raise EngineError(
            f"{description} has files of different columns: {first} has {here}, where {other} has {there}; bring them "
            "to one form by a query over read_parquet with union_by_name = true",
            step="source",
        )


def _is_parquet(file: str, rows: Rows) -> bool:
    try:
        rows(template("unlike_files").sql(DIALECT), ([file],))
    except EngineError:
        return False
    return True


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
