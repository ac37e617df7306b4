"""The rows of linked tables that a release shows, with their labels, and the rows as they are written.

A way to choose rows makes :func:`shown` for each table: the numbers of its rows, and the labels of its own
quasi-identifiers. Keys are drawn anew, and rows are sorted by the new key of their person and then by all their values,
so that nothing of the order of the source is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from sqlanon.binding.linked import BoundTable
from sqlanon.chance.random_source import nonce
from sqlanon.engines.duckdb import Compute
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.model.lattice import Levels
from sqlanon.model.policy.linked_policy import qualified
from sqlanon.model.pseudonym_key import PseudonymKey
from sqlanon.queries import summaries
from sqlanon.queries.kit.macros import text
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    ascending,
    called,
    column,
    copies,
    same,
    select,
    subquery,
)
from sqlanon.queries.linked import PARENT, PERSON, ROW, SQL
from sqlanon.queries.published_rows import kept_columns

FRESH = "anon_fresh"  # the new key of a row


def shown(table: BoundTable) -> Relation:
    """Name the table of the rows that a release shows: ``anon_row`` and the labels of its own quasi-identifiers."""
    return Relation(f"anon_shown_{table.rows.place}", "row")


def fresh_keys(table: BoundTable) -> Relation:
    return Relation(f"anon_keys_{table.rows.place}", "row")


def show_kept_classes(
    engine: Compute, encoded: EncodedLinked, levels: Levels, names: Iterable[str] | None = None
) -> None:
    """Show the rows of classes of at least k persons along the path of each table: one known row leaves k persons."""
    for name in encoded.tables if names is None else names:
        codes = encoded.recoding(name, levels).coded_classes(summaries.kept_keys, "anon_kept")
        show_classes(engine, encoded, name, levels, codes)


# More than six parameters: columns of classes that their rows keep.
def show_classes(
    engine: Compute, encoded: EncodedLinked, name: str, levels: Levels, codes: exp.Query, carried: Sequence[str] = ()
) -> None:
    """Show the rows of classes along the path of a table, given the codes of their labels."""
    table, recoding = encoded.bound.tables[name], encoded.recoding(name, levels)
    kept = Relation(f"anon_kept_{table.rows.place}", "class")
    engine.run(Step(kept, codes, "kept classes"))
    of_classes = [aliased(exp.true(), "anon_is_kept"), *(column(each, "anon_codes") for each in carried)]
    classes = recoding.join_labels_to_codes(select(of_classes, called(kept.table, "anon_codes")), "anon_codes")
    is_kept = [same(column(each, "anon_kept"), column(each, "anon_rows")) for each in recoding.row_columns]
    query = labelled_rows(encoded, name, levels).join(subquery(classes, "anon_kept"), on=all_of(is_kept), copy=False)
    query = query.select(*(column(each, "anon_kept") for each in carried), copy=False)
    engine.run(Step(shown(table), query, f'rows of "{name}" to release'))


def labelled_rows(encoded: EncodedLinked, name: str, levels: Levels) -> exp.Select:
    """Select the number of each row, and the labels of a table's own quasi-identifiers, from ``anon_rows``."""
    table, recoding = encoded.bound.tables[name], encoded.recoding(name, levels)
    encoding, path = recoding.encoding, recoding.encoding.spec.quasi_identifiers
    rows = select([column(ROW, "anon_source")], called(table.rows.rows(path, numbers=(ROW,)), "anon_source"))
    rows = recoding.join_to_source(rows, "anon_source")
    query = select([column(ROW, "anon_rows")], subquery(rows, "anon_rows"))
    coded = {position for position, _ in recoding.code_columns()}
    for own in table.own:
        position, home = path.index(own), "anon_rows"
        if position not in coded:
            query = recoding.join_only_label(query, position)
            home = encoding.labels_of(position)
        query = query.select(aliased(text(column(encoding.label(position), home)), own), copy=False)
    return query


def draw_keys(engine: Compute, encoded: EncodedLinked) -> None:
    """Give the shown rows of tables that others hang from new keys, 1 to n in an order that is drawn."""
    for name, table in encoded.bound.tables.items():
        if encoded.policy.row_key(name) is not None:
            engine.run(Step(fresh_keys(table), SQL.query("fresh_keys", shown=shown(table)), "new keys"), drawn_blocks())


def drawn_blocks() -> tuple[bytes, bytes]:
    """Draw the blocks of a key, for an order of rows that nobody can know."""
    return PseudonymKey((nonce() + nonce()).encode()).blocks


def drop_cells(engine: Compute, encoded: EncodedLinked) -> None:
    """Drop the cells of all tables once the rows to release are made."""
    for table in encoded.tables.values():
        engine.drop(table.encoding.cells)


def released_counts(engine: Compute, encoded: EncodedLinked, name: str) -> dict[str, int]:
    """Count the rows of a table: ``released``, ``suppressed`` with their persons, and ``hidden`` ones of others."""
    table, persons = encoded.bound.tables[name], shown(encoded.bound.root)
    query = SQL.query("released_counts", rows=table.rows.relation, shown=shown(table), shown_persons=persons)
    return dict(engine.fetch(query, "released rows")[0])


def written_rows(encoded: EncodedLinked, name: str) -> exp.Select:
    """Select the rows of a table as they are written, in the order of their persons' new keys and of all values."""
    table = encoded.bound.tables[name]
    homes = key_homes(encoded, name)
    released: dict[str, tuple[exp.Expr, list[exp.Expr]]] = {own: (column(own, "anon_shown"), []) for own in table.own}
    released |= {own: (column(FRESH, alias), []) for own, (alias, _, _) in homes.items()}
    kept = kept_columns(encoded.tables[name].encoding, of_cells=False)
    released |= {each.name: (each.value, [key.this for key in each.keys]) for each in kept}
    names = [found.name for found in table.columns if found.name in released]
    columns = [aliased(released[each][0], each.removeprefix(qualified(name, ""))) for each in names]
    order: list[exp.Expr] = [column(FRESH, "anon_person_keys")]
    for value, keys in map(released.__getitem__, names):
        order += keys or [value]
    query = select(columns, called(shown(table).table, "anon_shown"))
    on = column(ROW, "anon_source").eq(column(ROW, "anon_shown"))
    query = query.join(called(table.rows.relation.table, "anon_source"), on=on, copy=False)
    for alias, home, number in [*homes.values(), ("anon_person_keys", encoded.bound.root, PERSON)]:
        on = column(ROW, alias).eq(column(number, "anon_source"))
        query = query.join(called(fresh_keys(home).table, alias), on=on, copy=False)
    query.set("order", ascending(*copies(order)))
    return query


Home = tuple[str, BoundTable, str]
"""The name of new keys in a query, the table whose rows they are of, and the number by which a row finds its own."""


def key_homes(encoded: EncodedLinked, name: str) -> dict[str, Home]:
    """Return the released columns of keys, with the names of their tables."""
    table, roles = encoded.bound.tables[name], encoded.policy.tables[name]
    homes: dict[str, Home] = {}
    if (row_key := encoded.policy.row_key(name)) is not None:
        homes[qualified(name, row_key)] = ("anon_own_keys", table, ROW)
    if roles.parent is not None:
        homes[qualified(name, str(roles.key))] = ("anon_keys_above", encoded.bound.tables[roles.parent], PARENT)
    return homes
