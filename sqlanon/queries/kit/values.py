"""Values of a source in another type, for whatever holds the source: see ``sql/macros/03_values.sql``."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import cast, identifier


def text(value: exp.Expr) -> exp.Expr:
    """The value as text, the form in which taxonomies have values."""
    return scalar_call("text_of", value)


def exact_text(value: exp.Expr) -> exp.Collate:
    """The value as text that is compared byte by byte, whatever the collation of its column."""
    return exp.Collate(this=text(value), expression=identifier("binary"))


def exact_text_in_memory(value: exp.Expr) -> exp.Collate:
    """The same of a relation that is made once, whose casts no reader takes; DuckDB 1.5 cannot coalesce its arrays."""
    return exp.Collate(this=cast(value, "VARCHAR"), expression=identifier("binary"))


def exact_text_in_utc(value: exp.Expr) -> exp.Collate:
    """The exact text, which is the same in sessions of whatever time zone."""
    return exp.Collate(this=scalar_call("text_in_utc", value), expression=identifier("binary"))


def cast_value(value: exp.Expr, type_name: str) -> exp.Cast:
    """The value in a type of DuckDB."""
    return cast(as_read(value), type_name)


def as_read(value: exp.Expr) -> exp.Expr:
    """The value in a form whose casts are not left to the reader of a file."""
    return scalar_call("as_read", value)
