"""Search for the event, a set of outputs, that distinguishes two neighbours best."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.audits.audit_outputs import COUNTED, Features, Name, Views, number
from sqlanon.chance.exact import Floats
from sqlanon.satellites import extra_module

Counts = NDArray[np.int64]
Outcomes = Mapping[Any, int]  # outputs with their counts
Tally = dict[Name, dict[Hashable, list[int]]]  # by view and value, counts on the first and the second neighbour

EVIDENCE = "the evidence of all views together, as weighed on other runs"
SHOWN_VALUES = 10
MARGIN = 0.01  # a simpler event is preferred if its bound is within this distance of the best
RAREST = 8  # minimum number of runs that show a view: with fewer, a bound is hardly better than none


class Missing(Enum):
    """The value of a view for an output without it."""

    VALUE = "absent"

    def __repr__(self) -> str:
        return self.value


ABSENT = Missing.VALUE


@dataclass(frozen=True)
class Event:
    """A set of outputs: those with one of ``values`` in a view, or on one side of ``threshold``.

    ``is_below`` selects the side: below the threshold, absent or not a number; else at or above it.
    """

    name: Name
    values: frozenset[Hashable] | None = None
    threshold: float = math.nan
    is_below: bool = False

    def holds(self, views: Views) -> bool:
        """Return whether an output with these views is in the set."""
        value = views.get(self.name, ABSENT)
        if self.values is not None:
            return value in self.values
        size = number(value)
        return (size is not None and size >= self.threshold) != self.is_below

    def described(self, *, with_values: bool) -> str:
        """Describe the event; with values of outputs only on demand, because they may be cell values."""
        words = self.name if isinstance(self.name, str) else self.name[0]
        about = f"{words}, for {self.name[1]!r}," if with_values and not isinstance(self.name, str) else words
        is_shown = with_values or words.partition(" (part ")[0] in COUNTED
        if self.values is not None:
            return f"{about} {self._condition(self.values, is_shown)}"
        threshold = f"{self.threshold:g}" if is_shown else "a threshold"
        return f"{about} is below {threshold} or absent" if self.is_below else f"{about} is at least {threshold}"

    def _condition(self, values: frozenset[Hashable], is_shown: bool) -> str:
        present = values - {ABSENT}
        if not present:
            return "is absent"
        if is_shown:
            words = [repr(value) for value in sorted(present, key=_in_order)[:SHOWN_VALUES]]
            more = [f"{len(present) - len(words):,} more"] if len(present) > len(words) else []
            described = f"is {' or '.join([*words, *more])}"
        else:
            described = "is one value" if len(present) == 1 else f"is one of {len(present):,} values"
        return f"{described} or absent" if ABSENT in values else described


def _in_order(value: Hashable) -> tuple[float, str]:
    size = number(value)
    return (math.inf if size is None else size, repr(value))


@dataclass(frozen=True)
class Samples:
    """Outputs of independent runs on two neighbours, as many on each."""

    first: Outcomes
    second: Outcomes
    runs: int  # on each

    def tally(self, features: Features) -> Tally:
        """Count the values of each view."""
        found: Tally = {}
        for side, outcomes in enumerate((self.first, self.second)):
            for output, count in outcomes.items():
                for name, value in features(output).items():
                    found.setdefault(name, {}).setdefault(value, [0, 0])[side] += count
        for values in found.values():
            absent = [self.runs - sum(counts[side] for counts in values.values()) for side in (0, 1)]
            if any(absent):
                values[ABSENT] = absent
        return found

    def count(self, events: Sequence[Event], features: Features) -> Counts:
        """Count the runs on each neighbour in which each event happened; shape (events, 2)."""
        found = np.zeros((len(events), 2), dtype=np.int64)
        for side, outcomes in enumerate((self.first, self.second)):
            for output, count in outcomes.items():
                views = features(output)
                found[[event.holds(views) for event in events], side] += count
        return found


@dataclass(frozen=True)
class _Nested:
    more: Counts
    less: Counts
    event: Callable[[int], Event]


def weighed(training: Samples, features: Features) -> tuple[Features, Tally]:
    """Return the views with the evidence added, and the training's tally of the other views.

    The evidence of an output is the log-likelihood ratio of its values on the first neighbour against the second,
    summed over views: a threshold on it can reveal what no single view shows.
    """
    tally = {name: values for name, values in training.tally(features).items() if _is_informative(values)}
    weights = {name: {value: _weight(*counts) for value, counts in values.items()} for name, values in tally.items()}
    absent = {name: values.get(ABSENT, 0.0) for name, values in weights.items()}
    nothing = sum(absent.values())

    def with_evidence(output: Any) -> Views:
        views = features(output)
        terms = (weights[name].get(value, 0.0) - absent[name] for name, value in views.items() if name in weights)
        # Round, because the sum depends on the order of its terms.
        return {**views, EVIDENCE: round(nothing + sum(terms), 9)}

    return with_evidence, tally


def best_event(
    trained: Tally, chosen: Tally, runs: int, *, is_reversed: bool, delta: float, error: float
) -> Event | None:
    """Find the event of the views with the greatest lower bound of ε; None if no event has one.

    Values are ordered by the trained tally, most indicative first. Events are compared on ``runs`` other runs, with the
    chosen tally; a third set of runs must bound the result. If reversed, the event is likelier on the second neighbour.
    """
    offered = list(offered_events(trained, chosen, is_reversed))
    if not offered:
        return None
    more, less = (np.concatenate([getattr(nested, side) for nested in offered]) for side in ("more", "less"))
    pairs, positions = np.unique(np.stack([more, less]), axis=1, return_inverse=True)
    losses = lower_losses(pairs[0], pairs[1], runs, delta=delta, error=error)[positions.ravel()]
    least = losses.max() - MARGIN
    if np.isneginf(least):
        return None
    starts = np.cumsum([0, *(len(nested.more) for nested in offered)])
    for nested, start, end in zip(offered, starts, starts[1:], strict=False):
        if losses[start:end].max() >= least:
            return nested.event(int(losses[start:end].argmax()))
    raise AssertionError("the best event is one of those that are offered")


def offered_events(trained: Tally, chosen: Tally, is_reversed: bool) -> Iterator[_Nested]:
    """Yield sets of events, simplest descriptions first; each set has at least one."""
    for name, values in chosen.items():
        if not _is_informative(values):
            continue
        if any(value is not ABSENT for value in values) and all(
            value is ABSENT or number(value) is not None for value in values
        ):
            yield from _by_threshold(name, {**trained.get(name, {}), **values}, values, is_reversed)
        if name in trained:
            yield _by_likelihood(name, trained[name], values, is_reversed)


def _by_likelihood(
    name: Name, trained: Mapping[Hashable, list[int]], values: Mapping[Hashable, list[int]], is_reversed: bool
) -> _Nested:
    """Make nested sets of the most indicative values; equally indicative values come together."""
    ordered = list(trained)
    weights = np.array([_weight(*trained[value]) for value in ordered]) * (-1 if is_reversed else 1)
    order = np.argsort(-weights, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(weights[order]) != 0, True))
    more, less = _counts((values.get(ordered[position], (0, 0)) for position in order), is_reversed)

    def event(end: int) -> Event:
        return Event(name, values=frozenset(ordered[position] for position in order[: ends[end] + 1]))

    return _Nested(np.cumsum(more)[ends], np.cumsum(less)[ends], event)


def _by_threshold(
    name: Name, known: Mapping[Hashable, list[int]], values: Mapping[Hashable, list[int]], is_reversed: bool
) -> Iterator[_Nested]:
    """Split values at each threshold into those at least as large, and the others."""
    thresholds = np.unique([size for value in known if (size := number(value)) is not None])
    sizes = np.array([math.nan if value is ABSENT else number(value) for value in values], dtype=float)
    sides = _counts(values.values(), is_reversed)
    totals = [int(side.sum()) for side in sides]
    present = ~np.isnan(sizes)
    positions = np.searchsorted(thresholds, sizes[present])
    above = []
    for side in sides:
        at_each = np.zeros(len(thresholds), dtype=np.int64)
        np.add.at(at_each, positions, side[present])
        above.append(np.cumsum(at_each[::-1])[::-1])
    yield _Nested(above[0], above[1], lambda end: Event(name, threshold=float(thresholds[end])))
    yield _Nested(
        totals[0] - above[0],
        totals[1] - above[1],
        lambda end: Event(name, threshold=float(thresholds[end]), is_below=True),
    )


def _counts(pairs: Iterable[Any], is_reversed: bool) -> tuple[Counts, Counts]:
    """Return the counts on the neighbour where an event is to be likelier, and those on the other."""
    both = np.array(list(pairs), dtype=np.int64).reshape(-1, 2)
    return (both[:, 1], both[:, 0]) if is_reversed else (both[:, 0], both[:, 1])


def _weight(first: int, second: int) -> float:
    """Return the log-likelihood ratio of a value, smoothed by half a run on each side."""
    return math.log((first + 0.5) / (second + 0.5))


def _is_informative(values: Mapping[Hashable, list[int]]) -> bool:
    """Return whether enough runs show a view for it to distinguish neighbours."""
    shown = [sum(counts[side] for value, counts in values.items() if value is not ABSENT) for side in (0, 1)]
    return max(shown) >= RAREST


def lower_probability(successes: Counts, runs: int, error: float) -> Floats:
    """Bound success probabilities from below, with an error of probability ``error`` (Clopper and Pearson)."""
    bound = _statistics().beta.ppf(error, np.maximum(successes, 1), runs - successes + 1)
    return np.where(successes > 0, bound, 0.0)


def upper_probability(successes: Counts, runs: int, error: float) -> Floats:
    """Bound success probabilities from above, with an error of probability ``error`` (Clopper and Pearson)."""
    bound = _statistics().beta.isf(error, successes + 1, np.maximum(runs - successes, 1))
    return np.where(successes < runs, bound, 1.0)


def lower_losses(more: Counts, less: Counts, runs: int, *, delta: float, error: float) -> Floats:
    """Bound ε of events from below, by their counts on two neighbours; -inf if no ε is shown.

    By definition P(S) <= e^ε Q(S) + δ, so that ε >= ln((P(S) - δ) / Q(S)) for every event S. Each of the two
    probabilities may be out of its bound with probability ``error``; together at most twice that.
    """
    excess = lower_probability(more, runs, error) - delta
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = np.log(excess) - np.log(upper_probability(less, runs, error))
    return np.where(excess > 0, losses, -np.inf)


def _statistics() -> Any:
    return extra_module("scipy.stats", extra="eval", purpose="An audit by runs")
