"""Matrices and estimates of PRAM: beside those of sdcMicro, the inverse by numpy, and draws with a known truth."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sql.test_oracle import FEW_EXAMPLES, connection

Matrix = npt.NDArray[np.float64]

# Adult's race, its matrix by sdcMicro 5.8.1 with alpha 1/2, and the probabilities that this drew for the first step.
RACES = ["Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"]
COUNTS = np.array([286, 895, 2817, 231, 25933])
KEEP = [0.853101732628, 0.874424779927, 0.91457067267, 0.981641557999, 0.840336386207]
TWO_STEP = [
    [0.576357256239, 0.0169076996692, 0.0331572238577, 0.00340713222934, 0.370170688004],
    [0.00540290738033, 0.681878220118, 0.0264249249388, 0.00287874648455, 0.283415201079],
    [0.00336633511654, 0.00839556543138, 0.823983742952, 0.00192720350577, 0.162327152995],
    [0.00421835418871, 0.0111535848644, 0.0235018713236, 0.581800848655, 0.379325340968],
    [0.00408239759261, 0.00978122874196, 0.0176329614771, 0.00337886684008, 0.965124545348],
]


def register(name: str, columns: dict[str, list[str] | list[float]]) -> None:
    connection().execute("SELECT 1").fetchall()  # so that no earlier test has left a result unread
    connection().register(name, pa.table({column: pa.array(values) for column, values in columns.items()}))


def people(name: str, values: list[str], counts: npt.NDArray[np.int64]) -> None:
    register(name, {"race": [value for value, count in zip(values, counts, strict=True) for _ in range(count)]})


def publish(values: list[str], matrix: Matrix) -> None:
    """A table of a matrix, as anon.pram_estimate reads it."""
    pairs = [(value, shown) for value in values for shown in values]
    columns = {"value": [value for value, _ in pairs], "shown_value": [shown for _, shown in pairs]}
    register("matrix", {**columns, "probability": [float(number) for number in matrix.ravel()]})


def estimates() -> tuple[Matrix, Matrix]:
    query = (
        "SELECT estimated_count, standard_error FROM anon.pram_estimate('shown', 'race', 'matrix') ORDER BY value ASC"
    )
    counts, errors = np.array(connection().execute(query).fetchall()).T
    return counts, errors


def made(query: str, *values: object) -> Matrix:
    rows = (
        connection().execute(f"SELECT probability FROM {query} ORDER BY value ASC, shown_value ASC", values).fetchall()
    )
    size = round(len(rows) ** 0.5)
    return np.array(rows).reshape(size, size)


def in_two_steps(values: list[str], keep: list[float], alpha: float) -> Matrix:
    query = (
        "(WITH shares AS (SELECT *, (map($1, $2))[anon_value] AS anon_keep "
        "FROM anon_helpers.pram_values('adult', 'race')) "
        "SELECT anon_value AS value, anon_shown AS shown_value, anon_probability AS probability "
        "FROM anon_helpers.two_step_matrices('shares', $3))"
    )
    return made(query, values, keep, alpha)


def test_two_steps_are_those_of_sdcmicro() -> None:
    people("adult", RACES, COUNTS)
    found = in_two_steps(RACES, KEEP, 0.5)
    assert found == pytest.approx(np.array(TWO_STEP), rel=1e-10)
    assert COUNTS @ found == pytest.approx(COUNTS)


def by_two_steps(keep: Matrix, shares: Matrix, alpha: float) -> Matrix:
    """The product of both steps, as it is defined."""
    size = len(keep)
    first = np.array([[keep[i] if i == j else (1 - keep[i]) / (size - 1) for j in range(size)] for i in range(size)])
    back = (first * shares[:, None]).T / (first.T @ shares)[:, None]
    product: Matrix = alpha * first @ back + (1 - alpha) * np.eye(size)
    return product


SIZES = st.integers(2, 7)


@FEW_EXAMPLES
@given(SIZES, st.integers(0, 999), st.sampled_from([0.0, 0.3, 1.0]))
def test_two_steps_are_products(size: int, seed: int, alpha: float) -> None:
    random = np.random.default_rng(seed)
    values, counts, keep = [*"abcdefg"[:size]], random.integers(1, 40, size), random.random(size)
    people("adult", values, counts)
    found = in_two_steps(values, keep.tolist(), alpha)
    assert found == pytest.approx(by_two_steps(keep, counts / counts.sum(), alpha), abs=1e-12)


@FEW_EXAMPLES
@given(SIZES, st.integers(0, 999))
def test_estimates_are_those_of_the_inverse(size: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    values, counts = [*"abcdefg"[:size]], random.integers(1, 40, size)
    matrix = random.dirichlet(np.ones(size), size)
    inverse = np.linalg.inv(matrix)
    people("shown", values, counts)
    publish(values, matrix)
    found, errors = estimates()
    truth = inverse.T @ counts
    assert found == pytest.approx(truth, rel=1e-6, abs=1e-6)
    spread = sum(t * (np.diag(row) - np.outer(row, row)) for t, row in zip(truth, matrix, strict=True))
    variances = np.diag(inverse.T @ spread @ inverse)
    assert errors == pytest.approx(np.sqrt(np.maximum(variances, 0)), rel=1e-5, abs=1e-4)


def bias(counts: npt.NDArray[np.int64], drawn_by: Matrix, read_by: Matrix, draws: int) -> tuple[Matrix, Matrix]:
    """By value: the mean estimate less the truth, in its standard errors, and the spread of estimates in theirs."""
    random = np.random.default_rng(66)
    publish(RACES, read_by)
    found, errors = [], []
    for _ in range(draws):
        shown = sum(random.multinomial(count, row) for count, row in zip(counts, drawn_by, strict=True))
        people("shown", RACES, np.asarray(shown))
        estimated, error = estimates()
        found.append(estimated)
        errors.append(error)
    spread, expected = np.std(found, axis=0, ddof=1), np.sqrt(np.mean(np.square(errors), axis=0))
    return (np.mean(found, axis=0) - counts) / (expected / draws**0.5), spread / expected


def test_estimates_are_the_truth_on_average() -> None:
    counts = np.array([16, 34, 814, 19, 3697])
    people("adult", RACES, counts)
    plain = made("anon.pram_matrix('adult', 'race', 0.2, 'plain')")
    shift, spread = bias(counts, plain, plain, 400)
    assert np.abs(shift).max() < 4
    assert spread == pytest.approx(1, abs=0.15)  # four standard errors of a standard deviation
    wrong, _ = bias(counts, plain, made("anon.pram_matrix('adult', 'race', 0.21, 'plain')"), 100)
    assert np.abs(wrong).max() > 8


@pytest.mark.parametrize("form", ["plain", "invariant"])
def test_matrices_of_one_probability_are_as_defined(form: str) -> None:
    people("adult", RACES, COUNTS)
    shares = COUNTS / COUNTS.sum()
    drawn = {"plain": (np.ones((5, 5)) - np.eye(5)) / 4, "invariant": np.tile(shares, (5, 1))}[form]
    found = made("anon.pram_matrix('adult', 'race', 0.3, $1)", form)
    assert found == pytest.approx(0.7 * np.eye(5) + 0.3 * drawn, abs=1e-15)
