"""Catalogs of counterfeits once more, naively: every way in which rows can be labelled, one by one.

It shares no code with the package: :func:`filled` and :func:`published` translate what goes in and what comes out.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations, product
from random import Random

import numpy as np

from sqlanon.methods.h_ceiling.catalogs import Catalog
from sqlanon.methods.h_ceiling.conditions import FilledClasses

Rows = list[tuple[str, bool]]
"""The rows of a class: the sensitive value, and whether the row is a counterfeit."""
World = frozenset[tuple[int, int]]
"""The class and the place in it of each row that is a counterfeit."""


def read(text: str) -> Rows:
    """A class as the specification writes it: ``D*AFG`` has the values D, A, F and G, of which D is a counterfeit."""
    found: Rows = []
    for letter in text:
        found = [*found[:-1], (found[-1][0], True)] if letter == "*" else [*found, (letter, False)]
    return found


def filled(k: int, classes: Sequence[Rows]) -> FilledClasses:
    """What the package is given of classes, whose identifiers are 1, 2, 3, …"""
    rows = Counter((number, ord(value), 0) for number, rows in enumerate(classes, 1) for value, _ in rows)
    fakes = Counter((number, ord(value), 0) for number, rows in enumerate(classes, 1) for value, fake in rows if fake)
    table = np.array([(*key[:2], count, fakes[key]) for key, count in rows.items()])
    return FilledClasses.of_columns(k, *table.T)


def worlds(k: int, classes: Sequence[Rows]) -> Iterator[World]:
    """Every labelling that agrees with the catalog of a group, and leaves each class a real row."""
    catalog = Counter(value for rows in classes for value, fake in rows if fake)
    places: dict[str, list[tuple[int, int]]] = {value: [] for value in catalog}
    for number, rows in enumerate(classes):
        if len(rows) == k:
            for place, (value, _) in enumerate(rows):
                places.get(value, []).append((number, place))
    for chosen in product(*(combinations(places[value], count) for value, count in catalog.items())):
        world = frozenset(chain(*chosen))
        if all(_real(world, number, rows) for number, rows in enumerate(classes)):
            yield world


def every_class_can_be_without(k: int, classes: Sequence[Rows]) -> bool:
    """Whether for every class there is a labelling that leaves it without counterfeits."""
    sure = set(range(len(classes)))
    for world in worlds(k, classes):
        sure &= {number for number, _ in world}
        if not sure:
            return True
    return False


def links(k: int, classes: Sequence[Rows]) -> list[Fraction]:
    """For each class, the probability of the row that is likeliest the person's, who is in this class."""
    every = list(worlds(k, classes))
    found = []
    for number, rows in enumerate(classes):
        real = [_real(world, number, rows) for world in every]
        found.append(
            max(sum(Fraction(place in left, len(left)) for left in real) for place in range(len(rows))) / len(every)
        )
    return found


def lemma_holds(classes: Sequence[Rows]) -> bool:
    """Lemma 1 of the paper, by its words."""
    return all(
        fakes <= sum(row == (value, False) for other, others in enumerate(classes) if other != number for row in others)
        for number, rows in enumerate(classes)
        for value, fakes in Counter(value for value, fake in rows if fake).items()
    )


def published(catalog: Catalog) -> list[tuple[list[int], str, int]]:
    """The rows of the published catalog: identifiers of classes, value and count."""
    classes: dict[int, list[int]] = {}
    for number, identifier in zip(*(column.tolist() for column in catalog.members), strict=True):
        classes.setdefault(number, []).append(identifier)
    totals = zip(*(column.tolist() for column in catalog.totals), strict=True)
    return [(classes[number], chr(value), count) for number, value, count in totals]


def chance(seed: int) -> Random:
    """What examples are made by."""
    return Random(seed)  # noqa: S311


def some_classes(random: Random, k: int, count: int, values: str = "abc", most: int | None = None) -> list[Rows]:
    """Classes with random values: each has between 1 and ``most`` real rows, and counterfeits up to k rows."""
    found = []
    for _ in range(count):
        real = random.randint(1, most or k + 1)
        found.append([(random.choice(values), place >= real) for place in range(max(k, real))])
    return found


def _real(world: World, number: int, rows: Rows) -> list[int]:
    return [place for place in range(len(rows)) if (number, place) not in world]
