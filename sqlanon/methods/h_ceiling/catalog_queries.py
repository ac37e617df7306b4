"""The catalog in SQL: counts of classes go up, groups of them come down, and the second table is made of these."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.methods.h_ceiling.queries import CLASSES, COUNTERFEITS, FILLED, KNOWN, value_column
from sqlanon.model.lattice import Levels
from sqlanon.model.policy import h_ceiling as names
from sqlanon.model.recoding import Recoding, at_node
from sqlanon.queries.cells.encoding import ROW_COUNT, Encoding
from sqlanon.queries.cells.recoding import code_columns
from sqlanon.queries.classes.grouping import CLASS_ROWS, by_key, with_bits
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    ascending,
    cast,
    column,
    count_rows,
    cross_join,
    differing_rows,
    equal_in,
    grouped,
    left_join,
    number,
    same,
    select,
    subquery,
)
from sqlanon.queries.kit.values import text
from sqlanon.queries.release.kept_columns import plain_value
from sqlanon.queries.release.labels import labels_by_bits
from sqlanon.queries.release.rows import EQUAL_ROWS, with_top_label
from sqlanon.queries.source import SourceColumn

GROUPS = Relation("anon_groups", "class")
"""Which classes are in which group of the catalog, by their numbers."""

TOTALS = Relation("anon_group_totals", "class")
"""How many counterfeits of each value a group has."""

VALUE = "anon_value_code"
NUMBER = "anon_class_number"
GROUP = "anon_group"
COUNT = "anon_counterfeit_count"


def numbered_classes(encoding: Encoding, levels: Levels) -> Step:
    """The step that makes :data:`CLASSES`, from cells that are filled up."""
    grouping = by_key(encoding, levels, carried=[ROW_COUNT])
    sizes = grouping.select([aliased(exp.Sum(this=column(ROW_COUNT)), CLASS_ROWS)], grouping.cells())
    order = ascending(*grouping.columns()) if grouping.keys else None
    place = exp.Window(this=exp.func("row_number"), order=order)
    numbered = select([*grouping.columns(), column(CLASS_ROWS), aliased(place, NUMBER)], subquery(sizes, "anon_sizes"))
    return Step(CLASSES, numbered, "classes with counterfeits")


def value_counts_of_classes(encoding: Encoding, levels: Levels, size: int | None) -> exp.Query:
    """``class``, ``value``, ``published`` and ``counterfeits``: of classes of just so many rows, of all if None."""
    grouping = by_key(encoding, levels)
    code = value_column(encoding)
    same_class = equal_in(grouping.keys, "anon_filled", "anon_classes")
    same_cell = equal_in((*grouping.keys, code), "anon_invented", "anon_filled")
    invented = exp.func("coalesce", column(ROW_COUNT, "anon_invented"), number(0))
    columns = [
        aliased(column(NUMBER, "anon_classes"), "class"),
        aliased(column(code, "anon_filled"), "value"),
        aliased(column(ROW_COUNT, "anon_filled"), "published"),
        aliased(invented, "counterfeits"),
    ]
    query = select(columns, exp.alias_(FILLED.table, "anon_filled", table=True))
    query = query.join(exp.alias_(CLASSES.table, "anon_classes", table=True), on=same_class, copy=False)
    query = left_join(query, exp.alias_(COUNTERFEITS.table, "anon_invented", table=True), same_cell)
    if size is not None:
        query = query.where(column(CLASS_ROWS, "anon_classes").eq(number(size)), copy=False)
    return query


def with_class_ids(encoding: Encoding, groups: exp.Query) -> exp.Query:
    """Groups of equal rows with the number of their class among all classes in the order of their labels, by that."""
    labels = [column(encoding.label(position)) for position in range(len(encoding.spec.shapes))]
    rank = exp.Window(this=exp.func("dense_rank"), order=ascending(*labels))
    query = select([aliased(rank, names.CLASS_ID), exp.Star()], subquery(_unordered(groups), "anon_groups_of_rows"))
    (name,) = encoding.spec.protected
    query.set("order", ascending(column(names.CLASS_ID), column(name)))
    return query


def catalog(encoding: Encoding, levels: Levels) -> exp.Query:
    """The catalog: the classes of a group by their ids, a value, and how many counterfeits of it they have."""
    (name,) = encoding.spec.protected
    ids = exp.func(
        "list", exp.Order(this=column(names.CLASS_ID), expressions=[exp.Ordered(this=column(names.CLASS_ID))])
    )
    members = subquery(_class_ids(encoding, at_node(levels)), "anon_members")
    of_group = grouped(select([column(GROUP), aliased(ids, names.CLASS_IDS)], members), [column(GROUP)])
    value = aliased(column(encoding.raw(name), "anon_known"), name)
    columns = [
        column(names.CLASS_IDS, "anon_ids"),
        value,
        aliased(column(COUNT, "anon_totals"), names.COUNTERFEITS),
    ]
    query = select(columns, exp.alias_(TOTALS.table, "anon_totals", table=True))
    query = query.join(
        subquery(of_group, "anon_ids"), on=column(GROUP, "anon_ids").eq(column(GROUP, "anon_totals")), copy=False
    )
    on = column(value_column(encoding), "anon_known").eq(column(VALUE, "anon_totals"))
    query = query.join(exp.alias_(KNOWN.table, "anon_known", table=True), on=on, copy=False)
    shown = [column(names.CLASS_IDS), aliased(plain_value(_sensitive(encoding)), name), column(names.COUNTERFEITS)]
    ordered = select(shown, subquery(query, "anon_catalog"))
    ordered.set("order", ascending(column(names.CLASS_IDS), column(name)))
    return ordered


def catalog_of_counts(k: int) -> exp.Query:
    """The catalog without values: the ids of all classes of just k rows, and how many counterfeits they have together.

    Without counterfeits it has no row.
    """
    is_host = exp.Sum(this=column(ROW_COUNT)).eq(number(k))
    hosts = grouped(select([column(names.CLASS_ID)], EQUAL_ROWS.table), [column(names.CLASS_ID)])
    hosts = hosts.having(is_host, copy=False)
    ids = exp.func(
        "list", exp.Order(this=column(names.CLASS_ID), expressions=[exp.Ordered(this=column(names.CLASS_ID))])
    )
    counts = cast(exp.func("coalesce", exp.Sum(this=column(ROW_COUNT)), number(0)), "BIGINT")
    total = subquery(select([aliased(counts, names.COUNTERFEITS)], COUNTERFEITS.table), "anon_total")
    groups = subquery(select([aliased(ids, names.CLASS_IDS)], subquery(hosts, "anon_hosts")), "anon_ids")
    query = cross_join(select([column(names.CLASS_IDS), column(names.COUNTERFEITS)], groups), total)
    return query.where(exp.GT(this=column(names.COUNTERFEITS), expression=number(0)), copy=False)


def unlike_catalog(catalog: exp.Query, written: exp.Expr) -> exp.Query:
    """One row, ``unlike``: how many rows of the catalog are not as they were to be, or are missing."""
    wanted = _unordered(catalog)
    found = select([column(each) for each in wanted.named_selects], written)
    return select([aliased(count_rows(), "unlike")], subquery(differing_rows(wanted, found), "anon_differing"))


def too_many(encoding: Encoding, release: exp.Expr, written: exp.Expr) -> exp.Query:
    """One row, ``rows``: how many rows of the catalog tell of more counterfeits than their classes have rows."""
    (name,) = encoding.spec.protected
    in_group = exp.func("list_contains", column(names.CLASS_IDS, "anon_told"), column(names.CLASS_ID, "anon_release"))
    same_value = same(column(name, "anon_release"), column(name, "anon_told"))
    keys = [column(each, "anon_told") for each in (names.CLASS_IDS, name, names.COUNTERFEITS)]
    shown = aliased(exp.func("count", column(names.CLASS_ID, "anon_release")), ROW_COUNT)
    query = select(
        [column(names.COUNTERFEITS, "anon_told"), shown], exp.alias_(written.copy(), "anon_told", table=True)
    )
    release = exp.alias_(release.copy(), "anon_release", table=True)
    counts = grouped(left_join(query, release, exp.and_(same_value, in_group, copy=False)), keys)
    more = exp.GT(this=column(names.COUNTERFEITS), expression=column(ROW_COUNT))
    return select([aliased(count_rows(), "rows")], subquery(counts, "anon_counts")).where(more, copy=False)


def invented_rows(encoding: Encoding, levels: Levels) -> exp.Query:
    """How many counterfeits of each value every class has, by the labels of the class: for nobody but the custodian."""
    (name,) = encoding.spec.protected
    invented = exp.alias_(COUNTERFEITS.table, "anon_invented", table=True)
    value = aliased(column(encoding.raw(name), "anon_known"), name)
    query = select([value, aliased(column(ROW_COUNT, "anon_invented"), names.COUNTERFEITS)], invented)
    code = value_column(encoding)
    on = column(code, "anon_known").eq(column(code, "anon_invented"))
    query = query.join(exp.alias_(KNOWN.table, "anon_known", table=True), on=on, copy=False)
    query = _with_labels(encoding, at_node(levels), query, "anon_invented")
    labels = [
        aliased(text(column(encoding.label(position))), each)
        for position, each in enumerate(encoding.spec.quasi_identifiers)
    ]
    shown = [*labels, aliased(plain_value(_sensitive(encoding)), name), column(names.COUNTERFEITS)]
    return select(shown, subquery(query, "anon_labelled"))


def _class_ids(encoding: Encoding, recoding: Recoding) -> exp.Select:
    """The classes of every group by the ids that they have in the release: those of their labels."""
    query = select([column(GROUP, "anon_groups")], exp.alias_(GROUPS.table, "anon_groups", table=True))
    on = column(NUMBER, "anon_classes").eq(column(NUMBER, "anon_groups"))
    query = query.join(exp.alias_(CLASSES.table, "anon_classes", table=True), on=on, copy=False)
    query = _with_labels(encoding, recoding, query, "anon_classes")
    labels = [encoding.label(position) for position in range(len(recoding.parts))]
    ids = select([*map(column, labels), column(names.CLASS_ID)], EQUAL_ROWS.table).distinct(copy=False)
    same_labels = [same(column(label, "anon_members"), column(label, "anon_shown")) for label in labels]
    members = select(
        [column(GROUP, "anon_members"), column(names.CLASS_ID, "anon_shown")], subquery(query, "anon_members")
    )
    return members.join(subquery(ids, "anon_shown"), on=all_of(same_labels), copy=False)


def _with_labels(encoding: Encoding, recoding: Recoding, query: exp.Select, table: str) -> exp.Select:
    """The query of a table with keys of classes, and all labels of these."""
    several = {position for position, _ in code_columns(encoding, recoding)}
    for position, part in enumerate(recoding.parts):
        alias = encoding.labels_of(position)
        if position in several:
            lookup = subquery(labels_by_bits(encoding, position, part), alias)
            query = left_join(query, lookup, with_bits(encoding, position, part, table, alias))
        else:
            query = with_top_label(encoding, position, part, query)
        query = query.select(column(encoding.label(position), alias), copy=False)
    return query


def _sensitive(encoding: Encoding) -> SourceColumn:
    (name,) = encoding.spec.protected
    (found,) = (each for each in encoding.spec.columns if each.name == name)
    return found


def _unordered(query: exp.Query) -> exp.Query:
    """A query whose order is that of another one around it."""
    query.set("order", None)
    return query
