"""Counterfeits that hide, in SQL: which values are expected of a class without its own rows, and what is drawn of them.

Expected is a mixture of how often others have each value: the rows that share all labels of the class but the last one
of a chain of nodes, those that share fewer, and so on up to all rows (spec/hceiling_fill.md, *Algorithm*).
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.methods.h_ceiling.ancestors import CLASS_VALUES, Ancestors
from sqlanon.methods.h_ceiling.impossible_queries import BARRED, CODES
from sqlanon.methods.h_ceiling.queries import (
    BEFORE,
    COUNTERFEITS,
    DRAWN_VALUE,
    KNOWN,
    LACKING,
    MISSING,
    drawn_for_classes,
    missing_before,
    value_column,
)
from sqlanon.methods.h_ceiling.urn import PRIOR_ROWS
from sqlanon.model.lattice import Levels
from sqlanon.queries.cells.encoding import ROW_COUNT, Encoding, row_sum
from sqlanon.queries.classes.grouping import CLASS_ROWS, NODE, by_key
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    ascending,
    cast,
    column,
    copies,
    count_rows,
    cross_join,
    equal_in,
    grouped,
    left_join,
    number,
    select,
    subquery,
    union_all,
)

LABEL_VALUES = Relation("anon_label_values", "cell")
"""The true rows of each label and value, at nodes that have labels of one quasi-identifier alone."""

ANCESTOR_VALUES = Relation("anon_ancestor_values", "cell")
"""The true rows of each class and value at the nodes of a chain."""

URNS = Relation("anon_urns", "class")
"""The classes that lack rows; those with equally many rows to copy and equally many missing come together."""

CHANCES = Relation("anon_chances", "cell")
"""How likely each value is in each of these classes, by all rows but those of the class."""

BOUNDS = Relation("anon_urn_bounds", "cell")
"""Where each value begins in what is drawn: those of rows to copy from 0 on, those that are expected from -1 to 0."""

OWN = "anon_own_rows"
CHANCE = "anon_chance"
LOW = "anon_low"
IS_SEEN = "anon_is_seen"

LARGEST_CHANCE = 2**52
"""Chances are whole numbers: what they add up to does not depend on the order in which a database adds."""


def entropies(labels: Ancestors) -> exp.Query:
    """``node`` and ``entropy``: that of the sensitive value where the label of a quasi-identifier is known, in nats."""
    keys = [column(NODE), *map(column, labels.keys)]
    effective = scalar_call("entropy_diversity_of", column(ROW_COUNT))
    columns = [*copies(keys), row_sum(name=CLASS_ROWS), aliased(exp.func("ln", effective), "entropy")]
    of_label = subquery(grouped(select(columns, labels.values.table), keys), "anon_labels_of_node")
    total = exp.func("fsum", exp.Mul(this=column(CLASS_ROWS), expression=column("entropy")))
    mean = exp.Div(this=total, expression=exp.Sum(this=column(CLASS_ROWS)))
    return grouped(select([aliased(column(NODE), "node"), aliased(mean, "entropy")], of_label), [column(NODE)])


def urns(encoding: Encoding, levels: Levels, chain: Ancestors, *, has_barred: bool) -> Step:
    """The step that makes :data:`URNS`, with how many rows the class above has at each node of a chain."""
    keys = by_key(encoding, levels).keys
    lacking = exp.alias_(LACKING.table, "anon_lacking", table=True)
    query = select([column(name, "anon_lacking") for name in (*keys, CLASS_ROWS, MISSING)], lacking)
    own: exp.Expr = column(CLASS_ROWS, "anon_lacking")
    if has_barred:
        query = left_join(
            query,
            exp.alias_(BARRED.table, "anon_barred", table=True),
            equal_in(keys, "anon_barred", "anon_lacking"),
        )
        query = query.select(column(CODES, "anon_barred"), copy=False)
        barred = subquery(_barred_rows(encoding, keys), "anon_barred_rows")
        query = left_join(query, barred, equal_in(keys, "anon_barred_rows", "anon_lacking"))
        not_copied = exp.func("coalesce", column(ROW_COUNT, "anon_barred_rows"), number(0))
        own = exp.Sub(this=own, expression=not_copied)
    query = query.select(aliased(own, OWN), copy=False)
    for place in range(len(chain.nodes)):
        above = _above(place)
        rows = subquery(chain.rows_of_classes(place), above)
        query = left_join(query, rows, chain.is_above(place, above, "anon_lacking"))
        query = query.select(aliased(column(ROW_COUNT, above), above), copy=False)
    before = aliased(missing_before([column(OWN), column(MISSING), *map(column, keys)]), BEFORE)
    return Step(URNS, select([exp.Star(), before], subquery(query, "anon_classes")), "classes that are filled up")


def urn_sizes() -> exp.Query:
    """``own`` rows to copy, ``missing`` rows, and how many ``classes`` have both these numbers, in order of places."""
    columns = [aliased(column(OWN), "own"), aliased(column(MISSING), "missing"), aliased(count_rows(), "classes")]
    query = grouped(select(columns, URNS.table), [column(OWN), column(MISSING)])
    query.set("order", ascending(column("own"), column("missing")))
    return query


def chances(encoding: Encoding, levels: Levels, labels: Ancestors, chain: Ancestors, *, has_barred: bool) -> Step:
    """The step that makes :data:`CHANCES`.

    None for a value that no true row has with one of the labels of the class, unless the others are all barred.
    """
    keys, code = by_key(encoding, levels).keys, value_column(encoding)
    columns = [*(column(key, "anon_urns") for key in keys), column(code, "anon_known")]
    query = select(columns, exp.alias_(URNS.table, "anon_urns", table=True))
    query = cross_join(query, exp.alias_(KNOWN.table, "anon_known", table=True))
    for place in range(len(labels.nodes)):
        query = _beside(query, labels, place, f"anon_label_{place}", code, "LEFT" if has_barred else None)
    for place in range(len(chain.nodes)):
        query = _beside(query, chain, place, _above(place), code, "LEFT")
    is_own = exp.and_(equal_in(keys, "anon_own", "anon_urns"), equal_in([code], "anon_own", "anon_known"), copy=False)
    query = left_join(query, exp.alias_(CLASS_VALUES.table, "anon_own", table=True), is_own)
    query = query.select(aliased(_expected(len(chain.nodes)), CHANCE), copy=False)
    if has_barred:
        query = _without_barred(query, keys, code, len(labels.nodes))
    largest = exp.Window(this=exp.Max(this=column(CHANCE)), partition_by=[*map(column, keys)])
    share = exp.Mul(this=exp.Div(this=column(CHANCE), expression=largest), expression=number(LARGEST_CHANCE))
    whole = aliased(cast(exp.func("round", share), "BIGINT"), CHANCE)
    return Step(
        CHANCES,
        select([*map(column, keys), column(code), whole], subquery(query, "anon_expected")),
        "chances of values",
    )


def without_chances(encoding: Encoding, levels: Levels) -> exp.Query:
    """One row, ``classes``: how many that lack rows have no value that is not barred."""
    keys = by_key(encoding, levels).keys
    urns = exp.alias_(URNS.table, "anon_urns", table=True)
    chances = exp.alias_(CHANCES.table, "anon_chances", table=True)
    query = select([aliased(count_rows(), "classes")], urns)
    query.append("joins", exp.Join(this=chances, kind="ANTI", on=equal_in(keys, "anon_chances", "anon_urns")))
    return query


def bounds(encoding: Encoding, levels: Levels, *, has_barred: bool) -> Step:
    """The step that makes :data:`BOUNDS`."""
    keys, code = by_key(encoding, levels).keys, value_column(encoding)
    own = select(
        [*(column(key, "anon_urns") for key in keys), column(code, "anon_own"), column(ROW_COUNT, "anon_own")],
        exp.alias_(URNS.table, "anon_urns", table=True),
    )
    same_class = equal_in(keys, "anon_own", "anon_urns")
    own = own.join(exp.alias_(CLASS_VALUES.table, "anon_own", table=True), on=same_class, copy=False)
    if has_barred:
        own = own.where(_is_barred(column(code, "anon_own")).not_(), copy=False)
    of_copies = select(
        [*map(column, keys), column(code), aliased(cast(_before(ROW_COUNT, keys, code), "DOUBLE"), LOW)],
        subquery(own, "anon_copied"),
    )
    whole = exp.Window(this=exp.Sum(this=column(CHANCE)), partition_by=[*map(column, keys)])
    share = exp.Div(this=cast(_before(CHANCE, keys, code), "DOUBLE"), expression=whole)
    of_others = select(
        [*map(column, keys), column(code), aliased(exp.Sub(this=share, expression=number(1)), LOW)],
        CHANCES.table,
    ).where(exp.GT(this=column(CHANCE), expression=number(0)), copy=False)
    return Step(BOUNDS, union_all([of_copies, of_others]), "values to draw")


def counterfeits(encoding: Encoding, levels: Levels) -> Step:
    """The step that makes :data:`COUNTERFEITS`: each has the value that begins last before what was drawn for it."""
    keys, code = by_key(encoding, levels).keys, value_column(encoding)
    columns = [*(column(key, "anon_places") for key in keys), column(code, "anon_bounds")]
    drawn = subquery(drawn_for_classes(encoding, levels, URNS), "anon_places")
    query = select([*columns, aliased(cast(count_rows(), "BIGINT"), ROW_COUNT)], drawn)
    begins = exp.GTE(this=column(DRAWN_VALUE, "anon_places"), expression=column(LOW, "anon_bounds"))
    on = exp.and_(equal_in(keys, "anon_places", "anon_bounds"), begins, copy=False)
    begun = exp.alias_(BOUNDS.table, "anon_bounds", table=True)
    query.append("joins", exp.Join(this=begun, method="ASOF", on=on))
    return Step(COUNTERFEITS, grouped(query, copies(columns)), "counterfeits")


def _above(place: int) -> str:
    """What the class above at a node of a chain is called, and the column of :data:`URNS` with its rows."""
    return f"anon_above_{place}"


def _beside(query: exp.Select, ancestors: Ancestors, place: int, alias: str, code: str, side: str | None) -> exp.Select:
    """The query of urns and values, with the rows of the value in the class above at a node."""
    on = exp.and_(ancestors.is_above(place, alias, "anon_urns"), equal_in([code], alias, "anon_known"), copy=False)
    query.append("joins", exp.Join(this=subquery(ancestors.rows_by_value(place), alias), side=side, on=on))
    return query


def _expected(nodes: int) -> exp.Expr:
    """The chance of a value, from all values alike to rows that share all labels but the last."""
    expected: exp.Expr = exp.Div(this=number(1), expression=exp.Paren(this=_value_count()))
    own = exp.func("coalesce", column(ROW_COUNT, "anon_own"), number(0))
    for place in range(nodes):
        rows = exp.Sub(this=exp.func("coalesce", column(ROW_COUNT, _above(place)), number(0)), expression=own.copy())
        others = exp.Sub(this=column(_above(place), "anon_urns"), expression=column(CLASS_ROWS, "anon_urns"))
        expected = scalar_call("backed_off", rows, others, expected, number(PRIOR_ROWS))
    return expected


def _value_count() -> exp.Expr:
    return exp.Subquery(this=select([count_rows()], KNOWN.table))


def _without_barred(query: exp.Select, keys: Sequence[str], code: str, labels: int) -> exp.Select:
    """The values that classes may get, with their chances: those that were seen with all labels, if there are any."""
    seen = [column(code, f"anon_label_{place}").is_(exp.null()).not_() for place in range(labels)]
    query = query.select(aliased(all_of(seen), IS_SEEN), copy=False)
    query = query.where(_is_barred(column(code, "anon_known")).not_(), copy=False)
    any_seen = exp.Window(this=exp.LogicalOr(this=column(IS_SEEN)), partition_by=[*map(column, keys)])
    found = select([exp.Star()], subquery(query, "anon_possible"))
    found.set("qualify", exp.Qualify(this=column(IS_SEEN).eq(any_seen)))
    return found


def _barred_rows(encoding: Encoding, keys: Sequence[str]) -> exp.Select:
    """By class, the true rows whose value it never gets."""
    columns = [column(key, "anon_urns") for key in keys]
    query = select([*columns, row_sum()], exp.alias_(BARRED.table, "anon_urns", table=True))
    own = exp.alias_(CLASS_VALUES.table, "anon_own", table=True)
    query = query.join(own, on=equal_in(keys, "anon_own", "anon_urns"), copy=False)
    query = query.where(_is_barred(column(value_column(encoding), "anon_own")), copy=False)
    return grouped(query, copies(columns))


def _is_barred(code: exp.Expr) -> exp.Expr:
    """Whether a class of the urns never gets a value."""
    return exp.func("coalesce", exp.func("list_contains", column(CODES, "anon_urns"), code), exp.false())


def _before(counted: str, keys: Sequence[str], code: str) -> exp.Expr:
    """What the values before one come to in its class."""
    so_far = exp.Window(
        this=exp.Sum(this=column(counted)), partition_by=[*map(column, keys)], order=ascending(column(code))
    )
    return exp.Paren(this=exp.Sub(this=so_far, expression=column(counted)))
