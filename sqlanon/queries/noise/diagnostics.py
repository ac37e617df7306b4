"""How far a private release is from its data: measured without noise, and so for those alone who may see the data."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.queries.cells.encoding import CellSpec
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.nodes import aliased, column, select, string, subquery
from sqlanon.queries.tables import taxonomies
from sqlanon.queries.tables.measures import level_map

MEASURES = ("ncp", "total_variation", "rate", "information_loss", "deletion_rate")


def diagnostics(spec: CellSpec, node: Mapping[str, int], written: exp.Expr) -> exp.Query:
    """One row with measures of ``anon.information_loss`` and ``anon.class_changes``; NULL where there are no rows."""
    (sensitive,) = spec.protected
    loss, changes = (
        subquery(
            table_call(macro, spec.source.copy(), written.copy(), level_map(node), string(sensitive)), f"anon_{macro}"
        )
        for macro in ("information_loss", "class_changes")
    )
    columns = [
        aliased(column(name, "anon_class_changes" if name == "deletion_rate" else "anon_information_loss"), name)
        for name in MEASURES
    ]
    query = select(columns, loss).join(changes, join_type="cross", copy=False)
    return taxonomies.at(query, spec.taxonomy)
