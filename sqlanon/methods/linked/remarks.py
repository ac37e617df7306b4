"""Facts about the sources of linked tables for their custodian: what was left out, and what single dates give away."""

from __future__ import annotations

from collections.abc import Mapping

from sqlanon.binding.linked import BoundLinked
from sqlanon.engines.duckdb import Compute
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.methods.linked.keyed_rows import ShownRows
from sqlanon.methods.linked.node_counts import LinkedChoice
from sqlanon.model.release.linked_report import HiddenLabel, SingledOut
from sqlanon.queries.kit.nodes import column, select, subquery, union_all
from sqlanon.queries.linked import PERSON
from sqlanon.queries.linked_measures import SQL

MAX_HIDDEN_LABELS = 5  # shown of a column


def hidden_labels(
    engine: Compute, encoded: EncodedLinked, choice: LinkedChoice, shown: Mapping[str, ShownRows]
) -> dict[str, tuple[HiddenLabel, ...]]:
    """Return the labels that released persons lost most often, by column; none of fewer than k persons.

    Tables with rows at several levels have none: their rows are left out at the last. Whole trees hide no rows.
    """
    if choice.rungs or encoded.policy.known_rows is None:
        return {}
    found = {}
    for name in (name for name in encoded.tables if name != encoded.policy.root):
        keyed, levels = shown[name].keyed, encoded.own_levels(name, choice.counts.levels)
        heights = encoded.own_levels(name, encoded.context.lattice.heights)
        below_top = (own for own, level, height in zip(keyed.bound.own, levels, heights, strict=True) if level < height)
        for own in below_top:
            query = SQL.query(
                "hidden_labels",
                labelled=subquery(keyed.labelled(keyed.relation.table, levels, [own]), "anon_labels"),
                shown=shown[name].numbers(),
                persons=shown[encoded.policy.root].numbers(),
                k=encoded.policy.k,
                most=MAX_HIDDEN_LABELS,
                name=own,
            )
            if labels := engine.fetch(query, "hidden labels"):
                found[own] = tuple(HiddenLabel(**each) for each in labels)
    return found


def intervals(engine: Compute, bound: BoundLinked) -> dict[str, SingledOut]:
    """Return for each column of dates the source's persons whom the days between three rows or more single out."""
    found = {}
    for table in bound.tables.values():
        for own in (each.name for each in table.columns if each.traits.is_date and each.name in table.own):
            dated = table.rows.rows([own], numbers=(PERSON,))
            counts = engine.fetch(SQL.query("intervals", dated=dated, day=own), "days between rows")[0]
            if counts["persons"]:
                found[own] = SingledOut(**counts)
    return found


def persons_without_rows(engine: Compute, encoded: EncodedLinked) -> int:
    """Count the persons of the source without a row in any other table, cut rows aside."""
    root, *others = encoded.keyed.values()
    rows = union_all(select([column(PERSON)], table.relation.table) for table in others)
    query = SQL.query("persons_without_rows", linked=root.relation, dated=subquery(rows, "anon_rows_of"))
    return int(engine.fetch(query, "persons without rows")[0]["persons"])
