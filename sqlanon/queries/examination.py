"""Classes → everything that can be said of a node: its summary, how strict its bounds can be, and what blocks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.model.bounds import CLASS_SIZE, Bound, at_least
from sqlanon.model.lattice import Levels
from sqlanon.model.privacy import KAnonymity
from sqlanon.queries.class_measures import KEPT, measure_of, within
from sqlanon.queries.coded_labels import has_bits, label_bits
from sqlanon.queries.encoding import ROW_COUNT, Encoding, row_sum
from sqlanon.queries.grouping import CLASS_ROWS, NODE, by_key
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    ascending,
    bits,
    cast,
    column,
    filtered,
    grouped,
    identifier,
    left_join,
    made_once,
    number,
    select,
    string,
    subquery,
    union_all,
)
from sqlanon.queries.summaries import OUT_OF_BOUNDS, classes_and_summaries, columns_under, kept_keys, worst_of

ANY_K = at_least(CLASS_SIZE, 1)
"""The bound of k-anonymity, whatever its k."""

CLASSES = "anon_classes"
STRICTEST = "anon_strictest"
REJECTED = "anon_rejected"
ROWS_UP_TO = "anon_rows_up_to"


def examined(
    encoding: Encoding, batch: Sequence[Levels], row_count: int, allowed_rows: int, others: Sequence[Encoding] = ()
) -> exp.Query:
    """The summaries of a batch of nodes, with what stands in the way of each.

    Besides the columns of a summary: ``best_k``, the largest k with which the node satisfies the criteria; for every
    bound ``worst_<bound>``, its worst measure over all classes, and ``violating_<bound>``, the rows of classes out of
    it; for every privacy model ``blocked_<model>``, the rows of classes that violate it. ``others`` are encodings with
    other criteria, and ``other_<index>_<column>`` columns of the summary under these.
    """
    criteria = encoding.criteria
    columns = {f"worst_{index}": worst_of(encoding, bound) for index, bound in enumerate(criteria.bounds)}
    columns |= {f"violating_{index}": _rows_out_of(encoding, [bound]) for index, bound in enumerate(criteria.bounds)}
    columns |= {f"blocked_{index}": _rows_out_of(encoding, model.bounds) for index, model in enumerate(criteria.models)}
    for index, other in enumerate(others):
        found = columns_under(other, batch, row_count)
        columns |= {f"other_{index}_{name}": value for name, value in found.items()}
    bounds = [bound for model in criteria.models if not isinstance(model, KAnonymity) for bound in model.bounds]
    strictest = {"best_k": _Strictest(encoding, ANY_K, bounds, min(allowed_rows, row_count - 1))}
    return _summaries(encoding, batch, row_count, columns, strictest)


def attainable(encoding: Encoding, batch: Sequence[Levels], row_count: int, allowed_rows: int) -> exp.Query:
    """Summaries with ``attainable_<bound>``: the strictest that a bound can be while all others stay as they are.

    NULL where these alone are too much for the node.
    """
    bounds = encoding.criteria.bounds
    columns, strictest = {}, {}
    for index, bound in enumerate(bounds):
        name = f"attainable_{index}"
        if bound.grain == "node":
            columns[name] = filtered(worst_of(encoding, bound), column(KEPT))
        else:
            others = [other for other in bounds if other is not bound]
            strictest[name] = _Strictest(encoding, bound, others, min(allowed_rows, row_count - 1))
    return _summaries(encoding, batch, row_count, columns, strictest)


class _Strictest:
    """How strict a bound can be where other bounds hold; the larger, the stricter.

    A class meets no stricter bound than its own measure, and none if it violates another bound. A node meets the bound
    of the least strict class that cannot be suppressed together with all that are less strict. Classes of the same
    strictness are added up first: sorting all classes of a batch would take longer than making them.
    """

    def __init__(self, encoding: Encoding, bound: Bound, others: Sequence[Bound], most_rows: int) -> None:
        self._sign = 1 if bound.at_least else -1
        self._most_rows = most_rows
        self._measure = measure_of(encoding, bound)
        self._others = within(encoding, [other for other in others if other.grain == "class"]) if others else None
        self._can_be_rejected = any(other.grain == "node" for other in others)

    @property
    def nothing(self) -> exp.Expr:
        return number(0) if self._sign > 0 else cast(string("-infinity"), "DOUBLE")

    def by_class(self) -> exp.Expr:
        """The strictest bound that a class meets."""
        measure = self._signed(self._measure.copy())
        if self._others is None:
            return measure
        return exp.Case(ifs=[exp.If(this=self._others.copy(), true=measure)], default=self.nothing)

    def by_node(self) -> exp.Select:
        """``anon_node``, ``anon_strictest``: the strictest bound that a node meets, NULL if it meets none."""
        alike = select(
            [
                column(NODE),
                column(STRICTEST),
                aliased(exp.Sum(this=column(CLASS_ROWS)), CLASS_ROWS),
                aliased(exp.LogicalOr(this=column(OUT_OF_BOUNDS)), REJECTED),
            ],
            subquery(
                select([exp.Star(), aliased(self.by_class(), STRICTEST)], exp.Table(this=identifier(CLASSES))),
                "anon_all",
            ),
        )
        rows = exp.Window(
            this=exp.Sum(this=column(CLASS_ROWS)),
            partition_by=[column(NODE)],
            order=ascending(column(STRICTEST)),
        )
        sums = select(
            [exp.Star(), aliased(rows, ROWS_UP_TO)],
            subquery(grouped(alike, [column(NODE), column(STRICTEST)]), "anon_alike"),
        )
        best = scalar_call("best_k_of", column(STRICTEST), column(ROWS_UP_TO), number(self._most_rows))
        found = exp.Case(ifs=[exp.If(this=exp.GT(this=best, expression=self._floor()), true=self._signed(best.copy()))])
        return grouped(select([column(NODE), aliased(found, STRICTEST)], subquery(sums, "anon_sums")), [column(NODE)])

    def _floor(self) -> exp.Expr:
        """The bound than which a node must meet a stricter one: else a kept class is out of a bound of the node."""
        if not self._can_be_rejected:
            return self.nothing
        return exp.func("coalesce", filtered(exp.Max(this=column(STRICTEST)), column(REJECTED)), self.nothing)

    def _signed(self, value: exp.Expr) -> exp.Expr:
        return value if self._sign > 0 else exp.Neg(this=value)


def _summaries(
    encoding: Encoding,
    batch: Sequence[Levels],
    row_count: int,
    columns: Mapping[str, exp.Expr],
    strictest: Mapping[str, _Strictest],
) -> exp.Select:
    """The summaries of a batch with more aggregates over its classes, which are made once for all of them."""
    classes, summaries = classes_and_summaries(encoding, batch, row_count)
    summaries.select(*(aliased(value, name) for name, value in columns.items()), copy=False)
    query = select(
        [exp.Column(this=exp.Star(), table=identifier("anon_summaries"))], subquery(summaries, "anon_summaries")
    )
    for name, found in strictest.items():
        same = column(NODE, f"anon_{name}").eq(column("node", "anon_summaries"))
        query = query.join(subquery(found.by_node(), f"anon_{name}"), on=same, copy=False)
        query = query.select(aliased(column(STRICTEST, f"anon_{name}"), name), copy=False)
    query.set("with_", exp.With(expressions=[made_once(CLASSES, classes)]))
    return query


def _rows_out_of(encoding: Encoding, bounds: Sequence[Bound]) -> exp.Expr:
    """The rows of the classes that are out of some of the bounds."""
    rows = filtered(exp.Sum(this=column(CLASS_ROWS)), exp.Not(this=exp.Paren(this=within(encoding, bounds))))
    return exp.func("coalesce", rows, number(0))


JUDGED_CELLS = Relation("anon_judged_cells", "cell")
"""The keys of the cells, with their rows and those that are suppressed."""

SUPPRESSED_ROWS = "anon_suppressed_rows"


def judged_cells(encoding: Encoding, levels: Levels) -> Step:
    """The step that makes :data:`JUDGED_CELLS` at a node."""
    grouping = by_key(encoding, levels)
    kept = kept_keys(grouping).select(aliased(exp.true(), "anon_is_kept"), copy=False)
    masks = encoding.keys.node_masks(levels)
    same = all_of(
        [
            exp.Paren(this=bits(column(encoding.key(word), "anon_cells"), number(mask))).eq(
                column(encoding.key(word), "anon_kept")
            )
            for word, mask in masks.items()
        ]
    )
    words = [column(encoding.key(word), "anon_cells") for word in range(encoding.keys.word_count)]
    rows = column(ROW_COUNT, "anon_cells")
    is_kept = column("anon_is_kept", "anon_kept")
    suppressed = exp.case().when(is_kept, number(0)).else_(rows.copy())
    query = select(
        [*words, rows, aliased(suppressed, SUPPRESSED_ROWS)],
        encoding.cells.table.as_("anon_cells", quoted=True, table=True),
    )
    return Step(JUDGED_CELLS, left_join(query, subquery(kept, "anon_kept"), same), "suppressed cells")


def rows_by_label(encoding: Encoding, depths: Mapping[int, int], fewest: int) -> exp.Query:
    """``position``, ``label``, ``rows`` and ``suppressed_rows`` of the labels of some levels, by position.

    Labels of fewer rows than ``fewest`` are left out.
    """
    return union_all(_rows_by_label(encoding, position, depth, fewest) for position, depth in depths.items())


def _rows_by_label(encoding: Encoding, position: int, depth: int, fewest: int) -> exp.Select:
    masks = encoding.keys.label_masks(position, depth)
    words = [
        aliased(bits(column(encoding.key(word)), number(mask)), encoding.key(word)) for word, mask in masks.items()
    ]
    counts = [row_sum(), row_sum(SUPPRESSED_ROWS, SUPPRESSED_ROWS)]
    groups = grouped(select([*words, *counts], JUDGED_CELLS.table), [each.this.copy() for each in words])
    labels = subquery(label_bits(encoding, position, depth, [column("label")]), "anon_labels")
    query = select(
        [
            aliased(number(position), "position"),
            aliased(column("label", "anon_labels"), "label"),
            aliased(column(ROW_COUNT, "anon_groups"), "rows"),
            aliased(column(SUPPRESSED_ROWS, "anon_groups"), "suppressed_rows"),
        ],
        subquery(groups, "anon_groups"),
    )
    query = left_join(query, labels, has_bits(encoding, masks, "anon_groups", "anon_labels"))
    return query.where(exp.GTE(this=column(ROW_COUNT, "anon_groups"), expression=number(fewest)), copy=False)
