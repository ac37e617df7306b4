"""Files → relations: which files a path, a glob or a folder means, and how they are read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from glob import glob
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sqlglot import exp

from sqlanon.compiler.macros import DIALECT
from sqlanon.compiler.nodes import column, identifier, select, string
from sqlanon.engines.base import NOTE_KEY
from sqlanon.errors import EngineError
from sqlanon.model.datasets import GLOB_CHARACTERS, LOCAL
from sqlanon.model.destination import FILE_SUFFIX, MARKER
from sqlanon.model.names import folded

PARQUET_READER = "read_parquet"

STAGE = re.compile(r"\.(?P<target>.+)\.(?P<process>\d{1,9})\.\d+\.(?P<state>staged|previous)", re.ASCII)
"""The hidden name of what is being published to a target, and of what is there no more."""


def is_glob(source: str) -> bool:
    """Whether a source has characters that stand for others."""
    return bool(GLOB_CHARACTERS.intersection(source))


def is_folder(source: str) -> bool:
    """Whether a source is the path of a folder that is there."""
    try:
        return bool(source.strip()) and Path(source).is_dir()
    except (OSError, ValueError):
        return False  # no name that a file can have


def unreadable_below(folder: str) -> str | None:
    """A folder below one, or the folder itself, that may not be listed: a glob passes it by without a word."""
    failed: list[OSError] = []
    for _ in os.walk(folder, onerror=failed.append):
        if failed:
            break
    return str(failed[0].filename) if failed else None


def links_below(folder: str) -> Iterator[str]:
    """The symbolic links to folders below a folder that lead out of it, which a glob of ``**`` does not enter.

    Those in the folders that they lead to come as well. No folder is looked at twice, whatever loops there are; what
    leads to a folder that the given one is in is not followed.
    """
    seen: list[Path] = []
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        seen.append(Path(os.path.realpath(here)))
        for place, below, _ in os.walk(here):
            links = [os.path.join(place, name) for name in sorted(below) if Path(place, name).is_symlink()]  # noqa: PTH118
            for link in links:
                real = Path(os.path.realpath(link))
                if not any(real.is_relative_to(known) for known in seen):
                    yield link
                    if not is_above(link, folder):
                        waiting.append(link)


def is_above(link: str, folder: str) -> bool:
    """Whether a link leads to a folder that another one is in."""
    return Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(link))


def walked(pattern: str) -> tuple[list[str], str]:
    """The folders below which a glob looks at any depth, and how it goes on from there; none if it has no ``**``."""
    parts = LOCAL.sub("", pattern, count=1).split("/")
    if "**" not in parts:
        return [], ""
    place = parts.index("**")
    start = "/".join(parts[:place]) or ("/" if place else ".")
    folders = glob(start) if is_glob(start) else [start]  # noqa: PTH207 (a Path takes no absolute pattern)
    return folders, "/" + "/".join(parts[place:])


def escaped(path: str | Path) -> str:
    """The glob that matches one path alone."""
    return "".join(f"[{sign}]" if sign in GLOB_CHARACTERS else sign for sign in str(path)).rstrip("/")


def pattern_below(folder: str | Path, suffix: str = FILE_SUFFIX) -> str:
    """The glob of all files with a suffix in a folder and in those below it."""
    return f"{escaped(folder)}/**/*{suffix}"


def published(files: Sequence[str]) -> tuple[str, ...]:
    """The files that are not in a stage: what is being published, or was by a process that was killed, is no source."""
    return tuple(file for file in files if not any(STAGE.fullmatch(part) for part in Path(file).parts))


def reader(paths: str | Sequence[str], function: str = PARQUET_READER) -> exp.Table:
    """Files as DuckDB reads them, partition columns included."""
    if function == PARQUET_READER:
        return exp.Table(this=exp.func(function, _paths(paths), dialect=DIALECT))
    return exp.Table(this=exp.Anonymous(this=function, expressions=[_paths(paths), _no_comments()]))


def bare_reader(file: str, function: str) -> exp.Table:
    """A file as DuckDB reads it, without what the names of its folders say."""
    options = [string(file), _option("hive_partitioning", exp.false())]
    options += [] if function == PARQUET_READER else [_no_comments()]
    return exp.Table(this=exp.Anonymous(this=function, expressions=options))


def _no_comments() -> exp.Expr:
    """DuckDB would take a # in some rows for the sign of a comment, and leave out what follows it, whole rows too."""
    return _option("comment", string(""))


def folder_columns(file: str) -> set[str]:
    """The columns that the names of a file's folders would give it, ``column=value``, folded."""
    return {folded(unquote(part.partition("=")[0])) for part in Path(file).parts[:-1] if "=" in part}


def plain_reader(paths: str | Sequence[str]) -> exp.Table:
    """Files as they are: all columns that any of them has, and no others, such as those of partitions."""
    options = [_option("union_by_name", exp.true()), _option("hive_partitioning", exp.false())]
    return exp.Table(this=exp.Anonymous(this=PARQUET_READER, expressions=[_paths(paths), *options]))


def csv_reader(files: str | Sequence[str], columns: Mapping[str, str]) -> exp.Table:
    """CSV files of ours as they were released, nothing in them guessed: see :func:`sqlanon.engines.copying.csv`.

    Args:
        files: one or several with the same columns.
        columns: the types of their columns, by name and in order.
    """
    types = [exp.PropertyEQ(this=identifier(name), expression=string(kind)) for name, kind in columns.items()]
    options = {
        "columns": exp.Struct(expressions=types),
        "auto_detect": exp.false(),
        "header": exp.true(),
        "delim": string(","),
        "quote": string('"'),
        "escape": string('"'),
        "nullstr": string(""),
        "allow_quoted_nulls": exp.false(),
        "compression": string("none"),
        "hive_partitioning": exp.false(),
        # A text may look like the lines around it, which a thread that begins in its middle would take for them.
        "parallel": exp.false(),
    }
    given = [_option(name, value) for name, value in options.items()]
    return exp.Table(this=exp.Anonymous(this="read_csv", expressions=[_paths(files), *given]))


def release_reader(
    paths: str | Sequence[str], columns: Mapping[str, str], partition_by: Sequence[str], *, by_name: bool = False
) -> exp.Subquery:
    """The files of a release as it was released: its columns in their order, partition columns in their types.

    A reader that is told nothing takes a label such as 10 for a number.

    Args:
        paths: the glob of the files, or all of them.
        columns: the types of all columns of the release, by name.
        partition_by: those that are folders.
        by_name: whether the files may differ in their columns, as those of a release that was changed since do.
    """
    options: list[exp.Expr] = [_option("hive_partitioning", exp.convert(bool(partition_by)))]
    if partition_by:
        types = [exp.PropertyEQ(this=identifier(name), expression=string(columns[name])) for name in partition_by]
        options.append(_option("hive_types", exp.Struct(expressions=types)))
    if by_name:
        options.append(_option("union_by_name", exp.true()))
    files = exp.Table(this=exp.Anonymous(this=PARQUET_READER, expressions=[_paths(paths), *options]))
    return exp.Subquery(this=select([column(name) for name in columns], files))


def marked(folder: str | Path) -> dict[str, Any] | None:
    """What the marker of a release folder says; None if the folder has none.

    Raises:
        EngineError: it has one that is not what sqlanon writes.
    """
    marker = Path(folder, MARKER)
    try:
        text = marker.read_bytes()
    except (OSError, ValueError):
        return None
    try:
        note = json.loads(text)[NOTE_KEY]
        layout = note["folder"]
        known = _is_layout(layout["columns"], layout["partition_by"])
    except (ValueError, KeyError, TypeError, RecursionError):
        known = False
    if not known:
        raise EngineError(
            f"{marker} is not what sqlanon writes beside a release, so the types of its columns are not known; bring "
            "it back, or remove it to have the files read as any others",
            step="source",
        )
    return dict(note)


def _is_layout(columns: object, partition_by: object) -> bool:
    """Whether columns have types, and those that the files are partitioned by are among them."""
    if not isinstance(columns, dict) or not isinstance(partition_by, list) or not columns:
        return False
    return all(isinstance(kind, str) for kind in columns.values()) and all(
        isinstance(name, str) and name in columns for name in partition_by
    )


def _paths(paths: str | Sequence[str]) -> exp.Expr:
    return string(paths) if isinstance(paths, str) else exp.Array(expressions=[string(path) for path in paths])


def _option(name: str, value: exp.Expr) -> exp.Expr:
    return exp.PropertyEQ(this=exp.to_identifier(name), expression=value)
