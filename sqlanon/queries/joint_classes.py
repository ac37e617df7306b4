"""Classes beside earlier releases: the ones to publish, so that all joint classes meet the privacy models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.model.criteria import CLASS_SIZE, Criteria
from sqlanon.queries.class_measures import KEPT, class_relation, within
from sqlanon.queries.encoding import EARLIER, ROW_COUNT, CellSpec, Encoding, ShownValues, encoding_for
from sqlanon.queries.grouping import CLASS_ROWS, NODE, Grouping
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    column,
    count_rows,
    cross_join,
    equal_in,
    f,
    filtered,
    identifier,
    made_once,
    number,
    select,
    subquery,
    union_all,
)
from sqlanon.queries.source_rows import ABSENT, NUMBER_OF_ABSENT, SQL, number_of_key

CLASSES = "anon_classes"
WITHHELD = "anon_withheld"  # the number of persons that a kept class withholds for others
IS_SHOWN = "anon_is_shown"  # whether a class may be shown beside earlier releases and bounds on values
IS_MET = "anon_is_met"
HIDES_WELL = "anon_hides_well"  # whether the hidden persons of a joint class, if any, meet the privacy models
MEASURED = "anon_measured"

JUDGED = Relation("anon_shown_groups", "class")
"""Persons by their classes in a release and in the ones beside it, and whether it shows them."""

Joint = Callable[[str], Sequence[exp.Alias]]
"""The columns of a table of cells or classes with their numbers in earlier releases, all 0 if none shows them."""


def beside_hidden(grouping: Grouping, classes: exp.Select) -> exp.Select:
    """Add :data:`IS_SHOWN` to classes with keys, if there are earlier releases and bounds on values."""
    encoding, earlier = grouping.encoding, grouping.encoding.spec.earlier
    if earlier is None or not encoding.criteria.looks_at_values:
        return classes

    def joint(table: str) -> list[exp.Alias]:
        return [aliased(number_of_key(encoding, table), EARLIER)]

    return with_shown(grouping, classes, within(encoding, encoding.criteria.class_bounds), joint)


def meets_as_shown(encoding: Encoding, joint: Sequence[exp.Expr]) -> exp.Expr:
    """Test whether a class keeps the bounds on its size and on shown values, by columns of joint classes."""
    of_size = [bound for bound in encoding.criteria.class_bounds if bound.measure == CLASS_SIZE]
    enough = [within(encoding, of_size)] if of_size else []
    shown = encoding.spec.shown_values
    return all_of([*enough, *([with_values_within(encoding, shown, joint)] if shown else [])])


def with_values_within(encoding: Encoding, shown: Iterable[ShownValues], joint: Sequence[exp.Expr]) -> exp.Expr:
    """Test whether the shown values of a class keep their bounds."""

    def outside(found: exp.Expr, first: int, last: int | None) -> exp.Expr:
        if last is None:
            return found < first
        return exp.not_(found.between(first, last))

    kept = []
    for each in shown:
        are_hidden = all_of([outside(joint[each.place], *numbers) for numbers in each.numbers])
        kept.append(exp.or_(are_hidden, within(encoding, encoding.bounds_on(each)), copy=False))
    return all_of(kept)


def with_shown(grouping: Grouping, classes: exp.Select, is_met: exp.Expr, joint: Joint) -> exp.Select:
    """Add :data:`IS_SHOWN` to classes, so that the hidden persons of each joint class meet the models, too.

    If they don't, the smallest class is hidden with them; if that isn't enough, the whole joint class. ``is_met`` tests
    whether a class meets the models by the values of the present source.
    """
    keys = [key for key in grouping.keys if key != NODE]
    node = [NODE] if NODE in grouping.keys else []
    encoding = grouping.encoding
    if changed := [each for each in encoding.spec.shown_values if each.column != each.bounded]:
        held = with_values_within(encoding, changed, [each.this for each in joint(CLASSES)])
        is_met = exp.and_(is_met, held, copy=False)
    alone = select([exp.Star(), aliased(f.coalesce(is_met, exp.false()), IS_MET)], subquery(classes, CLASSES))
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
    """Add :data:`HIDES_WELL` to classes; classes that aren't :data:`IS_MET` and persons without a row are hidden."""
    encoding, keys = grouping.encoding, grouping.keys
    node = [NODE] if NODE in keys else []
    names = [*node, *(each.alias for each in joint(MEASURED))]

    def hidden_cells() -> exp.Subquery:
        cells = grouping.cells()
        table = cells.alias
        carried = [column(name, table) for name in (*node, *encoding.carried)]
        query = select([*joint(table), *carried], cells)
        query = query.join(exp.Table(this=identifier(MEASURED)), on=equal_in(keys, table, MEASURED), copy=False)
        is_known = f.greatest(*(each.this for each in joint(table))) > 0
        found = [query.where(exp.not_(column(IS_MET, MEASURED)), is_known, copy=False)]
        if encoding.spec.earlier is not None and encoding.spec.earlier.is_by_person:
            found.append(_absent_cells(encoding, node))
        return subquery(union_all(found), "anon_hidden_cells")

    gaps = grouping.gaps or (encoding.spec.earlier is not None and encoding.spec.earlier.is_by_person)
    together = replace(grouping, keys=tuple(names), cells=hidden_cells, proving=False, measured_from=1, gaps=gaps)
    query = SQL.query(
        "classes_with_hidden",
        measured=exp.Table(this=identifier(MEASURED)),
        together=class_relation(together, with_keys=True),
        hides_well=meets_as_shown(encoding, [*map(column, names[len(node) :])]),
        names=names,
        joint=[*(column(name, MEASURED) for name in node), *(each.this for each in joint(MEASURED))],
    )
    query.set("with_", exp.With(expressions=[made_once(MEASURED, classes)]))
    return query


def _absent_cells(encoding: Encoding, node: Sequence[str]) -> exp.Select:
    """Select persons without a row in the present source as cells, at every node."""
    known = {encoding.sensitive(name): column(name) for name in encoding.spec.coded}
    known[ROW_COUNT] = column(NUMBER_OF_ABSENT)
    carried = [aliased(known.get(name, exp.null()), name) for name in encoding.carried]
    query = select([column(EARLIER), *map(column, node), *carried], ABSENT.table)
    if node:
        nodes = select([*map(column, node)], exp.Table(this=identifier(MEASURED))).distinct(copy=False)
        query = cross_join(query, subquery(nodes, "anon_nodes"))
    return query


def jointly_kept(encoding: Encoding, judged: exp.Select, columns: Sequence[str]) -> exp.Select:
    """Withhold the persons of judged classes whom other joint classes need."""
    assert encoding.spec.earlier is not None
    if IS_SHOWN in columns:
        return SQL.query("jointly_kept_by_values", classes=judged)
    return SQL.query(
        "jointly_kept",
        classes=judged,
        absent=ABSENT,
        number=number_of_key(encoding),
        node=[NODE] if NODE in columns else [],
        keys=[word for word in encoding.word_columns if word in columns],
        k=encoding.criteria.k,
        by_person=exp.true() if encoding.spec.earlier.is_by_person else exp.false(),
    )


# More than six parameters: persons and all that is known about them, by protected column.
def grouped_persons(
    spec: CellSpec,
    criteria: Criteria,
    classes: Sequence[str],
    values: Mapping[str, str],
    shown: Sequence[ShownValues],
    references: Mapping[str, Relation],
    persons: exp.Expr,
) -> Grouping:
    """Group persons, each with its rows (``anon_rows``), by their classes in some releases.

    By protected column, ``values`` has the columns of persons and ``references`` the counts in the whole source;
    ``shown`` has the values that releases show, by the place of their ``classes``.
    """
    shapes = spec.protected_shapes
    bounded = {name: name for name in values} | {each.column: each.bounded for each in shown}
    of_persons = CellSpec(
        spec.source,
        spec.columns,
        quasi_identifiers=(),
        shapes=(),
        taxonomy=spec.taxonomy,
        protected=tuple(values),
        protected_shapes={name: shapes[bounded[name]] for name in values if bounded[name] in shapes},
        compared=tuple(name for name in values if bounded[name] in spec.compared),
        references=references,
        shown_values=tuple(shown),
    )
    encoding = replace(encoding_for(of_persons, criteria, label_losses=()), of_values="anon_person")

    def cells() -> exp.Expr:
        codes = [aliased(column(place), encoding.sensitive(name)) for name, place in values.items()]
        rows = aliased(column("anon_rows"), ROW_COUNT)
        return subquery(select([*map(column, classes), *codes, rows], persons.copy()), "anon_person_cells")

    return Grouping(encoding, tuple(classes), cells, people=cells, gaps=True)


def judged_by_values(grouping: Grouping) -> Step:
    """Make :data:`JUDGED` from persons by their classes in a release, the last key, and in the ones before it."""
    *beside, name = grouping.keys
    classes = class_relation(grouping, with_keys=True)
    is_met = exp.and_(_is_shown([name]), within(grouping.encoding, grouping.encoding.criteria.class_bounds), copy=False)
    judged = with_shown(
        grouping, classes, is_met, lambda table: [aliased(column(each, table), each) for each in beside]
    )
    is_kept = aliased(column(IS_SHOWN), KEPT)
    columns = [*map(column, grouping.keys), column(CLASS_ROWS), is_kept, aliased(number(0), WITHHELD)]
    return Step(JUDGED, select(columns, subquery(judged, "anon_measured_classes")), "classes of a release")


def unmet(grouping: Grouping) -> exp.Select:
    """Select one row, ``classes``: the joint classes that violate a bound on their size or on shown values."""
    is_met = f.coalesce(meets_as_shown(grouping.encoding, grouping.columns()), exp.false())
    wanted = exp.and_(exp.not_(is_met), _is_shown(grouping.keys), copy=False)
    count = aliased(filtered(count_rows(), wanted), "classes")
    return select([count], subquery(class_relation(grouping, with_keys=True), "anon_joint"))


def shown_persons_by_values(persons: Relation, values: Sequence[str], classes: Sequence[str]) -> exp.Expr:
    """Select persons, with 0 for their class in the last release if :data:`JUDGED` doesn't keep it."""
    *beside, name = classes
    others = [*beside, *values]
    roles = SQL.given(persons=persons, judged=JUDGED, others=others, classes=classes, name=name)
    return subquery(roles.query("persons_by_kept_classes"), "anon_shown_persons")


def _is_shown(classes: Sequence[str]) -> exp.Expr:
    return f.greatest(*map(column, classes)) > 0
