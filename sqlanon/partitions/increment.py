"""A new partition beside what was published before: both as cells at one node, in codes that they share.

What was published is known by its counts alone: the labels of a class, the values of the protected columns, and how
many rows were published of each. The new partition is counted in the same terms. Together they are cells like those
of a source, so that classes, measures and judgements are the ones of any run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.model.lattice import Levels
from sqlanon.model.policy.policy import Policy
from sqlanon.model.recoding import Recoding, at_node
from sqlanon.queries.cells.encoding import ROW_COUNT, VALUE, Encoding, row_sum
from sqlanon.queries.cells.recoding import code, code_columns, labels_of_values
from sqlanon.queries.cells.rows import shares
from sqlanon.queries.classes import summaries as evaluate
from sqlanon.queries.classes.classes import class_relation, within
from sqlanon.queries.classes.grouping import CLASS_ROWS, Grouping, by_code, coded
from sqlanon.queries.kit.macros import template
from sqlanon.queries.kit.nodes import (
    DIALECT,
    Relation,
    Step,
    aliased,
    all_of,
    ascending,
    cast,
    column,
    count_rows,
    exact_text,
    filtered,
    grouped,
    left_join,
    number,
    same,
    select,
    subquery,
    union_all,
)

COUNTS = Relation("anon_partition_counts", "cell")
NEW_CELLS = Relation("anon_new_cells", "cell")
OLD_CELLS = Relation("anon_old_cells", "cell")
UNION_CELLS = Relation("anon_union_cells", "cell")
PUBLISHED_CELLS = Relation("anon_published_cells", "cell")
REFERENCE_CELLS = Relation("anon_reference_cells", "cell")


@dataclass(frozen=True)
class Increment:
    """A partition that is to join what was published at a node.

    Attributes:
        plan: the encoding of the partition.
        levels: the node.
        published: the counts of what was published before: a column per quasi-identifier with its label, the protected
            columns, and ``anon_row_count``.
        reference: the counts of the values that classes are compared with, if a model compares: the compared columns
            and ``anon_row_count``.
    """

    plan: Encoding
    levels: Levels
    published: exp.Expr
    reference: exp.Expr

    @property
    def recoding(self) -> Recoding:
        """The labels of the node."""
        return at_node(self.levels)

    @property
    def keys(self) -> tuple[str, ...]:
        """The code columns that tell classes apart at the node."""
        return by_code(self.plan, self.recoding).keys

    @property
    def protected(self) -> tuple[str, ...]:
        """The protected columns."""
        return self.plan.spec.protected

    def over(self, cells: Relation) -> Encoding:
        """The encoding of other cells at this node, for judging their classes: nothing is lost or weighed here."""
        spec = replace(self.plan.spec, row_weight=None)
        return replace(self.plan, spec=spec, cells=cells, label_losses=())

    def classes(self, cells: Relation) -> Grouping:
        """Other cells at this node, grouped into its classes."""
        return by_code(self.over(cells), self.recoding)

    def labels(self, position: int) -> Relation:
        """The labels of a quasi-identifier at the node, with their codes."""
        return Relation(f"anon_node_labels_{position}", "node")

    def values(self, name: str) -> Relation:
        """The values of a protected column in all that is counted, with their codes and those of their labels."""
        return Relation(f"anon_union_values_{self.protected.index(name)}", "node")


def counted_columns(policy: Policy) -> tuple[str, ...]:
    """The columns that counts are by: the quasi-identifiers, as labels, and the protected columns."""
    return (*policy.quasi_identifiers, *policy.protected_columns)


def join(increment: Increment) -> list[Step]:
    """The steps from the cells of a partition, and the counts of what was published, to the cells of both together.

    The last ones put what classes are compared with in the place of the partition's own shares.
    """
    positions = range(len(increment.levels))
    steps = [Step(increment.labels(position), _labels(increment, position), "labels") for position in positions]
    steps.append(Step(COUNTS, _partition_counts(increment), "counts of the partition"))
    steps += [
        Step(increment.values(name), _values(increment, name), f'values of "{name}"') for name in increment.protected
    ]
    steps += [
        Step(NEW_CELLS, _new_cells(increment), "cells of the partition"),
        Step(OLD_CELLS, _old_cells(increment), "cells published before"),
        Step(UNION_CELLS, _by_name([_all(NEW_CELLS), _all(OLD_CELLS)]), "cells of both"),
    ]
    if increment.plan.spec.compared:
        steps.append(Step(REFERENCE_CELLS, _reference_cells(increment), "cells of the reference"))
        steps += shares(increment.over(REFERENCE_CELLS))
    return steps


def kept_classes(increment: Increment, *, every_partition: bool) -> exp.Query:
    """The codes of the classes that meet the policy with the new rows in them, and in the partition alone if asked."""
    kept = evaluate.kept_keys(increment.classes(UNION_CELLS))
    if not every_partition:
        return kept
    alone = evaluate.kept_keys(increment.classes(NEW_CELLS))
    names = increment.keys or (evaluate.ALL_ROWS,)
    on = all_of([column(name, "anon_alone").eq(column(name, "anon_together")) for name in names])
    query = select([column(name, "anon_together") for name in names], subquery(kept, "anon_together"))
    return query.join(subquery(alone, "anon_alone"), on=on, copy=False)


def kept_counts(increment: Increment, kept: Relation) -> exp.Query:
    """The counts of the partition's rows in kept classes: labels, protected values and ``anon_row_count``."""
    names = (*increment.plan.spec.quasi_identifiers, *increment.protected, ROW_COUNT)
    return _kept(increment, [column(name, COUNTS.name) for name in names], COUNTS, kept)


def kept_rows(increment: Increment, kept: Relation) -> exp.Query:
    """One row: ``new_rows`` of the partition, and ``kept_rows`` of them in kept classes."""
    rows = exp.func("coalesce", exp.Sum(this=column(ROW_COUNT)), number(0))
    return select(
        [
            aliased(exp.Subquery(this=select([rows.copy()], NEW_CELLS.table)), "new_rows"),
            aliased(rows, "kept_rows"),
        ],
        subquery(_kept(increment, [column(ROW_COUNT, NEW_CELLS.name)], NEW_CELLS, kept), "anon_kept_cells"),
    )


def blocked_rows(increment: Increment, cells: Relation) -> exp.Query:
    """One row, ``blocked_<model>``: the partition's rows in classes of some cells that violate each privacy model."""
    grouping = increment.classes(cells)
    rows = grouped(
        select([*grouping.columns(), aliased(exp.Sum(this=column(ROW_COUNT)), "anon_new_rows")], NEW_CELLS.table),
        grouping.columns(),
    )
    blocked = [
        aliased(_rows_outside(column("anon_new_rows"), within(grouping.plan, model.bounds)), f"blocked_{index}")
        for index, model in enumerate(increment.plan.criteria.models)
    ]
    on = all_of([column(key, "anon_rows").eq(column(key, "anon_classes")) for key in grouping.keys])
    classes = subquery(class_relation(grouping, with_keys=True), "anon_classes")
    return select(blocked, classes).join(subquery(rows, "anon_rows"), on=on, copy=False)


def published_cells(increment: Increment, kept: Relation) -> Step:
    """What is published once the partition is: the cells from before, and the new ones of kept classes."""
    names = _cell_columns(increment)
    new = _kept(increment, [column(name, NEW_CELLS.name) for name in names], NEW_CELLS, kept)
    return Step(PUBLISHED_CELLS, _by_name([_all(OLD_CELLS), new]), "cells published then")


def left_short(increment: Increment) -> exp.Query:
    """One row: ``classes`` that are to be published and violate a privacy model, and the ``rows`` in them."""
    grouping = increment.classes(PUBLISHED_CELLS)
    met = within(grouping.plan, increment.plan.criteria.bounds)
    rows = exp.func("coalesce", exp.Sum(this=column(CLASS_ROWS)), number(0))
    query = select(
        [aliased(count_rows(), "classes"), aliased(rows, "rows")],
        subquery(class_relation(grouping, with_keys=True), "anon_classes"),
    )
    return query.where(exp.Not(this=exp.Paren(this=met)), copy=False)


def counts_of(table: exp.Expr, policy: Policy) -> exp.Select:
    """The rows of a published table by its counted columns, as ``anon_row_count``."""
    columns = [column(name) for name in counted_columns(policy)]
    return grouped(select([*columns, aliased(count_rows(), ROW_COUNT)], table.copy()), [*columns])


def differences(counts: exp.Query, others: exp.Query) -> exp.Query:
    """One row, ``differences``: the counts that two tables of counts do not share."""
    sides = [
        select(
            [exp.Star()], subquery(exp.Except(this=left.copy(), expression=right.copy(), distinct=False), "anon_side")
        )
        for left, right in ((counts, others), (others, counts))
    ]
    return select([aliased(count_rows(), "differences")], subquery(union_all(sides), "anon_sides"))


def as_rows(counts: exp.Expr) -> exp.Subquery:
    """The rows that were counted: each as often as ``anon_row_count`` says, without that column."""
    query = template("counted_rows")
    relation = query.find(exp.Table)
    assert relation is not None
    relation.replace(exp.alias_(counts.copy(), relation.name, table=True))
    return subquery(query, "anon_counted")


def with_rows(table: exp.Expr, counts: exp.Expr) -> exp.Subquery:
    """A table with the rows that were counted below it; columns that were not counted are NULL there."""
    rows = select([exp.Star()], as_rows(counts))
    both = exp.Union(this=select([exp.Star()], table.copy()), expression=rows, distinct=False, by_name=True)
    return subquery(both, "anon_union")


def fingerprint(source: exp.Expr, columns: Sequence[str]) -> exp.Query:
    """One row: how many rows a table has, and a ``fingerprint`` of them, whatever their order."""
    hashed = cast(exp.func("hash", *(column(name) for name in columns), dialect=DIALECT), "HUGEINT")
    total = exp.func("coalesce", exp.Sum(this=hashed), number(0))
    return select([aliased(count_rows(), "rows"), aliased(cast(total, "VARCHAR"), "fingerprint")], source.copy())


def _labels(increment: Increment, position: int) -> exp.Query:
    plan, part = increment.plan, increment.recoding.parts[position]
    labels = labels_of_values(plan, position, part, [column("label"), code(plan, position, part)])
    return labels.distinct(copy=False)


def _partition_counts(increment: Increment) -> exp.Query:
    """The cells of the partition at the node, with labels and values in place of codes, and the codes of the class."""
    plan = increment.plan
    sensitive = [plan.sensitive(name) for name in increment.protected]
    keys = [column(name) for name in (*increment.keys, *sensitive)]
    cells = coded(plan, increment.recoding, plan.cells, plan.carried)
    counts = grouped(select([*keys, row_sum()], cells), [key.copy() for key in keys])
    names = (*increment.keys, ROW_COUNT)
    query = select([column(name, "anon_cells") for name in names], subquery(counts, "anon_cells"))
    query = _with_labels(increment, query)
    for name, sensitive_code in zip(increment.protected, sensitive, strict=True):
        alias = f"anon_decoded_{sensitive_code}"
        values = subquery(_decoded(plan, name), alias)
        query = query.join(
            values, on=column(sensitive_code, alias).eq(column(sensitive_code, "anon_cells")), copy=False
        )
        query = query.select(aliased(column("value", alias), name), copy=False)
    return query


def _with_labels(increment: Increment, query: exp.Select) -> exp.Select:
    keys = dict(code_columns(increment.plan, increment.recoding))
    for position, name in enumerate(increment.plan.spec.quasi_identifiers):
        relation = increment.labels(position)
        # At its top level a quasi-identifier has one label, and cells have no code for it.
        on = (
            column(keys[position], relation.name).eq(column(keys[position], "anon_cells")) if position in keys else None
        )
        lookup = exp.alias_(relation.table, relation.name, table=True)
        query = query.join(lookup, on=on, join_type="" if on is not None else "cross", copy=False)
        query = query.select(aliased(column("label", relation.name), name), copy=False)
    return query


def _decoded(plan: Encoding, name: str) -> exp.Query:
    """The values of a protected column with their codes in the cells of the partition."""
    return _coded(plan, name, select([column(name)], plan.spec.source.copy()))


def _coded(plan: Encoding, name: str, values: exp.Query) -> exp.Select:
    """The distinct values of a protected column with codes in their order, NULL last, as the cells of a source have."""
    order = ascending(column(name))
    code = cast(exp.Window(this=exp.func("dense_rank"), order=order), "UINTEGER")
    distinct = select([column(name)], subquery(values, "anon_all")).distinct(copy=False)
    columns = [aliased(column(name), "value"), aliased(code, plan.sensitive(name))]
    return select(columns, subquery(distinct, "anon_distinct"))


def _values(increment: Increment, name: str) -> exp.Query:
    """The values of a protected column, old and new, with a code each and the codes of their labels."""
    plan = increment.plan
    counted = [COUNTS.table, increment.published]
    if name in plan.spec.compared:
        counted.append(increment.reference)
    coded = _coded(plan, name, union_all([select([column(name)], relation.copy()) for relation in counted]))
    query = select(
        [column("value", "anon_coded"), column(plan.sensitive(name), "anon_coded")], subquery(coded, "anon_coded")
    )
    if name not in plan.spec.protected_shapes:
        return query
    lookup = exp.alias_(plan.sensitive_codes(name).table, "anon_codes", table=True)
    on = same(column(VALUE, "anon_codes"), exact_text(column("value", "anon_coded")))
    labels = [plan.sensitive_label(name, level) for level in plan.sensitive_depths(name)]
    query = left_join(query, lookup, on)
    return query.select(*(column(label, "anon_codes") for label in labels), copy=False)


def _sensitive_columns(increment: Increment, name: str) -> list[str]:
    plan = increment.plan
    labels = plan.sensitive_depths(name) if name in plan.spec.protected_shapes else ()
    return [plan.sensitive(name), *(plan.sensitive_label(name, level) for level in labels)]


def _cell_columns(increment: Increment) -> list[str]:
    sensitive = [code for name in increment.protected for code in _sensitive_columns(increment, name)]
    return [*increment.keys, *sensitive, ROW_COUNT]


def _new_cells(increment: Increment) -> exp.Query:
    query = select([column(key, "anon_counted") for key in increment.keys], _as("anon_counted", COUNTS.table))
    return _with_codes(increment, query).select(column(ROW_COUNT, "anon_counted"), copy=False)


def _old_cells(increment: Increment) -> exp.Query:
    query = select([], _as("anon_counted", increment.published))
    for position, key in code_columns(increment.plan, increment.recoding):
        relation = increment.labels(position)
        label = column(increment.plan.spec.quasi_identifiers[position], "anon_counted")
        lookup = exp.alias_(relation.table, relation.name, table=True)
        query = query.join(lookup, on=same(column("label", relation.name), label), copy=False)
        query = query.select(column(key, relation.name), copy=False)
    return _with_codes(increment, query).select(column(ROW_COUNT, "anon_counted"), copy=False)


def _reference_cells(increment: Increment) -> exp.Query:
    """The reference in the codes of the union, with a cell of no rows for every value that it lacks."""
    plan = increment.plan
    query = select([], _as("anon_counted", increment.reference))
    query = _with_codes(increment, query, plan.spec.compared).select(column(ROW_COUNT, "anon_counted"), copy=False)
    cells = [query]
    for name in plan.spec.compared:
        own = _sensitive_columns(increment, name)
        others = [
            code for other in plan.spec.compared if other != name for code in _sensitive_columns(increment, other)
        ]
        columns = [*(column(code) for code in own), *(aliased(exp.null(), code) for code in others)]
        cells.append(select([*columns, aliased(number(0), ROW_COUNT)], increment.values(name).table))
    return _by_name(cells)


def _by_name(queries: Sequence[exp.Query]) -> exp.Query:
    first, *rest = queries
    for query in rest:
        first = exp.Union(this=first, expression=query, distinct=False, by_name=True)
    return first


def _all(relation: Relation) -> exp.Query:
    return select([exp.Star()], relation.table)


def _with_codes(increment: Increment, query: exp.Select, names: Sequence[str] | None = None) -> exp.Select:
    for name in increment.protected if names is None else names:
        relation = increment.values(name)
        lookup = exp.alias_(relation.table, relation.name, table=True)
        on = same(column("value", relation.name), column(name, "anon_counted"))
        query = query.join(lookup, on=on, copy=False)
        query = query.select(*(column(code, relation.name) for code in _sensitive_columns(increment, name)), copy=False)
    return query


def _kept(increment: Increment, columns: Sequence[exp.Expr], cells: Relation, kept: Relation) -> exp.Select:
    on = all_of([column(key, kept.name).eq(column(key, cells.name)) for key in increment.keys])
    query = select(columns, _as(cells.name, cells.table))
    return query.join(_as(kept.name, kept.table), on=on, copy=False)


def _rows_outside(rows: exp.Expr, met: exp.Expr) -> exp.Expr:
    outside = filtered(exp.Sum(this=rows), exp.Not(this=exp.Paren(this=met)))
    return exp.func("coalesce", outside, number(0))


def _as(name: str, relation: exp.Expr) -> exp.Expr:
    return exp.alias_(relation.copy(), name, table=True)
