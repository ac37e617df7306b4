"""The rows of linked tables that a release shows, with their labels, and the rows as they are written.

A way to choose rows makes :func:`shown` for each table: the numbers of its rows, and the labels of its own
quasi-identifiers. Keys are drawn anew, and rows are sorted by the new key of their person and then by all their values,
so that nothing of the order of the source is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

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
from sqlanon.queries.recodings import Recoding

FRESH = "anon_fresh"  # the new key of a row


def shown(table: BoundTable) -> Relation:
    """Name the table of the rows that a release shows: ``anon_row`` and the labels of its own quasi-identifiers."""
    return Relation(f"anon_shown_{table.rows.place}", "row")


def fresh_keys(table: BoundTable) -> Relation:
    return Relation(f"anon_keys_{table.rows.place}", "row")


def kept_classes(table: BoundTable) -> Relation:
    return Relation(f"anon_kept_{table.rows.place}", "class")


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
    kept = kept_classes(table)
    engine.run(Step(kept, codes, "kept classes"))
    query = labelled_rows(table, recoding, table.own)
    classes = select((column(each, "anon_codes") for each in carried), called(kept.table, "anon_codes"))
    classes = recoding.join_labels_to_codes(classes, "anon_codes")
    if not classes.expressions:
        classes = select([aliased(exp.true(), "anon_is_kept")], called(kept.table, "anon_codes"))
    is_kept = [same(column(each, "anon_kept"), column(each, "anon_rows")) for each in recoding.row_columns]
    query = query.join(subquery(classes, "anon_kept"), on=all_of(is_kept), copy=False)
    query = query.select(*(column(each, "anon_kept") for each in carried), copy=False)
    engine.run(Step(shown(table), query, f'rows of "{name}" to release'))


def labelled_rows(table: BoundTable, recoding: Recoding, names: Sequence[str]) -> exp.Select:
    """Select the number of each row and the labels of some quasi-identifiers, from ``anon_rows``."""
    encoding = recoding.encoding
    path = encoding.spec.quasi_identifiers
    rows = select([column(ROW, "anon_source")], called(table.rows.rows(path, numbers=(ROW,)), "anon_source"))
    rows = recoding.join_to_source(rows, "anon_source")
    query = select([column(ROW, "anon_rows")], subquery(rows, "anon_rows"))
    coded = {position for position, _ in recoding.code_columns()}
    for name in names:
        position = path.index(name)
        home = "anon_rows"
        if position not in coded:
            query = recoding.join_only_label(query, position)
            home = encoding.labels_of(position)
        query = query.select(aliased(text(column(encoding.label(position), home)), name), copy=False)
    return query


def draw_keys(engine: Compute, encoded: EncodedLinked) -> None:
    """Give the shown rows of tables that others hang from new keys, 1 to n in an order that is drawn."""
    for name, table in encoded.bound.tables.items():
        if encoded.policy.row_key(name) is not None:
            key = PseudonymKey((nonce() + nonce()).encode())
            engine.run(Step(fresh_keys(table), SQL.query("fresh_keys", shown=shown(table)), "new keys"), key.blocks)


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
    columns: list[exp.Expr] = []
    order: list[exp.Expr] = [column(FRESH, "anon_person_keys")]
    for own, value, keys in _released(encoded, name, homes):
        columns.append(aliased(value, own))
        order += keys
    query = select(columns, called(shown(table).table, "anon_shown"))
    on = column(ROW, "anon_source").eq(column(ROW, "anon_shown"))
    query = query.join(called(table.rows.relation.table, "anon_source"), on=on, copy=False)
    joined = [(alias, home, number) for alias, home, number in homes.values()]
    for alias, home, number in [*joined, ("anon_person_keys", encoded.bound.root, PERSON)]:
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


def _released(
    encoded: EncodedLinked, name: str, homes: Mapping[str, Home]
) -> Iterator[tuple[str, exp.Expr, list[exp.Expr]]]:
    """Yield the released columns of a table in order: name, value, and the keys that order it."""
    table = encoded.bound.tables[name]
    kept = {each.name: each for each in kept_columns(encoded.tables[name].encoding, of_cells=False)}
    for found in table.columns:
        own = found.name.removeprefix(qualified(name, ""))
        if found.name in kept:
            each = kept[found.name]
            yield own, each.value, [key.this for key in each.keys] or [each.value]
            continue
        if found.name in homes:
            value = column(FRESH, homes[found.name][0])
        elif found.name in table.own:
            value = column(found.name, "anon_shown")
        else:
            continue
        yield own, value, [value]
