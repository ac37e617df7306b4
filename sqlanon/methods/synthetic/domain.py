"""The public domain of a model: the labels and bins of its columns, and the combinations that cannot occur."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from math import prod

import numpy as np
from numpy.typing import NDArray

from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.leaves import LEAVES, make_leaves
from sqlanon.engines.duckdb import Compute
from sqlanon.methods.synthetic.beliefs import Columns
from sqlanon.model.methods.synthetic import MAX_BINS, Bins, Synthetic
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, Step, number, values
from sqlanon.queries.source import SourceColumn

CODES = Relation("anon_label_codes", "node")
"""The values of the modelled columns (``leaf``) with their labels, and the numbers of these (``code``)."""

SQL = Queries("synthetic", {"codes": CODES})

MAX_FINE_VALUES = 1000
"""The single values of a column that are counted: of more, most of what is counted would be noise."""


@dataclass(frozen=True)
class ModelledColumn:
    """A column and the values that a model knows of it, which are numbered from 0."""

    name: str  # the column
    labels: tuple[str, ...]  # its labels or, as intervals, its bins
    bins: Bins | None  # the latter, None for a column with a taxonomy
    level: int  # that of the labels
    has_null: bool  # whether NULL is one more value, the last one
    step: Decimal | None = None  # the number whose multiples are drawn within bins, if it is declared
    fine: tuple[int, ...] | tuple[str, ...] = ()  # its single values, if they are counted, too: whole numbers, or texts
    fine_codes: tuple[int, ...] = ()  # the number of the label or bin of each of these, ascending

    @property
    def size(self) -> int:
        return len(self.labels) + self.has_null


def settings_of(bound: BoundPolicy) -> Synthetic:
    assert isinstance(bound.policy.method, Synthetic)
    return bound.policy.method


def modelled_columns(engine: Compute, bound: BoundPolicy, problems: list[str]) -> tuple[ModelledColumn, ...]:
    """Make :data:`CODES`, and return the columns of the model with their public domains; no row is read.

    The problems get a line for each column with too many labels or single values, or with none, that says what to do.
    """
    settings = settings_of(bound)
    names = settings.columns(bound.policy)
    attributes = [(position, name) for position, name in enumerate(names) if name not in settings.numeric]
    make_leaves(engine, bound, attributes)
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
    """Return the least whole number of each bin, and the end of the last one."""
    return [int(edge.to_integral_value(rounding=ROUND_CEILING)) for edge in bins.edges]


Combination = dict[int, list[int]]
"""By column, the numbers of some of its labels."""


def impossible_combinations(
    bound: BoundPolicy, columns: Sequence[ModelledColumn], problems: list[str] | None = None
) -> list[Combination]:
    """Return the combinations that cannot occur, in the order of the settings.

    The problems get a line for each column with labels that are not in its domain.
    """
    positions = {each.name: position for position, each in enumerate(columns)}
    found: list[Combination] = []
    for combination in settings_of(bound).impossible:
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
    """Return the combinations that cannot occur, by set of columns, with an axis for each column.

    The problems get a line for each column with labels that are not in its domain, and for sets of too many cells.
    """
    found: dict[Columns, NDArray[np.bool_]] = {}
    most = settings_of(bound).max_cells
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
    """Give a column its single values; leave it as it is, and add a problem, if these are too many."""
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

    The values that an ENUM lists are those of the rows where a frame has categories, so that it is text. Parquet has no
    whole numbers of more than 64 bits, and no bin has any.
    """
    if found.traits.is_enum:
        return "VARCHAR"
    return "BIGINT" if found.type in ("HUGEINT", "UHUGEINT") else found.type
