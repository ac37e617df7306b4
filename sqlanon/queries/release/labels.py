"""The labels of a recoding as values of ENUM types, in the order of their texts: a byte or two each to group by.

They are texts again by a cast, which DuckDB does while rows stream by in their order. Above the join that a lookup
would be it keeps none.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.model.recoding import Part, Recoding
from sqlanon.queries.cells.encoding import VALUE, Encoding
from sqlanon.queries.cells.recoding import bits_of_labels, code, has_several_labels, labels_of_values
from sqlanon.queries.kit.nodes import (
    aliased,
    ascending,
    column,
    identifier,
    string,
)

MASK = "*"
"""What stands in every quasi-identifier of a suppressed row that is kept masked."""


def label_types(encoding: Encoding, recoding: Recoding) -> list[exp.Create]:
    """The statements that make the types, if labels have some; they have a place for the mask among the labels."""
    parts = () if encoding.has_label_texts else recoding.parts
    return [_label_type(encoding, position, part) for position, part in enumerate(parts)]


def enum_type(name: str, values: exp.Query, order: str) -> exp.Create:
    """The statement that makes a temporary ENUM type of the one column of a query, in the order of a column."""
    values.set("order", ascending(column(order)))
    return exp.Create(
        # Not qualified: DuckDB takes no catalog in the name of a temporary type.
        this=exp.Table(this=identifier(name)),
        kind="TYPE",
        expression=exp.Anonymous(this="ENUM", expressions=[values]),
        properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
    )


def as_label(encoding: Encoding, position: int, label: exp.Expr) -> exp.Expr:
    """A text as a label of a quasi-identifier."""
    if encoding.has_label_texts:
        return label
    return exp.Cast(this=label, to=exp.DataType.build(encoding.label_type(position), udt=True))


def labels_by_value(encoding: Encoding, position: int, part: Part) -> exp.Select:
    """The values of a quasi-identifier with their labels."""
    return labels_of_values(encoding, position, part, [column(VALUE), _label(encoding, position)])


def labels_by_code(encoding: Encoding, position: int, part: Part) -> exp.Select:
    """The codes of the labels of a quasi-identifier, with these; one label without a code at the top."""
    codes = [code(encoding, position, part)] if has_several_labels(encoding, position, part) else []
    labels = labels_of_values(encoding, position, part, [*codes, _label(encoding, position)])
    return labels.distinct(copy=False)


def labels_by_bits(encoding: Encoding, position: int, part: Part) -> exp.Select:
    """The bits of the labels of a quasi-identifier in each word of the key that has some, with these."""
    return bits_of_labels(encoding, position, part, [_label(encoding, position)])


def _label_type(encoding: Encoding, position: int, part: Part) -> exp.Create:
    is_known = column("label").is_(exp.null()).not_()
    known = labels_of_values(encoding, position, part, [column("label")], is_known)
    mask = exp.Select(expressions=[aliased(string(MASK), "label")])
    return enum_type(encoding.label_type(position), exp.Union(this=known, expression=mask, distinct=True), "label")


def _label(encoding: Encoding, position: int) -> exp.Alias:
    return aliased(as_label(encoding, position, column("label")), encoding.label(position))
