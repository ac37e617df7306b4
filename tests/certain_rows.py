"""What a class proves about every less general node, naively: how many of its rows are suppressed there."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import sqlanon as sa
from tests import brute_force, oracle
from tests.brute_force import Task
from tests.oracle import Node, Rows, Value

TOLERANCE = 1e-9
"""By how much excesses are taken to be too large, as the macros say."""

Shares = Mapping[Any, float]
Each = TypeVar("Each")


def certain_rows(task: Task, node: Node, members: Rows) -> int:
    """The rows of a class that every less general node suppresses for certain, as far as the policy's bounds prove."""
    criteria = task.policy.criteria
    proven = [0]
    for model in task.policy.privacy:
        for bound, kept in zip(model.bounds, brute_force.within(task, node, members, model), strict=True):
            if bound in criteria.certain_bounds and not kept:
                proven.append(len(members))
            if bound in criteria.partly_certain_bounds:
                proven.append(math.ceil(len(members) * certain_share(task, members, model)))
    return max(proven)


def certain_rows_of(task: Task, node: Node, groups: Sequence[Rows]) -> int:
    """The rows that every less general node suppresses to satisfy: those of classes, or enough to lower a mean."""
    rows = sum(map(len, groups))
    fewest = [sum(certain_rows(task, node, members) for members in groups)]
    for model in task.policy.privacy:
        if isinstance(model, brute_force.MEANS):
            total = round(brute_force.mean(groups, model) * rows)
            bound = Fraction(str(model.at_most))
            fewest.append(next(left for left in range(rows + 1) if total - left <= bound * (rows - left)))
    return max(fewest)


def certain_share(task: Task, members: Rows, model: Any) -> float:
    """The share of the rows of a class that must go, whatever else does, for the rest to meet a model in all parts."""
    own, known = ([row[model.column] for row in rows] for rows in (members, task.rows))
    shares, reference = oracle.shares(own), oracle.shares(known)
    match model:
        case sa.AlphaKAnonymity(alpha=alpha):
            frequent = sorted(shares.values(), reverse=True)
            return max(_share(sum(frequent[:count]) - count * alpha, 1 - count * alpha) for count in (1, 2, 3))
        case sa.EntropyLDiversity(l=bound):
            least = math.log(bound * (1 - TOLERANCE))
            return _share(least - math.log(oracle.entropy_diversity(own)), least + math.log(max(shares.values())))
        case sa.RecursiveCLDiversity(c=c, l=rank):
            frequent = sorted(shares.values(), reverse=True)
            rare = sum(frequent[rank - 1 :])
            return _share(sum(max(share - c * rare, 0) for share in frequent[: rank - 1]), 1)
        case sa.TCloseness(t=t, distance="ordered"):
            distance, farthest = _ordered(own, known)
            return _share(distance - t * (1 + TOLERANCE), farthest - t * (1 + TOLERANCE))
        case sa.TCloseness(t=t):
            levels = list(_levels(task, own, known, model))
            distance = sum(_excess(here, there) for here, there in levels) / len(levels)
            held = sum(there[value] for here, there in levels for value in here if here[value] >= there[value])
            return _share(distance - t * (1 + TOLERANCE), 1 - held / len(levels) - t * (1 + TOLERANCE))
        case _:
            largest = {value: share * _factor(model, share) for value, share in reference.items()}
            beyond = [value for value in shares if shares[value] > largest[value]]
            allowed = sum(largest[value] for value in beyond)
            return _share(sum(shares[value] for value in beyond) - allowed, 1 - allowed)


def fewest_suppressed(members: Rows, task: Task) -> int:
    """The fewest rows of a class that any way to part it suppresses: all ways, however many."""
    return min(
        sum(len(part) for part in parts if not brute_force.meets(task, {}, part)) for parts in partitions(members)
    )


def partitions(rows: Sequence[Each]) -> Iterator[list[list[Each]]]:
    """All ways to part rows."""
    if not rows:
        yield []
        return
    first, *others = rows
    for parts in partitions(others):
        yield [[first], *parts]
        for place, part in enumerate(parts):
            yield [*parts[:place], [first, *part], *parts[place + 1 :]]


def _share(excess: float, largest: float) -> float:
    return (excess - TOLERANCE) / (largest + TOLERANCE) if excess > TOLERANCE else 0.0


def _factor(model: Any, share: float) -> float:
    """How many times its share in the whole table a value may have in a class."""
    if isinstance(model, sa.DeltaDisclosure):
        return float(2 ** (model.delta * (1 - TOLERANCE)))
    most = model.beta * (1 + TOLERANCE)
    return 1 + (min(most, -math.log(share)) if model.variant == "enhanced" else most)


def _excess(here: Shares, there: Shares) -> float:
    return sum(max(share - there[value], 0) for value, share in here.items())


def _levels(task: Task, own: list[Value], known: list[Value], model: sa.TCloseness) -> Iterator[tuple[Shares, Shares]]:
    """The shares of labels in a class and in the table, by level below the top; without a taxonomy those of values."""
    if model.distance == "equal":
        yield oracle.shares(own), oracle.shares(known)
        return
    taxonomy = task.taxonomies[model.column]
    for level in range(oracle.height(taxonomy)):
        here, there = (Counter(oracle.label_of(taxonomy, level, value) for value in values) for values in (own, known))
        yield (
            {label: count / len(own) for label, count in here.items()},
            {label: count / len(known) for label, count in there.items()},
        )


def _ordered(own: Sequence[Value], known: list[Value]) -> tuple[float, float]:
    """The distance of a class, and the largest of rows that all have one of its values."""
    order = oracle.value_order(known)
    distances = [oracle.ordered_distance([value], known, order) for value in set(own)]
    return oracle.ordered_distance(own, known, order), max(distances)
