"""Points: equal rows as places of their values on axes, and their class, from the one read of the source.

Values without a place are refused. The labels of a cut for published rows are here, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.stored_taxonomies import LEAVES, leaf_of, leaf_of_text, make_leaves
from sqlanon.binding.unknown_values import unknown_values
from sqlanon.engines.duckdb import Compute
from sqlanon.errors import PolicyError
from sqlanon.methods.cut_pieces import (
    Axis,
    Cut,
    ItemAxis,
    NumericAxis,
    Piece,
    Specialization,
    TaxonomyAxis,
)
from sqlanon.model.labels import CutRecord
from sqlanon.model.methods.cut_methods import Range, interval_label, written
from sqlanon.queries import taxonomies
from sqlanon.queries.encoded_rows import exact_key
from sqlanon.queries.encoding import EARLIER, ROW_COUNT, EarlierClasses
from sqlanon.queries.kit.macros import cast_value, table_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    c,
    cast,
    column,
    count_rows,
    f,
    filtered,
    grouped,
    identifier,
    number,
    select,
    subquery,
    union_all,
    unsigned_type,
)
from sqlanon.queries.published_rows import EQUAL_ROWS, unlike_groups
from sqlanon.queries.source import SourceColumn
from sqlanon.queries.source_rows import number_of_row, with_persons

POINTS = Relation("anon_points", "cell")
"""The rows without NULL, equal ones once: places of values, items of sets, class and row count."""

MARGINALS = Relation("anon_marginals", "cell")  # by scalar predictor, the rows of each class with a value
CHILDREN = Relation("anon_children", "node")  # the children of candidates, or intervals to split as their own children

GIVEN_PIECES = Relation("anon_given_pieces", "node")
"""The pieces of the cut: position, attribute, bounds, and the depth of their label or its text and range."""

CUT = Relation("anon_cut", "node")  # the pieces of the cut with their labels; NULL for the empty set

CLASS = "anon_class"
CANDIDATE = "candidate"

ALL = "*"  # the label of all values of a taxonomy with several labels at the top level

SQL = Queries("cuts", {"leaves": LEAVES, "points": POINTS, "marginals": MARGINALS, "given": GIVEN_PIECES, "cut": CUT})


def value_column(position: int) -> str:
    return f"anon_value_{position}"


@dataclass(frozen=True)
class Points:
    bound: BoundPolicy
    axes: tuple[Axis, ...]
    ranges: Mapping[int, Range]  # by position of numeric predictors
    classes: int = 0  # the number of classes if a taxonomy has them; else 0


def found_axes(
    engine: Compute,
    bound: BoundPolicy,
    numeric: Mapping[str, Range],
    sets: Sequence[str] = (),
    target: Sequence[tuple[int, str]] = (),
) -> Points:
    """Make the axes of the predictors and :data:`LEAVES`; no row is read.

    ``numeric`` predictors have ranges, ``sets`` hold items; ``target`` is the position, behind all predictors, and the
    column of classes if a taxonomy has them. Refuses a taxonomy with only NULL.
    """
    predictors = bound.policy.quasi_identifiers
    attributes = [*(each for each in enumerate(predictors) if each[1] not in numeric), *target]
    make_leaves(engine, bound.taxonomy, attributes)
    labels: dict[int, list[Mapping[str, int]]] = defaultdict(list)
    for row in engine.fetch(SQL.query("first_places"), "labels", "node"):
        labels[int(row["position"])].append(row)
    sizes = {position: sum(label["depth"] == 0 for label in found) for position, found in labels.items()}
    axes: list[Axis] = []
    if empty := [f'"{name}"' for position, name in attributes if position not in sizes]:
        raise PolicyError("only NULL is in the taxonomies of these columns, and rows with NULL are left out:", empty)
    for position, name in enumerate(predictors):
        if name in numeric:
            axes.append(NumericAxis(position, name, numeric[name].size))
        else:
            starts: dict[int, list[int]] = defaultdict(list)
            for label in labels[position]:
                starts[label["depth"]].append(label["first"])
            levels = tuple(tuple(sorted(starts[depth])) for depth in sorted(starts))
            axes.append((ItemAxis if name in sets else TaxonomyAxis)(position, name, sizes[position], levels))
    ranges = {axis.position: numeric[axis.name] for axis in axes if isinstance(axis, NumericAxis)}
    return Points(bound, tuple(axes), ranges, sum(sizes[position] for position, _ in target))


# More than six parameters: the rows and their encoding.
def read_rows(
    engine: Compute,
    found: Points,
    source: exp.Table | exp.Subquery,
    class_of: exp.Expr,
    *,
    refuses_outside: bool,
    earlier: EarlierClasses | None = None,
) -> None:
    """Make :data:`POINTS` and :data:`MARGINALS`; refuse values unknown to their taxonomy.

    ``class_of`` is the class of a target value. A number outside its range takes the nearest end, or is refused; joint
    classes of earlier releases distinguish points.
    """
    bound, axes, ranges = found.bound, found.axes, found.ranges
    (target,) = bound.policy.sensitive
    if refuses_outside and ranges:
        _refuse_outside(engine, found, source)
    columns = []
    for axis in axes:
        if isinstance(axis, NumericAxis):
            place = _place_in_range(axis.name, ranges[axis.position])
        elif isinstance(axis, ItemAxis):
            place = _places_of_items(axis)
        else:
            place = leaf_of(axis.position, axis.name)
        columns.append(aliased(place, value_column(axis.position)))
    rows = subquery(_combinations(found, source, target, earlier), "anon_rows")
    numbers = [] if earlier is None else [column(EARLIER)]
    query = select([*columns, *numbers, aliased(class_of, CLASS), column(ROW_COUNT)], rows)
    engine.run(Step(POINTS, query, "rows as the places of their values", is_near=True))
    _refuse_unknown(engine, found, source, target)
    positions = [axis.position for axis in axes if not isinstance(axis, ItemAxis)]
    counts = [SQL.query("marginal", position=position, value=value_column(position)) for position in positions]
    engine.run(Step(MARGINALS, union_all(counts or [SQL.query("no_marginals")]), "rows by value and class"))


def _combinations(
    found: Points, source: exp.Table | exp.Subquery, target: str, earlier: EarlierClasses | None
) -> exp.Select:
    traits = {each.name: each.traits for each in found.bound.columns}
    keys: dict[str, exp.Expr] = {}
    for axis in found.axes:
        # Equal numbers have equal places; items and other values are looked up by their text.
        if isinstance(axis, NumericAxis):
            keys[axis.name] = column(axis.name)
        elif isinstance(axis, ItemAxis):
            keys[axis.name] = cast_value(column(axis.name), "VARCHAR[]")
        else:
            keys[axis.name] = exact_key(axis.name, traits)
    keys[target] = exact_key(target, traits)
    present = [column(name).is_(exp.null()).not_() for name in keys]
    if earlier is not None:
        keys[EARLIER] = number_of_row()
    columns = [aliased(key.copy(), name) for name, key in keys.items()]
    query = select([*columns, aliased(count_rows(), ROW_COUNT)], source.copy())
    return grouped(with_persons(earlier, query).where(*present, copy=False), [*keys.values()])


def no_list(found: SourceColumn) -> str:
    return f'"{found.name}" is {found.type}, not a list of items: gather them with list(item) in a view'


def _refuse_outside(engine: Compute, found: Points, source: exp.Table | exp.Subquery) -> None:
    names = {f"outside_{axis.position}": axis for axis in found.axes if axis.position in found.ranges}
    outside = []
    for name, axis in names.items():
        value, given = cast_value(column(axis.name), "DOUBLE"), found.ranges[axis.position]
        is_outside = exp.or_(value < _double(given.low), value >= _double(given.high), copy=False)
        outside.append(aliased(filtered(count_rows(), is_outside), name))
    counts = engine.fetch(select(outside, source.copy()), "numbers out of their ranges")[0]
    if problems := [f'"{axis.name}": {counts[name]:,} rows' for name, axis in names.items() if counts[name]]:
        raise PolicyError(
            f"numbers of {found.bound.description} are outside their range, and the policy refuses these; widen the "
            'range, or set outside = "clamp":',
            problems,
        )


def _refuse_unknown(engine: Compute, found: Points, source: exp.Table | exp.Subquery, target: str) -> None:
    bound = found.bound
    misplaced: dict[str, tuple[str, exp.Expr]] = {}
    for axis in found.axes:
        value = column(value_column(axis.position))
        condition: exp.Expr = value.is_(exp.null())
        if isinstance(axis, ItemAxis):
            condition = exp.NEQ(this=f.list_count(value), expression=f.len(value))
        misplaced[axis.name] = f"misplaced_{axis.position}", condition
    misplaced[target] = ("classless", column(CLASS).is_(exp.null()))
    counted = [aliased(filtered(count_rows(), condition), alias) for alias, condition in misplaced.values()]
    counts = engine.fetch(select(counted, POINTS.table), "values without a label")[0]
    rows = {name: counts[alias] for name, (alias, _) in misplaced.items() if counts[alias]}
    sets = {axis.name for axis in found.axes if isinstance(axis, ItemAxis)}
    columns = {name: taxonomies.items_of(source, name) if name in sets else source for name in rows}
    if columns:
        raise unknown_values(engine, bound.description, columns, bound.taxonomy, bound.known, max(rows.values()))


def values_in(pieces: Relation, position: int, names: Sequence[str]) -> exp.Select:
    return SQL.query("values_in", pieces=pieces, position=position, columns=names)


def _place_in_range(name: str, given: Range) -> exp.Expr:
    """Return the step that a number lies in, or the nearest end's step outside the range.

    A floating-point quotient can be off by a step, so the bounds of its step are checked as labels spell them. Rounding
    is
    alike in all tables: it only depends on the row.
    """
    low, high = _double(given.low), _double(given.high)
    within = f.least(f.greatest(cast_value(column(name), "DOUBLE"), low), high)
    place: exp.Expr = cast(f.floor((within - low) / _double(given.step)), "BIGINT")
    if given.step != 1 or given.low % 1:
        is_above, is_below = within >= _start(place + 1, given), within < _start(place, given)
        place = place + cast(exp.paren(is_above), "INTEGER") - cast(exp.paren(is_below), "INTEGER")
    else:
        place = cast(f.floor(within), "BIGINT") - int(given.low)
    return cast(f.least(place, given.size - 1), unsigned_type(given.size - 1))


def _start(place: exp.Expr, given: Range) -> exp.Expr:
    """Return the start of a step, as exact as DOUBLE allows: both operands of the quotient are integers."""
    digits = max(0, *(-int(each.normalize().as_tuple().exponent) for each in (given.low, given.step)))
    whole = 10**digits
    start = number(int(given.low * whole)) + place * int(given.step * whole)
    return cast(start, "DOUBLE") / cast(number(whole), "DOUBLE")


def _places_of_items(axis: ItemAxis) -> exp.Expr:
    """Return the places of a list's items other than NULL: the stand-in if empty, NULL for an unknown item."""
    known = cast_value(column(axis.name), "VARCHAR[]")
    items = f.list_filter(known, _of_item(c.anon_item.is_(exp.null()).not_()))
    places = f.list_transform(items, _of_item(leaf_of_text(axis.position, c.anon_item)))
    return exp.case().when(f.len(places).eq(number(0)), number([axis.size])).else_(places)


def _of_item(value: exp.Expr) -> exp.Lambda:
    return exp.Lambda(this=value, expressions=[identifier("anon_item")])


def _double(value: Decimal) -> exp.Expr:
    return cast(exp.Literal.number(f"{value:f}"), "DOUBLE")


def children(candidates: Iterable[tuple[int, Specialization]]) -> pa.Table:
    return _pieces((number, place, child) for number, each in candidates for place, child in enumerate(each.children))


def intervals(pieces: Sequence[Piece]) -> pa.Table:
    return _pieces((place, 0, piece) for place, piece in enumerate(pieces))


def counts_by(key: str) -> exp.Select:
    """Count marginals in the pieces of :data:`CHILDREN` by ``candidate``, a key ("child" or "value") and ``class``."""
    places = {CANDIDATE: "anon_pieces", "child": "anon_pieces"}
    named = [column(each, places.get(each, "anon_rows")) for each in (CANDIDATE, key, "class")]
    return SQL.query("counts_in", pieces=CHILDREN, keys=named)


def scored(macro: str, counts: exp.Query, utility: str, whole: int) -> exp.Select:
    """Score specializations, or splits after each ``value`` of an interval, by counts with a macro.

    Scores are rows, or parts of a bit.
    """
    table = table_call(macro, exp.Table(this=identifier("anon_counts")))
    score = cast(f.floor(c.information_gain * whole) if utility == "infogain" else c.max_score, "BIGINT")
    return SQL.query(macro, counts=counts, scored=table, score=score)


def _pieces(rows: Iterable[tuple[int, int, Piece]]) -> pa.Table:
    names = (CANDIDATE, "child", "position", "first", "end")
    return table(dict.fromkeys(names, pa.int64()), ((number, child, *piece) for number, child, piece in rows))


def table(types: Mapping[str, pa.DataType], rows: Iterable[tuple[object, ...]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(types)
    return pa.table({name: pa.array(each, kind) for (name, kind), each in zip(types.items(), columns, strict=True)})


def given_pieces(cut: Cut, ranges: Mapping[int, Range]) -> pa.Table:
    types = {"position": pa.int64(), "attribute": pa.string(), "first": pa.int64(), "end": pa.int64()}
    types |= {"depth": pa.int64(), "text": pa.string(), "low": pa.float64(), "high": pa.float64()}
    pieces = {**cut.pieces, **{position: each.pieces for position, each in cut.partitions.items()}}
    placed = [(axis, piece) for axis in cut.axes for piece in pieces[axis.position]]
    rows: list[tuple[object, ...]] = []
    for axis, piece in placed:
        named = (piece.position, axis.name, piece.first, piece.end)
        if (given := ranges.get(axis.position)) is not None:
            low, high = given.at(piece.first), given.at(piece.end)
            rows.append((*named, None, interval_label(low, high), float(low), float(high)))
        elif isinstance(axis, ItemAxis) and piece == axis.nothing:
            rows.append((*named, None, None, None, None))
        else:
            assert isinstance(axis, TaxonomyAxis)
            depth = axis.depth(piece)
            rows.append((*named, depth, ALL if depth is None else None, None, None))
    return table(types, rows)


def rows_at_cut(columns: Sequence[SourceColumn], counts: str | None = None) -> exp.Query:
    shown = [column(found.name) for found in columns]
    if counts is not None:
        return select([*shown, aliased(column(ROW_COUNT), counts)], EQUAL_ROWS.table)
    return Queries("release").query("repeated_rows", groups=select([*shown, column(ROW_COUNT)], EQUAL_ROWS.table))


def unlike_what_was_made(columns: Sequence[SourceColumn], written: exp.Expr, counts: str | None = None) -> exp.Query:
    """Count, as ``unlike``, the groups of equal rows whose size in the release differs from :data:`EQUAL_ROWS`."""
    return unlike_groups([found.name for found in columns], EQUAL_ROWS.table, written, counts)


def recorded_cut(engine: Compute, sets: Collection[str] = ()) -> CutRecord:
    """Make the record of the cut in :data:`CUT`; ``sets`` are the set-valued columns."""
    labels: dict[str, list[object]] = defaultdict(list)
    intervals: dict[str, list[object]] = defaultdict(list)
    items: dict[str, list[object]] = defaultdict(list)
    for row in engine.fetch(SQL.query("cut_labels"), "labels of the cut", "node"):
        name = row["attribute"]
        if row["low"] is not None:
            intervals[name].append((written(row["low"]), written(row["high"])))
        else:
            (items if name in sets else labels)[name].append((row["depth"], row["label"]))
    return CutRecord.model_validate({"labels": labels, "intervals": intervals, "items": items})
