"""The rows of values and of the labels above them, and the information that labels have: in bits, from their share."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlanon.queries.encoding import ROW_COUNT, VALUE, WEIGHT, Encoding
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    bits,
    column,
    copies,
    count_rows,
    filtered,
    grouped,
    identifier,
    left_join,
    number,
    same,
    select,
    string,
    subquery,
    union_all,
)

INFORMATION = "information"
VALUE_ROWS = "anon_value_rows"


def with_information(encoding: Encoding) -> Encoding:
    """The encoding with labels that have their information beside them."""
    return replace(encoding, labels=Relation("anon_informed_labels", "node"))


def encode_information(encoding: Encoding, informed: Relation) -> Step:
    """The step that makes the labels with the information that they have."""
    labels = exp.alias_(encoding.labels.table, "anon_labels", table=True)
    everything = exp.Column(this=exp.Star(), table=identifier("anon_labels"))
    query = select([everything, aliased(_information(encoding), INFORMATION)], labels)
    values = subquery(value_rows(encoding), "anon_values")
    return Step(informed, left_join(query, values, _same_value()), "information of labels")


def labelled_values(encoding: Encoding) -> exp.Select:
    """The values of every quasi-identifier with their rows, once per level with their label there and what it loses."""
    return Queries("cells").query("labelled_values", values=value_rows(encoding), labels=encoding.labels)


def root_rows(encoding: Encoding) -> exp.Select:
    """position, depth, and the rows (or their weight) whose label there is that of the top, and all: rows, whole."""
    labels = exp.alias_(encoding.labels.table, "anon_labels", table=True)
    place = [column("position", "anon_labels"), column("depth", "anon_labels")]
    rows = exp.Sum(this=column(VALUE_ROWS, "anon_values"))
    counts = [
        aliased(exp.func("coalesce", filtered(rows, _is_root(encoding)), number(0)), "rows"),
        aliased(rows.copy(), "whole"),
    ]
    query = select([*place, *counts], labels)
    query = query.join(subquery(value_rows(encoding), "anon_values"), on=_same_value(), copy=False)
    return grouped(query, copies(place))


def value_rows(encoding: Encoding) -> exp.Select:
    """position, value, and the rows (or their weight) of each value of every quasi-identifier that occurs.

    Values that a taxonomy does not have are one: they share their key.
    """
    words = [encoding.key(word) for word in range(encoding.keys.word_count)]
    keyed = union_all(_keyed_rows(encoding, position) for position in range(len(encoding.spec.shapes)))
    labels = exp.alias_(encoding.labels.table, "anon_labels", table=True)
    on: list[exp.Expr] = [column(name, "anon_labels").eq(column(name, "anon_keyed")) for name in ("position", *words)]
    on.append(column("depth", "anon_labels").eq(number(0)))
    if encoding.spec.roots:
        on.append(same(column("label", "anon_labels"), column(VALUE, "anon_labels")))
    columns = [column("position", "anon_labels"), column(VALUE, "anon_labels"), column(VALUE_ROWS, "anon_keyed")]
    return select(columns, subquery(keyed, "anon_keyed")).join(labels, on=all_of(on), copy=False)


def _keyed_rows(encoding: Encoding, position: int) -> exp.Select:
    """The rows (or their weight) of each value of a quasi-identifier, by its bits in the words of the key."""
    counted = ROW_COUNT if encoding.spec.row_weight is None else WEIGHT
    masks = encoding.keys.label_masks(position, 0)
    words = {
        encoding.key(word): bits(column(encoding.key(word)), number(masks[word])) if word in masks else number(0)
        for word in range(encoding.keys.word_count)
    }
    keys = [words[encoding.key(word)].copy() for word in masks]
    columns = [aliased(word, name) for name, word in words.items()]
    rows = aliased(exp.Sum(this=column(counted)), VALUE_ROWS)
    query = grouped(select([aliased(number(position), "position"), *columns, rows], encoding.cells.table), keys)
    # Without a key to group by there would be a row of no rows.
    return query.having(exp.GT(this=count_rows(), expression=number(0)), copy=False)


def _same_value() -> exp.Expr:
    values = same(column(VALUE, "anon_values"), column(VALUE, "anon_labels"))
    return exp.and_(column("position", "anon_values").eq(column("position", "anon_labels")), values, copy=False)


def _information(encoding: Encoding) -> exp.Expr:
    """That of a label; nothing where the data has no row of it, or it is that of the top."""
    level = [column("position", "anon_labels"), column("depth", "anon_labels")]
    rows = exp.Sum(this=column(VALUE_ROWS, "anon_values"))
    of_label = exp.Window(this=rows, partition_by=[*level, column("code", "anon_labels")])
    of_all = exp.Window(this=rows.copy(), partition_by=copies(level))
    found = exp.func("coalesce", scalar_call("label_information", of_label, of_all), number(0))
    if not encoding.spec.roots:
        return found
    return exp.Case(ifs=[exp.If(this=_is_root(encoding), true=number(0))], default=found)


def _is_root(encoding: Encoding) -> exp.Expr:
    """Whether a label is that of the top, where values can have it that the taxonomy does not have."""
    names = encoding.spec.quasi_identifiers
    found = [
        exp.and_(
            column("position", "anon_labels").eq(number(names.index(name))),
            column("label", "anon_labels").eq(string(root)),
            copy=False,
        )
        for name, root in encoding.spec.roots.items()
    ]
    return exp.Paren(this=exp.or_(*found, copy=False))
