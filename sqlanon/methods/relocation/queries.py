"""What relocation asks of the classes of a node: which are too small, where each of them goes, and the cells after it.

Classes are compared by the bits of their keys, in which the labels of all levels stand: two labels are under the same
label of a level if they agree in its bits and in those of all levels above.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from sqlglot import exp

from sqlanon.model.lattice import Levels
from sqlanon.model.recoding import AtLevel
from sqlanon.queries.cells.encoding import IS_UNMAPPED, ROW_COUNT, VALUE, Encoding, row_sum
from sqlanon.queries.classes.classes import KEPT, class_relation, within
from sqlanon.queries.classes.grouping import CLASS_ROWS, Grouping, by_key, with_bits
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_columns,
    all_of,
    ascending,
    bits,
    cast,
    column,
    copies,
    count_rows,
    double,
    filtered,
    grouped,
    identifier,
    left_join,
    number,
    select,
    subquery,
    union_all,
)
from sqlanon.queries.kit.values import exact_text

RANKED = Relation("anon_ranked_classes", "class")
"""The classes of the node, those of k rows first, larger ones before smaller ones."""

OUTLIERS = Relation("anon_outlier_classes", "class")
"""The classes of fewer than k rows, with what their labels and those above lose."""

MOVES = Relation("anon_moves", "class")
"""The class that each outlier class goes to, and how far that is."""

MOVED = Relation("anon_moved_cells", "cell")
"""The cells of the node, each in the class that it goes to."""

RANK = "anon_rank"
PLACE = "anon_place"
OUTLIER = "anon_outlier"
NEAREST = "anon_nearest"
DISTANCE = "anon_distance"

DIGITS = 12
"""To how many digits distances are compared: equal ones are to be equal, in whatever order their terms were added."""


def ranked(encoding: Encoding, levels: Levels) -> Step:
    """The step that makes :data:`RANKED`.

    In the order of keys, ``anon_place`` tells which of the large classes one is, or after how many of them it comes.
    """
    grouping = _grouping(encoding, levels)
    judged = select(
        [exp.Star(), aliased(within(encoding, encoding.criteria.bounds), KEPT)],
        subquery(class_relation(grouping, with_keys=True), "anon_sizes"),
    )
    by_size = [exp.Ordered(this=column(name), desc=True, nulls_first=False) for name in (KEPT, CLASS_ROWS)]
    order = exp.Order(expressions=[*by_size, *ascending(*grouping.columns()).expressions])
    rank = exp.Window(this=exp.RowNumber(), order=order)
    # A sum: what a filter counts in a window, DuckDB counts anew for each row.
    so_far = exp.Window(this=exp.Sum(this=cast(column(KEPT), "BIGINT")), order=ascending(*grouping.columns()))
    place = cast(so_far, "BIGINT")
    query = select([exp.Star(), aliased(rank, RANK), aliased(place, PLACE)], subquery(judged, "anon_judged"))
    return Step(RANKED, query, "classes by size")


def class_counts() -> exp.Query:
    """One row: how many classes are ``large`` enough, how many are ``small``, and the ``rows`` of these."""
    small = column(KEPT).not_()
    rows = exp.func("coalesce", cast(filtered(exp.Sum(this=column(CLASS_ROWS)), small.copy()), "BIGINT"), number(0))
    columns = {"large": filtered(count_rows(), column(KEPT)), "small": filtered(count_rows(), small), "rows": rows}
    return select([aliased(counted, name) for name, counted in columns.items()], RANKED.table)


def outliers(encoding: Encoding, levels: Levels) -> Step:
    """The step that makes :data:`OUTLIERS`."""
    query = select([all_columns("anon_classes")], exp.alias_(RANKED.table, "anon_classes", table=True))
    for position, level in enumerate(levels):
        alias = f"anon_losses_{position}"
        on = with_bits(encoding, position, AtLevel(level), "anon_classes", alias)
        query = left_join(query, subquery(_losses_above(encoding, position, level), alias), on)
        depths = range(level, encoding.spec.shapes[position].height + 1)
        query = query.select(*(column(_loss(position, depth), alias) for depth in depths), copy=False)
    query = query.where(column(KEPT, "anon_classes").not_(), copy=False)
    return Step(OUTLIERS, query, "classes that are too small")


def moves(encoding: Encoding, levels: Levels, neighbours: int) -> Step:
    """The step that makes :data:`MOVES`: of equally near classes the larger one is taken, then the first by its key.

    Args:
        encoding: that of the run.
        levels: the node.
        neighbours: with how many large classes on either side each is compared, in the order of keys, in which those
            stand close together that are under the same labels.
    """
    keys = _grouping(encoding, levels).keys
    pair = {"anon_outliers": OUTLIER, "anon_large": NEAREST}
    differing = [
        aliased(exp.BitwiseXor(this=column(key, "anon_outliers"), expression=column(key, "anon_large")), key)
        for key in keys
    ]
    losses = [
        column(_loss(position, depth), "anon_outliers")
        for position, level in enumerate(levels)
        for depth in range(level, encoding.spec.shapes[position].height + 1)
    ]
    ranks = [aliased(column(RANK, table), name) for table, name in pair.items()]
    pairs = select([*ranks, *differing, *losses], subquery(_neighbours(neighbours), "anon_outliers"))
    large = exp.and_(
        column(KEPT, "anon_large"), column(PLACE, "anon_large").eq(column(NEAREST, "anon_outliers")), copy=False
    )
    pairs = pairs.join(exp.alias_(RANKED.table, "anon_large", table=True), on=large, copy=False)
    compared = select(
        [column(OUTLIER), column(NEAREST), aliased(_distance(encoding, levels), DISTANCE)],
        subquery(pairs, "anon_pairs"),
    )
    best = exp.Min(this=_struct([DISTANCE, NEAREST]))
    nearest = grouped(
        select([column(OUTLIER), aliased(best, "anon_best")], subquery(compared, "anon_compared")), [column(OUTLIER)]
    )
    query = select(
        [
            *(column(key, "anon_outliers") for key in (*keys, CLASS_ROWS)),
            *(aliased(column(key, "anon_large"), _target(key)) for key in keys),
            aliased(exp.Dot(this=column("anon_best", "anon_found"), expression=identifier(DISTANCE)), DISTANCE),
        ],
        subquery(nearest, "anon_found"),
    )
    of_rank = {
        "anon_outliers": column(OUTLIER, "anon_found"),
        "anon_large": exp.Dot(this=column("anon_best", "anon_found"), expression=identifier(NEAREST)),
    }
    for table, rank in of_rank.items():
        query = query.join(exp.alias_(RANKED.table, table, table=True), on=column(RANK, table).eq(rank), copy=False)
    return Step(MOVES, query, "where they go")


def mean_distance() -> exp.Query:
    """One row, ``distance``: how far rows are moved, as a mean over these; NULL if none is."""
    moved = exp.Sum(this=exp.Mul(this=column(DISTANCE), expression=column(CLASS_ROWS)))
    mean = exp.Div(this=moved, expression=exp.Sum(this=column(CLASS_ROWS)))
    # Rounded, as classes are: a database adds in any order.
    return select([aliased(exp.Round(this=mean, decimals=number(DIGITS)), "distance")], MOVES.table)


def moved(encoding: Encoding, levels: Levels) -> Step:
    """The step that makes :data:`MOVED`: a cell for each class and each combination of the other columns."""
    codes = [encoding.sensitive(name) for name in encoding.spec.protected]
    raw = [encoding.raw(name) for name in encoding.spec.protected]
    grouping = by_key(encoding, levels, carried=[*codes, *raw, ROW_COUNT])
    here = encoding.cells.name
    words = {key: exp.func("coalesce", column(_target(key), "anon_moves"), column(key, here)) for key in grouping.keys}
    others = [column(name, here) for name in (*codes, *raw, ROW_COUNT)]
    query = select([*(aliased(word, key) for key, word in words.items()), *others], grouping.cells())
    on = all_of([column(key, "anon_moves").eq(column(key, here)) for key in grouping.keys])
    query = left_join(query, exp.alias_(MOVES.table, "anon_moves", table=True), on)
    by = [column(name) for name in (*grouping.keys, *codes)]
    all_words = [encoding.key(word) for word in range(encoding.keys.word_count)]
    columns = [
        *copies(by),
        *(aliased(number(0), key) for key in all_words if key not in grouping.keys),
        *(aliased(exp.AnyValue(this=column(name)), name) for name in raw),
        aliased(exp.false(), IS_UNMAPPED),
        row_sum(),
    ]
    return Step(MOVED, grouped(select(columns, subquery(query, "anon_rows")), by), "cells where they go")


def changed_values(encoding: Encoding, written: exp.Expr) -> exp.Query:
    """One row, ``rows``: of the source, whose values beside the quasi-identifiers what was written does not have."""
    names = encoding.spec.protected
    values = [aliased(exact_text(column(encoding.raw(name))), name) for name in names]
    given = select([*values, aliased(column(ROW_COUNT), ROW_COUNT)], encoding.cells.table)
    values = [aliased(exact_text(column(name)), name) for name in names]
    found = select([*values, aliased(number(-1), ROW_COUNT)], written.copy())
    both = subquery(union_all([given, found]), "anon_values")
    counts = grouped(select([row_sum()], both), [column(name) for name in names])
    missing = exp.Sum(this=exp.func("greatest", column(ROW_COUNT), number(0)))
    return select([aliased(cast(missing, "BIGINT"), "rows")], subquery(counts, "anon_counts"))


def _grouping(encoding: Encoding, levels: Levels) -> Grouping:
    return by_key(encoding, levels, carried=[ROW_COUNT])


def _losses_above(encoding: Encoding, position: int, level: int) -> exp.Select:
    """What the labels of a level and those above them lose, a row per label, with the bits in the words of its key."""
    is_at = {
        depth: column("depth").eq(number(depth)) for depth in range(level, encoding.spec.shapes[position].height + 1)
    }
    words = [encoding.key(word) for word in encoding.keys.label_masks(position, level)]
    columns = [aliased(filtered(exp.Max(this=column(word)), is_at[level].copy()), word) for word in words]
    columns += [
        aliased(filtered(exp.Max(this=column("lm")), here.copy()), _loss(position, depth))
        for depth, here in is_at.items()
    ]
    labels = select(columns, encoding.labels.table).where(column("position").eq(number(position)), copy=False)
    return grouped(labels, [column(VALUE)]).distinct(copy=False)


def _neighbours(count: int) -> exp.Select:
    """The outlier classes, each once for every place of so many large classes on either side."""
    large = exp.Subquery(this=select([filtered(count_rows(), column(KEPT))], RANKED.table))
    first = exp.func("greatest", exp.Sub(this=column(PLACE), expression=number(count - 1)), number(1))
    last = exp.func("least", exp.Add(this=column(PLACE), expression=number(count)), large)
    places = exp.func("unnest", exp.func("range", first, exp.Add(this=last, expression=number(1))))
    return select([exp.Star(), aliased(places, NEAREST)], OUTLIERS.table)


def _distance(encoding: Encoding, levels: Levels) -> exp.Expr:
    """What the lowest labels lose that two classes are both under, as a mean over the quasi-identifiers."""
    terms = [_shared_loss(encoding, position, level) for position, level in enumerate(levels)]
    whole = reduce(lambda left, right: exp.Add(this=left, expression=right), terms)
    mean = exp.Div(this=exp.Paren(this=whole), expression=number(len(terms)))
    return exp.Round(this=mean, decimals=number(DIGITS))


def _shared_loss(encoding: Encoding, position: int, level: int) -> exp.Expr:
    """What the lowest label of a quasi-identifier loses that two classes are both under; all if there is none."""
    ifs: list[exp.If] = []
    for depth in range(level, encoding.spec.shapes[position].height + 1):
        masks = encoding.keys.label_masks(position, depth)
        loss = column(_loss(position, depth))
        if not masks:
            return exp.Case(ifs=ifs, default=loss) if ifs else loss
        agree = [
            exp.Paren(this=bits(column(encoding.key(word)), number(mask))).eq(number(0)) for word, mask in masks.items()
        ]
        ifs.append(exp.If(this=all_of(agree), true=loss))
    return exp.Case(ifs=ifs, default=double(1))


def _struct(names: Sequence[str]) -> exp.Struct:
    """``{'name': "name", ...}``, which is compared in this order."""
    return exp.Struct(expressions=[exp.PropertyEQ(this=identifier(name), expression=column(name)) for name in names])


def _loss(position: int, depth: int) -> str:
    return f"anon_loss_{position}_{depth}"


def _target(key: str) -> str:
    """The column of moves with a word of the key of the class that an outlier class goes to."""
    return f"{key}_there"
