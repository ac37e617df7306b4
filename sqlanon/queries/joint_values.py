"""Joint classes by the values in them, where releases are held together in more than the number of persons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.model.criteria import Criteria
from sqlanon.queries.class_measures import KEPT, class_relation, within
from sqlanon.queries.encoding import ROW_COUNT, CellSpec, ShownValues, encoding_for
from sqlanon.queries.grouping import CLASS_ROWS, Grouping
from sqlanon.queries.joint_classes import (
    IS_SHOWN,
    WITHHELD,
    meets_as_shown,
    with_shown,
)
from sqlanon.queries.joint_persons import JUDGED
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    column,
    count_rows,
    equal_in,
    filtered,
    number,
    select,
    subquery,
)

PERSON_CELLS = "anon_person_cells"


# More than six parameters: persons with all that is known of them.
def grouped_persons(
    spec: CellSpec,
    criteria: Criteria,
    classes: Sequence[str],
    values: Mapping[str, str],
    shown: Sequence[ShownValues],
    references: Mapping[str, Relation],
    persons: exp.Expr,
) -> Grouping:
    """Persons, each with a number of rows (``anon_rows``), grouped by their classes in some releases.

    Args:
        spec: the cells that the policy needs.
        criteria: what joint classes are judged by.
        classes: the columns with their classes.
        values: by protected column, the column of persons with its value.
        shown: what releases show of these, by the place of their classes.
        references: by protected column, the table of its values in their whole source.
        persons: the persons.
    """
    bounded = {name: name for name in values} | {each.column: each.bounded for each in shown}
    of_persons = CellSpec(
        spec.source,
        spec.columns,
        (),
        (),
        spec.taxonomy,
        protected=tuple(values),
        protected_shapes={
            name: spec.protected_shapes[bounded[name]] for name in values if bounded[name] in spec.protected_shapes
        },
        compared=tuple(name for name in values if bounded[name] in spec.compared),
        references=references,
        shown_values=tuple(shown),
    )
    encoding = replace(encoding_for(of_persons, criteria, label_losses=()), of_values="anon_person")

    def cells() -> exp.Expr:
        codes = [aliased(column(place), encoding.sensitive(name)) for name, place in values.items()]
        rows = aliased(column("anon_rows"), ROW_COUNT)
        return subquery(select([*map(column, classes), *codes, rows], persons.copy()), PERSON_CELLS)

    return Grouping(encoding, tuple(classes), cells, people=cells, gaps=True)


def judged_by_values(grouping: Grouping) -> Step:
    """The step that makes :data:`JUDGED` of persons by their classes in a release, the last, and in those before it."""
    *beside, name = grouping.keys
    classes = class_relation(grouping, with_keys=True)
    is_met = exp.and_(_is_shown([name]), within(grouping.encoding, grouping.encoding.criteria.class_bounds), copy=False)
    judged = with_shown(grouping, classes, is_met, _columns(beside))
    is_kept = aliased(column(IS_SHOWN), KEPT)
    columns = [*map(column, grouping.keys), column(CLASS_ROWS), is_kept, aliased(number(0), WITHHELD)]
    return Step(JUDGED, select(columns, subquery(judged, "anon_measured_classes")), "classes of a release")


def unmet(grouping: Grouping) -> exp.Select:
    """One row, ``classes``: the joint classes that do not keep a bound on their size or on values that are shown."""
    is_met = exp.func("coalesce", meets_as_shown(grouping.encoding, grouping.columns()), exp.false())
    wanted = exp.and_(exp.not_(is_met), _is_shown(grouping.keys), copy=False)
    count = aliased(filtered(count_rows(), wanted), "classes")
    return select([count], subquery(class_relation(grouping, with_keys=True), "anon_joint"))


def shown_persons_by_values(persons: Relation, values: Sequence[str], classes: Sequence[str]) -> exp.Expr:
    """The persons with 0 for their class in a release, the last, where :data:`JUDGED` does not keep it."""
    *beside, name = classes
    is_kept = column(KEPT, JUDGED.name)
    shown = aliased(exp.case().when(is_kept, column(name, JUDGED.name)).else_(number(0)), name)
    others = [column(each, persons.name) for each in (*beside, *values, "anon_rows")]
    query = select([*others, shown], exp.alias_(persons.table, persons.name, table=True))
    judged = exp.alias_(JUDGED.table, JUDGED.name, table=True)
    query = query.join(judged, on=equal_in(classes, persons.name, JUDGED.name), copy=False)
    return subquery(query, "anon_shown_persons")


def _is_shown(classes: Sequence[str]) -> exp.Expr:
    return exp.GT(this=exp.func("greatest", *map(column, classes)), expression=number(0))


def _columns(names: Sequence[str]) -> Callable[[str], list[exp.Alias]]:
    return lambda table: [aliased(column(name, table), name) for name in names]
