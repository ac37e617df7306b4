"""What the cells of nodes prove of the nodes between them and more general ones: queries of several intervals.

The scores and their proofs are macros (``sql/macros/58_interval_rows.sql``). A statement is a chain of GROUP BYs over
cells that are made once: the rows of values in cells, in classes, the excesses of classes, the scores of their cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from sqlanon.model.bounds import CLASS_SIZE, DISTINCT_DIVERSITY, Bound
from sqlanon.queries.cells.encoding import ROW_COUNT, Encoding
from sqlanon.queries.classes.grouping import NODE
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    bits,
    cast,
    column,
    count_rows,
    double,
    filtered,
    given_lists,
    identifier,
    made_once,
    number,
    select,
    subquery,
    union_all,
)

SQL = Queries("intervals")

SHARES = Relation("anon_interval_shares", "node")
"""The shares of sensitive values, with what a class may have of them."""

SETS = Relation("anon_interval_sets", "node")
"""The sets of sensitive values by which distances are measured."""

CELLS = Relation("anon_interval_cells", "cell")
"""The rows of values in the cells of some nodes, and those of the cells: those of each node together."""

INTERVAL = "anon_interval"
LOW, HIGH = "anon_low", "anon_high"
"""The keys of cells and of the classes of the more general node; masks of intervals have the same names and a word."""

DISTANCES = ("equal_distance", "ordered_distance", "hierarchical_distance")
SHARE_LIMITS = {
    "largest": ("largest_share", "basic_likeness", "enhanced_likeness", "disclosure"),
    "least": ("disclosure",),
}
"""By whether there is a largest or a least share of values, the measures whose bounds are such."""
MONOTONIC = (CLASS_SIZE.name, DISTINCT_DIVERSITY)
"""Bounds that rule out by themselves whatever is below a node."""


def have_scores(bounds: Sequence[Bound]) -> bool:
    """Whether all bounds have scores but those that are monotonic, and some have."""
    names = {bound.measure.name for bound in bounds} - {*MONOTONIC}
    return bool(names) and names <= {*DISTANCES, *SHARE_LIMITS["largest"]}


def judged_columns(encoding: Encoding) -> tuple[str, ...]:
    """The sensitive columns with bounds, by their numbers."""
    bounds = encoding.criteria.bounds
    return tuple(dict.fromkeys(bound.measure.column for bound in bounds if bound.measure.column is not None))


def value_tables(encoding: Encoding) -> Iterator[Step]:
    """What is known of values, which all statements compare with."""
    yield Step(SHARES, union_all(_shares(encoding, name) for name in judged_columns(encoding)), "shares of values")
    if sets := list(_sets(encoding)):
        yield SQL.step(SETS, "value_sets", sets=union_all(sets), shares=SHARES)


def first_cells(encoding: Encoding) -> Step:
    """Makes :data:`CELLS` of the cells of the source: those of the bottom, which is node 0."""
    words = [encoding.key(word) for word in range(encoding.keys.word_count)]
    values = [_numbered(encoding, name, column(encoding.sensitive(name))) for name in judged_columns(encoding)]
    rows = aliased(column(ROW_COUNT), "anon_rows")
    parts = ([*map(column, words), aliased(value, "anon_value"), rows.copy()] for value in values)
    every = union_all(select(part, encoding.cells.table) for part in parts)
    cells = _sized(encoding, subquery(every, "anon_values_of_cells"), words)
    return Step(CELLS, _of_node(cells, words, number(0)), "cells with their values")


def more_cells(encoding: Encoding) -> exp.Insert:
    """Adds the cells of a node to :data:`CELLS`, to be prepared: they are made of those of one below it.

    Its parameters are lists of one: the number of that one, and the masks of words of keys; then the new number.
    """
    words = [encoding.key(word) for word in range(encoding.keys.word_count)]
    masks = given_lists([NODE, *words])
    keys = [aliased(bits(column(word, "anon_cells"), column(word, "anon_given")), word) for word in words]
    query = _joined([*keys, *map(column, ("anon_value", "anon_rows"))], masks, "anon_given")
    cells = _sized(encoding, subquery(query, "anon_values_of_cells"), words)
    made = cast(exp.Placeholder(this=str(len(words) + 2)), "INTEGER")
    return exp.Insert(this=CELLS.table, expression=_of_node(cells, words, made))


def _of_node(cells: exp.Select, words: Sequence[str], node: exp.Expr) -> exp.Select:
    columns = [*map(column, (*words, "anon_value", "anon_rows", "anon_cell_size"))]
    return select([aliased(cast(node, "INTEGER"), NODE), *columns], subquery(cells, "anon_sized_cells"))


def _joined(columns: Sequence[exp.Expr], given: exp.Select, name: str) -> exp.Select:
    """Columns of cells, each once for every row of what is given of their node."""
    of_node = column(NODE, name).eq(column(NODE, "anon_cells"))
    query = select(columns, exp.alias_(CELLS.table, "anon_cells", table=True))
    return query.join(subquery(given, name), on=of_node, copy=False)


def interval_proofs(encoding: Encoding, *, are_of_low: bool) -> exp.Select:
    """What is proven of intervals, to be prepared: a row each, with the columns of a summary and ``proven_rows``.

    Its parameters are lists: the numbers of the intervals, the nodes whose cells are read for them, and for each word
    of keys the masks of both ends.

    Args:
        encoding: that of the run.
        are_of_low: whether these nodes are the least general ones of the intervals, and not below.
    """
    bounds, columns = encoding.criteria.bounds, len(judged_columns(encoding))
    steps = {
        "cells_between": _cells(encoding, are_of_low=are_of_low),
        "class_values": SQL.query("class_values", _unused(bounds), cells=_made("cells_between")),
        "classes_between": SQL.query(
            "classes", values=_made("class_values"), columns=columns, is_small=_is_small(encoding)
        ),
    }
    of_classes = {"values": _made("class_values"), "classes": _made("classes_between")}
    of_cells = {"cells": _made("cells_between")}
    rows, out = [], []
    for side, names in SHARE_LIMITS.items():
        if any(bound.measure.name in names for bound in bounds):
            excesses = {"excesses": _made(f"{side}_excesses")}
            valued = SQL.query("values_with_shares", **of_classes, shares=SHARES)
            steps[f"{side}_excesses"] = SQL.query(f"{side}_share_excesses", values=valued)
            counts = (column(name, "anon_cells") for name in ("anon_rows", "anon_cell_size"))
            score = scalar_call(f"{side}_share_score", *counts, column(f"anon_{side}_share", "anon_excesses"))
            scores = SQL.query("share_scores", **of_cells, **excesses, score=score)
            rows.append(SQL.query("least_rows", scores=scores, **excesses))
            out.append(SQL.query("classes_out", **excesses))
    if any(bound.measure.name in DISTANCES for bound in bounds):
        surpluses, excesses = {"surpluses": _made("surpluses")}, {"excesses": _made("distance_excesses")}
        steps["surpluses"] = SQL.query("surpluses", **of_classes, sets=SETS)
        steps["distance_excesses"] = SQL.query("distance_excesses", **surpluses)
        steps["potentials"] = SQL.query("potentials", **surpluses, **excesses, sets=SETS)
        steps["distance_scores"] = SQL.query("distance_scores", **of_cells, **excesses, potentials=_made("potentials"))
        priced = SQL.query("priced_scores", scores=_made("distance_scores"))
        rows.append(SQL.query("least_rows", scores=priced, **excesses))
        out.append(SQL.query("classes_out", **excesses))
    query = SQL.query(
        "proofs",
        classes=_made("classes_between"),
        least_rows=subquery(union_all(rows), "anon_least_rows_of_scores"),
        out=subquery(union_all(out), "anon_classes_out"),
    )
    query.set("with_", exp.With(expressions=[made_once(f"anon_{name}", step) for name, step in steps.items()]))
    return query


def _made(step: str) -> exp.Table:
    return exp.Table(this=identifier(f"anon_{step}"))


def _numbered(encoding: Encoding, name: str, code: exp.Expr) -> exp.Expr:
    """The number of a value among those of all judged columns, from its code."""
    columns = judged_columns(encoding)
    if len(columns) == 1:
        return code
    of_columns = exp.Mul(this=cast(code, "BIGINT"), expression=number(len(columns)))
    return exp.Add(this=of_columns, expression=number(columns.index(name)))


def _sized(encoding: Encoding, values: exp.Subquery, cell: list[str]) -> exp.Select:
    return SQL.query("sized_cells", values=values, cell=cell, columns=len(judged_columns(encoding)))


def _unused(bounds: Sequence[Bound]) -> set[str]:
    """The columns of values of classes that no score looks at."""
    names = {bound.measure.name for bound in bounds}
    unused = set() if names & {*SHARE_LIMITS["least"]} else {"anon_having_rows", "anon_least"}
    return unused if names & {*SHARE_LIMITS["largest"]} else {*unused, "anon_most"}


def _cells(encoding: Encoding, *, are_of_low: bool) -> exp.Query:
    """Cells of each interval, with the keys of their classes at both ends."""
    ends = [f"{end}_{word}" for end in (LOW, HIGH) for word in range(encoding.keys.word_count)]
    keys = [aliased(_key(encoding, end), end) for end in (LOW, HIGH)]
    others = ["anon_value", "anon_rows", *(["anon_cell_size"] if are_of_low else [])]
    query = _joined(
        [column(INTERVAL), *keys, *map(column, others)], given_lists([INTERVAL, NODE, *ends]), "anon_intervals"
    )
    if are_of_low:
        return query
    return _sized(encoding, subquery(query, "anon_values_of_cells"), [INTERVAL, LOW, HIGH])


def _key(encoding: Encoding, end: str) -> exp.Expr:
    """The key of a cell at an end: one number, or a row of several."""
    words = range(encoding.keys.word_count)
    masked = [bits(column(encoding.key(word)), column(f"{end}_{word}", "anon_intervals")) for word in words]
    return masked[0] if len(masked) == 1 else exp.func("row", *masked)


def _is_small(encoding: Encoding) -> exp.Expr:
    """Whether a class has too few rows, or too few values of a column (an aggregate over its values)."""
    columns = judged_columns(encoding)
    size = exp.IntDiv(this=exp.Sum(this=column("anon_rows")), expression=number(len(columns)))
    is_small: list[exp.Expr] = [exp.LT(this=size, expression=number(encoding.criteria.k))]
    for bound in (bound for bound in encoding.criteria.bounds if bound.measure.name == DISTINCT_DIVERSITY):
        assert bound.measure.column is not None
        place = exp.Mod(this=column("anon_value"), expression=number(len(columns)))
        values = filtered(count_rows(), place.eq(number(columns.index(bound.measure.column))))
        is_small.append(exp.LT(this=values, expression=number(int(bound.required))))
    return exp.or_(*is_small, copy=False)


def _shares(encoding: Encoding, name: str) -> exp.Select:
    largest, least = [], []
    for bound in (bound for bound in encoding.criteria.bounds if bound.measure.column == name):
        share, threshold = column("anon_share"), float(bound.threshold)
        match bound.measure.name:
            case "largest_share":
                largest.append(double(threshold))
            case "basic_likeness" | "enhanced_likeness":
                largest.append(scalar_call(f"{bound.measure.name}_share", share, double(threshold)))
            case "disclosure":
                largest.append(scalar_call("disclosure_share", share, double(threshold)))
                least.append(scalar_call("disclosure_share", share.copy(), double(-threshold)))
    return SQL.query(
        "value_shares",
        cells=encoding.cells,
        value=encoding.sensitive(name),
        numbered=_numbered(encoding, name, column("anon_code")),
        number=judged_columns(encoding).index(name),
        largest=exp.func("least", *largest) if largest else exp.null(),
        least=exp.func("greatest", *least) if least else exp.null(),
    )


def _sets(encoding: Encoding) -> Iterator[exp.Select]:
    """The sets of the distances that are bounded, which have numbers."""
    columns = judged_columns(encoding)
    bounds = [bound for bound in encoding.criteria.bounds if bound.measure.name in DISTANCES]
    for distance, bound in enumerate(bounds):
        assert bound.measure.column is not None
        place = columns.index(bound.measure.column)
        if bound.measure.name == "hierarchical_distance":
            sets = _label_sets(encoding, bound.measure.column)
        else:
            name = f"{bound.measure.name.removesuffix('_distance')}_sets"
            sets = SQL.query(name, shares=SHARES, number=place)
        known = [aliased(number(distance), "anon_distance"), aliased(double(float(bound.threshold)), "anon_t")]
        yield select([exp.Star(), *known], subquery(sets, "anon_sets"))


def _label_sets(encoding: Encoding, name: str) -> exp.Select:
    levels = range(max(encoding.sensitive_height(name), 1))
    labels = exp.Array(expressions=[column(encoding.sensitive_label(name, level)) for level in levels])
    return SQL.query(
        "label_sets",
        cells=encoding.cells,
        value=encoding.sensitive(name),
        numbered=_numbered(encoding, name, column("anon_code")),
        labels=labels,
    )
