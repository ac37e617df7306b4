"""Classes → node summaries, and the kept classes of a chosen node: the queries of a search, flat and in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from sqlglot import exp

from sqlanon.model.criteria import CLASS_SIZE, Bound
from sqlanon.model.lattice import Asked, ClassLoss, Levels
from sqlanon.queries.class_measures import KEPT, class_relation, within
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
    measure_of,
    of_all_nodes,
    passing,
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
    double,
    equal_in,
    f,
    filtered,
    number,
    select,
    subquery,
    union_all,
)
from sqlanon.queries.label_losses import LabelLosses, with_measures_of_labels
from sqlanon.queries.recodings import Recoding

CERTAINLY_KEPT = "anon_certainly_kept"
OUT_OF_BOUNDS = "anon_out_of_bounds"
ALL_ROWS = "anon_all_rows"  # in place of codes or a key, if there is one class for all rows
OF_LABELS = {"lm": "lm", "ncp": "ncp", "rce": "rce", "information": "suppressed_information"}
"""The columns of a summary, by loss of labels."""
OF_CLASSES_ALONE = ("kept_class_count", "certain_suppressed_rows", "rejected")
"""Columns of a summary that a search needs, but not its loss."""


def judged_classes(grouping: Grouping, *, with_keys: bool = True) -> exp.Select:
    """Select classes with certainties and measures; values of the many too small classes are skipped."""
    criteria = grouping.encoding.criteria
    sizes = [int(bound.required) for bound in criteria.certain_bounds if bound.measure == CLASS_SIZE]
    least = 1 if criteria.counts_individuals else max(sizes, default=1)
    with_keys = with_keys or grouping.encoding.spec.earlier is not None
    classes = _measured(grouping, with_keys=with_keys, proving=True, measured_from=least)
    return beside_hidden(grouping, classes)


def _measured(
    grouping: Grouping, *, with_keys: bool = True, proving: bool = False, measured_from: int = 1
) -> exp.Select:
    """Select the classes of a grouping with all measures, those of the labels of its nodes, too."""
    by_labels = bool(grouping.encoding.of_labels)
    with_keys = with_keys or by_labels
    classes = class_relation(grouping, with_keys=with_keys, proving=proving, measured_from=measured_from)
    return with_measures_of_labels(grouping, classes) if by_labels else classes


def level_losses(encoding: Encoding) -> exp.Query:
    """Select the losses and distinct labels of every quasi-identifier at every level, by position and depth."""
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
    """Select the summaries of a batch of nodes; ``node`` is the position in the batch.

    ``cells`` may be rolled up to a node below the batch. Summaries have the columns that are ``asked``, and the
    attainable privacy if up to ``attainable_within`` rows may be suppressed.
    """
    losses = LabelLosses(encoding, batch, () if asked == "counts" else encoding.label_losses)
    summary = _Summary(encoding, losses, asked, row_count, attainable_within)
    if len(batch) > 1:
        return summary.of(losses.beside(of_all_nodes(encoding, batch, cells, judged_classes, apart=False)))
    classes = judged_classes(by_key(encoding, batch[0], cells), with_keys=asked != "counts")
    return summary.of_one(losses.beside(classes), 0)


def classes_and_summaries(encoding: Encoding, batch: Sequence[Levels], row_count: int) -> tuple[exp.Select, exp.Select]:
    """Return the classes of a batch of nodes, with their node and whether they violate its bounds; and the summaries.

    The summaries read a table ``anon_classes``, to be replaced by the classes.
    """
    losses = LabelLosses(encoding, batch, encoding.label_losses)

    def measured(grouping: Grouping) -> exp.Select:
        return beside_hidden(grouping, _measured(grouping, proving=True))

    classes = losses.beside(of_all_nodes(encoding, batch, None, measured, apart=False))
    summary = _Summary(encoding, losses, "everything", row_count, None)
    return summary.judged(classes, {OUT_OF_BOUNDS}), summary.query


def columns_under(encoding: Encoding, batch: Sequence[Levels], row_count: int) -> dict[str, exp.Expr]:
    """Return the columns of a summary that the loss needs and that depend on the kept classes.

    They aggregate classes of other criteria with equal measures and other bounds; the encoding's criteria decide which
    classes are kept.
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


# More than six parameters: each determines a part of the prepared text.
def any_node_summaries(
    encoding: Encoding,
    count: int | None,
    row_count: int,
    cells: Relation,
    words: Sequence[int],
    asked: Asked,
    attainable_within: int | None,
) -> exp.Query:
    """Select the summaries of ``count`` nodes, to be prepared: parameters are the masks of these words by node.

    Without a ``count`` any number of nodes is counted in one pass: parameters are then lists of positions and of masks
    by word. The text of label losses differs between nodes, so they are left out.
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
    """Select one row, ``attained_<bound>``: the worst value of each bound's measure over the kept classes."""
    encoding = grouping.encoding
    columns = [
        aliased(worst_of(encoding, bound, column(KEPT)), f"attained_{index}")
        for index, bound in enumerate(encoding.criteria.bounds)
    ]
    classes = beside_hidden(grouping, _measured(grouping, with_keys=encoding.spec.earlier is not None))
    return select(columns, subquery(_judged(encoding, classes, {KEPT}), "anon_judged"))


def kept_keys(grouping: Grouping) -> exp.Select:
    """Select the keys of the kept classes of a grouping; ``anon_all_rows`` if it has none."""
    columns = grouping.columns() or [aliased(exp.true(), ALL_ROWS)]
    if grouping.encoding.spec.earlier is not None:
        columns.append(column(WITHHELD))
    classes = beside_hidden(grouping, _measured(grouping))
    judged = _judged(grouping.encoding, classes, {KEPT})
    return select(columns, subquery(judged, "anon_judged")).where(column(KEPT), copy=False)


def masked_class(recoding: Recoding, kept: exp.Table) -> exp.Query:
    """Select one row, ``row_count`` and ``attained_<bound>``: the suppressed classes as one masked class."""
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
        # A mean of kept classes and of masked rows is within a bound if both are.
        aliased(
            exp.Div(this=measure_of(encoding, bound), expression=column(CLASS_ROWS))
            if bound.measure.is_mean
            else measure_of(encoding, bound),
            f"attained_{index}",
        )
        for index, bound in enumerate(encoding.criteria.bounds)
    ]
    return select([aliased(column(CLASS_ROWS), "row_count"), *columns], subquery(class_relation(masked), "anon_class"))


class _Summary:
    """The query ``node_summary``, reduced to the aggregates that are asked."""

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
        self._judge_means(row_count)
        criteria = encoding.criteria
        of_classes = {"everything": criteria.class_losses, "loss": criteria.quality.class_losses}.get(asked, ())
        self.query = self.query.select(*map(_of_classes, of_classes), copy=False)
        combined = losses.combined() if losses else []
        shown = (each for each in combined if asked == "everything" or each.alias != "lm")
        self.query = self.query.select(*shown, copy=False)
        # Constants in place of columns: classes need not carry them.
        known: dict[str, exp.Expr] = {"anon_row_count": number(row_count), "anon_k": number(encoding.criteria.k)}
        if (counted := encoding.criteria.loss_measure) is not None:
            known["anon_largest_share"] = column(measure_column(encoding, counted))
        if attainable_within is not None:
            known["anon_allowed_rows"] = number(attainable_within)
        if encoding.spec.earlier is None and tuple(criteria.certain_bounds) == criteria.class_bounds:
            # All suppressed rows are certainly suppressed, so they are summed once.
            known[CERTAINLY_KEPT] = exp.column(KEPT)
        self._fill_in(known)

    def of(self, classes: exp.Query) -> exp.Select:
        table = self.query.find(exp.Table)
        assert table is not None
        table.replace(subquery(self.judged(classes), table.name))
        return self.query

    def of_one(self, classes: exp.Query, node: int) -> exp.Select:
        """Summarize one node: aggregating a single group without a key takes a tenth less time."""
        self._fill_in({NODE: number(node)})
        self.query.set("group", None)
        return self.of(classes)

    def judged(self, classes: exp.Query, others: Set[str] = frozenset()) -> exp.Select:
        """Select classes with the columns that the summary and ``others`` need."""
        judged = _judged(self._encoding, classes, {each.name for each in self.query.find_all(exp.Column)} | others)
        if self._attainable_within is None:
            return judged
        keys: list[exp.Expr] = [column(NODE)] if NODE in classes.named_selects else []
        return select([exp.Star(), *_strictness(self._encoding, keys)], subquery(judged, "anon_judged"))

    def _judge_means(self, row_count: int) -> None:
        encoding = self._encoding
        columns = {each.alias: each for each in self.query.expressions}
        for bound in encoding.criteria.mean_bounds:
            is_within = passing(bound, mean_of(encoding, bound, column(KEPT)))
            rejected = exp.Or(this=columns["rejected"].this, expression=f.coalesce(exp.not_(is_within), exp.false()))
            columns["rejected"].set("this", rejected)
            if bound.measure.certainty is not None:
                total = exp.Sum(this=measure_of(encoding, bound))
                rows = scalar_call(bound.measure.certainty, total, number(row_count), double(bound.threshold))
                columns[CERTAIN_ROWS].set("this", f.greatest(columns[CERTAIN_ROWS].this, rows))

    def _fill_in(self, known: Mapping[str, exp.Expr]) -> None:
        for mentioned in list(self.query.find_all(exp.Column)):
            if mentioned.name in known:
                mentioned.replace(known[mentioned.name].copy())


def _of_classes(loss: ClassLoss) -> exp.Alias:
    arguments = (column(each) if isinstance(each, str) else number(each) for each in loss.of)
    return aliased(scalar_call(loss.macro, *arguments), loss.name)


def _unused(encoding: Encoding, losses: LabelLosses | None, asked: Asked, *, attainable: bool) -> set[str]:
    criteria = encoding.criteria
    unused = {*OF_LABELS.values()} - {OF_LABELS.get(name) for name in (losses.measures if losses else ())}
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
    """Add the wanted judgements to classes, such as whether they keep the bounds of the privacy models.

    ``anon_certainly_kept`` is false if no less general node can do better, see :attr:`Criteria.certain_bounds`, and
    ``anon_certain_share`` is the part of a class that none of them can keep, see
    :attr:`Criteria.partly_certain_bounds`.
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
        of_nodes = within(encoding, criteria.node_bounds)
        columns.append(aliased(exp.Not(this=exp.Paren(this=of_nodes)), OUT_OF_BOUNDS))
    weight = [aliased(column(CLASS_ROWS), CLASS_WEIGHT)]
    if CLASS_WEIGHT not in wanted or encoding.spec.row_weight is not None:
        weight = []
    if encoding.spec.earlier is None or KEPT not in wanted:
        return select([exp.Star(), *columns, *weight], subquery(classes, "anon_classes"))
    judged = select([exp.Star(), *columns], subquery(classes, "anon_classes"))
    kept = jointly_kept(encoding, judged, classes.named_selects)
    return select([exp.Star(), *weight], subquery(kept, "anon_jointly_kept"))


def _strictness(encoding: Encoding, node: list[exp.Expr]) -> list[exp.Expr]:
    """Return the strictest bound that each class meets, none if unpublished, and the rows that meet no stricter one."""
    concealing = [bound for bound in encoding.criteria.bounds if bound.measure.name == "concealing"]
    strictest: exp.Expr = column(measure_column(encoding, CLASS_SIZE))
    if concealing:
        risk = f.greatest(*(measure_of(encoding, bound) for bound in concealing))
        strictest = exp.Div(this=number(1.0), expression=risk)
    strictness = case(column(KEPT), strictest, number(0))
    order = ascending(strictness.copy())
    rows = exp.Window(this=exp.Sum(this=column(CLASS_ROWS)), partition_by=node, order=order)
    return [aliased(strictness, "anon_strictness"), aliased(rows, "anon_rows_up_to")]


def mean_of(encoding: Encoding, bound: Bound, among: exp.Expr | None = None) -> exp.Expr:
    """Aggregate the mean over the rows of all classes, or ``among`` some; NULL without rows."""
    sums = [column(CLASS_ROWS)] if bound.measure.of_all else [measure_of(encoding, bound), column(CLASS_ROWS)]
    sums = [each if among is None else case(among.copy(), each) for each in sums]
    if bound.measure.of_all is None:
        return scalar_call("mean_of_rows", *sums)
    return scalar_call(bound.measure.of_all, *sums, exp.convert(bound.measure.argument))


def worst_of(encoding: Encoding, bound: Bound, among: exp.Expr | None = None) -> exp.Expr:
    """Aggregate the worst measure of all classes, or ``among`` some; of a mean, the mean over their rows."""
    if bound.measure.is_mean:
        return mean_of(encoding, bound, among)
    aggregate = exp.Min if bound.at_least else exp.Max
    worst = aggregate(this=measure_of(encoding, bound))
    return worst if among is None else filtered(worst, among)
