"""Classes → a full examination of a node: its summary, how strict its bounds can be, and what violates them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from sqlanon.model.criteria import CLASS_SIZE, Bound, Criteria, at_least, bounds_of_field
from sqlanon.model.lattice import Levels
from sqlanon.model.privacy import KAnonymity
from sqlanon.queries.class_measures import KEPT, within
from sqlanon.queries.coded_labels import label_bits
from sqlanon.queries.encoding import Encoding
from sqlanon.queries.grouping import CLASS_ROWS, NODE, by_key, measure_of, passing
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_columns,
    all_of,
    bits,
    case,
    cast,
    column,
    f,
    filtered,
    identifier,
    made_once,
    number,
    select,
    string,
    subquery,
    union_all,
)
from sqlanon.queries.summaries import classes_and_summaries, columns_under, kept_keys, worst_of

SQL = Queries("examination")

ANY_K = at_least(CLASS_SIZE, 1)
"""The bound of k-anonymity for any k."""

CLASSES = "anon_classes"

JUDGED_CELLS = Relation("anon_judged_cells", "cell")
"""The keys of the cells, with all and with suppressed rows."""


def examined(
    encoding: Encoding, batch: Sequence[Levels], row_count: int, allowed_rows: int, others: Sequence[Encoding] = ()
) -> exp.Query:
    """Select the summaries of a batch of nodes, with their obstacles.

    Further columns are ``best_k``, the largest k for which the node satisfies the criteria; for every bound
    ``worst_<bound>``, the worst measure of all classes, or the mean over the published rows, and ``violating_<bound>``,
    the rows in classes that violate it, or all published ones;
    for every privacy model ``blocked_<model>``, the rows in classes that violate it; and ``other_<index>_<column>``,
    the columns of the summary under the criteria of ``others``.
    """
    criteria = encoding.criteria
    columns = {}
    for index, bound in enumerate(criteria.bounds):
        columns[f"worst_{index}"] = worst_of(encoding, bound, column(KEPT) if bound.measure.is_mean else None)
        if not bound.measure.is_mean:
            columns[f"violating_{index}"] = _rows_out_of(encoding, [bound])
    for index, model in enumerate(criteria.models):
        if not any(bound.measure.is_mean for bound in model.bounds):
            columns[f"blocked_{index}"] = _rows_out_of(encoding, model.bounds)
    for index, other in enumerate(others):
        found = columns_under(other, batch, row_count)
        columns |= {f"other_{index}_{name}": value for name, value in found.items()}
    bounds = [bound for model in criteria.models if not isinstance(model, KAnonymity) for bound in model.bounds]
    strictest = {"best_k": _strictest(encoding, [ANY_K], bounds, row_count, allowed_rows)}
    query = _summaries(encoding, batch, row_count, columns, strictest)
    return query.select(*_rows_above_means(criteria, row_count), copy=False)


def attainable(encoding: Encoding, batch: Sequence[Levels], row_count: int, allowed_rows: int) -> exp.Query:
    """Select summaries with ``attainable_<bound>``, its strictest value given the others; NULL if these fail."""
    bounds = encoding.criteria.bounds
    columns, strictest = {}, {}
    pairs = [(model, bound) for model in encoding.criteria.models for bound in model.bounds]
    for index, (model, bound) in enumerate(pairs):
        name, alike = f"attainable_{index}", bounds_of_field(model.bounds, bound)
        if bound.grain == "node":
            first, *others = (worst_of(encoding, each, column(KEPT)) for each in alike)
            columns[name] = f.greatest(first, *others) if others else first
        else:
            given = [other for other in bounds if other not in alike]
            strictest[name] = _strictest(encoding, alike, given, row_count, allowed_rows)
    return _summaries(encoding, batch, row_count, columns, strictest)


def _strictest(
    encoding: Encoding, alike: Sequence[Bound], others: Sequence[Bound], row_count: int, allowed_rows: int
) -> exp.Select:
    """Select ``anon_node`` and ``anon_strictest``, how strict a bound can be given the others, NULL if these fail.

    Bounds that one field sets (``alike``) are as strict as the least strict of them.
    Larger is stricter. A class meets no stricter bound than its own measure, and none if it violates another bound.
    A node meets the bound of the least strict class that cannot be suppressed together with all less strict ones.
    """
    bound, *more = alike
    most_rows = min(allowed_rows, row_count - 1)
    nothing = number(0) if bound.at_least else cast(string("-infinity"), "DOUBLE")

    def signed(value: exp.Expr) -> exp.Expr:
        return value if bound.at_least else exp.Neg(this=value)

    strictness = signed(measure_of(encoding, bound))
    if more:
        strictness = f.least(strictness, *(signed(measure_of(encoding, each)) for each in more))
    if others:
        are_met = within(encoding, [other for other in others if other.grain == "class"])
        strictness = case(are_met, strictness, nothing)
    # A node must be stricter than its classes that violate a bound on nodes: otherwise one of them would be kept.
    floor: exp.Expr = nothing
    if any(other.grain == "node" and not other.measure.is_mean for other in others):
        rejected = filtered(exp.Max(this=column("anon_strictest")), column("anon_rejected"))
        floor = f.coalesce(rejected, nothing)
    best = scalar_call("best_k_of", column("anon_strictest"), column("anon_rows_up_to"), number(most_rows))
    means = [other for other in others if other.measure.is_mean and other.measure.of_all is None]
    names = [f"anon_total_{index}" for index, _ in enumerate(means)]
    names_from = [f"anon_total_from_{index}" for index, _ in enumerate(means)]
    if means:  # a stricter bound suppresses more rows, and a mean over the others may rise or fall
        left_out = exp.Paren(this=exp.Sub(this=column("anon_rows_up_to"), expression=column("anon_class_size")))
        kept = exp.Paren(this=exp.Sub(this=number(row_count), expression=left_out.copy()))
        met = [
            passing(mean, exp.Div(this=cast(column(name), "DOUBLE"), expression=kept.copy()))
            for mean, name in zip(means, names_from, strict=True)
        ]
        best = filtered(exp.Max(this=column("anon_strictest")), all_of([left_out <= number(most_rows), *met]))
    if bound is ANY_K and any(other.measure.of_all for other in others):
        best = exp.null()  # no estimate from the classes of each size up
    return SQL.query(
        "strictest_bounds",
        classes=exp.Table(this=identifier(CLASSES)),
        strictness=strictness,
        best=best,
        floor=floor,
        strictest=signed(best.copy()),
        sums=[exp.Sum(this=measure_of(encoding, mean)) for mean in means],
        totals=names,
        totals_from=names_from,
    )


def _summaries(
    encoding: Encoding,
    batch: Sequence[Levels],
    row_count: int,
    columns: Mapping[str, exp.Expr],
    strictest: Mapping[str, exp.Select],
) -> exp.Select:
    """Select the summaries of a batch with further aggregates over its classes, which are made once."""
    classes, summaries = classes_and_summaries(encoding, batch, row_count)
    summaries.select(*(aliased(value, name) for name, value in columns.items()), copy=False)
    query = select([all_columns("anon_summaries")], subquery(summaries, "anon_summaries"))
    for name, found in strictest.items():
        same = column(NODE, f"anon_{name}").eq(column("node", "anon_summaries"))
        query = query.join(subquery(found, f"anon_{name}"), on=same, copy=False)
        query = query.select(aliased(column("anon_strictest", f"anon_{name}"), name), copy=False)
    query.set("with_", exp.With(expressions=[made_once(CLASSES, classes)]))
    return query


def _rows_out_of(encoding: Encoding, bounds: Sequence[Bound]) -> exp.Expr:
    rows = filtered(exp.Sum(this=column(CLASS_ROWS)), exp.Not(this=exp.Paren(this=within(encoding, bounds))))
    return f.coalesce(rows, 0)


def _rows_above_means(criteria: Criteria, row_count: int) -> Iterator[exp.Alias]:
    """Return ``violating_<bound>`` and ``blocked_<model>`` of means: the published rows where the mean is too large."""
    published = exp.Sub(this=number(row_count), expression=column("suppressed_rows", "anon_summaries"))
    places = {bound: index for index, bound in enumerate(criteria.bounds) if bound.measure.is_mean}

    def rows(bounds: Sequence[Bound]) -> exp.Expr:
        are_within = (passing(bound, column(f"worst_{places[bound]}", "anon_summaries")) for bound in bounds)
        return case(all_of([f.coalesce(each, exp.true()) for each in are_within]), number(0), published.copy())

    yield from (aliased(rows([bound]), f"violating_{index}") for bound, index in places.items())
    for index, model in enumerate(criteria.models):
        if means := [bound for bound in model.bounds if bound in places]:
            yield aliased(rows(means), f"blocked_{index}")


def judged_cells(encoding: Encoding, levels: Levels) -> Step:
    masks = encoding.keys.node_masks(levels)
    return SQL.step(
        JUDGED_CELLS,
        "judged_cells",
        cells=encoding.cells,
        kept=kept_keys(by_key(encoding, levels)).select(aliased(exp.true(), "anon_is_kept"), copy=False),
        words=encoding.word_columns,
        keys=[*map(encoding.key, masks)],
        masks=[*map(number, masks.values())],
    )


def rows_by_label(encoding: Encoding, depths: Mapping[int, int], fewest: int) -> exp.Query:
    """Select ``position``, ``label``, ``rows`` and ``suppressed_rows`` of labels with at least ``fewest`` rows."""
    queries = []
    for position, depth in depths.items():
        masks = encoding.keys.label_masks(position, depth)
        roles = SQL.given(
            position=position,
            cells=JUDGED_CELLS,
            words=[bits(column(encoding.key(word)), number(mask)) for word, mask in masks.items()],
            keys=[*map(encoding.key, masks)],
            labels=label_bits(encoding, position, depth, [column("label")]),
        )
        queries.append(roles.query("rows_by_label", fewest=fewest))
    return union_all(queries)
