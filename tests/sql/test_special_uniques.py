"""SUDA by brute force on random tables, and against the figures of sdcMicro 5.8.1 on Adult."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import factorial, isclose
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.conftest import data_folder
from tests.sql.test_oracle import EXAMPLES, ask, connection, load, table_call
from tests.strategies import Case, cases


def minimal_sets(
    rows: oracle.Rows, keys: Sequence[str], row: oracle.Row, max_size: int | None, skip: bool = False
) -> list[list[str]]:
    """The sets of keys whose values only this row has, without those that contain another such set.

    With ``skip`` no set has a key that is NULL in the row.
    """
    keys = [key for key in keys if not (skip and row[key] is None)]
    found: list[list[str]] = []
    for size in range(1, min(max_size or len(keys), len(keys)) + 1):
        for chosen in map(list, combinations(keys, size)):
            alike = sum(all(other[key] == row[key] for key in chosen) for other in rows)
            if alike == 1 and not any({*smaller} <= {*chosen} for smaller in found):
                found.append(chosen)
    return found


@EXAMPLES
@given(cases(), st.none() | st.integers(1, 5))
def test_special_rows_and_their_sets_are_those_of_brute_force(case: Case, max_size: int | None) -> None:
    load(case)
    keys = [*case.quasi_identifiers, case.sensitive]
    expected: list[tuple[Any, ...]] = []
    shares = Counter(dict.fromkeys(keys, 0))
    for row in case.rows:
        if sets := minimal_sets(case.rows, keys, row, max_size):
            scores = [factorial(len(keys) - len(chosen)) for chosen in sets]
            expected.append((*(row[key] for key in keys), sum(scores), len(sets[0]), sets))
            shares.update(
                {key: sum(s for s, chosen in zip(scores, sets, strict=True) if key in chosen) for key in keys}
            )
    found = [
        (*(row[key] for key in keys), row["score"], row["least_size"], row["minimal_sets"])
        for row in ask(table_call("suda", "data", keys, max_size))
    ]
    assert sorted(map(repr, map(whole, found))) == sorted(map(repr, map(whole, expected)))
    total = sum(row[len(keys)] for row in expected)
    for row in ask(table_call("suda_contributions", "data", keys, max_size)):
        assert row["score"] == shares[row["attribute"]]
        assert row["contribution"] == (100 * row["score"] / total if total else None)


@EXAMPLES
@given(cases(), st.none() | st.integers(1, 5))
def test_skipped_nulls_are_in_no_set_and_shield_nobody(case: Case, max_size: int | None) -> None:
    load(case)
    keys = [*case.quasi_identifiers, case.sensitive]
    sets = [(row, minimal_sets(case.rows, keys, row, max_size, skip=True)) for row in case.rows]
    expected = [(*(row[key] for key in keys), found) for row, found in sets if found]
    special = ask(table_call("special_rows", "data", keys, max_size, True))
    found = [(*(row[key] for key in keys), row["anon_minimal_sets"]) for row in special]
    assert sorted(map(repr, found)) == sorted(map(repr, expected))


def whole(row: tuple[object, ...]) -> tuple[object, ...]:
    """A row with its score, which is a whole number, as an integer."""
    return tuple(int(value) if isinstance(value, float) else value for value in row)


ADULT = [
    (
        ["sex", "race", "marital-status", "education", "occupation"],
        (1921, 1041, 12, 534, 356),
        (38.7358677978, 0.248408366078),
        [33.6803748048, 63.4565330557, 71.8896408121, 88.6517438834, 87.1421134826],
    ),
    (
        ["sex", "age", "race", "marital-status", "education", "workclass"],
        (37381, 6113, 120, 856, 1556),
        (569.608839245, 0.746905560862),
        [22.6558947059, 93.3335116771, 36.7940932559, 49.4689815682, 73.0157031647, 47.3716593992],
    ),
]


@pytest.mark.adult
@pytest.mark.parametrize(("keys", "scores", "dis", "contributions"), ADULT, ids=["five", "six"])
def test_scores_and_contributions_are_those_of_sdcmicro(
    keys: list[str], scores: tuple[int, ...], dis: tuple[float, float], contributions: list[float]
) -> None:
    adult = connection().read_csv(str(data_folder("adult_arx") / "adult.csv"), sep=";")
    connection().register("adult", adult)
    found = [row["score"] for row in ask(table_call("suda", "adult", keys, len(keys)))]
    assert (sum(found), len(found), max(found), found.count(1), found.count(2)) == scores
    found = [row["dis_score"] for row in ask(table_call("dis_suda", "adult", keys, 9, 0.02))]
    # Those of sdcMicro are of single precision.
    assert (sum(found), max(found)) == pytest.approx(dis, rel=1e-6)
    shares = {row["attribute"]: row["contribution"] for row in ask(table_call("suda_contributions", "adult", keys, 9))}
    assert all(isclose(shares[key], share, rel_tol=1e-9) for key, share in zip(keys, contributions, strict=True))
