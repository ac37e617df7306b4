"""Files of Parquet → relations: which files a path, a glob or a folder means, and how they are read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.compiler.macros import DIALECT
from sqlanon.compiler.nodes import column, identifier, select, string
from sqlanon.engines.base import NOTE_KEY
from sqlanon.model.datasets import GLOB_CHARACTERS
from sqlanon.model.destination import FILE_SUFFIX, MARKER

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


def pattern_below(folder: str | Path, suffix: str = FILE_SUFFIX) -> str:
    """The glob of all files with a suffix in a folder and in those below it."""
    escaped = "".join(f"[{sign}]" if sign in GLOB_CHARACTERS else sign for sign in str(folder))
    return f"{escaped.rstrip('/')}/**/*{suffix}"


def published(files: Sequence[str]) -> tuple[str, ...]:
    """The files that are not in a stage: what is being published, or was by a process that was killed, is no source."""
    return tuple(file for file in files if not any(STAGE.fullmatch(part) for part in Path(file).parts))


def reader(paths: str | Sequence[str]) -> exp.Table:
    """Files as DuckDB reads them, partition columns included."""
    given = string(paths) if isinstance(paths, str) else exp.Array(expressions=[string(path) for path in paths])
    return exp.Table(this=exp.func("read_parquet", given, dialect=DIALECT))


def release_reader(pattern: str, columns: Mapping[str, str], partition_by: Sequence[str]) -> exp.Subquery:
    """The files of a release as it was released: its columns in their order, partition columns in their types.

    A reader that is told nothing takes a label such as 10 for a number.

    Args:
        pattern: the glob of the files.
        columns: the types of all columns of the release, by name.
        partition_by: those that are folders.
    """
    options: list[exp.Expr] = [_option("hive_partitioning", exp.convert(bool(partition_by)))]
    if partition_by:
        types = [exp.PropertyEQ(this=identifier(name), expression=string(columns[name])) for name in partition_by]
        options.append(_option("hive_types", exp.Struct(expressions=types)))
    files = exp.Table(this=exp.Anonymous(this="read_parquet", expressions=[string(pattern), *options]))
    return exp.Subquery(this=select([column(name) for name in columns], files))


def marked(folder: str | Path) -> dict[str, Any] | None:
    """What the marker of a release folder says; None if the folder is not one."""
    try:
        document = json.loads(Path(folder, MARKER).read_text(encoding="utf-8"))
        note = document[NOTE_KEY]
        layout = note["folder"]
        known = isinstance(layout["columns"], dict) and isinstance(layout["partition_by"], list)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return note if known else None


def _option(name: str, value: exp.Expr) -> exp.Expr:
    return exp.PropertyEQ(this=exp.to_identifier(name), expression=value)
