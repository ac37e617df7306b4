"""What a private method counts, and what it makes of noise: scores of nodes, combinations at a node, published rows.

A combination is a class at a node together with a value of the sensitive column. Noise comes as tables of numbers. All
relations that hold some have a run, so that an audit can draw a hundred thousand releases at once; a release is run 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.model.lattice import Levels
from sqlanon.model.recoding import Recoding
from sqlanon.queries.cells.encoding import ROW_COUNT, Encoding, row_sum
from sqlanon.queries.cells.information import labelled_values
from sqlanon.queries.cells.recoding import code_columns
from sqlanon.queries.classes.grouping import Grouping, of_all_nodes, with_codes_of_classes
from sqlanon.queries.classes.label_losses import LabelLosses, in_units
from sqlanon.queries.kit.macros import template
from sqlanon.queries.kit.nodes import (
    DIALECT,
    Relation,
    Step,
    aliased,
    all_bits,
    all_of,
    ascending,
    cast,
    column,
    count_rows,
    filtered,
    grouped,
    identifier,
    number,
    over,
    same,
    select,
    string,
    subquery,
    text,
    union_all,
)
from sqlanon.queries.release.kept_columns import KeptColumn, kept_columns
from sqlanon.queries.release.labels import MASK, as_label
from sqlanon.queries.release.rows import EQUAL_ROWS, order_of_groups, released_columns, with_labels, with_top_label

WHOLE = 1 << 30
"""Losses of labels are counted in parts of this: integers, whose sums no order of rows can change."""

ROWS = "anon_rows"
RUN = "anon_run"
PLACE = "anon_place"
PLACE_OF_VALUE = "anon_place_of_value"
NOISE = "anon_noise"
NOISY = "anon_noisy_rows"
IS_SHOWN = "anon_is_shown"

COMBINATIONS = Relation("anon_combinations", "cell")
"""The combinations of the chosen node that some row has, with their number of rows and their place among them."""

KEYED_CELLS = Relation("anon_keyed_cells", "cell")
"""The cells with their sensitive value in the bits of their key: one number is grouped faster than two."""

NOISE_OF_COMBINATIONS = Relation("anon_noise_of_combinations", "cell")
NOISY_COMBINATIONS = Relation("anon_noisy_combinations", "cell")
"""The same with noise, once per run, and whether they are shown."""

LEFT_OVER = Relation("anon_left_over", "cell")
"""Per run and value, the rows of the combinations that are not shown."""

NOISE_OF_LEFT_OVER = Relation("anon_noise_of_left_over", "cell")
NOISY_LEFT_OVER = Relation("anon_noisy_left_over", "cell")


def largest_value(plan: Encoding) -> exp.Query:
    """One row, ``largest``: the largest code of a sensitive value."""
    (name,) = plan.spec.protected
    largest = exp.func("coalesce", exp.Max(this=column(plan.sensitive(name))), number(0))
    return select([aliased(largest, "largest")], plan.cells.table)


def by_combination(plan: Encoding, largest: int) -> Encoding:
    """The encoding of :data:`KEYED_CELLS`: its classes are combinations, with the sensitive value in their keys."""
    spec = replace(plan.spec, protected=(), protected_shapes={})
    return replace(plan, spec=spec, cells=KEYED_CELLS, keys=plan.keys.telling(largest))


def keyed_cells(plan: Encoding, combined: Encoding) -> Step:
    """The step that makes :data:`KEYED_CELLS`, in the order of their keys."""
    (name,) = plan.spec.protected
    place = combined.keys.always
    assert place is not None
    value = cast(column(plan.sensitive(name)), "BIGINT")
    words: dict[int, exp.Expr] = {word: column(plan.key(word)) for word in range(plan.keys.word_count)}
    words[place.word] = all_bits([words[place.word], value]) if place.word in words else value
    columns = [aliased(word, plan.key(index)) for index, word in words.items()]
    query = select([*columns, column(ROW_COUNT)], plan.cells.table)
    query.set("order", ascending(*(column(plan.key(index)) for index in words)))
    return Step(KEYED_CELLS, query, "cells with their values in their keys")


def level_losses(plan: Encoding) -> exp.Query:
    """``position``, ``depth``, ``lost`` and ``most``: what the rows lose by their labels at every level, and the most.

    In parts of :data:`WHOLE`, rounded as in scores: what the labels of a node lose is the sum over its levels.
    """
    part = in_units(column("anon_ncp"), WHOLE / len(plan.spec.shapes))
    values = select([exp.Star(), aliased(part, "anon_part")], subquery(labelled_values(plan), "anon_levels"))
    lost = cast(exp.Sum(this=exp.Mul(this=column("anon_value_rows"), expression=column("anon_part"))), "BIGINT")
    keys = [column("position"), column("depth")]
    most = exp.Max(this=column("anon_part"))
    return grouped(select([*keys, aliased(lost, "lost"), aliased(most, "most")], subquery(values, "anon_parts")), keys)


def node_scores(
    plan: Encoding, batch: Sequence[Levels], threshold: int, *, cells: Relation | None, apart: bool
) -> exp.Query:
    """``node``, ``row_count`` and ``score`` of the combinations that reach a threshold at each node of a batch.

    The encoding is that of :func:`by_combination`.

    Scores are in parts of :data:`WHOLE` of a row. All rows of other combinations are at risk, so that their part of the
    score is known without a look at what their labels lose. Nodes without any that reach it are left out.
    """

    def reaching(grouping: Grouping) -> exp.Select:
        query = grouping.select([row_sum(name=ROWS)], grouping.cells())
        reached = exp.GTE(this=exp.Sum(this=column(ROW_COUNT)), expression=number(threshold))
        query.set("having", exp.Having(this=reached))
        return query

    losses = LabelLosses(plan, batch, ("ncp",), units=WHOLE)
    combinations = losses.beside(of_all_nodes(plan, batch, cells, reaching, apart=apart))
    known = [aliased(number(WHOLE), "anon_whole"), aliased(number(threshold), "anon_threshold")]
    return over(template("node_score"), select([exp.Star(), *known], subquery(combinations, "anon_scored")))


def combinations(plan: Encoding, recoding: Recoding) -> Step:
    """The step that makes :data:`COMBINATIONS` of a recoding."""
    values, raw = _values(plan), _raw_values(plan)
    any_raw = [aliased(exp.AnyValue(this=column(name)), name) for name in raw]

    def by_value(grouping: Grouping) -> exp.Select:
        return grouping.select([*any_raw, row_sum()], grouping.cells(), *map(column, values))

    query = with_codes_of_classes(plan, recoding, by_value, "anon_keyed", [*values, *raw, ROW_COUNT])
    codes = [code for _, code in code_columns(plan, recoding)]
    return Step(COMBINATIONS, _placed(query, [*codes, *values]), "combinations of the node")


def noisy_combinations(threshold: int) -> Step:
    """The step that makes :data:`NOISY_COMBINATIONS`: those with so many noisy rows are shown."""
    return Step(NOISY_COMBINATIONS, _noisy(COMBINATIONS, NOISE_OF_COMBINATIONS, threshold), "noisy combinations")


def left_over(plan: Encoding) -> exp.Select:
    """Run, value and rows of the combinations that are not shown."""
    keys = [RUN, *_raw_values(plan)]
    query = select([*map(column, keys), row_sum()], NOISY_COMBINATIONS.table)
    return grouped(query.where(exp.Not(this=column(IS_SHOWN)), copy=False), [column(name) for name in keys])


def placed_left_over(plan: Encoding, rows: exp.Select) -> Step:
    """The step that makes :data:`LEFT_OVER` of them."""
    return Step(LEFT_OVER, _placed(rows, [RUN, *_raw_values(plan)]), "rows that are left over")


def noisy_left_over(threshold: int) -> Step:
    """The step that makes :data:`NOISY_LEFT_OVER`: values with so many noisy rows are shown."""
    return Step(NOISY_LEFT_OVER, _noisy(LEFT_OVER, NOISE_OF_LEFT_OVER, threshold), "noisy rows that are left over")


def equal_rows(plan: Encoding, recoding: Recoding, combinations: Sequence[Relation], *, with_left_over: bool) -> Step:
    """The step that makes ``EQUAL_ROWS``: what is shown in groups of equal rows, in the order of their columns.

    The tables and types of the labels are made, and those of the combinations. Rows that are left over show their value
    alone.
    """
    shown = kept_columns(plan, of_cells=True)
    rows = [_shown_combinations(plan, recoding, shown, relation) for relation in combinations]
    if with_left_over:
        rows.append(_shown_left_over(plan, recoding, shown))
    labels = [plan.label(position) for position in range(len(recoding.parts))]
    keys = [*labels, *(each.name for each in shown)]
    query = select([*map(column, keys), row_sum()], subquery(union_all(rows), "anon_published"))
    query = grouped(query, [column(name) for name in keys])
    query.set("order", ascending(*order_of_groups(plan, recoding, shown, masked=True)))
    return Step(EQUAL_ROWS, query, "equal rows")


def outcomes(
    plan: Encoding, recoding: Recoding, combinations: Sequence[Relation], salt: int, *, with_left_over: bool
) -> exp.Query:
    """``shown`` and ``runs``: what is shown and in how many runs it is just that, for those that show something.

    It is a list of a salted hash of the labels and the value, and the noisy rows, of all that is shown: no value of a
    cell.
    """
    labels = [column(code) for _, code in code_columns(plan, recoding)]
    items = [_items(plan, relation, labels, salt) for relation in combinations]
    if with_left_over:
        items.append(_items(plan, NOISY_LEFT_OVER, [string(MASK)], salt))
    item = exp.Struct(
        expressions=[
            exp.PropertyEQ(this=identifier(name), expression=column(name)) for name in ("anon_place", "anon_noisy_rows")
        ]
    )
    listed = exp.func("list", exp.Order(this=item, expressions=ascending(column(PLACE)).expressions))
    of_runs = grouped(select([aliased(listed, "shown")], subquery(union_all(items), "anon_items")), [column(RUN)])
    counted_runs = select([column("shown"), aliased(count_rows(), "runs")], subquery(of_runs, "anon_of_runs"))
    return grouped(counted_runs, [column("shown")])


def _items(plan: Encoding, relation: Relation, labels: Sequence[exp.Expr], salt: int) -> exp.Select:
    """What is shown of a relation: run, a hash of labels and value, noisy rows."""
    parts = [string(str(salt)), *labels, *map(column, _raw_values(plan))]
    spelled = exp.func("to_json", exp.Array(expressions=[text(part) for part in parts]), dialect=DIALECT)
    place = aliased(exp.func("md5", text(spelled)), PLACE)
    return select([column(RUN), place, column(NOISY)], relation.table).where(column(IS_SHOWN), copy=False)


def unlike_what_was_drawn(plan: Encoding, written: exp.Expr) -> exp.Query:
    """One row, ``unlike``: how many groups of equal rows a release has in another number than :data:`EQUAL_ROWS`."""
    names = [each.alias for each in released_columns(plan)]
    drawn = grouped(
        select([*map(column, names), row_sum()], subquery(_drawn(plan), "anon_drawn")), [column(name) for name in names]
    )
    found = grouped(
        select([*map(column, names), aliased(count_rows(), "anon_found")], written.copy()),
        [column(name) for name in names],
    )
    on = all_of([same(column(name, "anon_drawn"), column(name, "anon_written")) for name in names])
    both = select(
        [column(ROW_COUNT, "anon_drawn"), column("anon_found", "anon_written")], subquery(drawn, "anon_drawn")
    )
    both = both.join(subquery(found, "anon_written"), on=on, join_type="full", copy=False)
    unlike = exp.Not(this=same(column(ROW_COUNT), column("anon_found")))
    count = filtered(count_rows(), exp.Paren(this=unlike))
    return select([aliased(count, "unlike")], subquery(both, "anon_compared"))


def _drawn(plan: Encoding) -> exp.Select:
    return select([*released_columns(plan), column(ROW_COUNT)], EQUAL_ROWS.table)


def _shown_combinations(
    plan: Encoding, recoding: Recoding, shown: Sequence[KeptColumn], combinations: Relation
) -> exp.Select:
    query = select([], exp.alias_(combinations.table, "anon_cells", table=True))
    below_top = dict(code_columns(plan, recoding))
    query = with_labels(plan, recoding, query, "anon_cells")
    for position, part in enumerate(recoding.parts):
        if position not in below_top:
            query = with_top_label(plan, position, part, query)
            query = query.select(column(plan.label(position), plan.node_labels(position).name), copy=False)
    labels = {each.alias_or_name: each for each in query.expressions}
    query.set("expressions", [labels[plan.label(position)] for position in range(len(recoding.parts))])
    return _with_noisy_rows(query, shown)


def _shown_left_over(plan: Encoding, recoding: Recoding, shown: Sequence[KeptColumn]) -> exp.Select:
    masks = [
        aliased(as_label(plan, position, string(MASK)), plan.label(position)) for position in range(len(recoding.parts))
    ]
    return _with_noisy_rows(select(masks, exp.alias_(NOISY_LEFT_OVER.table, "anon_cells", table=True)), shown)


def _with_noisy_rows(query: exp.Select, shown: Sequence[KeptColumn]) -> exp.Select:
    query = query.select(*(aliased(each.value.copy(), each.name) for each in shown), copy=False)
    query = query.select(aliased(column(NOISY, "anon_cells"), ROW_COUNT), copy=False)
    return query.where(column(IS_SHOWN, "anon_cells"), copy=False)


def _placed(query: exp.Select, keys: Sequence[str]) -> exp.Select:
    """The rows of a query with their place in the order of some columns, from 0."""
    window = exp.Window(this=exp.RowNumber(), order=ascending(*map(column, keys)))
    place = aliased(exp.Sub(this=window, expression=number(1)), PLACE)
    return select([exp.Star(), place], subquery(query, "anon_unplaced"))


def _noisy(counts: Relation, noise: Relation, threshold: int) -> exp.Select:
    """Counts with the noise of their place, and whether the sum reaches the threshold."""
    sums = select([exp.Star()], counts.table)
    sums = sums.join(noise.table, using=[identifier(PLACE)], copy=False)
    total = exp.Add(this=column(ROW_COUNT), expression=column(NOISE))
    reached = exp.GTE(this=column(NOISY), expression=number(threshold))
    noisy = select([exp.Star(), aliased(total, NOISY)], subquery(sums, "anon_sums"))
    return select([exp.Star(), aliased(reached, IS_SHOWN)], subquery(noisy, "anon_noisy"))


def _values(plan: Encoding) -> list[str]:
    """The columns of cells with the codes of the sensitive values."""
    return [plan.sensitive(name) for name in plan.spec.protected]


def _raw_values(plan: Encoding) -> list[str]:
    """The columns of cells with the sensitive values themselves."""
    return [plan.raw(name) for name in plan.spec.protected]
