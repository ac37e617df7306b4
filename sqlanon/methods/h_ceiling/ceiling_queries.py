"""The queries of h-ceiling: ``sql/h_ceiling.sql``, and those that depend on the policy and the node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add

from sqlglot import exp

from sqlanon.model.lattice import Levels
from sqlanon.model.methods import counterfeiting as names
from sqlanon.queries.coded_labels import has_bits, label_bits
from sqlanon.queries.encoding import ROW_COUNT, Encoding, row_sum, words_of
from sqlanon.queries.grouping import NODE, by_key, by_keys
from sqlanon.queries.kit.macros import scalar_call, text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    c,
    column,
    copies,
    cross_join,
    equal_in,
    f,
    grouped,
    left_join,
    number,
    select,
    subquery,
    union_all,
)
from sqlanon.queries.published_rows import EQUAL_ROWS, plain_value
from sqlanon.queries.recodings import AtNode

PRIOR_ROWS = 10  # the weight, in rows, of a class's expected distribution of values (spec/hceiling_fill.md, *a*)

PROFILES = Relation("anon_profiles", "node")  # numbered losses of labels from level 1, by quasi-identifier
KEPT_CELLS = Relation("anon_kept_cells", "cell")  # of classes with enough true rows for the policy
LACKING = Relation("anon_lacking", "class")  # classes of fewer than k rows: what each lacks, and the running total
KNOWN = Relation("anon_known_values", "row")  # the sensitive values by code, with their rows
DRAWN = Relation("anon_drawn_values", "row")  # the value of every counterfeit, by place
COUNTERFEITS = Relation("anon_counterfeits", "cell")  # by value and class
FILLED = Relation("anon_filled_cells", "cell")  # the cells of a node, with counterfeits
CLASSES = Relation("anon_filled_classes", "class")  # the numbered classes of the filled cells, with rows
GROUPS = Relation("anon_groups", "class")  # the numbers of classes in each group of the catalog
TOTALS = Relation("anon_group_totals", "class")  # counterfeits by group and value
CLASS_VALUES = Relation("anon_class_values", "cell")  # true rows by class and value of a node

LABEL_VALUES = Relation("anon_label_values", "cell")  # true rows by label and value, at nodes with labels of one column
ANCESTOR_VALUES = Relation("anon_ancestor_values", "cell")  # the same at the nodes of a chain
URNS = Relation("anon_urns", "class")  # classes that lack rows: how many rows they may copy, and how many are missing
CHANCES = Relation("anon_chances", "cell")  # by such a class and value, from all rows outside the class
BOUNDS = Relation("anon_urn_bounds", "cell")  # where values start in draws: rows to copy from 0, others from -1
ENTRY_LABELS = Relation("anon_entry_labels", "node")  # by entry, its number of labels, and the column's position
ENTRY_VALUES = Relation("anon_entry_values", "node")  # the sensitive value of each entry

BARRING = Relation("anon_barring_labels", "node")
"""By entry and position, the bits of the node's labels at or below a label of an entry.

An entry has labels of some quasi-identifiers, of any level, and a sensitive value. It bars the value from a class whose
labels all lie at or under the entry's. A class with a more general label may have other rows in it, so it is not
barred.
"""

BARRED = Relation("anon_barred_values", "class")  # classes that lack rows, and the codes barred from them
PLACED = Relation("anon_placed", "class")  # like LACKING, in the order of the barred codes

SQL = Queries(
    "h_ceiling",
    {
        "profiles": PROFILES, "lacking": LACKING, "known": KNOWN, "drawn": DRAWN, "counterfeits": COUNTERFEITS,
        "filled": FILLED, "classes": CLASSES, "groups": GROUPS, "totals": TOTALS, "class_values": CLASS_VALUES,
        "urns": URNS, "chances": CHANCES, "bounds": BOUNDS, "entry_labels": ENTRY_LABELS, "entry_values": ENTRY_VALUES,
        "barred": BARRED, "placed": PLACED, "equal_rows": EQUAL_ROWS,
    },
)  # fmt: skip


def about(encoding: Encoding, levels: Levels | None = None) -> Queries:
    (sensitive,) = encoding.spec.protected
    return SQL.given(
        cells=encoding.cells,
        labels=encoding.labels,
        words=encoding.word_columns,
        keys=() if levels is None else by_key(encoding, levels).keys,
        value=encoding.sensitive(sensitive),
        raw=encoding.raw(sensitive),
        sensitive=sensitive,
        class_labels=encoding.label_columns,
    )


def cells_by_key(encoding: Encoding, levels: Levels, *carried: str) -> exp.Expr:
    return by_key(encoding, levels, carried=carried).cells()


def value_column(encoding: Encoding) -> str:
    (name,) = encoding.spec.protected
    return encoding.sensitive(name)


def profiles_of_rows(encoding: Encoding, positions: Sequence[int]) -> exp.Query:
    grouping = by_key(encoding, tuple(min(shape.height, 1) for shape in encoding.spec.shapes), carried=[])
    classes = grouping.select([], grouping.cells()) if grouping.keys else select([number(1)], grouping.cells())
    query = select([], subquery(classes, "anon_classes"))
    for position in positions:
        alias, masks = f"anon_profiles_{position}", encoding.keys.label_masks(position, 1)
        found = select([*(column(encoding.key(word)) for word in masks), c.anon_profile], PROFILES.table)
        found = found.where(c.position.eq(number(position)), copy=False)
        on = has_bits(encoding, masks, "anon_classes", alias)
        query = query.join(subquery(found, alias), on=on, copy=False)
        query = query.select(aliased(column("anon_profile", alias), f"profile_{position}"), copy=False)
    return query.distinct(copy=False)


def kept_cells(encoding: Encoding, levels: Levels, fewest: int) -> Step:
    is_of = has_bits(encoding, encoding.keys.node_masks(levels), "anon_all", "anon_classes")
    cells = cells_by_key(encoding, levels, ROW_COUNT)
    return about(encoding, levels).step(KEPT_CELLS, "kept_cells", cells_by_key=cells, is_of_class=is_of, fewest=fewest)


def filled_cells(encoding: Encoding, levels: Levels) -> Step:
    keys = by_key(encoding, levels).keys
    names = encoding.word_columns
    words = [column(name, "anon_counts") if name in keys else aliased(number(0), name) for name in names]
    cells = cells_by_key(encoding, levels, value_column(encoding), ROW_COUNT)
    return about(encoding, levels).step(FILLED, "filled_cells", cells=cells, words=words)


# The catalog


def catalog(encoding: Encoding, levels: Levels) -> exp.Query:
    """Select the catalog: the ids of a group's classes, a value, and its number of counterfeits in the group."""
    queries = about(encoding)
    labelled = select([column("anon_group", "anon_groups")], exp.alias_(GROUPS.table, "anon_groups", table=True))
    on = equal_in(["anon_class_number"], "anon_classes", "anon_groups")
    labelled = labelled.join(exp.alias_(CLASSES.table, "anon_classes", table=True), on=on, copy=False)
    members = queries.query("members", labelled=with_labels(AtNode(encoding, levels), labelled, "anon_classes"))
    return queries.query("catalog", members=members, published=_published_value(encoding))


def invented_rows(encoding: Encoding, levels: Levels) -> exp.Query:
    """Count the counterfeits of each class by labels and value: for the custodian only."""
    (name,) = encoding.spec.protected
    value = aliased(column(encoding.raw(name), "anon_known"), name)
    invented = exp.alias_(COUNTERFEITS.table, "anon_invented", table=True)
    query = select([value, aliased(column(ROW_COUNT, "anon_invented"), names.COUNTERFEITS)], invented)
    on = equal_in([value_column(encoding)], "anon_known", "anon_invented")
    query = query.join(exp.alias_(KNOWN.table, "anon_known", table=True), on=on, copy=False)
    query = with_labels(AtNode(encoding, levels), query, "anon_invented")
    labels = [
        aliased(text(column(encoding.label(position))), each)
        for position, each in enumerate(encoding.spec.quasi_identifiers)
    ]
    shown = [*labels, aliased(_published_value(encoding), name), column(names.COUNTERFEITS)]
    return select(shown, subquery(query, "anon_labelled"))


def with_labels(recoding: AtNode, query: exp.Select, table: str) -> exp.Select:
    encoding, with_code = recoding.encoding, dict(recoding.code_columns())
    for position, name in enumerate(encoding.label_columns):
        if position in with_code:
            query = recoding.join_label_to_cells(query, table, position)
        else:
            label = column(name, encoding.labels_of(position))
            query = recoding.join_only_label(query, position).select(label, copy=False)
    return query


def catalog_error(encoding: Encoding, levels: Levels) -> exp.Query:
    """Select ``error``: the mean reconstruction error of true rows, given the catalog.

    The mean, in [0, 1], is over quasi-identifiers and the sensitive value, from filled cells and the groups of their
    classes; 0 for an empty table.
    """
    cells = "anon_true_cells"
    query = select([], subquery(about(encoding, levels).query("true_cells"), cells))
    leaves: list[exp.Expr] = [number(1)]
    for position, (level, shape) in enumerate(zip(levels, encoding.spec.shapes, strict=True)):
        if 0 < level < shape.height:
            alias, masks = encoding.labels_of(position), encoding.keys.label_masks(position, level)
            labels = subquery(label_bits(encoding, position, level, [c.lm]), alias)
            query = left_join(query, labels, has_bits(encoding, masks, cells, alias))
            leaves.append(exp.paren(number(1) + column("lm", alias) * number(shape.domain_size - 1)))
        else:
            leaves.append(number(shape.domain_size if level else 1))
    of_row = reduce(add, (scalar_call("reconstruction_error", each, c.anon_truth) for each in leaves))
    mean = f.sum(column(ROW_COUNT, cells) * exp.paren(of_row)) / f.sum(column(ROW_COUNT, cells))
    return query.select(aliased(f.coalesce(mean / number(len(leaves)), 0), "error"), copy=False)


def _published_value(encoding: Encoding) -> exp.Expr:
    (name,) = encoding.spec.protected
    return plain_value(next(each for each in encoding.spec.columns if each.name == name))


# Hidden counterfeits. The expected distribution of a class, without its own rows, mixes the value counts of rows
# that share all labels of the class but the last one of a chain of nodes, of those that share fewer, and so on up to
# all rows (spec/hceiling_fill.md, *Algorithm*).


@dataclass(frozen=True)
class Ancestors:
    """The classes of some nodes above the one of :data:`CLASS_VALUES`.

    :attr:`values` has the true rows by place of the node, class and value.
    """

    encoding: Encoding
    nodes: Sequence[Levels]
    values: Relation

    def step(self, purpose: str) -> Step:
        grouping = by_keys(self.encoding, self.nodes, CLASS_VALUES)
        query = grouping.select([row_sum()], grouping.cells(), column(value_column(self.encoding)))
        return Step(self.values, query, purpose)

    @cached_property
    def words(self) -> list[int]:
        return words_of(map(self.encoding.keys.node_masks, self.nodes))

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(map(self.encoding.key, self.words))

    def is_above(self, place: int, alias: str, table: str) -> exp.Expr:
        """Return whether the class of ``table`` lies in the class ``alias`` of one node."""
        masks = self.encoding.keys.node_masks(self.nodes[place])
        return has_bits(self.encoding, {word: masks.get(word, 0) for word in self.words}, table, alias)


def urns(encoding: Encoding, levels: Levels, chain: Ancestors, *, has_barred: bool) -> Step:
    queries = about(encoding, levels)
    keys = by_key(encoding, levels).keys
    lacking = exp.alias_(LACKING.table, "anon_lacking", table=True)
    query = select([column(name, "anon_lacking") for name in (*keys, "anon_class_size", "anon_missing")], lacking)
    own: exp.Expr = column("anon_class_size", "anon_lacking")
    if has_barred:
        barred = exp.alias_(BARRED.table, "anon_barred", table=True)
        query = left_join(query, barred, equal_in(keys, "anon_barred", "anon_lacking"))
        query = query.select(column("anon_barred_codes", "anon_barred"), copy=False)
        rows = subquery(queries.query("barred_rows"), "anon_barred_rows")
        query = left_join(query, rows, equal_in(keys, "anon_barred_rows", "anon_lacking"))
        own = own - f.coalesce(column(ROW_COUNT, "anon_barred_rows"), 0)
    query = query.select(aliased(own, "anon_own_rows"), copy=False)
    for place in range(len(chain.nodes)):
        above, key = _above(place), [*map(column, chain.keys)]
        of_node = select([*key, row_sum()], chain.values.table).where(column(NODE).eq(number(place)), copy=False)
        rows = subquery(grouped(of_node, copies(key)), above)
        query = left_join(query, rows, chain.is_above(place, above, "anon_lacking"))
        query = query.select(aliased(column(ROW_COUNT, above), above), copy=False)
    return queries.step(URNS, "urns", urns=subquery(query, "anon_classes"))


def chances(encoding: Encoding, levels: Levels, labels: Ancestors, chain: Ancestors, *, has_barred: bool) -> Step:
    """Make :data:`CHANCES`: 0 for a value that no true row has with one of the class's labels.

    Unless all other values are barred.
    """
    queries = about(encoding, levels)
    keys, code = by_key(encoding, levels).keys, value_column(encoding)
    columns = [*(column(key, "anon_urns") for key in keys), column(code, "anon_known")]
    query = select(columns, exp.alias_(URNS.table, "anon_urns", table=True))
    query = cross_join(query, exp.alias_(KNOWN.table, "anon_known", table=True))
    for place in range(len(labels.nodes)):
        query = _with_rows_above(query, labels, place, f"anon_label_{place}", code, "LEFT" if has_barred else None)
    for place in range(len(chain.nodes)):
        query = _with_rows_above(query, chain, place, _above(place), code, "LEFT")
    is_own = exp.and_(equal_in(keys, "anon_own", "anon_urns"), equal_in([code], "anon_own", "anon_known"), copy=False)
    query = left_join(query, exp.alias_(CLASS_VALUES.table, "anon_own", table=True), is_own)
    query = query.select(aliased(_expected(len(chain.nodes)), "anon_chance"), copy=False)
    if has_barred:
        seen = [column(code, f"anon_label_{place}").is_(exp.null()).not_() for place in range(len(labels.nodes))]
        query = query.select(aliased(all_of(seen), "anon_is_seen"), copy=False)
        query = query.where(is_barred(column(code, "anon_known")).not_(), copy=False)
        query = queries.query("seen_values", expected=subquery(query, "anon_possible"))
    return queries.step(CHANCES, "chances", expected=subquery(query, "anon_expected"))


def is_barred(code: exp.Expr) -> exp.Expr:
    return f.coalesce(f.list_contains(column("anon_barred_codes", "anon_urns"), code), exp.false())


def _above(place: int) -> str:
    return f"anon_above_{place}"


def _with_rows_above(
    query: exp.Select, ancestors: Ancestors, place: int, alias: str, code: str, side: str | None
) -> exp.Select:
    on = exp.and_(ancestors.is_above(place, alias, "anon_urns"), equal_in([code], alias, "anon_known"), copy=False)
    columns = [*map(column, ancestors.keys), column(code), column(ROW_COUNT)]
    rows = select(columns, ancestors.values.table).where(column(NODE).eq(number(place)), copy=False)
    query.append("joins", exp.Join(this=subquery(rows, alias), side=side, on=on))
    return query


def _expected(nodes: int) -> exp.Expr:
    """Return the chance of a value, starting uniform and refined down the chain."""
    expected: exp.Expr = number(1) / exp.paren(exp.Subquery(this=select([f.count(exp.Star())], KNOWN.table)))
    own = f.coalesce(column(ROW_COUNT, "anon_own"), 0)
    for place in range(nodes):
        rows = f.coalesce(column(ROW_COUNT, _above(place)), 0) - own
        others = column(_above(place), "anon_urns") - column("anon_class_size", "anon_urns")
        expected = scalar_call("backed_off", rows, others, expected, number(PRIOR_ROWS))
    return expected


# Impossible combinations


def barred(encoding: Encoding, levels: Levels, positions: Iterable[int]) -> Step:
    columns = by_key(encoding, levels).columns("anon_lacking")
    columns += [column(name, "anon_barring") for name in ("anon_entry", "anon_entry_size")]
    met = []
    for position in positions:
        of_position = select([exp.Star()], BARRING.table).where(c.position.eq(number(position)), copy=False)
        masks = encoding.keys.label_masks(position, levels[position])
        on = has_bits(encoding, masks, "anon_lacking", "anon_barring")
        query = select(copies(columns), exp.alias_(LACKING.table, "anon_lacking", table=True))
        met.append(query.join(subquery(of_position, "anon_barring"), on=on, copy=False))
    return about(encoding, levels).step(BARRED, "barred_values", met=union_all(met))
