"""Labels and texts as values of ENUM types, in the order of their texts: a byte or two each to group and sort by.

Labels are texts again by a cast, which DuckDB does while rows stream by in their order. Above the join that a lookup
would be it keeps none. Parquet files keep values of ENUMs as texts, in an eighth of the time that texts take. DuckDB
writes more of a type to its files than the values that occur, so that there are types of what is published there, and
of nothing else.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.queries.encoding import Encoding
from sqlanon.queries.kit.macros import text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import aliased, column, enum_type, number, own_type, select, string
from sqlanon.queries.recodings import Recoding
from sqlanon.queries.source import SourceColumn

MASK = "*"
"""What stands in every quasi-identifier of a suppressed row that is kept masked."""


def label_types(recoding: Recoding) -> list[exp.Create]:
    """The statements that make the types of labels, if they have some; these have a place for the mask."""
    encoding = recoding.encoding
    return (
        [] if encoding.has_label_texts else [_label_type(recoding, place) for place in range(len(encoding.spec.shapes))]
    )


def _label_type(recoding: Recoding, position: int) -> exp.Create:
    mask = exp.Select(expressions=[aliased(string(MASK), "label")])
    texts = exp.Union(this=recoding.texts(position), expression=mask, distinct=True)
    return enum_type(recoding.encoding.label_type(position), texts, "label")


def published_texts(encoding: Encoding) -> dict[str, exp.Expr]:
    """The released columns that are texts, with what groups of equal rows have of them: labels, or the texts."""
    spec = encoding.spec
    labels = {name: column(encoding.label(position)) for position, name in enumerate(spec.quasi_identifiers)}
    return {
        found.name: labels.get(found.name, column(found.name))
        for found in spec.columns
        if found.name in spec.released and (found.name in labels or _becomes_text(found))
    }


def group_sizes(rows: exp.Table) -> exp.Query:
    """One row: ``rows`` that are published, and the ``groups`` of equal ones that they are kept in."""
    return Queries("release").query("group_sizes", groups=rows)


def text_counts(encoding: Encoding, names: list[str], rows: exp.Table) -> exp.Query:
    """One row: about how many texts of some columns are published, ``count_<place>``.

    And how many bytes the longest has, ``bytes_<place>``; labels are taken to be short.
    """
    values, labels = published_texts(encoding), encoding.spec.quasi_identifiers
    found = []
    for place, name in enumerate(names):
        length = number(0) if name in labels else exp.Anonymous(this="strlen", expressions=[values[name].copy()])
        found.append(aliased(exp.ApproxDistinct(this=values[name]), f"count_{place}"))
        found.append(aliased(exp.Max(this=length), f"bytes_{place}"))
    return select(found, rows)


def text_type(encoding: Encoding, name: str, rows: exp.Table) -> exp.Create:
    """The statement that makes the type of the texts of a column that are published."""
    value = published_texts(encoding)[name]
    texts = select([aliased(text(value), "label")], rows).where(value.is_(exp.null()).not_(), copy=False)
    return enum_type(encoding.published_type(name), texts.distinct(copy=False), "label")


def as_typed(encoding: Encoding, name: str) -> exp.Cast:
    """A column of texts as values of that type."""
    return exp.Cast(this=published_texts(encoding)[name], to=own_type(encoding.published_type(name)))


def _becomes_text(source_column: SourceColumn) -> bool:
    """Whether a column that is released as it is is text then."""
    return source_column.traits.is_text or source_column.traits.is_enum
