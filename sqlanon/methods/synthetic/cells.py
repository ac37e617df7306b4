"""Cells of the numbers of labels and bins, from the one read of the rows, and their marginals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.leaves import leaf_of
from sqlanon.binding.unknown_values import unknown_values
from sqlanon.chance.exact import Integers
from sqlanon.engines.duckdb import Compute
from sqlanon.errors import PolicyError
from sqlanon.methods.synthetic.beliefs import Columns, cells_of
from sqlanon.methods.synthetic.domain import (
    CODES,
    ModelledColumn,
    impossible_combinations,
    settings_of,
    whole_edges,
)
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
)

CELLS = Relation("anon_coded_cells", "cell")
"""The rows of each combination of numbers, NULL for values out of the domain; none is impossible."""

SQL = Queries("synthetic", {"codes": CODES, "cells": CELLS})


def read_cells(engine: Compute, bound: BoundPolicy, columns: Sequence[ModelledColumn], source: exp.Expr) -> None:
    """Make :data:`CELLS` of the rows of a source.

    Raises:
        PolicyError: numbers are out of their bins, NULL is not declared, or rows have what is impossible, and that is
            refused; says how many, by column.
        TaxonomyError: a taxonomy does not know some values; says how many, by column.
    """
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
    """Count the rows of each combination of values of some columns, for each set, with an axis for each column."""
    inside, found = _inside(len(sizes)), dict[Columns, Integers]()
    for columns in sets:
        # The number of a combination of values: the last column counts in ones.
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
    """Select the cells whose values are in the domain, with a single value of a column alone if one is given."""
    names = [code_column(position) for position in range(columns)]
    names += [] if fine is None else [fine_column(fine)]
    present = [column(name).is_(exp.null()).not_() for name in names]
    return subquery(select([exp.Star()], CELLS.table).where(*present, copy=False), "anon_inside")


def code_column(position: int) -> str:
    return f"anon_code_{position}"


def fine_column(position: int) -> str:
    """Return the column of cells with the number of a single value, where these are counted, too."""
    return f"anon_fine_{position}"


def _code(position: int, modelled: ModelledColumn) -> exp.Expr:
    """Number the values of a column; NULL if out of the domain."""
    found: exp.Expr
    if modelled.bins is not None:
        # As many edges above the first one as the value reaches.
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
    """Number the single values of a column; NULL if out of the domain."""
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
    """Refuse values out of the domain: always if no taxonomy has them, other ones if the policy says so."""
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
    if settings_of(bound).outside == "drop":
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
