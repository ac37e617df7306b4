"""Facts about the sources of linked tables for their custodian: what was left out, and what single dates give away."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.methods.linked.node_counts import LinkedChoice
from sqlanon.methods.linked.shown_rows import labelled_rows, shown
from sqlanon.model.release.linked_report import HiddenLabel, SingledOut
from sqlanon.queries.kit.nodes import column, select, subquery, union_all
from sqlanon.queries.linked import PERSON
from sqlanon.queries.linked_measures import SQL

MAX_HIDDEN_LABELS = 5  # shown of a column


def hidden_labels(engine: Compute, encoded: EncodedLinked, choice: LinkedChoice) -> dict[str, tuple[HiddenLabel, ...]]:
    """Return the labels that released persons lost most often, by column; none of fewer than k persons.

    Tables with rows at several levels have none: their rows are left out at the last.
    """
    found = {}
    for name in (name for name in encoded.tables if name not in choice.rungs and name != encoded.policy.root):
        table = encoded.bound.tables[name]
        rows = labelled_rows(encoded, name, choice.counts.levels)
        given = SQL.given(
            linked=table.rows.relation,
            labelled=subquery(rows, "anon_labels"),
            shown=shown(table),
            persons=shown(encoded.bound.root),
            k=encoded.policy.k,
            most=MAX_HIDDEN_LABELS,
        )
        for own in _below_top(encoded, name, choice):
            labels = engine.fetch(given.query("hidden_labels", name=own), "hidden labels")
            found[own] = tuple(HiddenLabel(**each) for each in labels)
    return {name: labels for name, labels in found.items() if labels}


def _below_top(encoded: EncodedLinked, name: str, choice: LinkedChoice) -> Iterator[str]:
    """Yield the columns of a table that have several labels."""
    lattice = encoded.context.lattice
    for own, level, height in zip(lattice.quasi_identifiers, choice.counts.levels, lattice.heights, strict=True):
        if own in encoded.bound.tables[name].own and level < height:
            yield own


def intervals(engine: Compute, encoded: EncodedLinked) -> dict[str, SingledOut]:
    """Return for each column of dates the source's persons whom the days between three rows or more single out."""
    found = {}
    for table, own in _dates(encoded):
        dated = encoded.bound.tables[table].rows.rows([own], numbers=(PERSON,))
        counts = engine.fetch(SQL.query("intervals", dated=dated, day=own), "days between rows")[0]
        if counts["persons"]:
            found[own] = SingledOut(**counts)
    return found


def _dates(encoded: EncodedLinked) -> Iterator[tuple[str, str]]:
    for name, table in encoded.bound.tables.items():
        if name != encoded.policy.root:
            yield from ((name, each.name) for each in table.columns if each.traits.is_date and each.name in table.own)


def persons_without_rows(engine: Compute, encoded: EncodedLinked) -> int:
    """Count the persons of the source without a row in any other table, cut rows aside."""
    root, *others = encoded.bound.tables.values()
    rows = union_all(select([column(PERSON)], table.rows.rows((), numbers=(PERSON,))) for table in others)
    query = SQL.query("persons_without_rows", linked=root.rows.relation, dated=subquery(rows, "anon_rows_of"))
    return int(engine.fetch(query, "persons without rows")[0]["persons"])
