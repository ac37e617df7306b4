"""Can counterfeits be told from true rows? By a classifier that learns from half of the classes and judges the others.

In a table whose sensitive values do not depend on the quasi-identifiers no row of a class is likelier to be invented
than another if values are drawn as they are in the table, and rare ones are if they are drawn all alike.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
import numpy as np
import pytest
from numpy.typing import NDArray

import sqlanon as sa
from sqlanon.methods.h_ceiling.report import CeilingReport

pytestmark = [pytest.mark.deep, pytest.mark.one_line]

ROWS = 6000
DEVIATIONS = 4
"""An area that is further from a half than so many standard deviations is none of chance: once in 16,000."""

Labelled = list[tuple[dict[str, Any], bool]]
"""Rows by what is seen of them, and whether they are counterfeits."""


def labelled_rows(fill: str) -> Labelled:
    """The rows of the classes that were filled up, in the order of the release."""
    with sa.connect(duckdb.connect()) as session:
        session.connection.execute(
            "CREATE TABLE people AS SELECT hash(i) % 1000 AS age, hash(i + 7) % 2 AS sex, "
            "CASE hash(3 * i) % 100 // 49 WHEN 0 THEN 'flu' WHEN 1 THEN 'cold' ELSE 'rare' END AS disease "
            f"FROM range({ROWS}) AS numbers (i)"
        )
        session.taxonomies.load("age", sa.Taxonomy.intervals([500], minimum=0, maximum=999))
        session.taxonomies.load("sex", sa.Taxonomy.flat(["0", "1"]))
        method: Any = {"model": "h-ceiling", "k": 5, "h": 0, "fill": fill}
        policy = sa.Policy(quasi_identifiers=["age", "sex"], sensitive=["disease"], method=method)
        release = session.anonymize(
            "people", policy, "released", tables={"counterfeits": "invented"}, random_source=sa.SeededSource(11)
        )
        assert isinstance(release.report, CeilingReport)
        assert release.report.filled_classes > 500
        left = Counter({(*key,): count for *key, count in session.connection.table("invented").fetchall()})
        filled = {key[:2] for key in left}
        rows: Labelled = []
        place: Counter[tuple[str, str]] = Counter()
        for age, sex, disease in session.connection.table("released").fetchall():
            place[age, sex] += 1
            if (age, sex) in filled:
                seen = {"sex": sex, "digit": age[-1], "place": place[age, sex], "disease": disease}
                rows.append(({**seen, "class": (age, sex)}, False))
        return with_counterfeits(rows, left)


def with_counterfeits(rows: Labelled, left: Counter[Any]) -> Labelled:
    """The rows with their labels: of equal ones any are counterfeits, the first ones as well as others."""
    chance = np.random.default_rng(5)
    equal: dict[Any, list[int]] = {}
    for index, (seen, _) in enumerate(rows):
        equal.setdefault((*seen["class"], seen["disease"]), []).append(index)
    invented = {int(index) for key, count in left.items() for index in chance.choice(equal[key], count, replace=False)}
    assert len(invented) == left.total()
    return [(seen, index in invented) for index, (seen, _) in enumerate(rows)]


def area_under_curve(rows: Labelled, features: tuple[str, ...]) -> tuple[float, float]:
    """How well naive Bayes tells counterfeits from true rows of other classes, and its standard deviation by chance."""
    learned = {(name, value, label): 1.0 for name in features for value in values_of(rows, name) for label in (0, 1)}
    halves = [[row for row in rows if int(row[0]["class"][0]) // 10 % 2 == half] for half in (0, 1)]
    for seen, label in halves[0]:
        for name in features:
            learned[name, seen[name], int(label)] += 1
    told = {key: np.log(learned[(*key, 1)] / learned[(*key, 0)]) for *key_, _ in learned for key in [tuple(key_)]}
    scores = np.array([sum(told[name, seen[name]] for name in features) for seen, _ in halves[1]])
    labels = np.array([label for _, label in halves[1]])
    return area(scores[labels], scores[~labels])


def values_of(rows: Labelled, name: str) -> set[Any]:
    return {seen[name] for seen, _ in rows}


def area(positive: NDArray[np.float64], negative: NDArray[np.float64]) -> tuple[float, float]:
    """The chance that one of the first has a higher score than one of the second, and its deviation if none has."""
    ordered = np.sort(negative)
    below = (np.searchsorted(ordered, positive, "left") + np.searchsorted(ordered, positive, "right")) / 2
    deviation = ((len(positive) + len(negative) + 1) / (12 * len(positive) * len(negative))) ** 0.5
    return float(below.mean() / len(negative)), float(deviation)


EVERYTHING = ("sex", "digit", "place", "disease")


def test_they_cannot_be_told_if_values_are_drawn_as_in_the_table() -> None:
    found, deviation = area_under_curve(labelled_rows("marginal"), EVERYTHING)
    assert abs(found - 0.5) < DEVIATIONS * deviation


def test_they_can_be_told_if_rare_values_are_as_likely() -> None:
    found, deviation = area_under_curve(labelled_rows("uniform"), EVERYTHING)
    assert found - 0.5 > 3 * DEVIATIONS * deviation


def test_nothing_but_the_value_tells_them_even_then() -> None:
    found, deviation = area_under_curve(labelled_rows("uniform"), ("sex", "digit"))
    assert abs(found - 0.5) < DEVIATIONS * deviation
