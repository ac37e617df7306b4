"""Values listed under their labels, and these under the labels above: the rows of such a taxonomy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from sqlanon.errors import TaxonomyError

MAX_DEPTH_LEVELS = 64
"""Far beyond any taxonomy, and far below what Python can follow."""

Path = tuple[str, ...]
"""The labels of a list of values, from the top down."""


def text_of(value: object) -> str:
    """A value as the database spells it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def grouped_rows(groups: Any, top: str) -> tuple[tuple[str, ...], ...]:
    """A row per value: the value, its labels from level 1 up, and the top.

    Raises:
        TaxonomyError: listing every problem with the groups; labels are named, values are counted.
    """
    problems: list[str] = []
    lists = list(_lists(groups, (), problems))
    problems += [*_misnamed([path for path, _ in lists], top), *_shared_values(lists), *_shared_labels(lists)]
    if len({len(path) for path, _ in lists}) > 1:
        problems.append("groups are not nested equally deep, so some values lack a label at some level")
    if problems:
        raise TaxonomyError("the groups are not valid:", list(dict.fromkeys(problems)))
    return tuple((value, *reversed(path), top) for path, values in lists for value in values)


def _lists(groups: Any, path: Path, problems: list[str]) -> Iterator[tuple[Path, Sequence[str]]]:
    """The lists of values with their labels; what has another form is added to the problems."""
    if isinstance(groups, Mapping):
        yield from _lists_in(groups, path, problems)
    elif path and isinstance(groups, list | tuple):
        if not groups:
            problems.append(f'group "{path[-1]}" has no values')
        if not all(isinstance(value, bool | str | int | float) for value in groups):
            problems.append(f'group "{path[-1]}": values must be texts, numbers, true or false')
        yield path, [text_of(value) for value in groups]
    elif path:
        problems.append(f'group "{path[-1]}" must be a list of values, or have groups itself')
    else:
        problems.append("groups must be a table of labels, each with a list of values")


def _lists_in(groups: Mapping[Any, Any], path: Path, problems: list[str]) -> Iterator[tuple[Path, Sequence[str]]]:
    if not groups:
        problems.append(f'group "{path[-1]}" is empty' if path else "there are no groups")
    if len(path) >= MAX_DEPTH_LEVELS:
        problems.append(f"groups are nested more than {MAX_DEPTH_LEVELS} levels deep")
        return
    for label, below in groups.items():
        if isinstance(label, str):
            yield from _lists(below, (*path, label), problems)
        else:
            problems.append("labels must be texts")


def _misnamed(paths: Sequence[Path], top: str) -> Iterator[str]:
    labels = {label for path in paths for label in path}
    if "" in labels:
        yield "a label is empty"
    if top in labels:
        yield f'"{top}" is the label of the top, which is added'


def _shared_values(lists: Sequence[tuple[Path, Sequence[str]]]) -> Iterator[str]:
    for path, values in lists:
        if repeated := sum(count > 1 for count in Counter(values).values()):
            yield f'group "{path[-1]}" lists {counted(repeated, "value")} more than once'
    owners: dict[str, list[str]] = {}
    for path, values in lists:
        for value in dict.fromkeys(values):
            owners.setdefault(value, []).append(path[-1])
    pairs = Counter(pair for labels in owners.values() for pair in combinations(labels, 2))
    for (one, other), count in pairs.items():
        yield f'groups "{one}" and "{other}" share {counted(count, "value")}'


def _shared_labels(lists: Sequence[tuple[Path, Sequence[str]]]) -> Iterator[str]:
    """A label that stands under two labels of the next level does not nest."""
    parents: dict[tuple[int, str], dict[str, None]] = {}
    for path, _ in lists:
        for depth in range(1, len(path)):
            parents.setdefault((depth, path[depth]), {})[path[depth - 1]] = None
    for (_, label), above in parents.items():
        if len(above) > 1:
            named = " and ".join(f'"{each}"' for each in above)
            yield f'label "{label}" stands under {named}'


def counted(count: int, noun: str) -> str:
    """``1 value``, ``2,000 values``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
