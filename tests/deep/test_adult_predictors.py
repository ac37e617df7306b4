"""The predictors of UCI Adult: what is public of them is well formed, and covers the data."""

from collections import defaultdict

import duckdb
import pytest

import sqlanon as sa
from sqlanon.papers import adult
from sqlanon.papers.adult import WITH_UNKNOWN, predictors
from tests.conftest import data_folder

VALUES = {
    "workclass": 8, "education": 16, "marital_status": 7, "occupation": 14, "relationship": 6, "race": 5, "sex": 2,
    "native_country": 41,
}  # fmt: skip
"""How many values the documentation of UCI Adult lists."""


def taxonomies(*, unknown: bool = False) -> dict[str, sa.Taxonomy]:
    known = predictors(unknown=unknown)
    return {name: each for name, each in known.items() if isinstance(each, sa.Taxonomy)}


def rows_of(taxonomy: sa.Taxonomy) -> tuple[tuple[str | None, ...], ...]:
    assert taxonomy.rows is not None
    return taxonomy.rows


def test_there_are_fourteen() -> None:
    known = predictors()
    assert [*known, adult.TARGET] == list(adult.COLUMNS)
    assert {name: len(rows_of(taxonomy)) for name, taxonomy in taxonomies().items()} == VALUES
    assert all(low < high for low, high in (each for each in known.values() if isinstance(each, tuple)))


@pytest.mark.parametrize("unknown", [False, True])
def test_they_are_well_formed(unknown: bool) -> None:
    known = taxonomies(unknown=unknown)
    with sa.connect(duckdb.connect(config={"threads": 1})) as session:
        session.taxonomies.load_all(known)
        assert session.taxonomies.check() == {}
        for name, shape in session.taxonomies.list().items():
            assert shape["domain"] == "declared"
            assert 2 <= len(rows_of(known[name])[0]) <= 4


@pytest.mark.parametrize("unknown", [False, True])
def test_a_label_stands_for_the_same_values_at_whatever_level(unknown: bool) -> None:
    for name, taxonomy in taxonomies(unknown=unknown).items():
        under: dict[str | None, set[frozenset[str | None]]] = defaultdict(set)
        for level in range(len(rows_of(taxonomy)[0])):
            at_level: dict[str | None, set[str | None]] = defaultdict(set)
            for row in rows_of(taxonomy):
                at_level[row[level]].add(row[0])
            for label, values in at_level.items():
                under[label].add(frozenset(values))
        assert [label for label, found in under.items() if len(found) > 1] == [], name


def test_what_is_unknown_is_a_value_if_asked_for() -> None:
    for name, taxonomy in taxonomies(unknown=True).items():
        rows = [row for row in rows_of(taxonomy) if row[0] == "?"]
        assert len(rows) == (name in WITH_UNKNOWN)
        assert all(set(row) == {"?", "*"} and row[-1] == "*" for row in rows)
    assert all(row[0] != "?" for taxonomy in taxonomies().values() for row in rows_of(taxonomy))


@pytest.mark.adult
def test_they_cover_the_data() -> None:
    folder = data_folder("adult_uci")
    whole = adult.training_rows(folder, adult.COLUMNS), adult.test_rows(folder, adult.COLUMNS)
    for unknown, parts in ((True, whole), (False, adult.known_rows(folder, adult.COLUMNS))):
        for name, known in predictors(unknown=unknown).items():
            values = {value for part in parts for value in part[name].to_pylist()}
            if isinstance(known, sa.Taxonomy):
                assert values <= {row[0] for row in rows_of(known)}, name
            else:
                assert known[0] <= min(values) <= max(values) < known[1], name
