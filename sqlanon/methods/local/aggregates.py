"""Means, medians and ranges of the values of classes, which are published beside their labels."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.duckdb import Compute
from sqlanon.methods.local.recoding import SQL, PerClass, aggregates_of
from sqlanon.model.methods.local import LocalRecoding
from sqlanon.model.names import folded
from sqlanon.queries.cells.encoding import ROW_COUNT, VALUE
from sqlanon.queries.cells.labels import at_level, has_bits
from sqlanon.queries.kit.macros import as_read
from sqlanon.queries.kit.nodes import aliased, column, left_join, select, subquery


def misfits(bound: BoundPolicy, settings: LocalRecoding) -> Iterator[str]:
    """Aggregates of columns that are not of numbers, and those whose columns the source has already."""
    types = {found.name: found for found in bound.columns}
    there = {*map(folded, types)}
    for name, columns in settings.aggregates.items():
        if not types[name].traits.is_number:
            yield f'"{name}" is of type {types[name].type}, not of numbers'
        for added in columns:
            if folded(added) in there:
                yield f'the source has a column "{added}" already: rename it in a view'


def make_aggregates(engine: Compute, recoding: PerClass, settings: LocalRecoding) -> None:
    """Make the tables of aggregates (:func:`aggregates_of`), from the values of cells and their rows."""
    for name, columns in settings.aggregates.items():
        position = recoding.encoding.spec.quasi_identifiers.index(name)
        relation, values = aggregates_of(position), _values(recoding, position)
        match settings.aggregate[name]:
            case "mean":
                step = SQL.step(relation, "class_means", values=values, mean=columns[0])
            case "median":
                step = SQL.step(relation, "class_medians", values=values, median=columns[0])
            case "range":
                step = SQL.step(relation, "class_ranges", values=values, least=columns[0], greatest=columns[1])
        engine.run(step)


def _values(recoding: PerClass, position: int) -> exp.Subquery:
    """The number that a quasi-identifier has in each cell, beside its class and its rows."""
    encoding, name = recoding.encoding, recoding.encoding.spec.quasi_identifiers[position]
    (type_name,) = (found.type for found in encoding.spec.columns if found.name == name)
    masks = encoding.keys.label_masks(position, 0)
    words = [column(encoding.key(word)) for word in masks]
    number = exp.TryCast(this=as_read(column(VALUE)), to=exp.DataType.build(type_name, udt=True))
    lookup = at_level(encoding, position, 0, [*words, aliased(number, "anon_value")])
    cells = select([column(ROW_COUNT, "anon_cells")], exp.alias_(encoding.cells.table, "anon_cells", table=True))
    cells = left_join(
        recoding.join_to_cells(cells, "anon_cells"),
        subquery(lookup, "anon_numbers"),
        has_bits(encoding, masks, "anon_cells", "anon_numbers"),
    )
    return subquery(cells.select(column("anon_value", "anon_numbers"), copy=False), "anon_values")
