"""Relations that a run reads and writes, and the traits of their column types."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol

from sqlglot import exp

from sqlanon.model.policy.policy_parts import Csv
from sqlanon.queries.kit.nodes import DIALECT, identifier
from sqlanon.queries.source import SourceColumn, Traits

Source = str | Path | Any  # a name, path or query as text, or a frame
FileFormat = Literal["Parquet", "CSV"]


class Pinned(Protocol):
    def refuse_changed(self) -> None:
        """Refuse to continue if the source has changed."""


@dataclass(frozen=True)
class ResolvedSource:
    relation: exp.Table | exp.Subquery  # for FROM
    description: str  # for messages
    files: tuple[str, ...] = ()  # empty for tables and queries
    dataset: str | None = None  # its name in a ledger; None for views, queries and tables outside the warehouse
    read: tuple[str, ...] = ()  # files that a query or view spells
    defined_by: str | None = None  # the query of a DuckDB relation in Python; empty for other frames
    pinned: Pinned | None = None  # its state, if the source has versions
    follows_rows: bool = False  # whether its column types depend on rows, as in CSV files and frames
    csv: Csv | None = None  # settings of its CSV files, or of those that a query names
    read_as: tuple[str, ...] = ()  # the form of these files, and the type of each column, in words
    found_by_rows: tuple[str, ...] = ()  # CSV files that a query names, with types that fit all rows
    guessed: tuple[str, ...] = ()  # files and functions with types that DuckDB guesses from some rows


def place_of(table: exp.Table) -> tuple[str, str, str]:
    return table.catalog, table.db, table.name


@dataclass(frozen=True)
class Origins:
    tables: tuple[exp.Table, ...]
    files: tuple[str, ...]
    has_frames: bool
    unseen: str | None  # why there may be more; None if there are not
    guessed: tuple[str, ...] = ()  # files and functions with types guessed from rows


@dataclass(frozen=True)
class Database:
    """A database of the connection; the file is None if in memory or of another system."""

    name: str
    file: Path | None
    is_read_only: bool

    def anon(self, name: str) -> exp.Table:
        return exp.Table(this=identifier(name), db=identifier("anon"), catalog=identifier(self.name))


@dataclass(frozen=True)
class Stored:
    table: exp.Table
    is_view: bool = False
    comment: str | None = None


@dataclass(frozen=True)
class Files:
    """Files that sqlanon wrote, for reading without guesses."""

    paths: str | tuple[str, ...]  # a file, a glob, or several files
    format: FileFormat = "Parquet"
    columns: Mapping[str, str] | None = None  # types by name, in order; None for all columns of the files
    partition_by: tuple[str, ...] = ()  # the columns in folder names
    by_name: bool = False  # whether files may differ in columns, as in an altered release
    quoted: tuple[str, ...] = ()  # CSV columns with an apostrophe before formulas


EXACT_NUMBERS = frozenset(
    (
        *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
        *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "DECIMAL"),
    )
)
FLOATS = frozenset(("FLOAT", "DOUBLE"))

MISSING = '"NULL"'  # the type of columns without any value

ONE_TEXT_PER_VALUE = EXACT_NUMBERS | frozenset(
    (*("BOOLEAN", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "UUID", "ENUM"),)
)
"""Types whose values are equal if and only if their texts are."""

ONE_FORM_PER_VALUE = ONE_TEXT_PER_VALUE | {"VARCHAR", "BLOB", "TIMESTAMP WITH TIME ZONE"}
"""Types whose values are equal if and only if their bytes are; texts compare by bytes."""

INSTANT = "TIMESTAMP WITH TIME ZONE"
INSTANTS = frozenset((INSTANT, "TIMESTAMPTZ_NS"))  # types whose texts depend on the session's time zone

NAMELESS = re.compile(r"\[|^(STRUCT|MAP|UNION|LIST|BLOB|BIT|VARIANT|GEOMETRY)\b", re.IGNORECASE)
"""Types whose values have no exact name."""

QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""")
WORD = re.compile(r"[^\W\d]\w*(?: WITH TIME ZONE)?(?=\s*(?:[][(),]|$))")
"""Matches a type name in a type: a field name is followed by a space and a type instead."""


def column_of(name: str, type_name: str) -> SourceColumn:
    return SourceColumn(name, type_name, _traits(type_name))


@lru_cache
def _traits(type_name: str) -> Traits:
    kind, is_list = type_name.upper().partition("(")[0], type_name.endswith("]")
    return Traits(
        is_text=kind == "VARCHAR",
        is_enum=_is_enum(type_name),
        is_missing=type_name == MISSING,
        is_json=kind == "JSON",
        is_float=kind in FLOATS,
        is_number=kind in EXACT_NUMBERS | FLOATS and not is_list,
        is_fractional=kind in FLOATS | {"DECIMAL"} and not is_list,
        is_date=kind.startswith(("DATE", "TIMESTAMP")) and not is_list,
        is_list=is_list,
        is_instant=type_name.upper() == INSTANT,
        depends_on_time_zone=not types_in(type_name).isdisjoint(INSTANTS),
        has_one_text=kind in ONE_TEXT_PER_VALUE,
        has_one_form=kind in ONE_FORM_PER_VALUE,
        has_name=NAMELESS.search(type_name) is None,
        released_as=_released_as(type_name),
    )


def types_in(type_name: str) -> set[str]:
    """Return the type names in a type, such as STRUCT and BIGINT."""
    bare = QUOTED.sub(lambda quoted: "quoted" if quoted[0].startswith('"') else "", type_name)
    return {word.upper() for word in WORD.findall(bare)}


def _is_enum(type_name: str) -> bool:
    return type_name.upper().startswith("ENUM(") and type_name.endswith(")")


def _released_as(type_name: str) -> str:
    """Replace ENUM by text anywhere in a type; text for columns without values."""
    if type_name == MISSING:
        return "VARCHAR"
    if "ENUM" not in type_name.upper():
        return type_name
    if _is_enum(type_name):
        return "VARCHAR"
    plain = exp.DataType.build(type_name, dialect=DIALECT).transform(
        lambda node: (
            exp.DataType.build("VARCHAR")
            if isinstance(node, exp.DataType) and node.is_type(exp.DataType.Type.ENUM)
            else node
        )
    )
    return plain.sql(DIALECT)
