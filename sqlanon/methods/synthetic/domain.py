"""The public domain of a model, and the rows in it as cells of label and bin numbers, with their marginals.

The domain consists of the labels and bins of columns, minus impossible combinations. Rows are read once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from math import prod

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.stored_taxonomies import LEAVES, leaf_of, make_leaves
from sqlanon.binding.unknown_values import unknown_values
from sqlanon.chance.exact import Integers
from sqlanon.engines.duckdb import Compute
from sqlanon.errors import PolicyError
from sqlanon.methods.synthetic.beliefs import Columns, cells_of
from sqlanon.model.methods.synthetic import MAX_BINS, Bins, Synthetic
from sqlanon.queries.encoding import ROW_COUNT
from sqlanon.queries.kit.macros import cast_value
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    cast,
    column,
    count_rows,
    f,
    filtered,
    number,
    select,
    subquery,
    unsigned_type,
    values,
)
from sqlanon.queries.source import SourceColumn

CODES = Relation("anon_label_codes", "node")
"""The values (``leaf``) of the modelled columns, with their labels and the numbers of these (``code``)."""

CELLS = Relation("anon_coded_cells", "cell")
"""The rows of each possible combination of numbers; NULL stands for values outside the domain."""

SQL = Queries("synthetic", {"codes": CODES, "cells": CELLS})

MAX_FINE_VALUES = 1000  # the single values of a column that may be counted: of more, counts would be mostly noise


@dataclass(frozen=True)
class ModelledColumn:
    """A column and its values in the model, numbered from 0."""

    name: str
    labels: tuple[str, ...]  # labels of its taxonomy, or bins as intervals
    bins: Bins | None  # None for a column with a taxonomy
    level: int  # of the labels
    has_null: bool  # whether NULL is a value, the last one
    step: Decimal | None = None  # values within bins are multiples of it, if declared
    fine: tuple[int, ...] | tuple[str, ...] = ()  # its single values, integers or texts, if refined
    fine_codes: tuple[int, ...] = ()  # their numbers of labels or bins, ascending

    @property
    def size(self) -> int:
        return len(self.labels) + self.has_null


def modelled_columns(engine: Compute, bound: BoundPolicy, problems: list[str]) -> tuple[ModelledColumn, ...]:
    """Make :data:`CODES`, and return the model's columns with their public domains; no row is read.

    ``problems`` gets a line, with advice, for each column with too many labels or single values, or none.
    """
    settings = Synthetic.of(bound.policy)
    names = settings.columns(bound.policy)
    attributes = [(position, name) for position, name in enumerate(names) if name not in settings.numeric]
    make_leaves(engine, bound.taxonomy, attributes)
    depths = [[number(position), number(settings.levels.get(name, 0))] for position, name in attributes]
    levels = values("anon_levels", ("position", "depth"), depths or [[number(-1), number(0)]])
    engine.run(Step(CODES, SQL.query("label_codes", leaves=LEAVES, levels=levels), "labels by number"))
    labels: dict[int, list[str]] = defaultdict(list)
    for row in engine.fetch(SQL.query("labels"), "labels", "node"):
        labels[row["position"]].append(row["label"])
    problems += [
        f'"{names[position]}" has {len(found):,} labels at level {settings.levels.get(names[position], 0)}, more than '
        f"{MAX_BINS:,}: model it at a higher level, by levels of the method"
        for position, found in labels.items()
        if len(found) > MAX_BINS
    ]
    found = [
        ModelledColumn(
            name,
            settings.numeric[name].labels if name in settings.numeric else tuple(labels[position]),
            settings.numeric.get(name),
            settings.levels.get(name, 0),
            name in settings.nulls,
            settings.step.get(name),
        )
        for position, name in enumerate(names)
    ]
    problems += [f'"{each.name}" has no value but NULL: name it in nulls' for each in found if not each.size]
    return tuple(
        _refined(engine, position, each, problems) if each.name in settings.refine else each
        for position, each in enumerate(found)
    )


def whole_edges(bins: Bins) -> list[int]:
    return [int(edge.to_integral_value(rounding=ROUND_CEILING)) for edge in bins.edges]


Combination = dict[int, list[int]]  # by column, the numbers of some labels


def impossible_combinations(
    bound: BoundPolicy, columns: Sequence[ModelledColumn], problems: list[str] | None = None
) -> list[Combination]:
    """Return the impossible combinations in the order of the settings.

    ``problems`` gets a line for each column with labels outside its domain.
    """
    positions = {each.name: position for position, each in enumerate(columns)}
    found: list[Combination] = []
    for combination in Synthetic.of(bound.policy).impossible:
        codes: Combination = {}
        for position, name, labels in sorted((positions[name], name, labels) for name, labels in combination.items()):
            places = {label: place for place, label in enumerate(columns[position].labels)}
            if problems is not None and (unknown := [label for label in labels if label not in places]):
                problems.append(f'"{name}" has {len(unknown)} labels in impossible that are not in its domain')
            codes[position] = [places[label] for label in labels if label in places]
        found.append(codes)
    return found


def impossible_sets(
    bound: BoundPolicy, columns: Sequence[ModelledColumn], problems: list[str]
) -> dict[Columns, NDArray[np.bool_]]:
    """Return the impossible combinations by set of columns, an axis per column.

    ``problems`` gets a line for each column with labels outside its domain, and for sets of too many cells.
    """
    found: dict[Columns, NDArray[np.bool_]] = {}
    most = Synthetic.of(bound.policy).max_cells
    for codes in impossible_combinations(bound, columns, problems):
        shape = [columns[position].size for position in codes]
        if (cells := prod(shape)) > most:
            names = ", ".join(columns[position].name for position in codes)
            problems.append(
                f"impossible combinations of {names} are among {cells:,} cells, more than {most:,}: give fewer"
            )
        elif all(codes.values()):
            found.setdefault((*codes,), np.zeros(shape, dtype=bool))[np.ix_(*codes.values())] = True
    return found


def _refined(engine: Compute, position: int, modelled: ModelledColumn, problems: list[str]) -> ModelledColumn:
    bins = modelled.bins
    if bins is None:
        rows = engine.fetch(SQL.query("values_by_code", position=position), "values", "node")
        count = len(rows)
    else:
        first, *_, end = edges = whole_edges(bins)
        count = end - first
    if count > MAX_FINE_VALUES:
        problems.append(
            f'"{modelled.name}" has {count:,} single values, more than {MAX_FINE_VALUES:,}: take it out of refine'
        )
        return modelled
    if bins is None:
        fine, fine_codes = (tuple(row[name] for row in rows) for name in ("value", "code"))
        return replace(modelled, fine=fine, fine_codes=fine_codes)
    codes = np.repeat(np.arange(bins.size), np.diff(edges))
    return replace(modelled, fine=tuple(range(first, end)), fine_codes=tuple(codes.tolist()))


def published_type(found: SourceColumn) -> str:
    """Return the type in which values of a column are published.

    ENUM becomes text: a frame's categories would disclose the values of its rows. Parquet has no integers above 64
    bits, and no bin has any.
    """
    if found.traits.is_enum:
        return "VARCHAR"
    return "BIGINT" if found.type in ("HUGEINT", "UHUGEINT") else found.type


def read_cells(engine: Compute, bound: BoundPolicy, columns: Sequence[ModelledColumn], source: exp.Expr) -> None:
    """Make :data:`CELLS` of the rows of a source; refuse or drop values outside the domain."""
    codes = {code_column(position): _code(position, each) for position, each in enumerate(columns)}
    codes |= {fine_column(position): _fine(position, each) for position, each in enumerate(columns) if each.fine}
    rows = subquery(select([aliased(code, name) for name, code in codes.items()], source.copy()), "anon_rows")
    engine.run(Step(CELLS, SQL.query("cells", rows=rows, codes=[*codes]), "rows as numbers of labels and bins"))
    impossible: list[exp.Expr] = []
    for combination in impossible_combinations(bound, columns):
        has = [column(code_column(position)).isin(*map(number, found)) for position, found in combination.items()]
        impossible.append(exp.and_(*has))
    _refuse_outside(engine, bound, columns, source, impossible)
    if impossible:
        engine.execute(exp.delete(CELLS.table, where=exp.or_(*impossible)), "leave out what is impossible")


def marginals(engine: Compute, sizes: Sequence[int], sets: Iterable[Columns]) -> dict[Columns, Integers]:
    inside, found = _inside(len(sizes)), dict[Columns, Integers]()
    for columns in sets:
        # Number the combinations of values; the last column is the least significant digit.
        first, *others = columns
        combination: exp.Expr = cast(column(code_column(first)), "BIGINT")
        for each in others:
            combination = combination * sizes[each] + column(code_column(each))
        counts = _counts(engine, inside, combination, cells_of(sizes, columns))
        found[columns] = counts.reshape([sizes[each] for each in columns])
    return found


def fine_counts(engine: Compute, columns: Sequence[ModelledColumn]) -> dict[int, Integers]:
    return {
        position: _counts(engine, _inside(len(columns), position), column(fine_column(position)), len(each.fine))
        for position, each in enumerate(columns)
        if each.fine
    }


def _counts(engine: Compute, inside: exp.Expr, combination: exp.Expr, size: int) -> Integers:
    counted = engine.arrays(SQL.query("marginal", cells=inside, combination=combination), "marginals")
    counts = np.zeros(size, dtype=np.int64)
    counts[counted["combination"].astype(np.int64)] = counted["row_count"]
    return counts


def _inside(columns: int, fine: int | None = None) -> exp.Subquery:
    names = [code_column(position) for position in range(columns)]
    names += [] if fine is None else [fine_column(fine)]
    present = [column(name).is_(exp.null()).not_() for name in names]
    return subquery(select([exp.Star()], CELLS.table).where(*present, copy=False), "anon_inside")


def code_column(position: int) -> str:
    return f"anon_code_{position}"


def fine_column(position: int) -> str:
    return f"anon_fine_{position}"


def _code(position: int, modelled: ModelledColumn) -> exp.Expr:
    """Number the values of a column by label or bin; NULL outside the domain."""
    found: exp.Expr
    if modelled.bins is not None:
        # Count the inner edges up to the value.
        value = cast_value(column(modelled.name), "DOUBLE")
        first, *between, last = (cast(exp.Literal.number(f"{edge:f}"), "DOUBLE") for edge in modelled.bins.edges)
        reached: exp.Expr = number(0)
        for edge in between:
            reached = reached + cast(exp.paren(value >= edge), "INTEGER")
        found = exp.case().when(exp.and_(value >= first, value < last, copy=False), reached)
    else:
        found = leaf_of(position, modelled.name)
        if modelled.level > 0:
            found = f.list_extract(exp.paren(SQL.query("codes_of_leaves", position=position)), found + 1)
    if modelled.has_null:
        found = exp.case().when(column(modelled.name).is_(exp.null()), number(len(modelled.labels))).else_(found)
    return cast(found, unsigned_type(modelled.size - 1))


def _fine(position: int, modelled: ModelledColumn) -> exp.Expr:
    if modelled.bins is None:
        found = leaf_of(position, modelled.name)
    else:
        first, *_, end = whole_edges(modelled.bins)
        value = column(modelled.name)
        inside = exp.and_(value >= first, value < end, copy=False)
        found = exp.case().when(inside, cast_value(value, "BIGINT") - first)
    return cast(found, unsigned_type(len(modelled.fine)))


def _refuse_outside(
    engine: Compute,
    bound: BoundPolicy,
    columns: Sequence[ModelledColumn],
    source: exp.Expr,
    impossible: Sequence[exp.Expr],
) -> None:
    """Refuse values outside the domain: those unknown to a taxonomy always, others if the policy says so."""
    rows = [
        aliased(
            f.coalesce(filtered(f.sum(column(ROW_COUNT)), column(code_column(position)).is_(exp.null())), number(0)),
            code_column(position),
        )
        for position in range(len(columns))
    ]
    rows += [
        aliased(f.coalesce(filtered(f.sum(column(ROW_COUNT)), cannot), number(0)), f"impossible_{place}")
        for place, cannot in enumerate(impossible)
    ]
    counts = engine.fetch(select(rows, CELLS.table), "values out of the domain")[0]
    outside = {each: int(counts[code_column(position)]) for position, each in enumerate(columns)}
    nulls = _null_rows(engine, [each for each, count in outside.items() if count and not each.has_null], source)
    unknown = {
        each.name: source for each, count in outside.items() if each.bins is None and count > nulls.get(each.name, 0)
    }
    if unknown:
        raise unknown_values(engine, bound.description, unknown, bound.taxonomy, bound.known, max(outside.values()))
    if Synthetic.of(bound.policy).outside == "drop":
        return
    problems = [
        f'"{each.name}": {numbers:,} numbers out of its bins; widen them'
        for each, count in outside.items()
        if (numbers := count - nulls.get(each.name, 0))
    ]
    problems += [f'"{name}": NULL in {count:,} rows; name it in nulls of the method' for name, count in nulls.items()]
    problems += [
        f"impossible[{place}]: {counts[name]:,} rows have that combination; take it out of the list"
        for place in range(len(impossible))
        if counts[name := f"impossible_{place}"]
    ]
    if problems:
        raise PolicyError(
            f'{bound.description} has rows out of the public domain; or take outside = "drop", which leaves them out:',
            problems,
        )


def _null_rows(engine: Compute, columns: Sequence[ModelledColumn], source: exp.Expr) -> dict[str, int]:
    if not columns:
        return {}
    counted = [
        aliased(filtered(count_rows(), column(each.name).is_(exp.null())), f"nulls_{place}")
        for place, each in enumerate(columns)
    ]
    counts = engine.fetch(select(counted, source.copy()), "rows with NULL")[0]
    return {each.name: counts[f"nulls_{place}"] for place, each in enumerate(columns) if counts[f"nulls_{place}"]}
