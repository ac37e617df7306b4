"""Cells → classes → node summaries: the queries that a search asks, flat and in batches."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from sqlglot import exp

from sqlanon.compiler.encode import LABEL_LOSSES, ROW_COUNT, Encoding
from sqlanon.compiler.macros import scalar_call, template
from sqlanon.compiler.nodes import aliased, column, number, subquery
from sqlanon.model.lattice import Levels
from sqlanon.model.privacy import PrivacyModel

NODE = "anon_node"
CLASS_SIZE = "anon_class_size"
KEPT = "anon_kept"
CERTAINLY_KEPT = "anon_certainly_kept"

DIVERSITY_MACROS = {"distinct_diversity": "distinct_diversity_of", "entropy_diversity": "entropy_diversity_of"}


def level_losses(plan: Encoding) -> exp.Query:
    """Position, depth and the separable losses of every quasi-identifier at every level, in one query."""
    return _union_all(
        _level_loss(plan, position, depth)
        for position, shape in enumerate(plan.bound.shapes)
        for depth in range(shape.height + 1)
    )


def node_summaries(plan: Encoding, batch: Sequence[Levels], row_count: int) -> exp.Query:
    """The summaries of a batch of nodes; ``node`` is the position in the batch."""
    classes = _union_all(_classes(plan, levels, index) for index, levels in enumerate(batch))
    judged = _judged(plan, classes).select(
        aliased(number(row_count), "anon_row_count"), aliased(number(plan.bound.policy.k), "anon_k"), copy=False
    )
    summary = template("node_summary")
    unused = set(LABEL_LOSSES) - set(plan.label_losses)
    summary.set("expressions", [item for item in summary.expressions if item.alias not in unused])
    return _from(summary, judged)


def attained(plan: Encoding, levels: Levels) -> exp.Query:
    """One row: the least value of each privacy model's measure over the classes that are kept at a node."""
    columns = [
        aliased(_filtered(exp.Min(this=_measure(plan, model)), column(KEPT)), f"attained_{index}")
        for index, model in enumerate(plan.bound.policy.privacy)
    ]
    return exp.select(*columns).from_(subquery(_judged(plan, _classes(plan, levels, 0)), "anon_classes"))


def kept_classes(plan: Encoding, levels: Levels) -> exp.Query:
    """The codes of the classes that are kept at a node."""
    keys = _keys(plan, levels)
    judged = _judged(plan, _classes(plan, levels, 0, with_keys=True))
    columns = [column(key) for key in keys] or [aliased(exp.true(), "anon_all")]
    return exp.select(*columns).from_(subquery(judged, "anon_classes")).where(column(KEPT))


def masked_class(plan: Encoding, levels: Levels, kept: exp.Table) -> exp.Query:
    """The classes that are suppressed at a node, seen as the one class that masking would make of them.

    One row: ``row_count`` and, as ``attained_<index>``, the measure of each privacy model.
    """
    keys = _keys(plan, levels)
    on = exp.and_(*(column(key, "anon_cells").eq(column(key, "anon_kept")) for key in keys), copy=False)
    suppressed = (
        exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier("anon_cells", quoted=True)))
        .from_(exp.alias_(plan.cells.table, "anon_cells", table=True))
        .join(exp.alias_(kept, "anon_kept", table=True), on=on if keys else exp.true(), join_type="anti")
    )
    cells = subquery(suppressed, "anon_suppressed")
    classes = _diverse_classes(plan, [], cells, []) if _sensitive(plan) else _plain_classes([], cells, [])
    columns = [
        aliased(_measure(plan, model), f"attained_{index}") for index, model in enumerate(plan.bound.policy.privacy)
    ]
    return exp.select(aliased(column(CLASS_SIZE), "row_count"), *columns).from_(subquery(classes, "anon_class"))


def node_keys(plan: Encoding, levels: Levels) -> list[tuple[int, str]]:
    """Position and code column of every quasi-identifier that still tells rows apart at a node.

    A quasi-identifier at its top level has one label for all, so it is left out.
    """
    shapes = plan.bound.shapes
    return [
        (position, plan.code(position, depth))
        for position, depth in enumerate(levels)
        if depth < shapes[position].height
    ]


def _keys(plan: Encoding, levels: Levels) -> list[str]:
    return [key for _, key in node_keys(plan, levels)]


def _level_loss(plan: Encoding, position: int, depth: int) -> exp.Query:
    marginal = exp.select(
        aliased(column(plan.code(position, 0)), "anon_code"), aliased(exp.Sum(this=column(ROW_COUNT)), "anon_value_rows")
    ).from_(plan.cells.table)
    marginal.set("group", exp.Group(expressions=[column(plan.code(position, 0))]))
    label_rows = exp.Window(
        this=exp.Sum(this=column("anon_value_rows", "anon_marginal")),
        partition_by=[column(plan.code(position, depth), "anon_codes")],
    )
    level = (
        exp.select(
            column("anon_value_rows", "anon_marginal"),
            aliased(label_rows, "anon_label_rows"),
            *(
                aliased(column(plan.label_loss(measure, position, depth), "anon_codes"), f"anon_{measure}")
                for measure in LABEL_LOSSES
            ),
        )
        .from_(subquery(marginal, "anon_marginal"))
        .join(
            exp.alias_(plan.codes[position].table, "anon_codes", table=True),
            on=column(plan.code(position, 0), "anon_codes").eq(column("anon_code", "anon_marginal")),
        )
    )
    losses = _from(template("level_losses"), level)
    return losses.select(aliased(number(position), "position"), aliased(number(depth), "depth"), copy=False)


def _classes(plan: Encoding, levels: Levels, index: int, *, with_keys: bool = False) -> exp.Select:
    """The equivalence classes of one node: size, and whatever the privacy and quality models look at."""
    keys = _keys(plan, levels)
    losses = _label_losses(plan, levels)
    if _sensitive(plan):
        classes = _diverse_classes(plan, keys, plan.cells.table, losses)
    else:
        classes = _plain_classes(keys, plan.cells.table, losses)
    if with_keys:
        classes = classes.select(*(column(key) for key in keys), copy=False)
    return classes.select(aliased(number(index), NODE), append=True, copy=False)


def _plain_classes(keys: list[str], cells: exp.Expression, losses: list[exp.Alias]) -> exp.Select:
    query = exp.select(aliased(exp.Sum(this=column(ROW_COUNT)), CLASS_SIZE), copy=False).from_(cells, copy=False)
    for loss in losses:
        query.append("expressions", aliased(exp.AnyValue(this=loss.this), loss.alias))
    return _grouped(query, [column(key) for key in keys])


def _diverse_classes(plan: Encoding, keys: list[str], cells: exp.Expression, losses: list[exp.Alias]) -> exp.Select:
    """Count each sensitive value within each class first, all sensitive columns in one pass, then look at the counts."""
    sensitive = [plan.sensitive(name) for name in _sensitive(plan)]
    values = exp.select(*(column(key) for key in keys)).from_(cells, copy=False)
    for position, name in enumerate(sensitive):
        rows: exp.Expression = exp.Sum(this=column(ROW_COUNT))
        if len(sensitive) > 1:
            own_set = exp.func("grouping", column(name), dialect="duckdb").eq(0)
            rows = exp.case().when(own_set, rows)
        values.append("expressions", aliased(rows, _rows(position)))
    for loss in losses:
        values.append("expressions", aliased(exp.AnyValue(this=loss.this), loss.alias))
    sets = [exp.Tuple(expressions=[*(column(key) for key in keys), column(name)]) for name in sensitive]
    values.set("group", exp.Group(grouping_sets=[exp.GroupingSets(expressions=sets)]))
    query = exp.select(aliased(exp.Sum(this=column(_rows(0))), CLASS_SIZE)).from_(subquery(values, "anon_values"))
    for model in plan.bound.policy.privacy:
        if model.sensitive is not None:
            rows = column(_rows(_sensitive(plan).index(model.sensitive)))
            query.append("expressions", aliased(scalar_call(DIVERSITY_MACROS[model.measure], rows), _name(plan, model)))
    for loss in losses:
        query.append("expressions", aliased(exp.AnyValue(this=column(loss.alias)), loss.alias))
    return _grouped(query, [column(key) for key in keys])


def _label_losses(plan: Encoding, levels: Levels) -> list[exp.Alias]:
    """The loss of a cell's labels at a node, the mean over the quasi-identifiers, in each measure that is carried."""
    return [
        aliased(
            _mean([column(plan.label_loss(measure, position, depth)) for position, depth in enumerate(levels)]),
            f"anon_{measure}",
        )
        for measure in plan.label_losses
    ]


def _mean(terms: Sequence[exp.Expression]) -> exp.Expression:
    total = functools.reduce(lambda left, right: exp.Add(this=left, expression=right), terms)
    return exp.Div(this=exp.Paren(this=total), expression=number(len(terms)))


def _judged(plan: Encoding, classes: exp.Query) -> exp.Select:
    """The classes with whether they meet every privacy model, and whether they meet the monotonic ones."""
    models = plan.bound.policy.privacy
    return exp.select(
        exp.Star(),
        aliased(_meets(plan, models), KEPT),
        aliased(_meets(plan, [model for model in models if model.monotonic]), CERTAINLY_KEPT),
    ).from_(subquery(classes, "anon_classes"))


def _meets(plan: Encoding, models: Iterable[PrivacyModel]) -> exp.Expression:
    conditions = [exp.GTE(this=_measure(plan, model), expression=number(model.threshold)) for model in models]
    return exp.and_(*conditions, copy=False) if conditions else exp.true()


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


def _filtered(aggregate: exp.Expression, condition: exp.Expression) -> exp.Filter:
    return exp.Filter(this=aggregate, expression=exp.Where(this=condition))


def _grouped(query: exp.Select, keys: list[exp.Column]) -> exp.Select:
    if keys:
        query.set("group", exp.Group(expressions=keys))
    return query


def _union_all(queries: Iterable[exp.Query]) -> exp.Query:
    return functools.reduce(lambda left, right: exp.Union(this=left, expression=right, distinct=False), queries)


def _from(query: exp.Select, relation: exp.Query) -> exp.Select:
    """A template with its one relation replaced by a query."""
    table = query.find(exp.Table)
    assert table is not None
    table.replace(subquery(relation, table.name))
    return query
