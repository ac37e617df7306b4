"""Predictors as axes, from what is public of them; and the values that have no place there, which are refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.unknown_values import unknown_values
from sqlanon.engines.base import Compute
from sqlanon.errors import PolicyError
from sqlanon.methods.cuts.shared import points as queries
from sqlanon.methods.cuts.shared.pieces import Axis, ItemAxis, NumericAxis, TaxonomyAxis, taxonomy_levels
from sqlanon.model.methods.cuts import Range
from sqlanon.queries.source import SourceColumn
from sqlanon.queries.tables import taxonomies

Labels = Sequence[Mapping[str, int]]
"""The labels of a taxonomy: of each its ``depth``, and where its values begin, ``first``."""


def no_number(found: SourceColumn) -> str:
    """The problem of a numeric predictor that is not a number."""
    return f'"{found.name}" is {found.type}, not a number: cast it in a view'


def no_list(found: SourceColumn) -> str:
    """The problem of a set-valued predictor that is not a list."""
    return f'"{found.name}" is {found.type}, not a list of items: gather them with list(item) in a view'


def read_labels(engine: Compute) -> dict[int, Labels]:
    """The labels of each taxonomy that is in :data:`~.queries.points.LEAVES`, by position."""
    labels: dict[int, list[Mapping[str, int]]] = {}
    for row in engine.fetch(queries.labels(), "labels", "node"):
        labels.setdefault(int(row["position"]), []).append(row)
    return dict(labels)


def axes_of(
    predictors: Sequence[str], labels: Mapping[int, Labels], numeric: Mapping[str, Range], sets: Sequence[str] = ()
) -> tuple[Axis, ...]:
    """The axes of some predictors, in their order."""
    axes: list[Axis] = []
    for position, name in enumerate(predictors):
        if name in numeric:
            axes.append(NumericAxis(position, name, numeric[name].size))
        else:
            kind = ItemAxis if name in sets else TaxonomyAxis
            axes.append(kind(position, name, leaf_count(labels[position]), taxonomy_levels(labels[position])))
    return tuple(axes)


def ranges_of(axes: Sequence[Axis], numeric: Mapping[str, Range]) -> dict[int, Range]:
    """The ranges of numeric predictors, by position."""
    return {axis.position: numeric[axis.name] for axis in axes if isinstance(axis, NumericAxis)}


def leaf_count(labels: Labels) -> int:
    """How many values a taxonomy has."""
    return sum(1 for label in labels if label["depth"] == 0)


def refuse_outside(
    engine: Compute,
    axes: Sequence[Axis],
    ranges: Mapping[int, Range],
    source: exp.Table | exp.Subquery,
    description: str,
) -> None:
    """Refuse numbers out of their ranges.

    Args:
        engine: the database.
        axes: the predictors.
        ranges: of those that are numeric, by position.
        source: the rows.
        description: the source in words.

    Raises:
        PolicyError: telling how many there are, by column.
    """
    if not ranges:
        return
    counts = engine.fetch(queries.outside(source, axes, ranges), "numbers out of their ranges")[0]
    problems = [
        f'"{axis.name}": {counts[f"outside_{axis.position}"]:,} rows'
        for axis in axes
        if counts.get(f"outside_{axis.position}")
    ]
    if problems:
        raise PolicyError(
            f"numbers of {description} are out of their range, which the policy says to refuse; widen it, or take "
            'outside "clamp":',
            problems,
        )


def refuse_unknown(
    engine: Compute, bound: BoundPolicy, axes: Sequence[Axis], source: exp.Table | exp.Subquery, target: str
) -> None:
    """Refuse values that a taxonomy does not know: points that have no place on an axis, or no class.

    Args:
        engine: the database, in which the points are.
        bound: the policy.
        axes: the predictors.
        source: the rows of the points.
        target: the column of classes.

    Raises:
        TaxonomyError: telling how many there are, by column.
    """
    counts = engine.fetch(queries.misplaced(axes), "values without a label")[0]
    found = {axis.name: counts[f"misplaced_{axis.position}"] for axis in axes}
    found[target] = counts["classless"]
    sets = {axis.name for axis in axes if isinstance(axis, ItemAxis)}
    columns = {name: taxonomies.items_of(source, name) if name in sets else source for name in found if found[name]}
    if columns:
        rows = max(found[name] for name in columns)
        raise unknown_values(engine, bound.description, columns, bound.taxonomy, bound.known, rows)
