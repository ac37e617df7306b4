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


def drop_keyed(engine: Compute, encoded: EncodedLinked, shown: Mapping[str, ShownRows]) -> None:
    """Drop what is not needed once the rows to release are known."""
    for name, table in encoded.tables.items():
        engine.drop(table.encoding.cells)
        engine.drop(shown[name].keyed.relation)


def drop_shown(engine: Compute, encoded: EncodedLinked, shown: Mapping[str, ShownRows]) -> None:
    """Drop the rows of the sources and of the release once they are written."""
    for name, table in encoded.bound.tables.items():
        for relation in (table.rows.relation, *(rows for rows, _ in shown[name].at_levels)):
            engine.drop(relation)


def released_counts(
    engine: Compute, encoded: EncodedLinked, shown: Mapping[str, ShownRows]
) -> dict[str, dict[str, int]]:
    """Count the rows of each table: ``released``, ``suppressed`` with their persons, and ``hidden`` ones of others."""
    counts = {}
    for name, table in encoded.bound.tables.items():
        rows = table.rows.rows((), numbers=(PERSON,))
        roles = {"shown": shown[name].numbers(), "shown_persons": shown[encoded.policy.root].numbers()}
        [counts[name]] = engine.fetch(SQL.query("released_counts", rows=rows, **roles), "released rows")
    return counts


def written_rows(encoded: EncodedLinked, name: str, shown: ShownRows) -> exp.Select:
    """Select the rows of a table as they are written, in the order of their persons' new keys and of all values."""
    table, roles = encoded.bound.tables[name], encoded.policy.tables[name]
    query = select([], called(shown.labelled(), "anon_shown"))
    on = column(ROW, "anon_source").eq(column(ROW, "anon_shown"))
    query = query.join(called(table.rows.relation.table, "anon_source"), on=on, copy=False)
    released: dict[str, tuple[exp.Expr, list[exp.Expr]]] = {own: (column(own, "anon_shown"), []) for own in table.own}
    homes: list[tuple[str, BoundTable, str, str | None]] = [("anon_person_keys", encoded.bound.root, PERSON, None)]
    homes.append(("anon_own_keys", table, ROW, encoded.policy.row_key(name)))
    if roles.parent is not None:
        homes.append(("anon_keys_above", encoded.bound.tables[roles.parent], PARENT, roles.key))
    for alias, home, number, key in homes:
        if key is not None:
            released[qualified(name, key)] = (column(FRESH, alias), [])
        if key is not None or number == PERSON:
            on = column(ROW, alias).eq(column(number, "anon_source"))
            query = query.join(called(_fresh_keys(home).table, alias), on=on, copy=False)
    kept = kept_columns(encoded.tables[name].encoding, of_cells=False)
    released |= {each.name: (each.value, [key.this for key in each.keys]) for each in kept}
    names = [found.name for found in table.columns if found.name in released]
    columns = [aliased(released[each][0], each.removeprefix(qualified(name, ""))) for each in names]
    order: list[exp.Expr] = [column(FRESH, "anon_person_keys")]
    for value, keys in map(released.__getitem__, names):
        order += keys or [value]
    query.set("order", ascending(*copies(order)))
    return query.select(*columns, copy=False)


def _fresh_keys(table: BoundTable) -> Relation:
    return Relation(f"anon_keys_{table.rows.place}", "row")
