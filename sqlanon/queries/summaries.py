"""Classes → node summaries, and what a node that was chosen keeps: the queries of a search, flat and in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from sqlglot import exp

from sqlanon.model.criteria import CLASS_SIZE, Bound
from sqlanon.model.lattice import Asked, Levels
from sqlanon.queries.class_measures import KEPT, class_relation, measure_of, within
from sqlanon.queries.coded_labels import labelled_values
from sqlanon.queries.encoding import Encoding
from sqlanon.queries.grouping import (
    CERTAIN_ROWS,
    CERTAIN_SHARE,
    CLASS_ROWS,
    CLASS_WEIGHT,
    NODE,
    Grouping,
    by_any_key,
    by_any_keys,
    by_key,
    certain_rows,
    certain_share,
    measure_column,
    of_all_nodes,
)
from sqlanon.queries.joint_classes import WITHHELD, beside_hidden, jointly_kept
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    aliased,
    all_columns,
    ascending,
    called,
    case,
    column,
    equal_in,
    f,
    filtered,
    number,
    select,
    subquery,
    union_all,
)
from sqlanon.queries.label_losses import LabelLosses
from sqlanon.queries.recodings import Recoding

CERTAINLY_KEPT = "anon_certainly_kept"
OUT_OF_BOUNDS = "anon_out_of_bounds"
ALL_ROWS = "anon_all_rows"  # stands for the codes, or the key, of a class where there is one class for all

OF_LABELS = {"lm": "lm", "ncp": "ncp", "information": "suppressed_information"}
"""Losses of labels, and what a summary makes of each."""

OF_CLASSES_ALONE = ("kept_class_count", "certain_suppressed_rows", "rejected")
"""Columns of a summary that a search needs, and its loss does not."""


def judged_classes(grouping: Grouping, *, with_keys: bool = True) -> exp.Select:
    """Classes with what they prove, and with the measures that the models bound.

    Classes of too few rows do not, whatever their values are: most values of a node with many classes stand in such.
    """
    criteria = grouping.encoding.criteria
    sizes = [int(bound.required) for bound in criteria.certain_bounds if bound.measure == CLASS_SIZE]
    least = 1 if criteria.counts_individuals else max(sizes, default=1)
    with_keys = with_keys or grouping.encoding.spec.earlier is not None
    classes = class_relation(grouping, with_keys=with_keys, proving=True, measured_from=least)
    return beside_hidden(grouping, classes)


def level_losses(encoding: Encoding) -> exp.Query:
    """Position, depth, separable losses and distinct labels of every quasi-identifier at every level, in one query."""
    return Queries("cells").query("level_losses", levels=labelled_values(encoding))


def node_summaries(
    encoding: Encoding,
    batch: Sequence[Levels],
    row_count: int,
    *,
    cells: Relation | None = None,
    asked: Asked = "everything",
    attainable_within: int | None = None,
) -> exp.Query:
    """The summaries of a batch of nodes; ``node`` is the position in the batch.

    ``cells`` are rolled up to a node below all of the batch, or those of the source if None. Of columns those that are
    ``asked`` are there, and ``attainable_within`` some suppressed rows how private each node can be made.
    """
    losses = LabelLosses(encoding, batch, () if asked == "counts" else encoding.label_losses)
    summary = _Summary(encoding, losses, asked, row_count, attainable_within)
    if len(batch) > 1:
        return summary.of(losses.beside(of_all_nodes(encoding, batch, cells, judged_classes, apart=False)))
    classes = judged_classes(by_key(encoding, batch[0], cells), with_keys=asked != "counts")
    return summary.of_one(losses.beside(classes), 0)


def classes_and_summaries(encoding: Encoding, batch: Sequence[Levels], row_count: int) -> tuple[exp.Select, exp.Select]:
    """The classes of a batch of nodes, with their node and whether they are out of a bound of it; and the summaries.

    The summaries are of a table ``anon_classes``, in whose place the classes are to stand.
    """
    losses = LabelLosses(encoding, batch, encoding.label_losses)

    def measured(grouping: Grouping) -> exp.Select:
        return beside_hidden(grouping, class_relation(grouping, with_keys=True, proving=True))

    classes = losses.beside(of_all_nodes(encoding, batch, None, measured, apart=False))
    summary = _Summary(encoding, losses, "everything", row_count, None)
    return summary.judged(classes, {OUT_OF_BOUNDS}), summary.query


def columns_under(encoding: Encoding, batch: Sequence[Levels], row_count: int) -> dict[str, exp.Expr]:
    """The columns of a summary that the loss needs, and that follow from which classes are kept.

    They stand over the classes of other criteria, which measure the same of a class and ask something else of it: those
    of the encoding say which classes are kept.
    """
    quality = encoding.criteria.quality
    losses = LabelLosses(encoding, batch, quality.label_losses)
    of_others = {each.name for each in encoding.criteria.class_losses} - {each.name for each in quality.class_losses}
    columns = {}
    for each in _Summary(encoding, losses, "everything", row_count, None).query.expressions:
        kept = [found for found in each.find_all(exp.Column) if found.name == KEPT]
        if kept and each.alias not in {*OF_CLASSES_ALONE, *of_others}:
            for found in kept:
                found.replace(exp.paren(within(encoding, encoding.criteria.class_bounds)))
            columns[each.alias] = each.this
    return columns


# More than six parameters: each is a part of the text that is prepared.
def any_node_summaries(
    encoding: Encoding,
    count: int | None,
    row_count: int,
    cells: Relation,
    words: Sequence[int],
    asked: Asked,
    attainable_within: int | None,
) -> exp.Query:
    """The summaries of ``count`` nodes, to be prepared: parameters are the masks of some words of the key of each node.

    These are the words that the cells have. Nodes are counted one after the other, or, however many they are, in one
    pass: the parameters are then lists, of their positions and of their masks of each word. What labels lose differs
    in its text from node to node, so that it is left out.
    """

    def summary() -> _Summary:
        return _Summary(encoding, None, asked, row_count, attainable_within)

    if count is None:
        return summary().of(judged_classes(by_any_keys(encoding, cells, words)))
    groupings = (by_any_key(encoding, cells, words, index * len(words)) for index in range(count))
    return union_all(
        summary().of_one(judged_classes(grouping, with_keys=False), index) for index, grouping in enumerate(groupings)
    )


def attained(grouping: Grouping) -> exp.Query:
    """One row, ``attained_<bound>``: the worst value of each bound's measure over the classes that are kept."""
    encoding = grouping.encoding
    columns = [
        aliased(filtered(worst_of(encoding, bound), column(KEPT)), f"attained_{index}")
        for index, bound in enumerate(encoding.criteria.bounds)
    ]
    classes = class_relation(grouping, with_keys=encoding.spec.earlier is not None)
    classes = beside_hidden(grouping, classes)
    return select(columns, subquery(_judged(encoding, classes, {KEPT}), "anon_judged"))


def kept_keys(grouping: Grouping) -> exp.Select:
    """The keys of the classes of a grouping that are kept; ``anon_all_rows`` if it has none."""
    columns = grouping.columns() or [aliased(exp.true(), ALL_ROWS)]
    if grouping.encoding.spec.earlier is not None:
        columns.append(column(WITHHELD))
    classes = beside_hidden(grouping, class_relation(grouping, with_keys=True))
    judged = _judged(grouping.encoding, classes, {KEPT})
    return select(columns, subquery(judged, "anon_judged")).where(column(KEPT), copy=False)


def masked_class(recoding: Recoding, kept: exp.Table) -> exp.Query:
    """The classes that are suppressed, seen as the one class that masking would make of them.

    One row: ``row_count`` and, as ``attained_<bound>``, the measure of each bound.
    """
    encoding, grouping = recoding.encoding, recoding.by_code()
    coded = recoding.coded(encoding.cells, encoding.carried)
    suppressed = select([all_columns("anon_cells")], coded).join(
        called(kept, "anon_kept"),
        on=equal_in(grouping.keys, "anon_cells", "anon_kept"),
        join_type="anti",
        copy=False,
    )
    masked = replace(grouping, keys=(), cells=lambda: subquery(suppressed.copy(), "anon_suppressed"))
    columns = [
        aliased(measure_of(encoding, bound), f"attained_{index}")
        for index, bound in enumerate(encoding.criteria.bounds)
    ]
    return select([aliased(column(CLASS_ROWS), "row_count"), *columns], subquery(class_relation(masked), "anon_class"))


class _Summary:
    """The aggregates of the query ``node_summary`` that are asked of judged classes."""

    def __init__(
        self,
        encoding: Encoding,
        losses: LabelLosses | None,
        asked: Asked,
        row_count: int,
        attainable_within: int | None,
    ) -> None:
        self._encoding = encoding
        self._attainable_within = attainable_within
        unused = _unused(encoding, losses, asked, attainable=attainable_within is not None)
        self.query = Queries("cells").query("node_summary", unused, classes=exp.to_table("anon_classes"))
        if encoding.criteria.partly_certain_bounds:
            self.query = self.query.select(certain_rows(column(CERTAINLY_KEPT)), copy=False)
        if asked == "everything":
            losses_of_classes = (
                aliased(scalar_call(loss.macro, *map(column, loss.of)), loss.name)
                for loss in encoding.criteria.class_losses
            )
            self.query = self.query.select(*losses_of_classes, copy=False)
        combined = losses.combined() if losses else []
        shown = (each for each in combined if asked == "everything" or each.alias != "lm")
        self.query = self.query.select(*shown, copy=False)
        # Numbers for columns: a class need not carry what is the same for all.
        known = {"anon_row_count": number(row_count), "anon_k": number(encoding.criteria.k)}
        if attainable_within is not None:
            known["anon_allowed_rows"] = number(attainable_within)
        criteria = encoding.criteria
        if encoding.spec.earlier is None and tuple(criteria.certain_bounds) == criteria.class_bounds:
            # The same rows are suppressed for certain: they are summed once.
            known[CERTAINLY_KEPT] = exp.column(KEPT)
        self._fill_in(known)

    def of(self, classes: exp.Query) -> exp.Select:
        """The summaries of nodes, from their classes."""
        table = self.query.find(exp.Table)
        assert table is not None
        table.replace(subquery(self.judged(classes), table.name))
        return self.query

    def of_one(self, classes: exp.Query, node: int) -> exp.Select:
        """The summary of one node: to aggregate a single group without a key takes a tenth less time."""
        self._fill_in({NODE: number(node)})
        self.query.set("group", None)
        return self.of(classes)

    def judged(self, classes: exp.Query, others: Set[str] = frozenset()) -> exp.Select:
        """Classes with what the summary and others need to know of them."""
        judged = _judged(self._encoding, classes, {each.name for each in self.query.find_all(exp.Column)} | others)
        if self._attainable_within is None:
            return judged
        keys: list[exp.Expr] = [column(NODE)] if NODE in classes.named_selects else []
        return select([exp.Star(), *_strictness(self._encoding, keys)], subquery(judged, "anon_judged"))

    def _fill_in(self, known: Mapping[str, exp.Expr]) -> None:
        for mentioned in list(self.query.find_all(exp.Column)):
            if mentioned.name in known:
                mentioned.replace(known[mentioned.name].copy())


def _unused(encoding: Encoding, losses: LabelLosses | None, asked: Asked, *, attainable: bool) -> set[str]:
    criteria = encoding.criteria
    unused = {*OF_LABELS.values()} - {OF_LABELS[name] for name in (losses.measures if losses else ())}
    if asked != "everything":
        unused.add("min_class_size")
    if criteria.partly_certain_bounds:
        unused.add(CERTAIN_ROWS)
    if all(bound.grain == "class" for bound in criteria.bounds):
        unused.add("rejected")
    if not criteria.quality.counts_suppressed_weight:
        unused.add("suppressed_share")
    if not attainable:
        unused.add("attainable")
    return unused


def _judged(encoding: Encoding, classes: exp.Query, wanted: Set[str]) -> exp.Select:
    """Classes with what is wanted of their judgement, such as whether they keep the bounds of the privacy models.

    ``anon_certainly_kept`` is false where no less general node can do better, see :attr:`Criteria.certain_bounds`, and
    ``anon_certain_share`` what part of a class none of them can keep, see :attr:`Criteria.partly_certain_bounds`.
    """
    criteria = encoding.criteria
    columns = []
    if KEPT in wanted:
        columns.append(aliased(within(encoding, criteria.class_bounds), KEPT))
    if CERTAINLY_KEPT in wanted:
        columns.append(aliased(within(encoding, criteria.certain_bounds), CERTAINLY_KEPT))
    if CERTAIN_SHARE in wanted:
        columns.append(aliased(certain_share(encoding), CERTAIN_SHARE))
    if OUT_OF_BOUNDS in wanted:
        of_nodes = (bound for bound in criteria.bounds if bound.grain == "node")
        columns.append(aliased(exp.Not(this=exp.Paren(this=within(encoding, of_nodes))), OUT_OF_BOUNDS))
    weight = [aliased(column(CLASS_ROWS), CLASS_WEIGHT)]
    if CLASS_WEIGHT not in wanted or encoding.spec.row_weight is not None:
        weight = []
    if encoding.spec.earlier is None or KEPT not in wanted:
        return select([exp.Star(), *columns, *weight], subquery(classes, "anon_classes"))
    judged = select([exp.Star(), *columns], subquery(classes, "anon_classes"))
    kept = jointly_kept(encoding, judged, classes.named_selects)
    return select([exp.Star(), *weight], subquery(kept, "anon_jointly_kept"))


def _strictness(encoding: Encoding, node: list[exp.Expr]) -> list[exp.Expr]:
    """The strictest bound that each class meets, and the rows of the classes of its node that meet no stricter one.

    A class that violates another model cannot be published: it counts as meeting none.
    """
    concealing = [bound for bound in encoding.criteria.bounds if bound.measure.name == "concealing"]
    strictest: exp.Expr = column(measure_column(encoding, CLASS_SIZE))
    if concealing:
        risk = f.greatest(*(measure_of(encoding, bound) for bound in concealing))
        strictest = exp.Div(this=number(1.0), expression=risk)
    strictness = case(column(KEPT), strictest, number(0))
    order = ascending(strictness.copy())
    rows = exp.Window(this=exp.Sum(this=column(CLASS_ROWS)), partition_by=node, order=order)
    return [aliased(strictness, "anon_strictness"), aliased(rows, "anon_rows_up_to")]


def worst_of(encoding: Encoding, bound: Bound) -> exp.Expr:
    """The worst measure of some classes (an aggregate)."""
    aggregate = exp.Min if bound.at_least else exp.Max
    return aggregate(this=measure_of(encoding, bound))
