"""Cells → classes → node summaries: the queries that a search asks, flat and in batches."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from sqlglot import exp

from sqlanon.compiler.encode import LABEL_LOSSES, ROW_COUNT, Encoding
from sqlanon.compiler.macros import scalar_call, template
from sqlanon.compiler.nodes import aliased, all_of, column, filtered, grouped, number, select, subquery, union_all
from sqlanon.model.lattice import Levels
from sqlanon.model.privacy import PrivacyModel

NODE = "anon_node"
CLASS_SIZE = "anon_class_size"
KEPT = "anon_kept"
CERTAINLY_KEPT = "anon_certainly_kept"
ALL_ROWS = "anon_all_rows"
"""What stands for the codes of a class where there is one class for all."""

DIVERSITY_MACROS = {"distinct_diversity": "distinct_diversity_of", "entropy_diversity": "entropy_diversity_of"}


def level_losses(plan: Encoding) -> exp.Query:
    """Position, depth, separable losses and distinct labels of every quasi-identifier at every level, in one query."""
    levels = union_all(_levels(plan, position) for position in range(len(plan.codes)))
    return _from(template("level_losses"), levels)


def node_summaries(plan: Encoding, batch: Sequence[Levels], row_count: int) -> exp.Query:
    """The summaries of a batch of nodes; ``node`` is the position in the batch."""
    classes = union_all(_classes(plan, levels, index) for index, levels in enumerate(batch))
    judged = _judged(plan, classes)
    judged.append("expressions", aliased(number(row_count), "anon_row_count"))
    judged.append("expressions", aliased(number(plan.bound.policy.k), "anon_k"))
    summary = template("node_summary")
    unused = set(LABEL_LOSSES) - set(plan.label_losses)
    summary.set("expressions", [item for item in summary.expressions if item.alias not in unused])
    return _from(summary, judged)


def attained(plan: Encoding, levels: Levels) -> exp.Query:
    """One row: the least value of each privacy model's measure over the classes that are kept at a node."""
    columns = [
        aliased(filtered(exp.Min(this=_measure(plan, model)), column(KEPT)), f"attained_{index}")
        for index, model in enumerate(plan.bound.policy.privacy)
    ]
    return select(columns, subquery(_judged(plan, _classes(plan, levels, 0)), "anon_classes"))


def kept_classes(plan: Encoding, levels: Levels) -> exp.Query:
    """The codes of the classes that are kept at a node."""
    keys = _keys(plan, levels)
    judged = _judged(plan, _classes(plan, levels, 0, with_keys=True))
    columns: list[exp.Expr] = [column(key) for key in keys]
    if not keys:
        columns.append(aliased(exp.true(), ALL_ROWS))
    return select(columns, subquery(judged, "anon_classes")).where(column(KEPT), copy=False)


def masked_class(plan: Encoding, levels: Levels, kept: exp.Table) -> exp.Query:
    """The classes that are suppressed at a node, seen as the one class that masking would make of them.

    One row: ``row_count`` and, as ``attained_<index>``, the measure of each privacy model.
    """
    keys = _keys(plan, levels)
    on = all_of([column(key, "anon_cells").eq(column(key, "anon_kept")) for key in keys])
    suppressed = (
        exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier("anon_cells", quoted=True)))
        .from_(exp.alias_(plan.cells.table, "anon_cells", table=True))
        .join(exp.alias_(kept, "anon_kept", table=True), on=on, join_type="anti")
    )
    cells = subquery(suppressed, "anon_suppressed")
    classes = _diverse_classes(plan, [], cells, []) if _sensitive(plan) else _plain_classes([], cells, [])
    columns = [
        aliased(_measure(plan, model), f"attained_{index}") for index, model in enumerate(plan.bound.policy.privacy)
    ]
    return select([aliased(column(CLASS_SIZE), "row_count"), *columns], subquery(classes, "anon_class"))


def node_keys(plan: Encoding, levels: Levels) -> list[tuple[int, str]]:
    """Position and code column of every quasi-identifier that still tells rows apart at a node.

    A quasi-identifier at its top level has one label for all, so it is left out; a taxonomy of level 0 alone has none
    for NULL, which then stands apart.
    """
    shapes = plan.bound.shapes
    return [
        (position, plan.code(position, depth))
        for position, depth in enumerate(levels)
        if depth < max(shapes[position].height, 1)
    ]


def _keys(plan: Encoding, levels: Levels) -> list[str]:
    return [key for _, key in node_keys(plan, levels)]


def _levels(plan: Encoding, position: int) -> exp.Select:
    """The values of one quasi-identifier with their rows, once per level with their label there and what it loses."""
    depths = range(plan.bound.shapes[position].height + 1)
    value_code = plan.code(position, 0)
    rows = aliased(exp.Sum(this=column(ROW_COUNT)), "anon_value_rows")
    marginal = grouped(select([column(value_code), rows], plan.cells.table), [column(value_code)])
    columns = [
        aliased(number(position), "position"),
        column("anon_value_rows", "anon_marginal"),
        aliased(_unnested(number(depth) for depth in depths), "depth"),
        aliased(_unnested(column(plan.code(position, depth), "anon_codes") for depth in depths), "anon_label"),
        *(
            aliased(
                _unnested(column(plan.label_loss(measure, position, depth), "anon_codes") for depth in depths),
                f"anon_{measure}",
            )
            for measure in LABEL_LOSSES
        ),
    ]
    codes = exp.alias_(plan.codes[position].table, "anon_codes", table=True)
    same_value = column(value_code, "anon_codes").eq(column(value_code, "anon_marginal"))
    return select(columns, subquery(marginal, "anon_marginal")).join(codes, on=same_value, copy=False)


def _unnested(items: Iterable[exp.Expr]) -> exp.Explode:
    return exp.Explode(this=exp.Array(expressions=list(items)))


def _classes(plan: Encoding, levels: Levels, index: int, *, with_keys: bool = False) -> exp.Select:
    """The equivalence classes of one node: size, and whatever the privacy and quality models look at."""
    keys = _keys(plan, levels)
    losses = _label_losses(plan, levels)
    if _sensitive(plan):
        classes = _diverse_classes(plan, keys, plan.cells.table, losses)
    else:
        classes = _plain_classes(keys, plan.cells.table, losses)
    if with_keys:
        classes.set("expressions", [*classes.expressions, *(column(key) for key in keys)])
    classes.append("expressions", aliased(number(index), NODE))
    return classes


def _plain_classes(keys: list[str], cells: exp.Expr, losses: list[exp.Alias]) -> exp.Select:
    size = aliased(exp.Sum(this=column(ROW_COUNT)), CLASS_SIZE)
    return grouped(select([size, *_any_of_each(losses)], cells), [column(key) for key in keys])


def _diverse_classes(plan: Encoding, keys: list[str], cells: exp.Expr, losses: list[exp.Alias]) -> exp.Select:
    """Count each sensitive value within each class, all sensitive columns in one pass, then look at the counts."""
    sensitive = [plan.sensitive(name) for name in _sensitive(plan)]
    values = select([*(column(key) for key in keys), *_value_rows(sensitive), *_any_of_each(losses)], cells)
    sets = [exp.Tuple(expressions=[*(column(key) for key in keys), column(name)]) for name in sensitive]
    values.set("group", exp.Group(grouping_sets=[exp.GroupingSets(expressions=sets)]))
    carried = [aliased(column(loss.alias), loss.alias) for loss in losses]
    measures = [
        aliased(
            scalar_call(DIVERSITY_MACROS[model.measure], column(_rows(_sensitive(plan).index(model.sensitive)))),
            _name(plan, model),
        )
        for model in plan.bound.policy.privacy
        if model.sensitive is not None
    ]
    size = aliased(exp.Sum(this=column(_rows(0))), CLASS_SIZE)
    classes = select([size, *measures, *_any_of_each(carried)], subquery(values, "anon_values"))
    return grouped(classes, [column(key) for key in keys])


def _value_rows(sensitive: list[str]) -> list[exp.Expr]:
    """Per sensitive column, the rows of its values; NULL in the rows of the result that are about another column."""
    rows: list[exp.Expr] = []
    for position, name in enumerate(sensitive):
        total: exp.Expr = exp.Sum(this=column(ROW_COUNT))
        if len(sensitive) > 1:
            own = exp.EQ(this=exp.Anonymous(this="grouping", expressions=[column(name)]), expression=number(0))
            total = exp.Case(ifs=[exp.If(this=own, true=total)])
        rows.append(aliased(total, _rows(position)))
    return rows


def _any_of_each(losses: list[exp.Alias]) -> list[exp.Alias]:
    """Losses of labels, which are the same in all cells of a class."""
    return [aliased(exp.AnyValue(this=loss.this), loss.alias) for loss in losses]


def _label_losses(plan: Encoding, levels: Levels) -> list[exp.Alias]:
    """The loss of a cell's labels at a node, the mean over the quasi-identifiers, in each measure that is carried."""
    return [aliased(_label_loss(plan, measure, levels), f"anon_{measure}") for measure in plan.label_losses]


def _label_loss(plan: Encoding, measure: str, levels: Levels) -> exp.Expr:
    """A value loses nothing and the top label everything there is to lose; only the levels between need a column."""
    known = sum(
        1.0
        for shape, depth in zip(plan.bound.shapes, levels, strict=True)
        if depth == shape.height and shape.domain_size > 1
    )
    terms: list[exp.Expr] = [
        column(plan.label_loss(measure, position, depth))
        for position, depth in enumerate(levels)
        if plan.carries_label_loss(position, depth)
    ]
    total = functools.reduce(lambda left, right: exp.Add(this=left, expression=right), [number(known), *terms])
    return exp.Div(this=exp.Paren(this=total), expression=number(len(levels)))


def _judged(plan: Encoding, classes: exp.Query) -> exp.Select:
    """The classes with whether they meet every privacy model, and whether they meet the monotonic ones."""
    models = plan.bound.policy.privacy
    certain = [model for model in models if model.monotonic]
    columns = [exp.Star(), aliased(_meets(plan, models), KEPT), aliased(_meets(plan, certain), CERTAINLY_KEPT)]
    return select(columns, subquery(classes, "anon_classes"))


def _meets(plan: Encoding, models: Iterable[PrivacyModel]) -> exp.Expr:
    conditions = [exp.GTE(this=_measure(plan, model), expression=number(model.threshold)) for model in models]
    return all_of(conditions)


def _measure(plan: Encoding, model: PrivacyModel) -> exp.Column:
    return column(_name(plan, model))


def _name(plan: Encoding, model: PrivacyModel) -> str:
    """The column of a class that holds a model's measure."""
    if model.sensitive is None:
        return CLASS_SIZE
    return f"anon_{model.measure}_{_sensitive(plan).index(model.sensitive)}"


def _sensitive(plan: Encoding) -> tuple[str, ...]:
    return plan.bound.policy.protected_columns


def _rows(position: int) -> str:
    return f"anon_rows_{position}"


def _from(query: exp.Select, relation: exp.Query) -> exp.Select:
    """A template with its one relation replaced by a query."""
    table = query.find(exp.Table)
    assert table is not None
    table.replace(subquery(relation, table.name))
    return query
