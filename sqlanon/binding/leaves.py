"""The values of taxonomies as numbers, in the order of their labels: those under any label follow each other."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.duckdb import Compute
from sqlanon.queries import taxonomy_queries as taxonomies
from sqlanon.queries.kit.macros import text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, Step, column, enum_type, f, number, own_type, string, subquery, values

LEAVES = Relation("anon_ordered_leaves", "node")
"""The values of taxonomies by their number (``leaf``), with their label at every level (``depth``)."""

SQL = Queries("cuts", {"leaves": LEAVES})


def make_leaves(engine: Compute, bound: BoundPolicy, attributes: Sequence[tuple[int, str]]) -> None:
    """Make :data:`LEAVES`, and the types by which values are found, of the taxonomies of some columns.

    Args:
        engine: the database.
        bound: the policy.
        attributes: the columns, each with its position.
    """
    if not attributes:
        types = {"position": pa.int64(), "depth": pa.int64(), "value": pa.string(), "label": pa.string()}
        engine.put(LEAVES, pa.schema({**types, "leaf": pa.int64()}).empty_table())
        return
    rows = [[number(position), string(name)] for position, name in attributes]
    given = values("anon_taxonomies", ("position", "attribute"), rows)
    labels = taxonomies.all_labels(bound.taxonomy, [name for _, name in attributes])
    query = SQL.query("ordered_leaves", taxonomies=given, taxonomy_labels=subquery(labels, "anon_taxonomy_labels"))
    engine.run(Step(LEAVES, query, "the values of the taxonomies in the order of their labels"))
    for position, _ in attributes:
        statement = enum_type(type_of(position), SQL.query("values_of_axis", position=position), "leaf")
        engine.execute(statement, "types of values")


def leaf_of(position: int, name: str) -> exp.Expr:
    """The number of the value of a column; NULL if the taxonomy does not have it."""
    return leaf_of_text(position, text(column(name)))


def leaf_of_text(position: int, value: exp.Expr) -> exp.Expr:
    """The number of a value that is a text."""
    return f.enum_code(exp.TryCast(this=value, to=own_type(type_of(position))))


def type_of(position: int) -> str:
    """The name of the temporary ENUM type of the values of a column."""
    return f"anon_values_{position}"
