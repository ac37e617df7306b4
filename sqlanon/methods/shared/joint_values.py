"""Joint classes by the values in them: which of them a release shows, and whether all meet its privacy models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.base import Compute
from sqlanon.errors import UnsatisfiableError
from sqlanon.model.names import folded
from sqlanon.queries.classes.grouping import Grouping
from sqlanon.queries.kit.nodes import Relation
from sqlanon.queries.release.earlier import value_columns
from sqlanon.queries.release.joint_values import grouped_persons, judged_by_values, shown_persons_by_values, unmet


def shown_values(bound: BoundPolicy, others: Iterable[BoundPolicy]) -> tuple[str, ...]:
    """The columns whose values the privacy models of a policy look at, and that a release of some others shows."""
    published = {folded(name) for each in others for name in each.policy.released_columns}
    return tuple(name for name in bound.policy.protected_columns if folded(name) in published)


def refuse_unmet(
    engine: Compute,
    bound: BoundPolicy,
    persons: Relation,
    classes: Sequence[str],
    values: Mapping[str, str],
    others: Mapping[str, BoundPolicy],
) -> None:
    """Refuse earlier releases whose joint classes do not meet a policy, which no later release can mend.

    Args:
        engine: the database.
        bound: the policy.
        persons: by their classes in these releases.
        classes: the columns with these.
        values: by sensitive column, the column of persons with its value.
        others: the releases by name.

    Raises:
        UnsatisfiableError: some do not.
    """
    shown = shown_values(bound, others.values())
    grouping = _grouped(bound, classes, values, persons.table)
    if found := _unmet(engine, unmet(grouping, shown, classes)):
        models = " and ".join(str(model) for model in bound.policy.privacy if {*model.columns} & {*shown})
        raise UnsatisfiableError(
            f"{' and '.join(others)} leave {found:,} joint classes already that do not meet {models}, and no later "
            "release can mend that:",
            ["what can help: weaker models, or fewer releases in earlier, if nobody can have all of them"],
        )


# More than six parameters: the policy, its persons, and what is known of these.
def judge_persons(
    engine: Compute,
    bound: BoundPolicy,
    persons: Relation,
    classes: Sequence[str],
    values: Mapping[str, str],
    others: Iterable[BoundPolicy],
) -> None:
    """Make ``JUDGED``: which joint classes a release, the last of the classes, shows beside others."""
    grouping = _grouped(bound, classes, values, persons.table)
    engine.run(judged_by_values(grouping, shown_values(bound, others)))


def failing_classes(
    engine: Compute, bound: BoundPolicy, persons: Relation, classes: Sequence[str], others: Iterable[BoundPolicy]
) -> int:
    """How many joint classes of a release and others do not meet its policy, after :func:`judge_persons`."""
    values = {name: name for name in bound.policy.protected_columns}
    found = _grouped(bound, classes, values, shown_persons_by_values(persons, [*values], classes))
    return _failing(engine, found, values, shown_values(bound, others))


# More than six parameters: a policy, its persons, and what is known of these.
def failing_together(
    engine: Compute,
    bound: BoundPolicy,
    persons: Relation,
    classes: Sequence[str],
    keys: Sequence[str],
    others: Iterable[BoundPolicy],
) -> int | None:
    """How many joint classes of some releases do not meet the policy of the last one, by persons as releases show them.

    None where it does not look at values, or compares them with others. ``keys`` are the columns of the source that
    identify persons.
    """
    criteria = bound.policy.criteria
    if not criteria.looks_at_values or any(each.measure.view not in ("size", "values") for each in criteria.bounds):
        return None
    values = value_columns(bound.policy.protected_columns, keys)
    return _failing(engine, _grouped(bound, classes, values, persons.table), values, shown_values(bound, others))


def _failing(engine: Compute, grouping: Grouping, values: Iterable[str], shown: Sequence[str]) -> int:
    *beside, name = grouping.keys
    return _unmet(engine, unmet(grouping, [*values], [name])) + _unmet(engine, unmet(grouping, shown, beside, [name]))


def _grouped(bound: BoundPolicy, classes: Sequence[str], values: Mapping[str, str], persons: exp.Expr) -> Grouping:
    return grouped_persons(bound.cells, bound.policy.criteria, classes, values, persons)


def _unmet(engine: Compute, query: exp.Query) -> int:
    return int(engine.fetch(query, "values of joint classes")[0]["classes"])
