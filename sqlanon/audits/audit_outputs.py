"""Outputs of audited mechanisms: countable values, and the views from which events are made."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from numbers import Real
from typing import Any, TypeGuard

import numpy as np

from sqlanon.errors import PolicyError

Name = str | tuple[str, Hashable]  # of a view: words, or words and an item, which may be a cell value
Views = Mapping[Name, Hashable]
Features = Callable[[Any], Views]  # returns the views that an output has

OUTPUT = "the output"
SIZE = "its size"
COUNT_OF_ITEM = "how often an item is in it"
COUNT_OF_FIELD = "how many of its items have a certain value in a certain field"
COUNTED = frozenset({SIZE, COUNT_OF_ITEM, COUNT_OF_FIELD})  # views of counts, never of cell values
FEW_PARTS = 8  # maximum number of parts that have views of their own; a longer output is a list of equals
LONGEST_VECTOR = 256  # longest output whose positions may have a meaning

PLAIN = frozenset({int, str, bool, type(None)})  # hashable types of most values


@dataclass(frozen=True)
class Entries:
    """A mapping as a countable value."""

    items: frozenset[tuple[Hashable, Hashable]]


def countable(output: Any) -> Hashable:
    """Convert an output to a hashable value that is equal for equal outputs; refuse one without hash and parts."""
    if type(output) in PLAIN:
        return output  # type: ignore[no-any-return]
    if isinstance(output, float):
        return _countable_float(output)
    if isinstance(output, np.ndarray):
        return countable(output.tolist())
    if isinstance(output, Mapping):
        return Entries(frozenset((countable(key), countable(value)) for key, value in output.items()))
    if isinstance(output, Set):
        return frozenset(map(countable, output))
    if isinstance(output, Sequence) and not isinstance(output, str | bytes):
        return tuple(map(countable, output))
    try:
        hash(output)
    except TypeError:
        raise PolicyError(
            "the outputs of the mechanism cannot be counted:",
            [f"{type(output).__name__} has no hash; return numbers, texts, tuples, sets, mappings or arrays of them"],
        ) from None
    return output  # type: ignore[no-any-return]


def _countable_float(output: float) -> Hashable:
    if math.isnan(output):
        return "not a number"
    # Equal to 0, but distinguishable.
    return "minus zero" if output == 0 and math.copysign(1, output) < 0 else output


def default_features(output: Any) -> Views:
    """Return the output itself, and views of a collection.

    These are its size, how often each item is in it and each value in each field of its items, the value at each
    position of a vector and of each entry of a mapping, the sum of its numbers, the smallest and the largest. A set or
    tuple of pairs of a distinct key and a number also counts as a mapping. Collections in a tuple of a few parts, such
    as ``(node, {cell: count})``, have these views as well.
    """
    return views_of(countable(output))


def views_of(counted: Hashable) -> Views:
    """Return the views of a :func:`countable` output, as :func:`default_features` does."""
    return {OUTPUT: counted, **_views_of_collection(counted)}


def is_number(value: Any) -> TypeGuard[float]:
    return _is_real(type(value))  # type: ignore[arg-type]  # mypy holds that types have no hash


@cache
def _is_real(kind: type) -> bool:
    """Cache the answer by type: checks of abstract types are slow, and values are many."""
    return issubclass(kind, Real)


def number(value: Hashable) -> float | None:
    """Return a value as a float for thresholds, or None."""
    if not is_number(value):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _views_of_collection(output: Hashable) -> dict[Name, Hashable]:
    if isinstance(output, Entries):
        return _views_of_entries(output)
    entries = _entries_of(output)
    if isinstance(output, frozenset):
        return _views_of_items(output) if entries is None else _views_of_entries(entries)
    if isinstance(output, tuple):
        if entries is None and len(output) <= FEW_PARTS and any(map(_has_views, output)):
            found = _views_of_positions(output)
            for position, part in enumerate(output, start=1):
                for name, value in _views_of_collection(part).items() if _has_views(part) else ():
                    words = f"{name if isinstance(name, str) else name[0]} (part {position})"
                    found[words if isinstance(name, str) else (words, name[1])] = value
            return found
        views = {**_views_of_items(output), **_views_of_positions(output)}
        return views if entries is None else {**views, **_views_of_entries(entries)}
    return {}


def _entries_of(output: Hashable) -> Entries | None:
    """Return a collection of pairs of a distinct key and a number as a mapping; None for any other."""
    if not isinstance(output, tuple | frozenset) or not output:
        return None
    if not all(isinstance(item, tuple) and len(item) == 2 and is_number(item[1]) for item in output):
        return None
    keys = {item[0] for item in output if isinstance(item, tuple)}
    return Entries(frozenset(output)) if len(keys) == len(output) else None


def _views_of_items(items: tuple[Hashable, ...] | frozenset[Hashable]) -> dict[Name, Hashable]:
    views: dict[Name, Hashable] = {SIZE: len(items), **_views_of_numbers(items)}
    for item, count in Counter(item for item in items if _recurs(item)).items():
        views[COUNT_OF_ITEM, item] = count
    for field, count in Counter(field for item in items for field in _fields(item)).items():
        views[COUNT_OF_FIELD, field] = count
    return views


def _views_of_entries(entries: Entries) -> dict[Name, Hashable]:
    views: dict[Name, Hashable] = {SIZE: len(entries.items)}
    views |= _views_of_numbers([value for _, value in entries.items])
    sums: dict[Hashable, list[float]] = {}
    for key, value in entries.items:
        views["the value of an entry", key] = value
        if is_number(value):
            for field in _fields(key):
                sums.setdefault(field, []).append(value)
    for shared, values in sums.items():
        views["the sum of the entries with a certain value in a certain field", shared] = _sum(values)
    return views


def _views_of_positions(vector: tuple[Hashable, ...]) -> dict[Name, Hashable]:
    if len(vector) > LONGEST_VECTOR:
        return {}
    return {f"the value at position {position}": value for position, value in enumerate(vector, start=1)}


def _has_views(part: Hashable) -> bool:
    """Return whether a part is a collection with views of its own; rows, tuples of plain values, are not."""
    return isinstance(part, frozenset | Entries) or (
        isinstance(part, tuple) and any(isinstance(item, tuple | frozenset | Entries) for item in part)
    )


def _views_of_numbers(values: Iterable[Hashable]) -> dict[Name, Hashable]:
    numbers = [value for value in values if is_number(value)]
    if not numbers:
        return {}
    return {
        "the sum of its numbers": _sum(numbers),
        "the smallest of its numbers": min(numbers),
        "the largest of its numbers": max(numbers),
    }


def _sum(values: Sequence[float]) -> float:
    """Sum finite numbers independently of their order."""
    if all(isinstance(value, int) for value in values):
        return sum(values)
    return math.fsum(value for value in values if math.isfinite(value))


def _fields(item: Hashable) -> Iterator[tuple[int, Hashable]]:
    if isinstance(item, tuple):
        yield from ((position, value) for position, value in enumerate(item) if _recurs(value))


def _recurs(value: Hashable) -> bool:
    """Return whether a value may recur: continuous numbers hardly ever do."""
    return not is_number(value) or math.isinf(value) or value % 1 == 0
