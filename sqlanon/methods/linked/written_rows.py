"""The rows of linked tables as they are written, from those that a release shows.

Keys are drawn anew, and rows are sorted by the new key of their person and then by all their values, so that nothing of
the order of the source is left.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.binding.linked import BoundTable
from sqlanon.chance.random_source import nonce
from sqlanon.engines.duckdb import Compute
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.methods.linked.keyed_rows import ShownRows
from sqlanon.model.policy.linked_policy import qualified
from sqlanon.model.pseudonym_key import PseudonymKey
from sqlanon.model.release.linked_report import LinkedRowCounts
from sqlanon.queries.kit.nodes import Relation, Step, aliased, ascending, called, column, copies, select
from sqlanon.queries.linked import PARENT, PERSON, ROW, SQL
from sqlanon.queries.published_rows import kept_columns

FRESH = "anon_fresh"  # the new key of a row


def drawn_blocks() -> tuple[bytes, bytes]:
    """Draw the blocks of a key, for an order of rows that nobody can know."""
    return PseudonymKey((nonce() + nonce()).encode()).blocks


def draw_keys(engine: Compute, encoded: EncodedLinked, shown: Mapping[str, ShownRows]) -> None:
    """Give the shown rows of tables that others hang from new keys, 1 to n in an order that is drawn."""
    for name, table in encoded.bound.tables.items():
        if encoded.policy.row_key(name) is not None:
            keys = SQL.query("fresh_keys", shown=shown[name].numbers())
            engine.run(Step(_fresh_keys(table), keys, "new keys"), drawn_blocks())


def drop_shown(engine: Compute, shown: Mapping[str, ShownRows]) -> None:
    """Drop the rows of the release once they are written."""
    for rows in shown.values():
        for relation in (rows.keyed.relation, *(each for each, _ in rows.at_levels)):
            engine.drop(relation)


def row_counts(engine: Compute, encoded: EncodedLinked, shown: Mapping[str, ShownRows]) -> dict[str, LinkedRowCounts]:
    """Count what became of the rows of each table."""
    counts, persons = {}, shown[encoded.policy.root].numbers()
    for name, keyed in encoded.keyed.items():
        of_source = keyed.bound.counts
        roles = SQL.given(rows=keyed.relation, shown=shown[name].numbers(), shown_persons=persons)
        [found] = engine.fetch(roles.query("released_counts"), "released rows")
        counts[name] = LinkedRowCounts(source=of_source.rows, orphans=of_source.orphans, cut=of_source.cut, **found)
    return counts


def written_rows(encoded: EncodedLinked, name: str, shown: ShownRows) -> exp.Select:
    """Select the rows of a table as they are written, in the order of their persons' new keys and of all values."""
    table, roles = encoded.bound.tables[name], encoded.policy.tables[name]
    query = select([], called(shown.labelled(), "anon_source"))
    released: dict[str, tuple[exp.Expr, list[exp.Expr]]] = {own: (column(own, "anon_source"), []) for own in table.own}
    order: list[exp.Expr] = [column(FRESH, _fresh_keys(encoded.bound.root).name)]
    keys = {encoded.policy.root: PERSON}  # the numbers of rows that have them, by table
    for home, number, key in ((name, ROW, encoded.policy.row_key(name)), (roles.parent, PARENT, roles.key)):
        if home is not None and key is not None:
            keys.setdefault(home, number)
            released[qualified(name, key)] = (column(FRESH, _fresh_keys(encoded.bound.tables[home]).name), [])
    for home, number in keys.items():
        fresh = _fresh_keys(encoded.bound.tables[home])
        on = column(ROW, fresh.name).eq(column(number, "anon_source"))
        query = query.join(called(fresh.table, fresh.name), on=on, copy=False)
    kept = kept_columns(encoded.tables[name].encoding, of_cells=False)
    released |= {each.name: (each.value, [key.this for key in each.keys]) for each in kept}
    names = [found.name for found in table.columns if found.name in released]
    columns = [aliased(released[each][0], each.removeprefix(qualified(name, ""))) for each in names]
    if roles.parent is not None:  # a person has one row in the table of persons
        for value, sort_keys in map(released.__getitem__, names):
            order += sort_keys or [value]
    query.set("order", ascending(*copies(dict.fromkeys(order))))
    return query.select(*columns, copy=False)


def _fresh_keys(table: BoundTable) -> Relation:
    return Relation(f"anon_keys_{table.rows.place}", "row")
