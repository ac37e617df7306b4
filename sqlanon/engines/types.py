"""The types of DuckDB, and what their names imply about values."""

from __future__ import annotations

import re
from functools import lru_cache

from sqlglot import exp

from sqlanon.queries.kit.nodes import DIALECT
from sqlanon.queries.source import SourceColumn, Traits

EXACT_NUMBERS = frozenset(
    (
        *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
        *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "DECIMAL"),
    )
)
FLOATS = frozenset(("FLOAT", "DOUBLE"))

MISSING = '"NULL"'
"""The type of columns that are all missing, in frames and where no rows say more."""

ONE_TEXT_PER_VALUE = EXACT_NUMBERS | frozenset(
    (*("BOOLEAN", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "UUID", "ENUM"),)
)
"""Types in which two values are equal just when their texts are."""

ONE_FORM_PER_VALUE = ONE_TEXT_PER_VALUE | {"VARCHAR", "BLOB", "TIMESTAMP WITH TIME ZONE"}
"""Types in which two values are equal just when their bytes are, with texts compared by these."""

INSTANT = "TIMESTAMP WITH TIME ZONE"
INSTANTS = frozenset((INSTANT, "TIMESTAMPTZ_NS"))
"""Types whose texts depend on the time zone of the session."""

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
