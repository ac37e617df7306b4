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

WITHHELD = "anon_withheld"
"""How many persons a class that is kept withholds for others."""

HIDES_WELL = "anon_hides_well"
"""Whether what is hidden of the joint class of a class meets the privacy models, if anything is."""

MEASURED = "anon_measured"
HIDDEN = "anon_hidden"
IS_MET = "anon_is_met"


def beside_hidden(grouping: Grouping, classes: exp.Select) -> exp.Select:
    """The classes of a run, with :data:`HIDES_WELL` if earlier releases and bounds on values ask for it.

    Their key columns are among those of the classes then.
    """
    encoding, earlier = grouping.encoding, grouping.encoding.spec.earlier
    if earlier is None or not encoding.criteria.looks_at_values:
        return classes
    is_met = within(encoding, of_classes(encoding.criteria))
    return with_hidden(
        grouping, classes, is_met, lambda table: [aliased(number_of_key(encoding, table), EARLIER)], earlier.values
    )


def of_classes(criteria: Criteria, values: Container[str] | None = None) -> list[Bound]:
    """The bounds on classes, of sizes and of values of some columns; of all if None."""
    found = [bound for bound in criteria.bounds if bound.grain == "class"]
    return [bound for bound in found if values is None or bound.measure == CLASS_SIZE or bound.measure.column in values]


def with_hidden(
    grouping: Grouping,
    classes: exp.Select,
    is_met: exp.Expr,
    joint: Callable[[str], Sequence[exp.Alias]],
    values: Container[str],
) -> exp.Select:
    """Classes with :data:`HIDES_WELL`: who is hidden of a joint class of earlier releases is to be hidden among others.

    Args:
        grouping: makes the classes of cells.
        classes: these, with their key columns.
        is_met: whether a class may be shown.
        joint: what earlier releases show of a table of cells or classes: numbers, all of them 0 if that is nothing.
        values: the columns that these releases show, whose values the hidden persons are judged by.
    """
    encoding, keys = grouping.encoding, grouping.keys
    known = exp.func("coalesce", is_met, exp.false())
    measured = select([exp.Star(), aliased(known, IS_MET)], subquery(classes, "anon_classes"))
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
        [*map(column, names), aliased(within(encoding, of_classes(encoding.criteria, values)), HIDES_WELL)],
        subquery(class_relation(together, with_keys=True), "anon_together"),
    )
    hides_well = exp.func("coalesce", column(HIDES_WELL, HIDDEN), exp.true())
    shown = [column(name, MEASURED) for name in classes.named_selects]
    query = select([*shown, aliased(hides_well, HIDES_WELL)], exp.Table(this=identifier(MEASURED)))
    same_joint = [each.this.eq(column(each.alias, HIDDEN)) for each in joint(MEASURED)]
    same_node = [column(name, MEASURED).eq(column(name, HIDDEN)) for name in node]
    query = left_join(query, subquery(hidden, HIDDEN), all_of([*same_node, *same_joint]))
    query.set("with_", exp.With(expressions=[made_once(MEASURED, measured)]))
    return query


def jointly_kept(encoding: Encoding, judged: exp.Select, columns: Sequence[str]) -> exp.Select:
    """The same classes, without the persons whom other joint classes need.

    Args:
        encoding: that of the run.
        judged: classes with their keys, and whether they keep the bounds of the privacy models.
        columns: the names of the columns of classes.
    """
    assert encoding.spec.earlier is not None
    if HIDES_WELL in columns:
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
