"""A source as points: what is refused before a row is read, and the one read of the rows."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.duckdb import Compute
from sqlanon.errors import PolicyError
from sqlanon.mechanisms.scales import difference_sensitivity, scale_for
from sqlanon.methods.cuts.diffgen.draws import is_monotonic, sensitivity
from sqlanon.methods.cuts.diffgen.queries import SQL
from sqlanon.methods.cuts.shared.pieces import ItemAxis
from sqlanon.methods.cuts.shared.points import Points, found_axes, no_list, no_number, read_rows
from sqlanon.methods.shared.leaves import leaf_of
from sqlanon.methods.shared.private.chance import refuse_observed
from sqlanon.methods.shared.private.run import no_category, refusing_small_budgets
from sqlanon.model.methods.cuts import DiffGen
from sqlanon.queries.kit.nodes import cast, column

MAX_CHILDREN = 12
"""How many children a label of items may have: all combinations of them are counted, which are 2^12 then."""


def settings_of(bound: BoundPolicy) -> DiffGen:
    """The settings of the method."""
    assert isinstance(bound.policy.method, DiffGen)
    return bound.policy.method


def target_of(bound: BoundPolicy) -> tuple[int, str]:
    """The position of the taxonomy of classes, which is behind all predictors, and their column."""
    (target,) = bound.policy.sensitive
    return len(bound.policy.quasi_identifiers), target


def encode(engine: Compute, bound: BoundPolicy, source: exp.Table | exp.Subquery) -> Points:
    """Read the rows of a source once.

    Raises:
        PolicyError: a label of items has too many children, there is one class, or a number is out of its range and the
            policy says to refuse it.
        TaxonomyError: a taxonomy does not know some value.
    """
    settings, target = settings_of(bound), target_of(bound)
    found = found_axes(engine, bound, settings.numeric, settings.sets, [target])
    _refuse_axes(found)
    _refuse_classes(engine, bound)
    read_rows(engine, found, source, leaf_of(*target), refuses_outside=settings.outside == "refuse")
    return found


def _refuse_axes(points: Points) -> None:
    problems = [
        f'the taxonomy of the items of "{axis.name}" has a label with {most:,} children, more than {MAX_CHILDREN}: '
        "put a level between"
        for axis in points.axes
        if isinstance(axis, ItemAxis) and (most := _most_children(axis)) > MAX_CHILDREN
    ]
    if points.classes < 2:
        problems.append(
            f'the taxonomy of "{target_of(points.bound)[1]}" has {points.classes} class: all rows are equal in it'
        )
    if problems:
        raise PolicyError("the policy does not fit the taxonomies:", problems)


def _refuse_classes(engine: Compute, bound: BoundPolicy) -> None:
    """Refuse a type that does not hold all classes: any of them may be drawn."""
    position, target = target_of(bound)
    kind = next(found.traits.released_as for found in bound.columns if found.name == target)
    value = column("value")
    held = exp.TryCast(this=value, to=cast(exp.null(), kind).to)
    query = SQL.query("classes_of_no_type", position=position, held=held)
    if kind != "VARCHAR" and engine.fetch(query, "classes of no type")[0]["classes"]:
        raise PolicyError(
            f"the policy does not fit {bound.description}:",
            [f'"{target}" is {kind}, and not all values of its taxonomy are: cast it to VARCHAR in a view'],
        )


def _most_children(axis: ItemAxis) -> int:
    """The most children of a label, that of no item among those of the root."""
    most, open_pieces = 0, [axis.root]
    while open_pieces:
        children = axis.children(open_pieces.pop())
        most = max(most, len(children))
        open_pieces += children
    return most


def checked(bound: BoundPolicy) -> BoundPolicy:
    """A bound policy whose columns are of the kinds that it takes them for, and whose budget can be drawn with.

    Raises:
        PolicyError: listing the columns that are not; or ε is too small.
        TaxonomyError: the values of a taxonomy were observed, and that is not accepted.
    """
    refuse_observed(bound)
    if problems := list(_misfits(bound)):
        raise PolicyError(f"the policy does not fit {bound.description}:", problems)
    settings = settings_of(bound)
    with refusing_small_budgets(settings):
        scale_for(settings.step, difference_sensitivity(sensitivity(settings), monotonic=is_monotonic(settings)))
    return bound


def _misfits(bound: BoundPolicy) -> Iterator[str]:
    settings = settings_of(bound)
    (target,) = bound.policy.sensitive
    for found in bound.columns:
        if found.name in settings.numeric and not found.traits.is_number:
            yield f"{no_number(found)}, or give it a taxonomy"
        elif found.name in settings.sets and not found.traits.is_list:
            yield no_list(found)
        elif found.name in bound.policy.quasi_identifiers and found.name not in settings.sets and found.traits.is_list:
            yield f'"{found.name}" is {found.type}: name it in sets of the method'
        elif found.name == target and not found.traits.can_be_rebuilt:
            yield no_category(found)
