"""Can counterfeits be told from true rows? By classifiers that learn from the larger classes, see tests/attackers.py.

On UCI Adult, and on people that are made up so that their illness depends on what else is known of them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import sqlanon as sa
from sqlanon.methods.h_ceiling.ceiling_report import CeilingReport
from tests import oracle
from tests.adult import SEVEN, with_all_ages
from tests.attackers import CLASSIFIERS, Floats, Published, area, link, published, suspicion

K = 5
PEOPLE = """
CREATE TABLE people AS
WITH people AS (
    SELECT
        i AS id,
        -- Ages and towns that are rare together make small classes.
        (hash(i) % 100 * (hash(i + 1) % 100)) // 100 AS age,
        hash(i + 7) % 2 AS sex,
        (hash(2 * i) % 20 * (hash(2 * i + 1) % 20)) // 20 AS town
    FROM range(20000) AS numbers (i)
)
SELECT id, age, sex, town, 'i' || arg_max(
    illness,
    -- A chance in proportion to e^2 for each label that goes with the illness.
    2 * (illness % 2 = sex)::INTEGER + 2 * (illness % 4 = town // 5)::INTEGER + 2 * (illness // 2 = age // 25)::INTEGER
    - ln(-ln((hash(id, illness) % 1000000 + 0.5) / 1000000))
) AS illness
FROM people, range(8) AS illnesses (illness)
GROUP BY ALL
"""
"""People whose illness depends on what else is known of them, in ways that both classifiers can learn."""


@pytest.fixture(scope="module")
def people() -> Iterator[sa.Session]:
    with sa.connect(duckdb.connect()) as session:
        session.connection.execute(PEOPLE)
        session.taxonomies.load("age", sa.Taxonomy.intervals([5, 25], minimum=0, maximum=99))
        session.taxonomies.load("sex", sa.Taxonomy.flat(["0", "1"]))
        session.taxonomies.load("town", sa.Taxonomy.intervals([5], minimum=0, maximum=19))
        yield session


@pytest.fixture(scope="module")
def adult(uci_adult: Path) -> Iterator[sa.Session]:
    with with_all_ages(uci_adult) as session:
        yield session


def filled(
    session: sa.Session, source: str, columns: list[str], sensitive: str, seed: int, **settings: Any
) -> Published:
    method = {"model": "h-ceiling", "k": K, **settings}
    policy = sa.Policy(quasi_identifiers=columns, sensitive=[sensitive], rest="identifier", method=method)
    release = session.anonymize(
        source,
        policy,
        "released",
        replace=True,
        tables={"counterfeits": "invented"},
        random_source=sa.SeededSource(seed),
    )
    assert isinstance(release.report, CeilingReport)
    assert release.report.counterfeits > 300
    return published(session.connection, columns, sensitive)


def of_people(session: sa.Session, seed: int, fill: str = "hidden") -> Published:
    return filled(session, "people", ["age", "sex", "town"], "illness", seed, h=0.05, fill=fill)


def of_adult(session: sa.Session, seed: int, fill: str = "hidden") -> Published:
    return filled(session, "adult", SEVEN, "occupation", seed, h=0.3, fill=fill)


def back_off(
    session: sa.Session, source: str, columns: list[str], sensitive: str, node: tuple[int, ...]
) -> oracle.BackOff:
    """What is expected of the classes of a node."""
    listed = ", ".join(f'"{name}"' for name in (*columns, sensitive))
    rows = [
        dict(zip((*columns, sensitive), row, strict=True))
        for row in session.connection.sql(f"SELECT {listed} FROM {source}").fetchall()
    ]
    found: dict[str, dict[Any, list[Any]]] = {name: {} for name in columns}
    for name, value, label in session.connection.sql(
        "SELECT attribute, value, label FROM anon.taxonomy ORDER BY level"
    ).fetchall():
        if name in found:
            found[name].setdefault(value, []).append(label)
    taxonomies = {name: list(rows.values()) for name, rows in found.items()}
    return oracle.BackOff(rows, taxonomies, dict(zip(columns, node, strict=True)), sensitive)


def chances_of(release: Published, expected: oracle.BackOff) -> Floats:
    """The chances of values in classes, of shape (classes, values); those of larger classes are of no interest."""
    chances = np.ones(release.rows.shape)
    for place in np.flatnonzero(release.invented.sum(axis=1)):
        of_class = expected.chances(release.names[place])
        chances[place] = [of_class.get(value, 0.0) for value in release.values]
    return chances


def unseen_pairs(release: Published) -> int:
    """How many counterfeits have a value that no true row has with one of their labels."""
    true = release.rows - release.invented
    unseen = np.zeros(release.rows.shape, dtype=np.bool_)
    for of_column in release.labels.T:
        pairs = np.zeros((of_column.max() + 1, len(release.values)))
        np.add.at(pairs, of_column, true)
        unseen |= pairs[of_column] == 0
    return int(release.invented[unseen].sum())


@pytest.mark.parametrize("classifier", CLASSIFIERS)
class TestPeople:
    """By 300 counterfeits and more the area of who cannot tell is .5, give or take .02."""

    def test_those_that_hide_cannot_be_told(self, people: sa.Session, classifier: str) -> None:
        for seed in range(3):
            release = of_people(people, seed)
            scores = suspicion(release, K, CLASSIFIERS[classifier])
            assert area(release, scores) <= 0.56
            assert link(release, K, scores) <= 0.24
            assert unseen_pairs(release) == 0

    @pytest.mark.parametrize("fill", ["marginal", "uniform"])
    def test_others_are_recognized(self, people: sa.Session, classifier: str, fill: str) -> None:
        release = of_people(people, 0, fill)
        scores = suspicion(release, K, CLASSIFIERS[classifier])
        assert area(release, scores) >= 0.7
        assert link(release, K, scores) >= 0.26


@pytest.mark.adult
class TestAdult:
    """spec/hceiling_fill.md, *Acceptance*."""

    def test_those_that_hide_cannot_be_told(self, adult: sa.Session) -> None:
        expected = back_off(adult, "adult", SEVEN, "occupation", (2, 0, 1, 1, 0, 0, 3))
        links: dict[str, list[float]] = {name: [] for name in CLASSIFIERS}
        for seed in range(10):
            release = of_adult(adult, seed)
            assert release.invented.sum() == 1471
            assert unseen_pairs(release) == 0
            chances = chances_of(release, expected)
            for name, classifier in CLASSIFIERS.items():
                scores = suspicion(release, K, classifier)
                assert area(release, scores) <= 0.56
                assert link(release, K, scores) <= 0.24
                scores = suspicion(release, K, classifier, chances)
                assert area(release, scores) <= 0.60
                assert link(release, K, scores) <= 0.25
                links[name].append(link(release, K, scores))
        # Of who knows the chances, too, in the mean over the seeds.
        assert all(np.mean(of_classifier) <= 0.24 for of_classifier in links.values())

    def test_those_of_the_whole_table_are_recognized(self, adult: sa.Session) -> None:
        release = of_adult(adult, 0, "marginal")
        for classifier in CLASSIFIERS.values():
            scores = suspicion(release, K, classifier)
            assert area(release, scores) > 0.8
            assert link(release, K, scores) > 0.3

    def test_what_is_expected_is_that_of_the_specification(self, adult: sa.Session) -> None:
        found = back_off(adult, "adult", SEVEN, "occupation", (2, 0, 1, 1, 0, 0, 3))
        assert {name: round(entropy, 4) for name, entropy in found.entropies.items()} == {
            "age": 2.4293,
            "workclass": 2.1111,
            "education": 2.3134,
            "marital_status": 2.3912,
            "race": 2.4250,
            "sex": 2.3384,
            "native_country": 2.4377,
        }
        # Last would be native_country, which is at its top.
        assert found.order == ["workclass", "education", "sex", "marital_status", "race", "age"]
        own = {labels: found.own(labels) for labels in found.members}
        for k, surprise in ((3, 1.7027), (5, 1.6519), (10, 1.6681)):
            rows, total = 0, 0.0
            for labels, values in own.items():
                if values.total() < k:
                    chances = found.before_support(labels)
                    total -= sum(count * np.log(chances[value]) for value, count in values.items())
                    rows += values.total()
            assert round(total / rows, 4) == surprise
