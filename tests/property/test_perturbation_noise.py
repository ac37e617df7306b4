"""Noise: the covariances that it has been drawn with, from known draws; the types of columns, and what is refused."""

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.methods.perturbation.normal_noise import ends_of, square_roots
from tests.effort import examples
from tests.perturbed_tables import Row, released, released_in

EXAMPLES = settings(max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.too_slow])
HOSTILE = 'a""b"; drop table x --'
NAMES = [HOSTILE, "x", "X 2"]


def normal_draws(rows: int, columns: int, seed: int) -> Any:
    """The normal numbers of a run: pairs of columns from pairs of uniform numbers."""
    source = sa.SeededSource(seed)
    uniform = [source.uniform(rows) for _ in range(2 * math.ceil(columns / 2))]
    made = []
    for one, other in zip(uniform[::2], uniform[1::2], strict=True):
        radius = np.sqrt(-2 * np.log(one))
        made += [radius * np.cos(2 * np.pi * other), radius * np.sin(2 * np.pi * other)]
    return np.column_stack(made[:columns])


@st.composite
def tables(draw: Any) -> list[Row]:
    """Strata of two columns, with NULL among them, of more rows than columns of numbers."""
    numbers = st.floats(-1e4, 1e4).map(lambda number: round(number, 3))
    strata = draw(st.sets(st.tuples(st.sampled_from(["N", "S", None]), st.sampled_from([1, None])), min_size=1))
    rows = [
        (*stratum, *values)
        for stratum in strata
        for values in draw(st.lists(st.tuples(numbers, numbers, numbers), min_size=6, max_size=12))
    ]
    return list(draw(st.permutations(rows)))


@EXAMPLES
@given(tables(), st.sampled_from(["masked", "correlated", "additive"]), st.integers(1, 3), st.integers(0, 9))
def test_noise_has_the_covariances_of_its_stratum(rows: list[Row], form: str, size: int, seed: int) -> None:
    names, relative = NAMES[:size], 0.3
    values = np.array([row[2 : 2 + size] for row in rows], dtype=float)
    strata = [row[:2] for row in rows]
    for stratum in {*strata}:
        deviations = values[[each == stratum for each in strata]].std(axis=0)
        if not (deviations > 1e-2).all():  # a constant column is another test
            return
    asked = {
        names[0]: {
            "kind": "noise",
            "form": form,
            "relative": relative,
            "together": names[1:],
            "within": ["region", "kind"],
        }
    }
    columns = {"region": "VARCHAR", "kind": "INTEGER", **dict.fromkeys(names, "DOUBLE")}
    shown = released(columns, [(*row[: 2 + size],) for row in rows], asked, seed)
    assert [row[:2] for row in shown] == strata
    changed = np.array([row[2:] for row in shown], dtype=float)
    draws = normal_draws(len(rows), size, seed)
    for stratum in {*strata}:
        those = [each == stratum for each in strata]
        true, scale = values[those], np.abs(values).max()
        kept = math.sqrt(1 - relative**2) if form == "masked" else 1
        noise = changed[those] - kept * true - (1 - kept) * true.mean(axis=0)
        factors, *_ = np.linalg.lstsq(draws[those], noise, rcond=None)
        assert draws[those] @ factors == pytest.approx(noise, abs=1e-8 * scale)
        covariances = np.atleast_2d(np.cov(true, rowvar=False)) * relative**2
        wanted = np.diag(np.diag(covariances)) if form == "additive" else covariances
        assert factors.T @ factors == pytest.approx(wanted, rel=1e-6, abs=1e-7 * scale**2)


def big(form: str, relative: float) -> tuple[Any, Any]:
    made = np.random.default_rng(5)
    first = np.exp(made.normal(size=20_000))
    rows = np.column_stack([first, 3 * first + made.normal(size=20_000)])
    asked = {"x": {"kind": "noise", "form": form, "relative": relative, "together": "y"}}
    with sa.connect(threads=1) as session:
        session.connection.register("numbers", {"x": rows[:, 0], "y": rows[:, 1]})
        session.connection.execute("CREATE TABLE given AS SELECT 1 AS alike, x, y FROM numbers")
        policy = {
            "quasi_identifiers": ["alike"],
            "sensitive": ["x", "y"],
            "privacy": [sa.KAnonymity(2)],
            "taxonomies": {"alike": {"kind": "flat"}},
            "perturbation": asked,
        }
        session.anonymize("given", policy, "made", random_source=sa.SeededSource(3))
        found = session.connection.execute("SELECT x, y FROM made").fetchnumpy()
    return rows, np.column_stack([found["x"], found["y"]])


@pytest.mark.parametrize(
    ("form", "growth", "correlation"),
    [("masked", 1.0, 1.0), ("correlated", 1.25, 1.0), ("additive", 1.25, 0.8)],
)
def test_what_forms_keep(form: str, growth: float, correlation: float) -> None:
    """Means; variances or their growth by 1 + relative²; correlations, which independent noise divides by that."""
    was, now = big(form, 0.5)
    assert now.mean(axis=0) == pytest.approx(was.mean(axis=0), abs=5 * 0.5 * was.std() / math.sqrt(len(was)))
    assert now.var(axis=0) / was.var(axis=0) == pytest.approx(growth, abs=0.04)
    correlations = [np.corrcoef(each, rowvar=False)[0, 1] for each in (was, now)]
    assert correlations[1] / correlations[0] == pytest.approx(correlation, abs=0.01)


def test_collinear_columns_stay_collinear() -> None:
    rows = [(float(value), 2.0 * value + 1) for value in range(50)]
    shown = released({"x": "DOUBLE", "y": "DOUBLE"}, rows, {"x": {"kind": "noise", "together": ["y"]}})
    assert shown != rows
    assert [y - 2 * x for x, y in shown] == pytest.approx([1] * 50, abs=1e-5)


def test_null_stays_and_others_of_its_row_get_noise() -> None:
    rows: list[Row] = [(None if place % 3 == 0 else float(place), float(place**2)) for place in range(30)]
    shown = released({"x": "DOUBLE", "y": "DOUBLE"}, rows, {"x": {"kind": "noise", "together": "y"}})
    for (was, was_other), (now, other) in zip(rows, shown, strict=True):
        assert (now is None) == (was is None)
        assert was is None or was != now
        assert other != was_other


def test_correlations_of_different_rows_may_fit_no_numbers() -> None:
    """Pairs of columns are known in different rows: r(x, y) = r(y, z) = 1, r(x, z) = -1."""
    matrix = np.array([[[1, 1, -1], [1, 1, 1], [-1, 1, 1]]], dtype=float)
    roots = square_roots(matrix)
    assert np.diagonal(roots @ roots.transpose(0, 2, 1), axis1=1, axis2=2) == pytest.approx(1)


def test_zero_stays_where_it_is_kept() -> None:
    rows = [(place % 2 * place,) for place in range(40)]
    for kept in (True, False):
        shown = released({"x": "DOUBLE"}, rows, {"x": {"kind": "noise", "keep_zero": kept, "relative": 0.5}})
        zeros = [now for (was,), (now,) in zip(rows, shown, strict=True) if was == 0]
        assert (set(zeros) == {0}) == kept
        assert all(was != now for (was,), (now,) in zip(rows, shown, strict=True) if was)


@pytest.mark.parametrize(
    ("kind", "values", "low", "high"),
    [
        ("UTINYINT", [0, 255], 0, 255),
        ("TINYINT", [-128, 127], -128, 127),
        ("BIGINT", [-(2**63), 2**63 - 1], -(2**63), 2**63 - 1),
        ("UHUGEINT", [0, 2**128 - 1], 0, 2**128 - 1),
        ("DECIMAL(3,1)", [Decimal("-99.9"), Decimal("99.9")], Decimal("-99.9"), Decimal("99.9")),
        ("DECIMAL(38,0)", [Decimal("-" + "9" * 38), Decimal("9" * 38)], Decimal("-" + "9" * 38), Decimal("9" * 38)),
        ("FLOAT", [-3.3e38, 3.3e38], -3.5e38, 3.5e38),
    ],
)
def test_numbers_stay_in_the_range_of_their_type(kind: str, values: Sequence[Any], low: Any, high: Any) -> None:
    asked = {"x": {"kind": "noise", "form": "additive", "relative": 0.2}}
    with sa.connect(threads=1) as session:
        shown, _ = released_in(session, {"x": kind}, [(each,) for each in values] * 20, asked)
        assert session.connection.execute("SELECT DISTINCT typeof(x) FROM made").fetchall() == [(kind,)]
    assert all(low <= now <= high for (now,) in shown)
    assert all((was < 1) == (now < sum(values) / 2) for was, (now,) in zip([*values] * 20, shown, strict=True))
    assert len({*shown}) > 10


@pytest.mark.parametrize(
    "kind",
    ["SMALLINT", "INTEGER", "HUGEINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "DECIMAL(4,4)", "DOUBLE"],
)
def test_ends_of_types_are_in_them(kind: str) -> None:
    for end in ends_of(kind):
        [(found, kept)] = duckdb.execute(f"SELECT CAST(? AS {kind}), typeof(CAST(? AS {kind}))", [end] * 2).fetchall()
        assert float(found) == float(end)
        assert kept == kind
    if kind not in ("DOUBLE", "DECIMAL(4,4)"):
        with pytest.raises(duckdb.Error):
            duckdb.execute(f"SELECT CAST(CAST(? AS BIGNUM) + 1 AS {kind})", [ends_of(kind)[1]]).fetchall()


def test_strata_of_one_value_are_reported() -> None:
    rows: list[Row] = [("N", 1.0), ("N", 1.0), ("S", 1.0), ("S", 2.0)]
    with sa.connect(threads=1) as session:
        shown, report = released_in(
            session, {"region": "VARCHAR", "x": "DOUBLE"}, rows, {"x": {"kind": "noise", "within": "region"}}
        )
    assert shown[:2] == rows[:2]
    assert shown[2] != rows[2]
    assert report.perturbed[0].remarks == (
        '1 strata have one value of "x", so no deviation: their 2 rows show it without noise',
    )


def test_what_cannot_get_noise_is_refused_at_once() -> None:
    rows: list[Row] = [("N", 1.5, 7, 3), ("N", math.inf, 7, 4), ("N", 0.5, 7, 5), ("S", 2.0, 7, None)]
    asked = {
        "a": {"kind": "noise", "within": ["region"], "together": ["c"]},
        "b": {"kind": "noise"},
    }
    with pytest.raises(sa.PolicyError) as refused:
        released({"region": "VARCHAR", "a": "DOUBLE", "b": "INTEGER", "c": "BIGINT"}, rows, asked)
    assert [*refused.value.problems] == [
        '"a" has infinities, NaN or numbers beyond 1e100 in 1 row',
        '"a" has 1 strata, of 1 values together, which have no deviation: name fewer columns in within',
        '"b" has one value in all rows, which would stay: do not perturb it',
    ]


@pytest.mark.parametrize("kind", ["VARCHAR", "DATE"])
def test_only_numbers_get_noise(kind: str) -> None:
    asked = {"x": {"kind": "noise", "together": ["y"]}}
    with pytest.raises(sa.PolicyError, match=f'"y" has type {kind}, and noise is for numbers'):
        released({"x": "DOUBLE", "y": kind}, [(1.0, None), (2.0, None)], asked)


def test_nothing_is_left_of_values_with_masked_noise_of_a_deviation() -> None:
    with pytest.raises(sa.PolicyError, match="give relative below 1"):
        sa.Noise(relative=1)
    assert sa.Noise(relative=1, form="additive").relative == 1


@pytest.mark.parametrize("form", ["additive", "correlated"])
def test_noise_beyond_the_numbers_of_a_machine_is_refused(form: Any) -> None:
    for relative in (1.1e100, 1e308, math.inf, math.nan):
        with pytest.raises(sa.PolicyError, match="relative"):
            sa.Noise(relative=relative, form=form)
    asked = {"x": {"kind": "noise", "form": form, "relative": 1e100, "together": "y"}}
    rows = [(number * 1e98, number * 1e99) for number in range(9)]
    shown = released({"x": "DOUBLE", "y": "DOUBLE"}, rows, asked)
    assert all(math.isfinite(number) for row in shown for number in row)
    assert len({*shown}) == 9


def test_a_column_of_nulls_stays() -> None:
    assert released({"x": "INTEGER"}, [(None,)] * 3, {"x": {"kind": "noise"}}) == [(None,)] * 3
