"""Classes beside earlier releases: which of them stay published, so that all joint classes meet the privacy models."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.model.bounds import CLASS_SIZE, Bound
from sqlanon.model.criteria import Criteria
from sqlanon.queries.cells.earlier import ABSENT, SQL, number_of_key
from sqlanon.queries.cells.encoding import EARLIER, Encoding
from sqlanon.queries.classes.classes import class_relation, within
from sqlanon.queries.classes.grouping import NODE, Grouping
from sqlanon.queries.kit.nodes import (
    aliased,
    all_columns,
    all_of,
    column,
    equal_in,
    identifier,
    left_join,
    made_once,
    number,
    select,
    subquery,
)

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

    return with_shown(grouping, classes, within(encoding, encoding.criteria.class_bounds), joint, earlier.values)


def bounds_on(criteria: Criteria, values: Container[str]) -> list[Bound]:
    """The bounds on sizes of classes, and on the values of some columns."""
    bounds = criteria.class_bounds
    return [bound for bound in bounds if bound.measure == CLASS_SIZE or bound.measure.column in values]


def with_shown(
    grouping: Grouping, classes: exp.Select, is_met: exp.Expr, joint: Joint, values: Container[str]
) -> exp.Select:
    """Classes with :data:`IS_SHOWN`: of a joint class of earlier releases, those who are hidden meet the models, too.

    Where they do not, they are hidden with the smallest class of it; where not even then, with all of it.

    Args:
        grouping: makes the classes of cells.
        classes: these, with their key columns.
        is_met: whether a class meets the models.
        joint: what earlier releases show.
        values: the columns that these releases show, whose values the hidden persons are judged by.
    """
    keys = [key for key in grouping.keys if key != NODE]
    node = [NODE] if NODE in grouping.keys else []
    alone = select([exp.Star(), aliased(exp.func("coalesce", is_met, exp.false()), IS_MET)], subquery(classes, CLASSES))
    lent = SQL.query(
        "lent_classes",
        classes=_with_hidden(grouping, alone, joint, values),
        node=node,
        joint=[each.this for each in joint(CLASSES)],
        keys=keys,
    )
    found = _with_hidden(grouping, lent, joint, values)
    shown = aliased(exp.and_(column(IS_MET), column(HIDES_WELL), copy=False), IS_SHOWN)
    return select([*map(column, classes.named_selects), shown], subquery(found, CLASSES))


def _with_hidden(grouping: Grouping, classes: exp.Select, joint: Joint, values: Container[str]) -> exp.Select:
    """Classes with :data:`HIDES_WELL`; those are hidden that are not :data:`IS_MET`."""
    encoding, keys = grouping.encoding, grouping.keys
    node = [NODE] if NODE in keys else []
    names = [*node, *(each.alias for each in joint(MEASURED))]

    def hidden_cells() -> exp.Expr:
        cells = grouping.cells()
        table = cells.alias
        carried = [column(name, table) for name in (*node, *encoding.carried)]
        query = select([*joint(table), *carried], cells)
        query = query.join(exp.Table(this=identifier(MEASURED)), on=equal_in(keys, table, MEASURED), copy=False)
        is_known = exp.GT(this=exp.func("greatest", *(each.this for each in joint(table))), expression=number(0))
        return subquery(query.where(exp.not_(column(IS_MET, MEASURED)), is_known, copy=False), "anon_hidden_cells")

    together = replace(grouping, keys=tuple(names), cells=hidden_cells, proving=False, measured_from=1)
    hidden = select(
        [*map(column, names), aliased(within(encoding, bounds_on(encoding.criteria, values)), HIDES_WELL)],
        subquery(class_relation(together, with_keys=True), "anon_together"),
    )
    hides_well = exp.func("coalesce", column(HIDES_WELL, HIDDEN), exp.true())
    query = select([all_columns(MEASURED), aliased(hides_well, HIDES_WELL)], exp.Table(this=identifier(MEASURED)))
    same_joint = [each.this.eq(column(each.alias, HIDDEN)) for each in joint(MEASURED)]
    same_node = [column(name, MEASURED).eq(column(name, HIDDEN)) for name in node]
    query = left_join(query, subquery(hidden, HIDDEN), all_of([*same_node, *same_joint]))
    query.set("with_", exp.With(expressions=[made_once(MEASURED, classes)]))
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
