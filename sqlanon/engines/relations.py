"""Relations that a run reads and writes, and the types of their columns: what the names of types imply about values."""

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

Source = str | Path | Any  # what is read: a name, a path or a query as text, or a frame
FileFormat = Literal["Parquet", "CSV"]


class Pinned(Protocol):
    """The state of a source that a run reads."""

    def refuse_changed(self) -> None:
        """Refuse to go on if the source has another state by now."""


@dataclass(frozen=True)
class ResolvedSource:
    """A source that exists."""

    relation: exp.Table | exp.Subquery  # for FROM
    description: str  # for messages
    files: tuple[str, ...] = ()  # the files that it consists of; empty for tables and queries
    dataset: str | None = None  # its name in a ledger; None for views, queries, and tables that are not the warehouse's
    read: tuple[str, ...] = ()  # the files that a query or a view spells
    defined_by: str | None = None  # the query of a relation of DuckDB in Python; empty for other frames
    pinned: Pinned | None = None  # its state, if the source has versions
    follows_rows: bool = False  # whether its columns have the types that its rows fit, as of CSV files and frames
    csv: Csv | None = None  # the settings of the CSV files that it consists of, or that a query names
    read_as: tuple[str, ...] = ()  # the form of these files, and the type of each column, in words
    found_by_rows: tuple[str, ...] = ()  # the CSV files that a query names, read in types that all their rows fit
    guessed: tuple[str, ...] = ()  # the files and functions to which DuckDB gives the types that some rows fit


def place_of(table: exp.Table) -> tuple[str, str, str]:
    """The database, the schema and the name of a fully qualified table."""
    return table.catalog, table.db, table.name


@dataclass(frozen=True)
class Origins:
    """The places that the rows of a query, a view or a table come from."""

    tables: tuple[exp.Table, ...]
    files: tuple[str, ...]
    has_frames: bool
    unseen: str | None  # why there may be more; None if there are not
    guessed: tuple[str, ...] = ()  # the files and functions whose columns get the types that their rows fit


@dataclass(frozen=True)
class Database:
    """A database that the connection sees; its file is None if it is in memory, or not of the engine's own kind."""

    name: str
    file: Path | None
    is_read_only: bool

    def anon(self, name: str) -> exp.Table:
        """A table of its schema ``anon``, which may not be there."""
        return exp.Table(this=identifier(name), db=identifier("anon"), catalog=identifier(self.name))


@dataclass(frozen=True)
class Stored:
    """A table that the catalog knows, with its comment, or a view."""

    table: exp.Table
    is_view: bool = False
    comment: str | None = None


@dataclass(frozen=True)
class Files:
    """Files as they were written, nothing in them guessed."""

    paths: str | tuple[str, ...]  # a file, a glob, or several files
    format: FileFormat = "Parquet"
    columns: Mapping[str, str] | None = None  # their types by name, in order; None for all that any of the files has
    partition_by: tuple[str, ...] = ()  # the columns that are folders
    by_name: bool = False  # whether files may differ in their columns, as those of an altered release do
    quoted: tuple[str, ...] = ()  # the columns of a CSV whose formulas have an apostrophe before them


EXACT_NUMBERS = frozenset(
    (
        *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
        *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "DECIMAL"),
    )
)
FLOATS = frozenset(("FLOAT", "DOUBLE"))

MISSING = '"NULL"'  # the type of columns that are all missing, in frames and where no rows say more

ONE_TEXT_PER_VALUE = EXACT_NUMBERS | frozenset(
    (*("BOOLEAN", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "UUID", "ENUM"),)
)
"""Types in which two values are equal just when their texts are."""

ONE_FORM_PER_VALUE = ONE_TEXT_PER_VALUE | {"VARCHAR", "BLOB", "TIMESTAMP WITH TIME ZONE"}
"""Types in which two values are equal just when their bytes are, with texts compared by these."""

INSTANT = "TIMESTAMP WITH TIME ZONE"
INSTANTS = frozenset((INSTANT, "TIMESTAMPTZ_NS"))  # types whose texts depend on the time zone of the session

NAMELESS = re.compile(r"\[|^(STRUCT|MAP|UNION|LIST|BLOB|BIT|VARIANT|GEOMETRY)\b", re.IGNORECASE)
"""Types whose values have no exact name."""

QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""")
WORD = re.compile(r"[^\W\d]\w*(?: WITH TIME ZONE)?(?=\s*(?:[][(),]|$))")
"""A word of a type that names a type: after the name of a field there is a space and a type."""


def column_of(name: str, type_name: str) -> SourceColumn:
    """A column with what is to be known of its type."""
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
    """The names of the types that a type consists of, such as STRUCT and BIGINT."""
    bare = QUOTED.sub(lambda quoted: "quoted" if quoted[0].startswith('"') else "", type_name)
    return {word.upper() for word in WORD.findall(bare)}


def _is_enum(type_name: str) -> bool:
    return type_name.upper().startswith("ENUM(") and type_name.endswith(")")


def _released_as(type_name: str) -> str:
    """A type with texts in place of an ENUM wherever it stands in the type; text where all values are missing."""
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
