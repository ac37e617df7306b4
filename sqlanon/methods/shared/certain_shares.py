"""What classes prove of less general nodes, as functions of counts that ``sql/macros/57_certain_rows.sql`` states."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from sqlanon.methods.shared.arrays import Floats, Ints
from sqlanon.methods.shared.measures import (
    Values,
    entropy_diversity,
    equal_distance,
    largest_share,
    ordered_distance,
)
from sqlanon.model.bounds import Bound

SLACK = 1e-9
"""That of macro ``anon.certain_share``."""


def certain_shares(bound: Bound, values: Values) -> Floats:
    """The share of the rows of each class that every less general node suppresses, where classes are out of a bound."""
    arguments = [] if bound.measure.argument is None else [bound.measure.argument]
    return CERTAINTIES[bound.measure.name](values, *arguments, float(bound.threshold))


def _certain_share(excess: Floats, largest: Floats | float) -> Floats:
    """Macro ``anon.certain_share``."""
    found: Floats = np.where(excess > SLACK, excess - SLACK, 0.0) / np.where(excess > SLACK, largest + SLACK, 1.0)
    return found


def _largest_share(values: Values, alpha: float) -> Floats:
    """Macro ``anon.largest_share_certainty_of``."""
    shares = _ranked(values, 3) / values.sizes
    proven = [
        _certain_share(shares[:count].sum(axis=0) - count * alpha, 1 - count * alpha)
        for count in range(1, len(shares) + 1)
    ]
    most: Floats = np.max(proven, axis=0)
    return most


def _entropy_diversity(values: Values, least: float) -> Floats:
    """Macro ``anon.entropy_diversity_certainty_of``."""
    excess = np.log(least) - np.log(entropy_diversity(values))
    return _certain_share(excess, np.log(least) + np.log(largest_share(values)))


def _recursive_ratio(values: Values, rank: int, most: float) -> Floats:
    """Macro ``anon.recursive_ratio_certainty_of``."""
    frequent = _ranked(values, rank - 1)
    rare = values.sizes - frequent.sum(axis=0)
    excess = np.maximum(frequent / values.sizes - most * (rare / values.sizes), 0.0)
    return _certain_share(excess.sum(axis=0), 1.0)


def _distance(values: Values, height: int, most: float) -> Floats:
    """Macro ``anon.hierarchical_distance_certainty_of``, of values with a taxonomy of a height."""
    distance, held = np.zeros(len(values.sizes)), np.zeros(len(values.sizes))
    for level in range(height):
        labels = values.at_level(level)
        shares = labels.reference.shares[labels.codes]
        distance += equal_distance(labels)
        has_no_less = labels.counts / labels.sizes[labels.classes] >= shares
        held += np.add.reduceat(np.where(has_no_less, shares, 0.0), labels.starts)
    return _certain_share(distance / height - most, 1 - held / height - most)


def _hierarchical_distance(values: Values, most: float) -> Floats:
    return _distance(values, len(values.reference.labels), most)


def _equal_distance(values: Values, most: float) -> Floats:
    """Macro ``anon.equal_distance_certainty_of``."""
    return _distance(values, 1, most)


def _ordered_distance(values: Values, most: float) -> Floats:
    """Macro ``anon.ordered_distance_certainty_of``."""
    known = values.reference
    reach = values.most((known.work_below + known.work_above)[values.codes]) / known.most_work
    return _certain_share(ordered_distance(values) - most, reach - most)


def _share(values: Values, largest: Floats) -> Floats:
    """Macro ``anon.share_certainty_of``, by the largest share of each value of the table."""
    shares, most = values.counts / values.sizes[values.classes], largest[values.codes]
    excess = np.add.reduceat(np.maximum(shares - most, 0.0), values.starts)
    return _certain_share(excess, 1 - np.add.reduceat(np.where(shares > most, most, 0.0), values.starts))


def _disclosure(values: Values, delta: float) -> Floats:
    """Macro ``anon.disclosure_certainty_of``."""
    return _share(values, np.exp(delta * np.log(2.0)) * values.reference.shares)


def _basic_likeness(values: Values, beta: float) -> Floats:
    """Macro ``anon.basic_likeness_certainty_of``."""
    return _share(values, (1 + beta) * values.reference.shares)


def _enhanced_likeness(values: Values, beta: float) -> Floats:
    """Macro ``anon.enhanced_likeness_certainty_of``."""
    shares = values.reference.shares
    return _share(values, (1 + np.minimum(beta, -np.log(shares))) * shares)


CERTAINTIES: Mapping[str, Callable[..., Floats]] = {
    "entropy_diversity": _entropy_diversity,
    "largest_share": _largest_share,
    "recursive_ratio": _recursive_ratio,
    "equal_distance": _equal_distance,
    "ordered_distance": _ordered_distance,
    "hierarchical_distance": _hierarchical_distance,
    "disclosure": _disclosure,
    "basic_likeness": _basic_likeness,
    "enhanced_likeness": _enhanced_likeness,
}
"""By the name of a measure, what classes out of its bound prove, from its argument if it has one and the threshold."""


def _ranked(values: Values, count: int) -> Ints:
    """The counts of the most frequent values of each class, of shape (ranks, classes); 0 if it has fewer values."""
    order = np.lexsort((-values.counts, values.classes))
    ranks = np.arange(len(order)) - values.starts[values.classes]
    frequent = ranks < count
    found = np.zeros((min(count, int(ranks.max()) + 1), len(values.sizes)), dtype=np.int64)
    found[ranks[frequent], values.classes[frequent]] = values.counts[order][frequent]
    return found
