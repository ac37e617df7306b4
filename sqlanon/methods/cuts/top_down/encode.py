"""A source as points: what is refused before a row is read, and the one read of the rows."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy, refuse_inexact
from sqlanon.engines.duckdb import Compute
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.methods.cuts.shared.points import POINTS, Points, found_axes, no_number, read_rows
from sqlanon.methods.cuts.top_down.specialize import SQL
from sqlanon.methods.shared.unknown import UnknownRows, find_unknown_rows
from sqlanon.model.methods.cuts import TopDownSpecialization
from sqlanon.queries.cells.earlier import ABSENT, absent_persons
from sqlanon.queries.cells.encoding import EARLIER, EarlierClasses
from sqlanon.queries.kit.nodes import aliased, column, count_rows, filtered, select


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


def encode(
    engine: Compute, bound: BoundPolicy, earlier: EarlierClasses | None, *, may_be_empty: bool
) -> tuple[Points, int, UnknownRows]:
    """Read the rows of a source once.

    Args:
        engine: the database.
        bound: the policy, bound to the source.
        earlier: what earlier releases show of the persons, if classes are to hold together with these.
        may_be_empty: whether there may be no rows.

    Returns:
        the points, how many there are, and the rows with values that taxonomies do not have, which are left out.

    Raises:
        PolicyError: there are no rows, and may not be none; a column has NULL, or a number is out of its range.
        TaxonomyError: a taxonomy does not know some value.
        UnsatisfiableError: there are fewer rows than a class is to have.
    """
    (target,) = bound.policy.sensitive
    unknown = find_unknown_rows(engine, bound.cells)
    rows = _counted(engine, bound, target, may_be_empty=may_be_empty)
    found = found_axes(engine, bound, settings_of(bound).numeric)
    read_rows(engine, found, bound.source, column(target), refuses_outside=True, earlier=earlier)
    if earlier is not None:
        engine.run(absent_persons(POINTS, column(EARLIER)))
    return found, rows, unknown


def smallest_joint_class(engine: Compute, bound: BoundPolicy) -> int:
    """How many rows the smallest joint class has while each predictor has one label for all rows.

    Raises:
        UnsatisfiableError: that is too few, or too few persons of a joint class of earlier releases have no row.
    """
    k = settings_of(bound).k
    counts = engine.fetch(SQL.query("joint_parts", absent=ABSENT, k=k), "joint classes")[0]
    problems = []
    if counts["short_classes"]:
        problems.append(
            f"joint classes that have fewer than {k:,} rows in {bound.description} at one label for all: "
            f"{counts['short_classes']:,} (the fewest: {counts['smallest']:,})"
        )
    if counts["left_classes"]:
        problems.append(
            f"joint classes of earlier releases that lack 1 to {k - 1:,} of their persons in {bound.description}: "
            f"{counts['left_classes']:,}"
        )
    if problems:
        can_help = 'what can help: method = "full-domain", which leaves rows out, or a smaller k'
        raise UnsatisfiableError(
            f"{bound.policy.method} leaves no row out, so that it cannot hold together with the earlier releases:",
            [*problems, can_help],
        )
    return int(counts["smallest"])


def _counted(engine: Compute, bound: BoundPolicy, target: str, *, may_be_empty: bool) -> int:
    """How many rows there are; each can be published."""
    names = [*bound.policy.quasi_identifiers, target]
    nulls = [
        aliased(filtered(count_rows(), column(name).is_(exp.null())), f"null_{place}")
        for place, name in enumerate(names)
    ]
    query = select([aliased(count_rows(), "rows"), *nulls], bound.source.copy())
    counts = engine.fetch(query, "rows, and NULL among them")[0]
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
