"""Cells of a partition and of everything published before it, in shared codes.

Published rows are only known by their counts: class labels, protected values, and number of rows. The new partition is
counted in the same terms. Together they form cells like those of a source, so that classes, measures and judgements are
the ones of any run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.model.policy.policy import Policy
from sqlanon.queries import summaries as evaluate
from sqlanon.queries.class_measures import class_relation, within
from sqlanon.queries.coded_labels import at_level
from sqlanon.queries.encoded_rows import shares
from sqlanon.queries.encoding import ROW_COUNT, VALUE, Encoding, row_sum
from sqlanon.queries.grouping import Grouping
from sqlanon.queries.kit.macros import exact_text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    c,
    column,
    f,
    filtered,
    grouped,
    left_join,
    number,
    same,
    select,
    subquery,
    union_all,
    union_by_name,
)
from sqlanon.queries.published_rows import KEPT_CLASSES
from sqlanon.queries.recodings import AtNode, Recoding

SQL = Queries("partitions")


def counted_columns(policy: Policy) -> tuple[str, ...]:
    """Name the columns of counts: the quasi-identifiers, as labels, and the protected columns."""
    return (*policy.quasi_identifiers, *policy.protected_columns)


def as_rows(counts: exp.Expr) -> exp.Subquery:
    """Select the counted rows, each ``anon_row_count`` times, without that column."""
    return subquery(SQL.query("counted_rows", counted=counts), "anon_counted")


def with_rows(table: exp.Expr, counts: exp.Expr) -> exp.Subquery:
    """Append the counted rows to a table; columns without counts are NULL there."""
    return subquery(SQL.query("rows_with_counted", rows=table, counted=as_rows(counts)), "anon_union")


COUNTS = Relation("anon_partition_counts", "cell")
NEW_CELLS = Relation("anon_new_cells", "cell")
OLD_CELLS = Relation("anon_old_cells", "cell")
UNION_CELLS = Relation("anon_union_cells", "cell")
PUBLISHED_CELLS = Relation("anon_published_cells", "cell")
REFERENCE_CELLS = Relation("anon_reference_cells", "cell")


@dataclass(frozen=True)
class Lookup:
    """Labels with their codes: of a quasi-identifier at a node, or of all in classes."""

    relation: Relation
    code: str | None  # the column with the code; None if there is only one
    labels: Mapping[int, str]  # by position of a quasi-identifier, the column with its label


@dataclass(frozen=True)
class Increment:
    recoding: Recoding  # of the partition
    lookups: Sequence[Lookup]  # the labels of the recoding
    published: exp.Expr  # counts of earlier rows: labels, protected columns, and anon_row_count
    reference: exp.Expr  # counts of the values that classes are compared with: compared columns, and anon_row_count

    @property
    def encoding(self) -> Encoding:
        return self.recoding.encoding

    @property
    def keys(self) -> tuple[str, ...]:
        return self.recoding.keys

    @property
    def protected(self) -> tuple[str, ...]:
        return self.encoding.spec.protected

    def over(self, cells: Relation) -> Encoding:
        """Return the encoding of other cells, to judge their classes without losses or weights."""
        spec = replace(self.encoding.spec, row_weight=None)
        return replace(self.encoding, spec=spec, cells=cells, label_losses=())

    def classes(self, cells: Relation) -> Grouping:
        return replace(self.recoding, encoding=self.over(cells)).by_code()

    def values(self, name: str) -> Relation:
        """Name the table of a protected column's values, old and new, with their codes and those of their labels."""
        return Relation(f"anon_union_values_{self.protected.index(name)}", "node")


def node_labels(recoding: AtNode) -> Iterator[tuple[Lookup, Step]]:
    encoding, keys = recoding.encoding, dict(recoding.code_columns())
    for position, level in enumerate(recoding.levels):
        lookup = Lookup(Relation(f"anon_node_labels_{position}", "node"), keys.get(position), {position: "label"})
        code = aliased(column("code"), encoding.code(position, level))
        query = at_level(encoding, position, level, [column("label"), code]).distinct(copy=False)
        yield lookup, Step(lookup.relation, query, "labels")


def join(increment: Increment) -> list[Step]:
    """Join the cells of a partition with the published counts to cells of both.

    The last steps replace the partition's shares by those of the reference.
    """
    steps = [Step(COUNTS, _partition_counts(increment), "counts of the partition")]
    steps += [
        Step(increment.values(name), _values(increment, name), f'values of "{name}"') for name in increment.protected
    ]
    own = select([column(key, "anon_counted") for key in increment.keys], named("anon_counted", COUNTS.table))
    steps += [
        Step(NEW_CELLS, _with_codes(increment, own), "cells of the partition"),
        Step(OLD_CELLS, _old_cells(increment), "cells published before"),
        Step(UNION_CELLS, union_by_name([cells_of(NEW_CELLS), cells_of(OLD_CELLS)]), "cells of both"),
    ]
    if increment.encoding.spec.compared:
        steps.append(Step(REFERENCE_CELLS, _reference_cells(increment), "cells of the reference"))
        steps += shares(increment.over(REFERENCE_CELLS))
    return steps


def _partition_counts(increment: Increment) -> exp.Query:
    """Count the cells of the partition in classes: decoded labels and values, with the codes of the class."""
    encoding = increment.encoding
    sensitive = [encoding.sensitive(name) for name in increment.protected]
    keys = [column(name) for name in (*increment.keys, *sensitive)]
    cells = increment.recoding.coded(encoding.cells, encoding.carried)
    counts = grouped(select([*keys, row_sum()], cells), [key.copy() for key in keys])
    names = (*increment.keys, ROW_COUNT)
    query = select([column(name, "anon_cells") for name in names], subquery(counts, "anon_cells"))
    query = _with_labels(increment, query)
    for name, sensitive_code in zip(increment.protected, sensitive, strict=True):
        alias = f"anon_decoded_{sensitive_code}"
        values = subquery(_coded(encoding, name, select([column(name)], encoding.spec.source.copy())), alias)
        is_same = column(sensitive_code, alias).eq(column(sensitive_code, "anon_cells"))
        query = query.join(values, on=is_same, copy=False).select(aliased(column("value", alias), name), copy=False)
    return query


def _with_labels(increment: Increment, query: exp.Select) -> exp.Select:
    names = increment.encoding.spec.quasi_identifiers
    for lookup in increment.lookups:
        table, code = lookup.relation.name, lookup.code
        # At the top level a quasi-identifier has one label, and cells have no code for it.
        on = None if code is None else column(code, table).eq(column(code, "anon_cells"))
        relation = exp.alias_(lookup.relation.table, table, table=True)
        query = query.join(relation, on=on, join_type="" if on is not None else "cross", copy=False)
        labels = (aliased(column(label, table), names[place]) for place, label in lookup.labels.items())
        query = query.select(*labels, copy=False)
    return query


def _coded(encoding: Encoding, name: str, values: exp.Query) -> exp.Select:
    return SQL.query("coded_values", rows=values, name=name, code=encoding.sensitive(name))


def _values(increment: Increment, name: str) -> exp.Query:
    encoding = increment.encoding
    counted = [COUNTS.table, increment.published]
    if name in encoding.spec.compared:
        counted.append(increment.reference)
    coded = _coded(encoding, name, union_all([select([column(name)], relation.copy()) for relation in counted]))
    query = select(
        [column("value", "anon_coded"), column(encoding.sensitive(name), "anon_coded")], subquery(coded, "anon_coded")
    )
    if name not in encoding.spec.protected_shapes:
        return query
    lookup = exp.alias_(encoding.sensitive_codes(name).table, "anon_codes", table=True)
    on = same(column(VALUE, "anon_codes"), exact_text(column("value", "anon_coded")))
    labels = [encoding.sensitive_label(name, level) for level in encoding.sensitive_depths(name)]
    query = left_join(query, lookup, on)
    return query.select(*(column(label, "anon_codes") for label in labels), copy=False)


def _sensitive_columns(increment: Increment, name: str) -> list[str]:
    encoding = increment.encoding
    labels = encoding.sensitive_depths(name) if name in encoding.spec.protected_shapes else ()
    return [encoding.sensitive(name), *(encoding.sensitive_label(name, level) for level in labels)]


def _old_cells(increment: Increment) -> exp.Query:
    query = select([], named("anon_counted", increment.published))
    names = increment.encoding.spec.quasi_identifiers
    for lookup in increment.lookups:
        if lookup.code is None:
            continue
        relation = lookup.relation
        is_same = (
            same(column(label, relation.name), column(names[place], "anon_counted"))
            for place, label in lookup.labels.items()
        )
        table = exp.alias_(relation.table, relation.name, table=True)
        query = query.join(table, on=all_of([*is_same]), copy=False)
        query = query.select(column(lookup.code, relation.name), copy=False)
    return _with_codes(increment, query)


def _reference_cells(increment: Increment) -> exp.Query:
    """Count the reference in the union's codes, with an empty cell for every value that it lacks."""
    encoding = increment.encoding
    query = select([], named("anon_counted", increment.reference))
    cells = [_with_codes(increment, query, encoding.spec.compared)]
    for name in encoding.spec.compared:
        own = _sensitive_columns(increment, name)
        others = [
            code for other in encoding.spec.compared if other != name for code in _sensitive_columns(increment, other)
        ]
        columns = [*(column(code) for code in own), *(aliased(exp.null(), code) for code in others)]
        cells.append(select([*columns, aliased(number(0), ROW_COUNT)], increment.values(name).table))
    return union_by_name(cells)


def cells_of(relation: Relation) -> exp.Query:
    return select([exp.Star()], relation.table)


def _with_codes(increment: Increment, query: exp.Select, names: Sequence[str] | None = None) -> exp.Select:
    for name in increment.protected if names is None else names:
        relation = increment.values(name)
        lookup = exp.alias_(relation.table, relation.name, table=True)
        on = same(column("value", relation.name), column(name, "anon_counted"))
        query = query.join(lookup, on=on, copy=False)
        query = query.select(*(column(code, relation.name) for code in _sensitive_columns(increment, name)), copy=False)
    return query.select(column(ROW_COUNT, "anon_counted"), copy=False)


def named(name: str, relation: exp.Expr) -> exp.Expr:
    return exp.alias_(relation.copy(), name, table=True)


def kept_classes(increment: Increment, *, every_partition: bool) -> exp.Query:
    kept = evaluate.kept_keys(increment.classes(UNION_CELLS))
    if not every_partition:
        return kept
    alone = evaluate.kept_keys(increment.classes(NEW_CELLS))
    return SQL.query("classes_kept_twice", kept=kept, alone=alone, keys=increment.keys or (evaluate.ALL_ROWS,))


def kept_counts(increment: Increment) -> exp.Query:
    names = (*increment.encoding.spec.quasi_identifiers, *increment.protected, ROW_COUNT)
    return _kept(increment, names, COUNTS)


def kept_cells(increment: Increment) -> exp.Query:
    return _kept(increment, [*increment.keys, ROW_COUNT], NEW_CELLS)


def kept_rows(increment: Increment) -> exp.Query:
    cells, counted = increment.encoding.cells, _kept(increment, [ROW_COUNT], NEW_CELLS)
    return SQL.query("kept_rows", cells=cells, classed=NEW_CELLS, kept_cells=counted)


def blocked_rows(increment: Increment, cells: Relation) -> exp.Query:
    """Count as ``blocked_<model>`` the partition's rows in classes of some cells that violate each model."""
    grouping = increment.classes(cells)
    blocked = []
    for index, model in enumerate(increment.encoding.criteria.models):
        is_violated = exp.Not(this=exp.Paren(this=within(grouping.encoding, model.bounds)))
        rows = filtered(f.sum(c.anon_new_rows), is_violated)
        blocked.append(aliased(f.coalesce(rows, 0), f"blocked_{index}"))
    classes = class_relation(grouping, with_keys=True)
    return SQL.query("blocked_rows", classes=classes, cells=NEW_CELLS, keys=grouping.keys, blocked=blocked)


def published_cells(increment: Increment) -> Step:
    sensitive = [code for name in increment.protected for code in _sensitive_columns(increment, name)]
    new = _kept(increment, [*increment.keys, *sensitive, ROW_COUNT], NEW_CELLS)
    return Step(PUBLISHED_CELLS, union_by_name([cells_of(OLD_CELLS), new]), "cells published then")


def left_short(increment: Increment) -> exp.Query:
    """Count the published ``classes`` that violate a privacy model, and their ``rows``."""
    grouping = increment.classes(PUBLISHED_CELLS)
    met = within(grouping.encoding, increment.encoding.criteria.bounds)
    return SQL.query("left_short", classes=class_relation(grouping, with_keys=True), is_met=met)


def _kept(increment: Increment, columns: Sequence[str], cells: Relation) -> exp.Select:
    return SQL.query("kept_cells", cells=cells, kept=KEPT_CLASSES, keys=increment.keys, columns=columns)
