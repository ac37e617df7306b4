"""The public domain of a model: the labels and bins of its columns, and the combinations that cannot occur."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING

import numpy as np
from numpy.typing import NDArray

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.base import Compute
from sqlanon.errors import PolicyError
from sqlanon.methods.shared.leaves import LEAVES, make_leaves
from sqlanon.methods.synthetic.tree import Columns
from sqlanon.model.methods.synthetic import MAX_BINS, Bins, Synthetic
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, Step, number, values

CODES = Relation("anon_label_codes", "node")
"""The values of the modelled columns (``leaf``) with their labels, and the numbers of these (``code``)."""

SQL = Queries("synthetic", {"codes": CODES})

MAX_FINE_VALUES = 1000
"""How many single values of a column are counted: of more, noise would be most of what is counted."""


@dataclass(frozen=True)
class ModelledColumn:
    """A column and the values that a model knows of it, which are numbered from 0.

    Attributes:
        name: the column.
        labels: its labels or, as intervals, its bins.
        bins: the latter, None for a column with a taxonomy.
        level: that of the labels.
        has_null: whether NULL is one more value, the last one.
        fine: its single values, if they are counted, too: whole numbers, or texts.
        fine_codes: the number of the label or bin of each of these, ascending.
    """

    name: str
    labels: tuple[str, ...]
    bins: Bins | None
    level: int
    has_null: bool
    fine: tuple[int, ...] | tuple[str, ...] = ()
    fine_codes: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.labels) + self.has_null


def settings_of(bound: BoundPolicy) -> Synthetic:
    """The settings of the method."""
    assert isinstance(bound.policy.method, Synthetic)
    return bound.policy.method


def modelled_columns(engine: Compute, bound: BoundPolicy) -> tuple[ModelledColumn, ...]:
    """The columns of the model with their public domains; no row is read. Makes :data:`CODES`.

    Raises:
        PolicyError: columns have too many labels, or single values; says of each what to do.
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
    _refuse_many(bound, {names[position]: len(found) for position, found in labels.items()})
    found = [
        ModelledColumn(
            name,
            settings.numeric[name].labels if name in settings.numeric else tuple(labels[position]),
            settings.numeric.get(name),
            settings.levels.get(name, 0),
            name in settings.nulls,
        )
        for position, name in enumerate(names)
    ]
    return tuple(
        _refined(engine, position, each) if each.name in settings.refine else each
        for position, each in enumerate(found)
    )


def whole_edges(bins: Bins) -> list[int]:
    """The least whole number of each bin, and the end of the last one."""
    return [int(edge.to_integral_value(rounding=ROUND_CEILING)) for edge in bins.edges]


def impossible_sets(bound: BoundPolicy, columns: Sequence[ModelledColumn]) -> dict[Columns, NDArray[np.bool_]]:
    """The combinations that cannot occur, by set of columns, with an axis for each column.

    Raises:
        PolicyError: listing the labels that are not in the domain.
    """
    positions = {each.name: position for position, each in enumerate(columns)}
    found: dict[Columns, NDArray[np.bool_]] = {}
    problems = []
    for combination in settings_of(bound).impossible:
        wanted = sorted((positions[name], name, labels) for name, labels in combination.items())
        codes = []
        for position, name, labels in wanted:
            places = {label: place for place, label in enumerate(columns[position].labels)}
            if unknown := [label for label in labels if label not in places]:
                problems.append(f'"{name}" has {len(unknown)} labels in impossible that are not in its domain')
            codes.append([places[label] for label in labels if label in places])
        key = tuple(position for position, _, _ in wanted)
        mask = found.setdefault(key, np.zeros([columns[position].size for position in key], dtype=bool))
        mask[np.ix_(*codes)] = True
    if problems:
        raise PolicyError("the policy does not fit its taxonomies and bins:", problems)
    return found


def _refined(engine: Compute, position: int, modelled: ModelledColumn) -> ModelledColumn:
    """A column with its single values.

    Raises:
        PolicyError: there are too many.
    """
    bins = modelled.bins
    if bins is not None:
        first, *_, end = edges = whole_edges(bins)
        _refuse_fine(modelled.name, end - first)
        codes = np.repeat(np.arange(bins.size), np.diff(edges))
        return replace(modelled, fine=tuple(range(first, end)), fine_codes=tuple(codes.tolist()))
    rows = engine.fetch(SQL.query("values_by_code", position=position), "values", "node")
    _refuse_fine(modelled.name, len(rows))
    fine, fine_codes = (tuple(row[name] for row in rows) for name in ("value", "code"))
    return replace(modelled, fine=fine, fine_codes=fine_codes)


def _refuse_fine(name: str, count: int) -> None:
    if count > MAX_FINE_VALUES:
        raise PolicyError(f'"{name}" has {count:,} single values, more than {MAX_FINE_VALUES:,}: take it out of refine')


def _refuse_many(bound: BoundPolicy, counts: dict[str, int]) -> None:
    problems = [
        f'"{name}" has {count:,} labels at level {settings_of(bound).levels.get(name, 0)}, more than {MAX_BINS:,}: '
        "model it at a higher level, by levels of the method"
        for name, count in counts.items()
        if count > MAX_BINS
    ]
    if problems:
        raise PolicyError("the policy does not fit the taxonomies:", problems)
