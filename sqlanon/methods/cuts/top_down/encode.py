"""A source as points: its predictors as axes, and every row as places on them; the one read of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlanon.binding.bound import BoundPolicy, refuse_inexact
from sqlanon.engines.base import Compute
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.methods.cuts.shared import points as queries
from sqlanon.methods.cuts.shared.axes import axes_of, no_number, ranges_of, read_labels, refuse_outside, refuse_unknown
from sqlanon.methods.cuts.shared.pieces import Axis
from sqlanon.methods.cuts.top_down.queries import null_counts
from sqlanon.methods.shared.unknown import UnknownRows, find_unknown_rows
from sqlanon.model.methods.cuts import Range, TopDownSpecialization
from sqlanon.queries.kit.nodes import column


@dataclass(frozen=True)
class Points:
    """A source as points.

    Attributes:
        bound: the policy, bound to it.
        axes: the predictors.
        rows: how many there are, without those that are left out.
        unknown: the rows with values that taxonomies do not have.
    """

    bound: BoundPolicy
    axes: tuple[Axis, ...]
    rows: int
    unknown: UnknownRows

    @property
    def settings(self) -> TopDownSpecialization:
        """The settings of the method."""
        return settings_of(self.bound)

    @property
    def ranges(self) -> dict[int, Range]:
        """The ranges of numeric predictors, by position."""
        return ranges_of(self.axes, self.settings.numeric)


def settings_of(bound: BoundPolicy) -> TopDownSpecialization:
    """The settings of the method."""
    assert isinstance(bound.policy.method, TopDownSpecialization)
    return bound.policy.method


def checked(bound: BoundPolicy) -> BoundPolicy:
    """A bound policy whose columns are of the kinds that it takes them for.

    Raises:
        PolicyError: listing the columns that are not.
    """
    if problems := list(_misfits(bound)):
        raise PolicyError(f"the policy does not fit {bound.description}:", problems)
    refuse_inexact(bound)
    return bound


def encode(engine: Compute, bound: BoundPolicy, *, may_be_empty: bool) -> Points:
    """Read the rows of a source once.

    Args:
        engine: the database.
        bound: the policy, bound to the source.
        may_be_empty: whether there may be no rows.

    Raises:
        PolicyError: there are no rows, and may not be none; a column has NULL, or a number is out of its range.
        TaxonomyError: a taxonomy does not know some value.
        UnsatisfiableError: there are fewer rows than a class is to have.
    """
    predictors, numeric = bound.policy.quasi_identifiers, settings_of(bound).numeric
    (target,) = bound.policy.sensitive
    unknown = find_unknown_rows(engine, bound.cells)
    rows = _counted(engine, bound, target, may_be_empty=may_be_empty)
    with_taxonomy = [(at, name) for at, name in enumerate(predictors) if name not in numeric]
    if with_taxonomy:
        engine.run(queries.ordered_leaves(bound.taxonomy, with_taxonomy))
    else:
        engine.put(queries.LEAVES, queries.no_leaves())
    axes = axes_of(predictors, read_labels(engine), numeric)
    for position, _ in with_taxonomy:
        engine.execute(queries.value_type(position), "types of values")
    ranges = ranges_of(axes, numeric)
    refuse_outside(engine, axes, ranges, bound.source, bound.description)
    engine.run(queries.points(bound.source, axes, ranges, target, column(target)))
    refuse_unknown(engine, bound, axes, bound.source, target)
    engine.run(queries.marginals(axes))
    return Points(bound, axes, rows, unknown)


def _counted(engine: Compute, bound: BoundPolicy, target: str, *, may_be_empty: bool) -> int:
    """How many rows there are; each can be published."""
    names = [*bound.policy.quasi_identifiers, target]
    counts = engine.fetch(null_counts(bound.source, names), "rows, and NULL among them")[0]
    rows, k = int(counts["rows"]), settings_of(bound).k
    if may_be_empty:
        return rows
    if rows == 0:
        raise PolicyError(f"{bound.description} has no rows: there is nothing to anonymize")
    problems = [
        f'"{name}" is NULL in {counts[f"null_{place}"]:,} rows'
        for place, name in enumerate(names)
        if counts[f"null_{place}"]
    ]
    if problems:
        raise PolicyError(
            f"{bound.policy.method} leaves no row out, and NULL has no label: give it a value in a view, such as "
            "coalesce(column, '?') with a taxonomy that has it, or leave such rows out there:",
            problems,
        )
    if k > rows:
        raise UnsatisfiableError(
            f"no class can have {k:,} rows:", [f"there are {rows:,} rows", f"k = {rows:,} is the largest that would do"]
        )
    return rows


def _misfits(bound: BoundPolicy) -> Iterator[str]:
    numeric = settings_of(bound).numeric
    for found in bound.columns:
        if found.name in numeric and not found.traits.is_number:
            yield f"{no_number(found)}, or give it a taxonomy"
        elif found.name in bound.policy.quasi_identifiers and found.traits.is_list:
            yield (
                f'"{found.name}" is {found.type}: a set of items has no one label at a cut; the method "diffgen" takes '
                "such predictors"
            )
