"""Classes beside earlier releases: which of them stay published, so that all joint classes meet the privacy models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.model.bounds import CLASS_SIZE
from sqlanon.queries.class_measures import class_relation, within
from sqlanon.queries.encoding import EARLIER, ROW_COUNT, Encoding, ShownValues
from sqlanon.queries.grouping import NODE, Grouping
from sqlanon.queries.kit.nodes import (
    aliased,
    all_columns,
    all_of,
    column,
    cross_join,
    equal_in,
    identifier,
    left_join,
    made_once,
    number,
    select,
    subquery,
    union_all,
)
from sqlanon.queries.persons_of_rows import ABSENT, NUMBER_OF_ABSENT, SQL, number_of_key

CLASSES = "anon_classes"

WITHHELD = "anon_withheld"
"""How many persons a class that is kept withholds for others."""

IS_SHOWN = "anon_is_shown"
"""Whether a class may be shown beside earlier releases and bounds on values."""

IS_MET = "anon_is_met"
HIDES_WELL = "anon_hides_well"
"""Whether what is hidden of the joint class of a class meets the privacy models, if anything is."""

MEASURED = "anon_measured"
HIDDEN = "anon_hidden"

Joint = Callable[[str], Sequence[exp.Alias]]
"""What earlier releases show of a table of cells or classes: columns of numbers, all of them 0 if that is nothing."""


def beside_hidden(grouping: Grouping, classes: exp.Select) -> exp.Select:
    """The classes of a run, with :data:`IS_SHOWN` if earlier releases and bounds on values ask for it.

    Their key columns are among those of the classes then.
    """
    encoding, earlier = grouping.encoding, grouping.encoding.spec.earlier
    if earlier is None or not encoding.criteria.looks_at_values:
        return classes

    def joint(table: str) -> list[exp.Alias]:
        return [aliased(number_of_key(encoding, table), EARLIER)]

    return with_shown(grouping, classes, within(encoding, encoding.criteria.class_bounds), joint)


def meets_as_shown(encoding: Encoding, joint: Sequence[exp.Expr]) -> exp.Expr:
    """Whether a class keeps the bounds on its size, and on the values that releases show of it.

    ``joint`` are the columns of joint classes.
    """
    of_size = [bound for bound in encoding.criteria.class_bounds if bound.measure == CLASS_SIZE]
    enough = [within(encoding, of_size)] if of_size else []
    shown = encoding.spec.shown_values
    return all_of([*enough, *([with_values_within(encoding, shown, joint)] if shown else [])])


def with_values_within(encoding: Encoding, shown: Iterable[ShownValues], joint: Sequence[exp.Expr]) -> exp.Expr:
    """Whether the values that releases show of a class keep their bounds; ``joint`` as above."""
    return all_of(
        [
            exp.or_(_are_hidden(each, joint[each.place]), within(encoding, encoding.bounds_on(each)), copy=False)
            for each in shown
        ]
    )


def _are_hidden(values: ShownValues, found: exp.Expr) -> exp.Expr:
    """Whether a release does not show values of the joint classes with a number."""

    def outside(first: int, last: int | None) -> exp.Expr:
        if last is None:
            return exp.LT(this=found.copy(), expression=number(first))
        return exp.not_(exp.Between(this=found.copy(), low=number(first), high=number(last)))

    return all_of([outside(*numbers) for numbers in values.numbers])


def with_shown(grouping: Grouping, classes: exp.Select, is_met: exp.Expr, joint: Joint) -> exp.Select:
    """Classes with :data:`IS_SHOWN`: of a joint class of earlier releases, those who are hidden meet the models, too.

    Where they do not, they are hidden with the smallest class of it; where not even then, with all of it.

    Args:
        grouping: makes the classes of cells.
        classes: these, with their key columns.
        is_met: whether a class meets the models by the values of the present source.
        joint: what earlier releases show.
    """
    keys = [key for key in grouping.keys if key != NODE]
    node = [NODE] if NODE in grouping.keys else []
    encoding = grouping.encoding
    if changed := [each for each in encoding.spec.shown_values if each.column != each.bounded]:
        held = with_values_within(encoding, changed, [each.this for each in joint(CLASSES)])
        is_met = exp.and_(is_met, held, copy=False)
    alone = select([exp.Star(), aliased(exp.func("coalesce", is_met, exp.false()), IS_MET)], subquery(classes, CLASSES))
    lent = SQL.query(
        "lent_classes",
        classes=_with_hidden(grouping, alone, joint),
        node=node,
        joint=[each.this for each in joint(CLASSES)],
        keys=keys,
    )
    found = _with_hidden(grouping, lent, joint)
    shown = aliased(exp.and_(column(IS_MET), column(HIDES_WELL), copy=False), IS_SHOWN)
    return select([*map(column, classes.named_selects), shown], subquery(found, CLASSES))


def _with_hidden(grouping: Grouping, classes: exp.Select, joint: Joint) -> exp.Select:
    """Classes with :data:`HIDES_WELL`; hidden are those that are not :data:`IS_MET`, and persons without a row."""
    encoding, keys = grouping.encoding, grouping.keys
    node = [NODE] if NODE in keys else []
    names = [*node, *(each.alias for each in joint(MEASURED))]

    def hidden_cells() -> exp.Subquery:
        cells = grouping.cells()
        table = cells.alias
        carried = [column(name, table) for name in (*node, *encoding.carried)]
        query = select([*joint(table), *carried], cells)
        query = query.join(exp.Table(this=identifier(MEASURED)), on=equal_in(keys, table, MEASURED), copy=False)
        is_known = exp.GT(this=exp.func("greatest", *(each.this for each in joint(table))), expression=number(0))
        found = [query.where(exp.not_(column(IS_MET, MEASURED)), is_known, copy=False)]
        if encoding.spec.earlier is not None and encoding.spec.earlier.is_by_person:
            found.append(_absent_cells(encoding, node))
        return subquery(union_all(found), "anon_hidden_cells")

    gaps = grouping.gaps or (encoding.spec.earlier is not None and encoding.spec.earlier.is_by_person)
    together = replace(grouping, keys=tuple(names), cells=hidden_cells, proving=False, measured_from=1, gaps=gaps)
    numbers = [column(each.alias) for each in joint(MEASURED)]
    hides_well = meets_as_shown(encoding, numbers)
    hidden = select(
        [*map(column, names), aliased(hides_well, HIDES_WELL)],
        subquery(class_relation(together, with_keys=True), "anon_together"),
    )
    or_hides_none = exp.func("coalesce", column(HIDES_WELL, HIDDEN), exp.true())
    query = select([all_columns(MEASURED), aliased(or_hides_none, HIDES_WELL)], exp.Table(this=identifier(MEASURED)))
    same_joint = [each.this.eq(column(each.alias, HIDDEN)) for each in joint(MEASURED)]
    same_node = [column(name, MEASURED).eq(column(name, HIDDEN)) for name in node]
    query = left_join(query, subquery(hidden, HIDDEN), all_of([*same_node, *same_joint]))
    query.set("with_", exp.With(expressions=[made_once(MEASURED, classes)]))
    return query


def _absent_cells(encoding: Encoding, node: Sequence[str]) -> exp.Select:
    """Persons without a row in the present source as cells, with what earlier releases show of them; at every node."""
    known = {encoding.sensitive(name): column(name) for name in encoding.spec.coded}
    known[ROW_COUNT] = column(NUMBER_OF_ABSENT)
    carried = [aliased(known.get(name, exp.null()), name) for name in encoding.carried]
    query = select([column(EARLIER), *map(column, node), *carried], ABSENT.table)
    if node:
        nodes = select([*map(column, node)], exp.Table(this=identifier(MEASURED))).distinct(copy=False)
        query = cross_join(query, subquery(nodes, "anon_nodes"))
    return query


def jointly_kept(encoding: Encoding, judged: exp.Select, columns: Sequence[str]) -> exp.Select:
    """The same classes, without the persons whom other joint classes need.

    Args:
        encoding: that of the run.
        judged: classes with their keys, and whether they keep the bounds of the privacy models.
        columns: the names of the columns of classes.
    """
    assert encoding.spec.earlier is not None
    if IS_SHOWN in columns:
        return SQL.query("jointly_kept_by_values", classes=judged)
    words = map(encoding.key, range(encoding.keys.word_count))
    return SQL.query(
        "jointly_kept",
        classes=judged,
        absent=ABSENT,
        number=number_of_key(encoding),
        node=[NODE] if NODE in columns else [],
        keys=[word for word in words if word in columns],
        k=encoding.criteria.k,
        by_person=exp.true() if encoding.spec.earlier.is_by_person else exp.false(),
    )
