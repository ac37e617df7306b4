"""Which values the counterfeits of a class never get, in SQL: by the entries of a policy and the labels of the class.

An entry has labels of some quasi-identifiers, each of any level, and a sensitive value. It is one of a class if every
value under the label of the class is under that of the entry, in each of these quasi-identifiers. Of a class with a
more general label it says nothing: there may be others in it.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from sqlanon.methods.h_ceiling.queries import BEFORE, KNOWN, LACKING, MISSING, missing_before, value_column
from sqlanon.model.lattice import Levels
from sqlanon.model.recoding import AtLevel
from sqlanon.queries.cells.encoding import VALUE, Encoding
from sqlanon.queries.classes.grouping import by_key, with_bits
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    ascending,
    cast,
    column,
    copies,
    count_rows,
    equal_in,
    grouped,
    left_join,
    number,
    same,
    select,
    subquery,
    union_all,
    values,
)
from sqlanon.queries.kit.values import exact_text

ENTRY_LABELS = Relation("anon_entry_labels", "node")
"""The labels of entries: by entry, how many labels it has, and position of the quasi-identifier."""

ENTRY_VALUES = Relation("anon_entry_values", "node")
"""The sensitive value of each entry."""

BARRING = Relation("anon_barring_labels", "node")
"""The labels of a node that are at a label of an entry or under it: by entry and position, by their bits."""

BARRED = Relation("anon_barred_values", "class")
"""The classes that lack rows and that entries are of, with the codes of the values that they never get."""

PLACED = Relation("anon_placed", "class")
"""The classes that lack rows, as in ``LACKING``, but in the order of their barred values."""

ENTRY = "anon_entry"
SIZE = "anon_entry_size"
LABEL = "anon_entry_label"
ENTRY_VALUE = "anon_entry_value"
CODES = "anon_barred_codes"
LEAVES = "anon_leaves"


def unknown_labels(encoding: Encoding) -> exp.Query:
    """``entry`` and ``position`` of the labels that are at no level of their taxonomy."""
    keys = [column(name, "anon_told") for name in (ENTRY, "position")]
    columns = [aliased(key.copy(), name) for key, name in zip(keys, ("entry", "position"), strict=True)]
    query = select(columns, exp.alias_(ENTRY_LABELS.table, "anon_told", table=True))
    query = left_join(query, exp.alias_(encoding.labels.table, "anon_labels", table=True), _is_label())
    found = exp.func("count", column("position", "anon_labels"))
    query = grouped(query, keys).having(found.eq(number(0)), copy=False)
    query.set("order", ascending(column("entry"), column("position")))
    return query


def barring_labels(encoding: Encoding, levels: Levels) -> Step:
    """The step that makes :data:`BARRING`."""
    words = [encoding.key(word) for word in range(encoding.keys.word_count)]
    node = values("anon_node", ("position", "depth"), ([number(place), number(at)] for place, at in enumerate(levels)))
    place = ("position", *words)
    leaves = exp.Window(this=count_rows(), partition_by=[column(name, "anon_labels") for name in place])
    columns = [*(column(name, "anon_labels") for name in (*place, VALUE)), aliased(leaves, LEAVES)]
    labels = select(columns, exp.alias_(encoding.labels.table, "anon_labels", table=True))
    labels = labels.join(node, on=equal_in(("position", "depth"), "anon_labels", "anon_node"), copy=False)
    keys = [column(ENTRY, "anon_under"), column(SIZE, "anon_under"), *(column(name, "anon_of_node") for name in place)]
    query = select(keys, subquery(labels, "anon_of_node"))
    same_value = exp.and_(
        equal_in(["position"], "anon_under", "anon_of_node"),
        same(column(VALUE, "anon_under"), column(VALUE, "anon_of_node")),
        copy=False,
    )
    query = query.join(subquery(_values_under(encoding), "anon_under"), on=same_value, copy=False)
    all_under = count_rows().eq(exp.AnyValue(this=column(LEAVES, "anon_of_node")))
    query = grouped(query, copies(keys)).having(all_under, copy=False)
    return Step(BARRING, query, "labels of impossible combinations")


def barred(encoding: Encoding, levels: Levels, positions: Iterable[int]) -> Step:
    """The step that makes :data:`BARRED`, of entries with labels of some quasi-identifiers."""
    keys, code = by_key(encoding, levels).keys, value_column(encoding)
    met = union_all(_labels_met(encoding, levels, position, keys) for position in positions)
    by_entry = [*map(column, keys), column(ENTRY), column(SIZE)]
    of_entry = grouped(select(by_entry, subquery(met, "anon_met")), copies(by_entry))
    of_entry = of_entry.having(count_rows().eq(column(SIZE)), copy=False)
    columns = [*(column(key, "anon_entries") for key in keys), column(code, "anon_known")]
    query = select(columns, subquery(of_entry, "anon_entries"))
    told = exp.alias_(ENTRY_VALUES.table, "anon_told", table=True)
    query = query.join(told, on=equal_in([ENTRY], "anon_told", "anon_entries"), copy=False)
    known = exp.alias_(KNOWN.table, "anon_known", table=True)
    query = query.join(known, on=_is_value(encoding), copy=False).distinct(copy=False)
    by_code = exp.Order(this=column(code), expressions=[exp.Ordered(this=column(code))])
    codes = aliased(exp.func("list", by_code), CODES)
    lists = grouped(select([*map(column, keys), codes], subquery(query, "anon_pairs")), [*map(column, keys)])
    return Step(BARRED, lists, "values that classes never get")


def placed(encoding: Encoding, levels: Levels) -> Step:
    """The step that makes :data:`PLACED`: what is drawn for classes with equal sets of values comes together."""
    keys = by_key(encoding, levels).keys
    codes = exp.func("coalesce", column(CODES, "anon_barred"), exp.Array(expressions=[]))
    columns = [*(column(key, "anon_lacking") for key in keys), column(MISSING, "anon_lacking"), aliased(codes, CODES)]
    query = select(columns, exp.alias_(LACKING.table, "anon_lacking", table=True))
    query = left_join(
        query,
        exp.alias_(BARRED.table, "anon_barred", table=True),
        equal_in(keys, "anon_barred", "anon_lacking"),
    )
    before = aliased(missing_before([column(CODES), *map(column, keys)]), BEFORE)
    return Step(PLACED, select([exp.Star(), before], subquery(query, "anon_classes")), "classes by what they never get")


def barred_sets() -> exp.Query:
    """By set of barred values, ``barred``, in the order of places: how many ``classes``, and rows ``missing``."""
    missing = cast(exp.Sum(this=column(MISSING)), "BIGINT")
    columns = [aliased(column(CODES), "barred"), aliased(count_rows(), "classes"), aliased(missing, "missing")]
    query = grouped(select(columns, PLACED.table), [column(CODES)])
    query.set("order", ascending(column(CODES)))
    return query


def values_of_no_row(encoding: Encoding) -> exp.Query:
    """``entry``: those whose sensitive value no row has."""
    query = select([aliased(column(ENTRY), "entry")], exp.alias_(ENTRY_VALUES.table, "anon_told", table=True))
    query = left_join(query, exp.alias_(KNOWN.table, "anon_known", table=True), _is_value(encoding))
    query = query.where(column(value_column(encoding), "anon_known").is_(exp.null()), copy=False)
    query.set("order", ascending(column("entry")))
    return query


def _values_under(encoding: Encoding) -> exp.Select:
    """The values under the labels of entries, at whatever level these are."""
    columns = [column(ENTRY, "anon_told"), column(SIZE, "anon_told")]
    columns += [column("position", "anon_labels"), column(VALUE, "anon_labels")]
    query = select(columns, exp.alias_(encoding.labels.table, "anon_labels", table=True))
    told = exp.alias_(ENTRY_LABELS.table, "anon_told", table=True)
    return query.join(told, on=_is_label(), copy=False).distinct(copy=False)


def _labels_met(encoding: Encoding, levels: Levels, position: int, keys: Iterable[str]) -> exp.Select:
    """The classes that lack rows whose label of a quasi-identifier an entry is of, with that entry."""
    of_position = select([exp.Star()], BARRING.table).where(column("position").eq(number(position)), copy=False)
    on = with_bits(encoding, position, AtLevel(levels[position]), "anon_lacking", "anon_barring")
    columns = [
        *(column(key, "anon_lacking") for key in keys),
        *(column(name, "anon_barring") for name in (ENTRY, SIZE)),
    ]
    query = select(columns, exp.alias_(LACKING.table, "anon_lacking", table=True))
    return query.join(subquery(of_position, "anon_barring"), on=on, copy=False)


def _is_label() -> exp.Expr:
    """Whether a label is that of an entry, byte by byte."""
    same_text = exact_text(column("label", "anon_labels")).eq(column(LABEL, "anon_told"))
    return exp.and_(equal_in(["position"], "anon_labels", "anon_told"), same_text, copy=False)


def _is_value(encoding: Encoding) -> exp.Expr:
    """Whether a sensitive value is that of an entry, byte by byte."""
    (name,) = encoding.spec.protected
    return exact_text(column(encoding.raw(name), "anon_known")).eq(column(ENTRY_VALUE, "anon_told"))
