"""Classes → node summaries, and what a node that was chosen keeps: the queries of a search, flat and in batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.compiler.classes import CLASS_WEIGHT, KEPT, class_relation, measure_of, within
from sqlanon.compiler.encode import LABEL_LOSSES, label_bits
from sqlanon.compiler.encoding import Encoding
from sqlanon.compiler.grouping import (
    CLASS_ROWS,
    NODE,
    Grouping,
    at_node,
    by_any_key,
    by_key,
    coded,
    of_all_nodes,
    of_one_node,
    with_codes,
)
from sqlanon.compiler.information import VALUE_ROWS, value_rows
from sqlanon.compiler.label_losses import LabelLosses
from sqlanon.compiler.macros import template
from sqlanon.compiler.nodes import (
    Relation,
    aliased,
    all_of,
    ascending,
    column,
    filtered,
    number,
    over,
    select,
    subquery,
    union_all,
    unnested,
)
from sqlanon.model.lattice import Asked, Levels
from sqlanon.model.privacy import CLASS_SIZE, Bound

CERTAINLY_KEPT = "anon_certainly_kept"
OUT_OF_BOUNDS = "anon_out_of_bounds"
MEASURES = frozenset({"min_class_size", "dm_star", "dm", "aecs"})
"""What a summary says besides how many classes and rows are kept, and what they lose."""

OF_LABELS = {"lm": "lm", "ncp": "ncp", "information": "suppressed_information"}
"""Losses of labels, and what a summary makes of each."""

ALL_ROWS = "anon_all_rows"
"""What stands for the codes, or the key, of a class where there is one class for all."""


def level_losses(plan: Encoding) -> exp.Query:
    """Position, depth, separable losses and distinct labels of every quasi-identifier at every level, in one query."""
    return over(template("level_losses"), labelled_values(plan))


def labelled_values(plan: Encoding) -> exp.Query:
    """The values of every quasi-identifier with their rows, once per level with their label there and what it loses."""
    return union_all(_labelled_values(plan, position) for position in range(len(plan.codes)))


def node_summaries(
    plan: Encoding,
    batch: Sequence[Levels],
    row_count: int,
    *,
    cells: Relation | None = None,
    asked: Asked = "everything",
    attainable_within: int | None = None,
) -> exp.Query:
    """The summaries of a batch of nodes; ``node`` is the position in the batch.

    Args:
        plan: the encoding of the run.
        batch: the nodes.
        row_count: rows of the source.
        cells: cells rolled up to a node below all of the batch; those of the source if None.
        asked: leave out what is not asked.
        attainable_within: rows that may be suppressed, if it is asked how private each node can be made.
    """
    losses = LabelLosses(plan, batch, () if asked == "counts" else plan.label_losses)
    classes = losses.beside(of_all_nodes(plan, batch, cells, _keyed_classes, apart=False))
    summary = _summary(plan, losses, asked, attainable=attainable_within is not None)
    return over(summary, _known_beside(plan, classes, row_count, attainable_within))


def any_node_summaries(
    plan: Encoding,
    count: int,
    row_count: int,
    cells: Relation,
    words: Sequence[int],
    asked: Asked,
    attainable_within: int | None,
) -> exp.Query:
    """The same of so many nodes, to be prepared: its parameters are the masks of some words of the key of each node.

    These are the words that the cells have. What labels lose differs in its text from node to node, so that it is left
    out.
    """

    def of_node(index: int) -> exp.Query:
        classes = of_one_node(plan, _keyed_classes(by_any_key(plan, cells, words, index * len(words))), index)
        summary = _summary(plan, None, asked, attainable=attainable_within is not None)
        # Numbers for columns: to aggregate a single group without a key takes a tenth less time.
        summary.set("group", None)
        known = {NODE: number(index), "anon_k": number(plan.bound.policy.k)}
        for mentioned in list(summary.find_all(exp.Column)):
            if mentioned.name in known:
                mentioned.replace(known[mentioned.name].copy())
        return over(summary, _known_beside(plan, classes, row_count, attainable_within))

    return union_all(map(of_node, range(count)))


def attained(grouping: Grouping) -> exp.Query:
    """One row, ``attained_<bound>``: the worst value of each bound's measure over the classes that are kept."""
    plan = grouping.plan
    columns = [
        aliased(filtered(worst_of(grouping, bound), column(KEPT)), f"attained_{index}")
        for index, bound in enumerate(plan.bound.policy.bounds)
    ]
    return select(columns, subquery(_judged(plan, class_relation(grouping)), "anon_judged"))


def kept_classes(plan: Encoding, levels: Levels) -> exp.Query:
    """The codes of the classes that are kept at a node."""
    kept = with_codes(plan, levels, select([], subquery(kept_keys(by_key(plan, levels)), "anon_kept")), "anon_kept")
    return kept if kept.expressions else kept.select(column(ALL_ROWS, "anon_kept"), copy=False)


def kept_keys(grouping: Grouping) -> exp.Select:
    """The keys of the classes of a grouping that are kept; ``anon_all_rows`` if it has none."""
    columns = grouping.columns() or [aliased(exp.true(), ALL_ROWS)]
    judged = _judged(grouping.plan, class_relation(grouping, with_keys=True))
    return select(columns, subquery(judged, "anon_judged")).where(column(KEPT), copy=False)


def masked_class(plan: Encoding, levels: Levels, kept: exp.Table) -> exp.Query:
    """The classes that are suppressed at a node, seen as the one class that masking would make of them.

    One row: ``row_count`` and, as ``attained_<bound>``, the measure of each bound.
    """
    grouping = at_node(plan, levels)
    on = all_of([column(key, "anon_cells").eq(column(key, "anon_kept")) for key in grouping.keys])
    suppressed = (
        exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier("anon_cells", quoted=True)))
        .from_(coded(plan, levels, plan.cells, plan.carried))
        .join(exp.alias_(kept, "anon_kept", table=True), on=on, join_type="anti")
    )
    masked = replace(grouping, keys=(), cells=lambda: subquery(suppressed.copy(), "anon_suppressed"))
    columns = [
        aliased(measure_of(masked, bound), f"attained_{index}") for index, bound in enumerate(plan.bound.policy.bounds)
    ]
    return select([aliased(column(CLASS_ROWS), "row_count"), *columns], subquery(class_relation(masked), "anon_class"))


def _labelled_values(plan: Encoding, position: int) -> exp.Select:
    depths = range(plan.bound.shapes[position].height + 1)
    marginal = value_rows(plan, position)
    keys = [plan.key(word) for word in plan.keys.label_masks(position, 0)]
    codes = [column(plan.code(position, depth)) for depth in depths]
    losses = [column(plan.label_loss(measure, position, depth)) for measure in LABEL_LOSSES for depth in depths]
    labels = label_bits(plan, position, 0, [*codes, *losses])
    columns = [
        aliased(number(position), "position"),
        column(VALUE_ROWS, "anon_marginal"),
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
    same_value = all_of([column(key, "anon_codes").eq(column(key, "anon_marginal")) for key in keys])
    query = select(columns, subquery(marginal, "anon_marginal"))
    return query.join(subquery(labels, "anon_codes"), on=same_value, copy=False)


def _keyed_classes(grouping: Grouping) -> exp.Select:
    return class_relation(grouping, with_keys=True)


def _known_beside(plan: Encoding, classes: exp.Query, row_count: int, attainable_within: int | None) -> exp.Select:
    """Classes, judged, with what a summary needs besides."""
    known = [aliased(number(row_count), "anon_row_count"), aliased(number(plan.bound.policy.k), "anon_k")]
    judged = select([exp.Star(), *known], subquery(_judged(plan, classes), "anon_judged"))
    if attainable_within is not None:
        judged = judged.select(*_strictness(plan, attainable_within), copy=False)
    return judged


def _summary(plan: Encoding, losses: LabelLosses | None, asked: Asked, *, attainable: bool) -> exp.Select:
    """What is asked of the classes of a node."""
    policy = plan.bound.policy
    unused = {*OF_LABELS.values()} - {OF_LABELS[name] for name in (losses.measures if losses else ())}
    if asked != "everything":
        unused |= MEASURES
    if all(bound.grain == "class" for bound in policy.bounds):
        unused.add("rejected")
    if not policy.quality.counts_suppressed_weight:
        unused.add("suppressed_share")
    if not attainable:
        unused.add("attainable")
    summary = template("node_summary")
    summary.set("expressions", [item for item in summary.expressions if item.alias not in unused])
    if list(policy.certain_bounds) == [bound for bound in policy.bounds if bound.grain == "class"]:
        # The same rows are suppressed for certain: they are summed once.
        for certain in [each for each in summary.find_all(exp.Column) if each.name == CERTAINLY_KEPT]:
            certain.set("this", exp.to_identifier(KEPT))
    combined = losses.combined() if losses else []
    return summary.select(*(each for each in combined if asked == "everything" or each.alias != "lm"), copy=False)


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
    order = ascending(strictness.copy())
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
