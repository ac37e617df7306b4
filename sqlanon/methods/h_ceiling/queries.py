"""What h-ceiling asks of the cells: how general rows are, what classes lack, and the cells of a node filled up."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.model.lattice import Levels
from sqlanon.queries.cells.encoding import IS_UNMAPPED, ROW_COUNT, Encoding, row_sum
from sqlanon.queries.classes.grouping import CLASS_ROWS, by_key
from sqlanon.queries.kit.macros import scalar_call
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
    equal_in,
    grouped,
    number,
    select,
    subquery,
    union_all,
)

PROFILES = Relation("anon_profiles", "node")
"""For the labels of level 1 of every quasi-identifier what they and the labels above lose, and a number for that."""

LACKING = Relation("anon_lacking", "class")
"""The classes of fewer than k rows: how many each lacks, and how many all those before it do."""

TRUE_CELLS = Relation("anon_kept_cells", "cell")
"""The cells of the classes that have as many true rows as the policy asks for."""

DRAWN = Relation("anon_drawn_values", "row")
"""The value of every counterfeit, by its place."""

KNOWN = Relation("anon_known_values", "row")
"""The sensitive values by their codes, with how many rows of the table have each."""

CLASSES = Relation("anon_filled_classes", "class")
"""The classes of the filled cells, each with a number and how many rows it has."""

COUNTERFEITS = Relation("anon_counterfeits", "cell")
"""How many counterfeits of each value a class has."""

FILLED = Relation("anon_filled_cells", "cell")
"""The cells of a node, and counterfeits among them."""

PROFILE = "anon_profile"
LOSSES = "anon_losses"
MISSING = "anon_missing"
BEFORE = "anon_missing_before"
PLACE = "anon_place"
DRAWN_VALUE = "anon_drawn_value"


def profiles(encoding: Encoding) -> Step:
    """The step that makes :data:`PROFILES`: values of the same label at level 1 share all labels above it."""
    words = _words(encoding)
    of_value = exp.Window(
        this=exp.func("list", column("lm")),
        partition_by=[column("position"), column("value")],
        order=ascending(column("depth")),
        spec=exp.WindowSpec(
            kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="UNBOUNDED", end_side="FOLLOWING"
        ),
    )
    whole = select([column("position"), column("depth"), *words, aliased(of_value, LOSSES)], encoding.labels.table)
    labels = select([column("position"), *copies(words), column(LOSSES)], subquery(whole, "anon_whole"))
    labels = labels.where(column("depth").eq(number(1)), copy=False).distinct(copy=False)
    rank = exp.Window(this=exp.func("dense_rank"), partition_by=[column("position")], order=ascending(column(LOSSES)))
    numbered = select([exp.Star(), aliased(rank, PROFILE)], subquery(labels, "anon_labels_of_level"))
    return Step(PROFILES, numbered, "what labels lose at all levels")


def distinct_profiles() -> exp.Query:
    """``position``, ``anon_profile`` and ``anon_losses``, those at all levels from 0 on: each profile once."""
    return select(map(column, ("position", PROFILE, LOSSES)), PROFILES.table).distinct(copy=False)


def profiles_of_rows(encoding: Encoding, positions: Sequence[int]) -> exp.Query:
    """The combinations of profiles that rows have in some quasi-identifiers, each once: ``profile_<position>``."""
    first = tuple(min(shape.height, 1) for shape in encoding.spec.shapes)
    grouping = by_key(encoding, first, carried=[])
    classes = grouping.select([], grouping.cells()) if grouping.keys else select([number(1)], grouping.cells())
    query = select([], subquery(classes, "anon_classes"))
    for position in positions:
        alias = f"anon_profiles_{position}"
        words = encoding.keys.label_masks(position, 1)
        found = select([*(column(encoding.key(word)) for word in words), column(PROFILE)], PROFILES.table)
        found = found.where(column("position").eq(number(position)), copy=False)
        same = [
            exp.Paren(this=bits(column(encoding.key(word), "anon_classes"), number(mask))).eq(
                column(encoding.key(word), alias)
            )
            for word, mask in words.items()
        ]
        query = query.join(subquery(found, alias), on=all_of(same), copy=False)
        query = query.select(aliased(column(PROFILE, alias), f"profile_{position}"), copy=False)
    return query.distinct(copy=False)


def true_cells(encoding: Encoding, levels: Levels, fewest: int) -> Step:
    """The step that makes :data:`TRUE_CELLS` of a node."""
    grouping = by_key(encoding, levels, carried=[ROW_COUNT])
    rows = exp.Sum(this=column(ROW_COUNT))
    classes = grouping.select([aliased(rows, CLASS_ROWS)], grouping.cells())
    classes = classes.having(exp.GTE(this=rows.copy(), expression=number(fewest)), copy=False)
    masks = encoding.keys.node_masks(levels)
    is_of_class = all_of(
        [
            exp.Paren(this=bits(column(encoding.key(word), "anon_all"), number(mask))).eq(
                column(encoding.key(word), "anon_classes")
            )
            for word, mask in masks.items()
        ]
    )
    query = select([all_columns("anon_all")], exp.alias_(encoding.cells.table, "anon_all", table=True))
    query.append("joins", exp.Join(this=subquery(classes, "anon_classes"), on=is_of_class))
    return Step(TRUE_CELLS, query, "cells of classes that are not suppressed")


def true_rows(encoding: Encoding) -> exp.Query:
    """One row, ``rows``: how many the cells have."""
    rows = exp.func("coalesce", cast(exp.Sum(this=column(ROW_COUNT)), "BIGINT"), number(0))
    return select([aliased(rows, "rows")], encoding.cells.table)


def lacking(encoding: Encoding, levels: Levels, k: int) -> Step:
    """The step that makes :data:`LACKING` of a node."""
    grouping = by_key(encoding, levels, carried=[ROW_COUNT])
    sizes = grouping.select([row_sum(name=CLASS_ROWS)], grouping.cells())
    missing = aliased(scalar_call("missing_rows", column(CLASS_ROWS), number(k)), MISSING)
    classes = select([*grouping.columns(), column(CLASS_ROWS), missing], subquery(sizes, "anon_sizes"))
    before = missing_before(grouping.columns())
    found = select([exp.Star(), aliased(before, BEFORE)], subquery(classes, "anon_classes"))
    found = found.where(exp.GT(this=column(MISSING), expression=number(0)), copy=False)
    return Step(LACKING, found, "classes that lack rows")


def lacking_totals() -> exp.Query:
    """One row: how many ``classes`` lack rows, how many are ``missing``, and the rows of the ``smallest`` class."""
    missing = exp.func("coalesce", cast(exp.Sum(this=column(MISSING)), "BIGINT"), number(0))
    smallest = aliased(exp.Min(this=column(CLASS_ROWS)), "smallest")
    return select([aliased(count_rows(), "classes"), aliased(missing, "missing"), smallest], LACKING.table)


def known_values(encoding: Encoding) -> Step:
    """The step that makes :data:`KNOWN`."""
    (name,) = encoding.spec.protected
    code = column(value_column(encoding))
    value = aliased(exp.AnyValue(this=column(encoding.raw(name))), encoding.raw(name))
    return Step(
        KNOWN, grouped(select([code, value, row_sum()], encoding.cells.table), [code.copy()]), "sensitive values"
    )


def value_counts(encoding: Encoding) -> exp.Query:
    """``value`` and ``rows``: the codes of the sensitive values, with how many rows of the table have each."""
    query = select([aliased(column(value_column(encoding)), "value"), aliased(column(ROW_COUNT), "rows")], KNOWN.table)
    query.set("order", ascending(column("value")))
    return query


def rows_without_value(encoding: Encoding) -> exp.Query:
    """One row, ``rows``: how many have NULL for a sensitive value."""
    (name,) = encoding.spec.protected
    rows = exp.func("coalesce", exp.Sum(this=column(ROW_COUNT)), number(0))
    query = select([aliased(rows, "rows")], encoding.cells.table)
    return query.where(column(encoding.raw(name)).is_(exp.null()), copy=False)


def counterfeits(encoding: Encoding, levels: Levels, lacking: Relation) -> Step:
    """The step that makes :data:`COUNTERFEITS`, from what classes lack and the values drawn in their order."""
    keys = [column(key, "anon_places") for key in by_key(encoding, levels).keys]
    value = aliased(column(DRAWN_VALUE, "anon_places"), value_column(encoding))
    columns = [*keys, value, aliased(cast(count_rows(), "BIGINT"), ROW_COUNT)]
    query = select(columns, subquery(drawn_for_classes(encoding, levels, lacking), "anon_places"))
    return Step(COUNTERFEITS, grouped(query, [*copies(keys), value.this.copy()]), "counterfeits")


def drawn_for_classes(encoding: Encoding, levels: Levels, lacking: Relation) -> exp.Select:
    """The key of the class of each counterfeit, and what was drawn for it."""
    keys = by_key(encoding, levels).keys
    last = exp.Add(this=column(BEFORE), expression=column(MISSING))
    each = aliased(exp.func("unnest", exp.func("range", column(BEFORE), last)), PLACE)
    places = select([*map(column, keys), each], lacking.table)
    columns = [*(column(key, "anon_missing_rows") for key in keys), column(DRAWN_VALUE, "anon_drawn")]
    query = select(columns, subquery(places, "anon_missing_rows"))
    drawn = exp.alias_(DRAWN.table, "anon_drawn", table=True)
    return query.join(drawn, on=equal_in([PLACE], "anon_drawn", "anon_missing_rows"), copy=False)


def filled(encoding: Encoding, levels: Levels) -> Step:
    """The step that makes :data:`FILLED`: a cell for each class and value, true rows and counterfeits together."""
    (name,) = encoding.spec.protected
    grouping = by_key(encoding, levels, carried=[value_column(encoding), ROW_COUNT])
    true = select([*grouping.columns(), column(value_column(encoding)), column(ROW_COUNT)], grouping.cells())
    invented = select([*grouping.columns(), column(value_column(encoding)), column(ROW_COUNT)], COUNTERFEITS.table)
    keys = [column(key, "anon_rows") for key in (*grouping.keys, value_column(encoding))]
    both = select([*keys, row_sum()], subquery(union_all([true, invented]), "anon_rows"))
    counts = subquery(grouped(both, copies(keys)), "anon_counts")
    told = {*grouping.keys}
    words = [column(key, "anon_counts") if key in told else aliased(number(0), key) for key in _keys(encoding)]
    columns = [column(value_column(encoding), "anon_counts"), column(encoding.raw(name), "anon_known")]
    query = select([*words, *columns, aliased(exp.false(), IS_UNMAPPED), column(ROW_COUNT, "anon_counts")], counts)
    on = column(value_column(encoding), "anon_known").eq(column(value_column(encoding), "anon_counts"))
    query = query.join(exp.alias_(KNOWN.table, "anon_known", table=True), on=on, copy=False)
    return Step(FILLED, query, "cells with counterfeits")


def missing_before(order: Sequence[exp.Expr]) -> exp.Expr:
    """How many rows the classes before lack, in some order: that of no rows."""
    so_far = exp.Window(this=exp.Sum(this=column(MISSING)), order=ascending(*order) if order else None)
    return cast(exp.Paren(this=exp.Sub(this=so_far, expression=column(MISSING))), "BIGINT")


def value_column(encoding: Encoding) -> str:
    """The column of cells with the code of the sensitive value."""
    (name,) = encoding.spec.protected
    return encoding.sensitive(name)


def _keys(encoding: Encoding) -> list[str]:
    return [encoding.key(word) for word in range(encoding.keys.word_count)]


def _words(encoding: Encoding) -> list[exp.Expr]:
    return [column(key) for key in _keys(encoding)]
