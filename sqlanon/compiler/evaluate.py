"""Classes → node summaries, and what a node that was chosen keeps: the queries of a search, flat and in batches."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.compiler.classes import (
    CLASS_ROWS,
    CLASS_WEIGHT,
    Grouping,
    at_node,
    by_key,
    class_relation,
    measure_of,
    within,
)
from sqlanon.compiler.encode import LABEL_LOSSES, label_bits
from sqlanon.compiler.encoding import ROW_COUNT, WEIGHT, Encoding
from sqlanon.compiler.macros import scalar_call, template
from sqlanon.compiler.nodes import (
    Relation,
    aliased,
    all_of,
    bits,
    column,
    double,
    filtered,
    grouped,
    number,
    over,
    select,
    subquery,
    union_all,
    unnested,
)
from sqlanon.model.lattice import Levels
from sqlanon.model.privacy import CLASS_SIZE, Bound
from sqlanon.model.quality import LM

NODE = "anon_node"
KEPT = "anon_kept"
CERTAINLY_KEPT = "anon_certainly_kept"
OUT_OF_BOUNDS = "anon_out_of_bounds"
LABELLED = "anon_labelled"
ALL_ROWS = "anon_all_rows"
"""What stands for the codes of a class where there is one class for all."""


def level_losses(plan: Encoding) -> exp.Query:
    """Position, depth, separable losses and distinct labels of every quasi-identifier at every level, in one query."""
    levels = union_all(_levels(plan, position) for position in range(len(plan.codes)))
    return over(template("level_losses"), levels)


def node_summaries(
    plan: Encoding,
    batch: Sequence[Levels],
    row_count: int,
    *,
    cells: Relation | None = None,
    attainable_within: int | None = None,
) -> exp.Query:
    """The summaries of a batch of nodes; ``node`` is the position in the batch.

    Args:
        plan: the encoding of the run.
        batch: the nodes.
        row_count: rows of the source.
        cells: cells rolled up to a node below all of the batch; those of the source if None.
        attainable_within: rows that may be suppressed, if it is asked how private each node can be made.
    """
    constant = _constant_losses(plan, batch)
    nodes = (_classes(by_key(plan, levels, cells), levels, index, constant) for index, levels in enumerate(batch))
    judged = _judged(plan, union_all(nodes))
    known = [aliased(number(row_count), "anon_row_count"), aliased(number(plan.bound.policy.k), "anon_k")]
    classes = select([exp.Star(), *known], subquery(judged, "anon_judged"))
    if attainable_within is not None:
        classes = classes.select(*_strictness(plan, attainable_within), copy=False)
    summary = template("node_summary")
    unused = set(LABEL_LOSSES) - set(_mean_losses(plan))
    if attainable_within is None:
        unused.add("attainable")
    summary.set("expressions", [item for item in summary.expressions if item.alias not in unused])
    if plan.bound.policy.quality.by_quasi_identifier:
        summary = summary.select(*_combined_losses(plan, constant), copy=False)
    return over(summary, classes)


def attained(plan: Encoding, levels: Levels) -> exp.Query:
    """One row, ``attained_<bound>``: the worst value of each bound's measure over the classes that a node keeps."""
    grouping = at_node(plan, levels)
    columns = [
        aliased(filtered(worst_of(grouping, bound), column(KEPT)), f"attained_{index}")
        for index, bound in enumerate(plan.bound.policy.bounds)
    ]
    return select(columns, subquery(_judged(plan, class_relation(grouping)), "anon_judged"))


def kept_classes(plan: Encoding, levels: Levels) -> exp.Query:
    """The codes of the classes that are kept at a node."""
    grouping = at_node(plan, levels)
    columns = grouping.columns() or [aliased(exp.true(), ALL_ROWS)]
    judged = _judged(plan, class_relation(grouping, with_keys=True))
    return select(columns, subquery(judged, "anon_judged")).where(column(KEPT), copy=False)


def masked_class(plan: Encoding, levels: Levels, kept: exp.Table) -> exp.Query:
    """The classes that are suppressed at a node, seen as the one class that masking would make of them.

    One row: ``row_count`` and, as ``attained_<bound>``, the measure of each bound.
    """
    keys = at_node(plan, levels).keys
    on = all_of([column(key, "anon_cells").eq(column(key, "anon_kept")) for key in keys])
    suppressed = (
        exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier("anon_cells", quoted=True)))
        .from_(exp.alias_(plan.cells.table, "anon_cells", table=True))
        .join(exp.alias_(kept, "anon_kept", table=True), on=on, join_type="anti")
    )
    masked = replace(at_node(plan, levels), keys=(), cells=lambda: subquery(suppressed.copy(), "anon_suppressed"))
    columns = [
        aliased(measure_of(masked, bound), f"attained_{index}") for index, bound in enumerate(plan.bound.policy.bounds)
    ]
    return select([aliased(column(CLASS_ROWS), "row_count"), *columns], subquery(class_relation(masked), "anon_class"))


def _levels(plan: Encoding, position: int) -> exp.Select:
    """The values of one quasi-identifier with their rows, once per level with their label there and what it loses."""
    depths = range(plan.bound.shapes[position].height + 1)
    value_code = plan.code(position, 0)
    counted = ROW_COUNT if plan.bound.policy.row_weight is None else WEIGHT
    rows = aliased(exp.Sum(this=column(counted)), "anon_value_rows")
    marginal = grouped(select([column(value_code), rows], plan.cells.table), [column(value_code)])
    columns = [
        aliased(number(position), "position"),
        column("anon_value_rows", "anon_marginal"),
        aliased(unnested(number(depth) for depth in depths), "depth"),
        aliased(unnested(column(plan.code(position, depth), "anon_codes") for depth in depths), "anon_label"),
        *(
            aliased(
                unnested(column(plan.label_loss(measure, position, depth), "anon_codes") for depth in depths),
                f"anon_{measure}",
            )
            for measure in LABEL_LOSSES
        ),
    ]
    codes = exp.alias_(plan.codes[position].table, "anon_codes", table=True)
    same_value = column(value_code, "anon_codes").eq(column(value_code, "anon_marginal"))
    return select(columns, subquery(marginal, "anon_marginal")).join(codes, on=same_value, copy=False)


def _classes(grouping: Grouping, levels: Levels, index: int, constant: Mapping[int, float]) -> exp.Select:
    """The classes of a node with the losses of their labels; ``anon_node`` is the node's position in the batch."""
    losses = _label_losses(grouping, levels, constant)
    classes = class_relation(grouping, with_keys=bool(losses))
    if losses:
        shown = [item.alias_or_name for item in classes.expressions if item.alias_or_name not in grouping.keys]
        labelled = subquery(_with_bits(grouping.plan, classes, levels), LABELLED)
        classes = select([*(column(name, LABELLED) for name in shown), *losses], labelled)
        for position, depth in enumerate(levels):
            if _is_looked_up(grouping.plan, position, depth):
                classes = _with_looked_up_losses(grouping.plan, classes, position, depth)
    classes.append("expressions", aliased(number(index), NODE))
    return classes


def _with_bits(plan: Encoding, classes: exp.Query, levels: Levels) -> exp.Select:
    """Classes with the bits of those labels that do not all lose alike, for they are compared with step after step."""
    words = [
        aliased(bits(column(plan.key(word)), mask), _label_bits(position, word))
        for position, depth in enumerate(levels)
        if plan.loss_varies(position, depth)
        for word, mask in plan.keys.label_masks(position, depth).items()
    ]
    return select([exp.Star(), *words], subquery(classes, "anon_keyed"))


def _label_bits(position: int, word: int) -> str:
    return f"anon_bits_{position}_{word}"


def _is_looked_up(plan: Encoding, position: int, depth: int) -> bool:
    """Whether labels of a level lose in more steps than are spelled out."""
    return plan.loss_varies(position, depth) and (plan.label_losses[0], position, depth) not in plan.loss_steps


def _with_looked_up_losses(plan: Encoding, classes: exp.Select, position: int, depth: int) -> exp.Select:
    losses = [column(plan.label_loss(measure, position, depth)) for measure in plan.label_losses]
    masks = plan.keys.label_masks(position, depth)
    alias = plan.codes[position].name
    on = all_of([column(_label_bits(position, word)).eq(column(plan.key(word), alias)) for word in masks])
    return classes.join(subquery(label_bits(plan, position, depth, losses), alias), on=on, copy=False)


def _judged(plan: Encoding, classes: exp.Query) -> exp.Select:
    """Classes with whether they keep the bounds of the privacy models.

    ``anon_certainly_kept`` is false where no less general node can do better, see :attr:`Policy.certain_bounds`.
    """
    policy = plan.bound.policy
    grouping = at_node(plan, plan.bound.lattice.bottom)
    of_classes = [bound for bound in policy.bounds if bound.grain == "class"]
    of_nodes = [bound for bound in policy.bounds if bound.grain == "node"]
    judgements = {
        KEPT: within(grouping, of_classes),
        CERTAINLY_KEPT: within(grouping, policy.certain_bounds),
        OUT_OF_BOUNDS: exp.Not(this=exp.Paren(this=within(grouping, of_nodes))),
    }
    if policy.row_weight is None:
        judgements[CLASS_WEIGHT] = column(CLASS_ROWS)
    columns = [aliased(judgement, name) for name, judgement in judgements.items()]
    return select([exp.Star(), *columns], subquery(classes, "anon_classes"))


def _strictness(plan: Encoding, allowed_rows: int) -> list[exp.Expr]:
    """How strict a bound each class can bear, and the rows of the classes that can bear no more.

    A class that violates another model cannot be published, so it bears nothing.
    """
    grouping = at_node(plan, plan.bound.lattice.bottom)
    concealing = [bound for bound in plan.bound.policy.bounds if bound.measure.name == "concealing"]
    borne: exp.Expr = column(grouping.measure(CLASS_SIZE))
    if concealing:
        risk = exp.func("greatest", *(measure_of(grouping, bound) for bound in concealing))
        borne = exp.Div(this=number(1.0), expression=risk)
    strictness = exp.Case(ifs=[exp.If(this=column(KEPT), true=borne)], default=number(0))
    order = exp.Order(expressions=[exp.Ordered(this=strictness.copy())])
    rows = exp.Window(this=exp.Sum(this=column(CLASS_ROWS)), partition_by=[column(NODE)], order=order)
    return [
        aliased(strictness, "anon_strictness"),
        aliased(rows, "anon_rows_up_to"),
        aliased(number(allowed_rows), "anon_allowed_rows"),
    ]


def worst_of(grouping: Grouping, bound: Bound) -> exp.Expr:
    """The worst measure of some classes (an aggregate)."""
    aggregate = exp.Min if bound.at_least else exp.Max
    return aggregate(this=measure_of(grouping, bound))


def _label_losses(grouping: Grouping, levels: Levels, constant: Mapping[int, float]) -> list[exp.Alias]:
    """The losses of a class's labels at a node: their mean in each measure, or each on its own if that is needed."""
    plan = grouping.plan
    losses = [aliased(_mean_label_loss(plan, name, levels), f"anon_{name}") for name in _mean_losses(plan)]
    if plan.bound.policy.quality.by_quasi_identifier:
        losses += [
            aliased(_label_loss(grouping.plan, "lm", position, depth), _loss_apart(position))
            for position, depth in enumerate(levels)
            if position not in constant
        ]
    return losses


def _constant_losses(plan: Encoding, batch: Sequence[Levels]) -> dict[int, float]:
    """The quasi-identifiers whose labels all lose alike in all nodes of a batch, and what they lose."""
    found = {}
    for position in range(len(plan.codes)):
        losses = {_constant_loss(plan, "lm", position, levels[position]) for levels in batch}
        loss = losses.pop()
        if not losses and loss is not None:
            found[position] = loss
    return found


def _mean_losses(plan: Encoding) -> list[str]:
    """The measures of label losses of which classes carry the mean: not those of which they carry every one."""
    apart = ("lm",) if plan.bound.policy.quality.by_quasi_identifier else ()
    return [name for name in plan.label_losses if name not in apart]


def _loss_apart(position: int) -> str:
    return f"anon_lm_{position}"


def _constant_loss(plan: Encoding, measure: str, position: int, depth: int) -> float | None:
    """What every label of a level loses: values nothing, the top label all there is to lose; None if it varies."""
    if not plan.loss_varies(position, depth):
        shape = plan.bound.shapes[position]
        return 1.0 if depth == shape.height and shape.domain_size > 1 else 0.0
    steps = plan.loss_steps.get((measure, position, depth), ())
    return steps[0][1] if len(steps) == 1 else None


def _label_loss(plan: Encoding, measure: str, position: int, depth: int) -> exp.Expr:
    """What the label of a class loses."""
    constant = _constant_loss(plan, measure, position, depth)
    if constant is not None:
        return double(constant)
    if _is_looked_up(plan, position, depth):
        return column(plan.label_loss(measure, position, depth), plan.codes[position].name)
    *steps, (_, most) = plan.loss_steps[measure, position, depth]
    words = [_label_bits(position, word) for word in plan.keys.label_masks(position, depth)]
    ifs = [exp.If(this=_up_to(words, last), true=double(loss)) for last, loss in steps]
    return exp.Case(ifs=ifs, default=double(most))


def _up_to(words: Sequence[str], last: Sequence[int]) -> exp.Expr:
    """Whether some words are no more than others, the first being the most significant."""
    here, limit = column(words[0]), number(last[0])
    if len(words) == 1:
        return exp.LTE(this=here, expression=limit)
    rest = exp.and_(column(words[0]).eq(number(last[0])), _up_to(words[1:], last[1:]), copy=False)
    return exp.Paren(this=exp.or_(exp.LT(this=here, expression=limit), rest, copy=False))


def _mean_label_loss(plan: Encoding, measure: str, levels: Levels) -> exp.Expr:
    terms = [_label_loss(plan, measure, position, depth) for position, depth in enumerate(levels)]
    known = sum(float(term.name) for term in terms if isinstance(term, exp.Literal))
    varying = [term for term in terms if not isinstance(term, exp.Literal)]
    total = functools.reduce(lambda left, right: exp.Add(this=left, expression=right), [double(known), *varying])
    return exp.Div(this=exp.Paren(this=total), expression=number(len(levels)))


def _combined_losses(plan: Encoding, constant: Mapping[int, float]) -> list[exp.Alias]:
    """LM as it is, and weighted or geometric, from the mean losses of the quasi-identifiers."""
    quality = plan.bound.policy.quality
    assert isinstance(quality, LM)
    shares = quality.shares(plan.bound.policy.quasi_identifiers)
    equal = (1 / len(shares),) * len(shares)
    known = tuple(constant.get(position) for position in range(len(shares)))
    return [
        aliased(_combination("arithmetic", equal, known).copy(), "lm"),
        aliased(_combination(quality.aggregate, shares, known).copy(), "combined_loss"),
    ]


@functools.lru_cache(maxsize=1024)
def _combination(aggregate: str, shares: tuple[float, ...], constant: tuple[float | None, ...]) -> exp.Expr:
    losses = [column(_loss_apart(position)) if loss is None else double(loss) for position, loss in enumerate(constant)]
    means = [scalar_call("mean_loss_of", column(CLASS_WEIGHT), column(KEPT), loss) for loss in losses]
    weights = [number(share) for share in shares]
    return scalar_call(f"{aggregate}_loss", exp.Array(expressions=means), exp.Array(expressions=weights))
