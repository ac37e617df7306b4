"""The labels of a node as values of ENUM types, in the order of their texts: a byte or two each to group and sort by.

They are texts again by a cast, which DuckDB does while rows stream by in their order. Above the join that a lookup
would be it keeps none.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.model.lattice import Levels
from sqlanon.queries.cells.encoding import VALUE, Encoding
from sqlanon.queries.cells.labels import at_level, code
from sqlanon.queries.kit.nodes import (
    Step,
    aliased,
    ascending,
    column,
    identifier,
    select,
    string,
)

MASK = "*"
"""What stands in every quasi-identifier of a suppressed row that is kept masked."""


def label_types(plan: Encoding, levels: Levels) -> list[exp.Create]:
    """The statements that make the types; they have a place for the mask among the labels."""
    return [_label_type(plan, position, depth) for position, depth in enumerate(levels)]


def label_steps(plan: Encoding, levels: Levels) -> list[Step]:
    """The steps that make the tables of labels: those of every value, each with its code and its bits."""
    attributes = plan.spec.quasi_identifiers
    return [
        Step(plan.node_labels(position), _labels(plan, position, depth), f'labels of "{attributes[position]}"')
        for position, depth in enumerate(levels)
    ]


def enum_type(name: str, labels: exp.Query) -> exp.Create:
    """The statement that makes a temporary ENUM type of the column ``label`` of a query, in the order of texts."""
    labels.set("order", ascending(column("label")))
    return exp.Create(
        # Not qualified: DuckDB takes no catalog in the name of a temporary type.
        this=exp.Table(this=identifier(name)),
        kind="TYPE",
        expression=exp.Anonymous(this="ENUM", expressions=[labels]),
        properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
    )


def as_label(plan: Encoding, position: int, label: exp.Expr) -> exp.Cast:
    """A text as a label of a quasi-identifier."""
    return exp.Cast(this=label, to=exp.DataType.build(plan.label_type(position), udt=True))


def labels_by_code(plan: Encoding, position: int, depth: int) -> exp.Select:
    """The codes of a quasi-identifier at the level of the labels, with these; one label without a code at the top."""
    codes = [column(plan.code(position, depth))] if depth in plan.depths(position) else []
    return select([*codes, column(plan.label(position))], plan.node_labels(position).table).distinct(copy=False)


def labels_by_bits(plan: Encoding, position: int, depth: int) -> exp.Select:
    """The bits of the labels of a quasi-identifier in each word of the key that has some, with these."""
    words = [column(plan.key(word)) for word in plan.keys.label_masks(position, depth)]
    return select([*words, column(plan.label(position))], plan.node_labels(position).table).distinct(copy=False)


def _label_type(plan: Encoding, position: int, depth: int) -> exp.Create:
    is_known = column("label").is_(exp.null()).not_()
    known = at_level(plan, position, depth, [column("label")], is_known)
    mask = exp.Select(expressions=[aliased(string(MASK), "label")])
    return enum_type(plan.label_type(position), exp.Union(this=known, expression=mask, distinct=True))


def _labels(plan: Encoding, position: int, depth: int) -> exp.Query:
    words = [column(plan.key(word)) for word in plan.keys.label_masks(position, depth)]
    label = aliased(as_label(plan, position, column("label")), plan.label(position))
    return at_level(plan, position, depth, [column(VALUE), code(plan, position, depth), *words, label])
