"""Groups of neighbours: the least sum of squares of a naive search, in strata, and what cannot be grouped."""

import math
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from statistics import median
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from tests.effort import examples
from tests.perturbed_tables import Row, released, released_in

EXAMPLES = settings(max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.too_slow])
HOSTILE = 'a""b"; drop table x --'


def best_groups(values: Sequence[float], k: int) -> list[list[float]]:
    """The cheapest of all cuts of sorted values into groups of k or more, by exact arithmetic."""
    ordered = sorted(values)

    @cache
    def best(start: int) -> tuple[Fraction, tuple[int, ...]]:
        if start == len(ordered):
            return Fraction(0), ()
        ends = (end for end in range(start + k, len(ordered) + 1) if end == len(ordered) or end + k <= len(ordered))
        costs = ((squares(ordered[start:end]) + best(end)[0], (end, *best(end)[1])) for end in ends)
        return min(costs, key=lambda each: each[0])

    ends = best(0)[1]
    return [ordered[start:end] for start, end in zip((0, *ends), ends, strict=False)]


def squares(values: Sequence[float]) -> Fraction:
    exact = [Fraction(value) for value in values]
    mean = sum(exact, Fraction(0)) / len(exact)
    return sum(((value - mean) ** 2 for value in exact), Fraction(0))


@st.composite
def tables(draw: Any) -> tuple[list[Row], int]:
    """Strata of two columns, NULL among them, each with k or more values, and NULLs beside them."""
    k = draw(st.integers(2, 4))
    numbers = st.one_of(st.integers(-50, 50), st.floats(-1e6, 1e6), st.just(1e9))
    rows: list[Row] = [("x", 9, float(value)) for value in range(k)]
    for stratum in draw(
        st.lists(st.tuples(st.sampled_from(["N", "S", None]), st.sampled_from([1, None])), unique=True)
    ):
        values = draw(st.lists(numbers, min_size=k, max_size=14))
        rows += [(*stratum, float(value)) for value in values]
        rows += [(*stratum, None)] * draw(st.integers(0, 2))
    return draw(st.permutations(rows)), k


@EXAMPLES
@example(([("x", 9, each) for each in (0.0, 0.0, 1.0, 1.0, 1.0, 1e9, 1e9, 1e9)], 2), "median")
@given(tables(), st.sampled_from(["mean", "median"]))
def test_groups_have_the_least_sum_of_squares_of_their_stratum(given_rows: tuple[list[Row], int], value: str) -> None:
    rows, k = given_rows
    asked = {HOSTILE: {"kind": "microaggregation", "k": k, "value": value, "within": ["region", "kind"]}}
    shown = released({"region": "VARCHAR", "kind": "INTEGER", HOSTILE: "DOUBLE"}, rows, asked)
    assert [row[:2] for row in shown] == [row[:2] for row in rows]
    for stratum in {row[:2] for row in rows}:
        pairs = [(was[2], now[2]) for was, now in zip(rows, shown, strict=True) if was[:2] == stratum]
        assert all(now is None for was, now in pairs if was is None)
        known = [(was, now) for was, now in pairs if was is not None]
        if not known:
            continue
        groups = best_groups([was for was, _ in known], k)
        if value == "median":
            wanted = sum(abs(each - median(group)) for group in groups for each in group)
            # Costs are sums of squares in DOUBLE: beside 1e9, groups of 0 and 1 can cost the same.
            spread = max(was for was, _ in known) - min(was for was, _ in known)
            assert sum(abs(was - now) for was, now in known) == pytest.approx(wanted, rel=1e-6, abs=1e-4 * spread)
        else:
            cost = float(sum(map(squares, groups)))
            total = float(squares([was for was, _ in known]))
            assert sum((was - now) ** 2 for was, now in known) == pytest.approx(cost, rel=1e-9, abs=1e-12 * total)
            assert math.fsum(now for _, now in known) == pytest.approx(math.fsum(was for was, _ in known), rel=1e-12)
        counts = Counter(now for _, now in known)
        assert min(counts.values()) >= k


@pytest.mark.parametrize(("k", "squared"), [(3, 4972465.58333), (5, 13957341.5)])
def test_mu_argus_finds_the_same(k: int, squared: float) -> None:
    """Column d of the formula table; the least sums of squares of sdcMicro's code of μ-Argus."""
    a = [7919 * i % 10007 for i in range(1, 2001)]
    b = [(31 * i * i + 17 * i) % 10007 for i in range(1, 2001)]
    rows = [(x * x // 1000 + y % 7,) for x, y in zip(a, b, strict=True)]
    shown = released({"d": "DOUBLE"}, rows, {"d": {"kind": "microaggregation", "k": k}})
    assert sum((was - now) ** 2 for (was,), (now,) in zip(rows, shown, strict=True)) == pytest.approx(squared, rel=1e-9)


def test_long_columns_are_cut_into_stretches() -> None:
    """The cut costs next to nothing, and no group is below k."""
    rows = [(float(place * 7919 % 10007) ** 2,) for place in range(9_999)]
    shown = released({"x": "DOUBLE"}, rows, {"x": {"kind": "microaggregation", "k": 4}})
    counts = Counter(now for (now,) in shown)
    assert 4 <= min(counts.values()) <= max(counts.values()) < 8
    ordered = sorted(was for (was,) in rows)
    naive = [*(ordered[at : at + 4] for at in range(0, 9_992, 4)), ordered[9_992:]]
    cost = sum((was - now) ** 2 for (was,), (now,) in zip(rows, shown, strict=True))
    assert cost <= float(sum(map(squares, naive))) * 1.001


@pytest.mark.parametrize(
    ("kind", "values", "wanted"),
    [
        ("INTEGER", [1, 2, 2, 100, 101, 102], [2, 2, 2, 101, 101, 101]),
        ("BIGINT", [2**63 - 1, 2**63 - 1, 2**63 - 2, *[-(2**63)] * 3], [2**63 - 1] * 3 + [-(2**63)] * 3),
        ("UTINYINT", [0, 0, 255, 255, 254, 0], [0, 0, 255, 255, 255, 0]),
        ("DECIMAL(5, 2)", ["0.01", "0.01", "0.02", "999.99", "999.99", "999.98"], ["0.01"] * 3 + ["999.99"] * 3),
        (
            "DECIMAL(38, 0)",
            ["9" * 38, "9" * 38, "9" * 37 + "8", *["-" + "9" * 38] * 2, "-" + "9" * 37 + "8"],
            ["9" * 38] * 3 + ["-" + "9" * 38] * 3,
        ),
        ("FLOAT", [0.1, 0.1, 0.1, 3e38, 3e38, 3e38], None),
    ],
)
def test_means_have_the_type_of_the_column(kind: str, values: list[Any], wanted: list[Any] | None) -> None:
    shown = [now for (now,) in released({"x": kind}, [(each,) for each in values], {"x": {"kind": "microaggregation"}})]
    if wanted is not None:
        assert shown == [Decimal(each) if isinstance(each, str) else each for each in wanted]
    else:
        assert shown == pytest.approx(values, rel=1e-6)
        assert len({*shown}) == 2


def test_a_column_of_nulls_stays() -> None:
    asked = {"x": {"kind": "microaggregation"}}
    with pytest.raises(sa.PolicyError, match="has no rows"):
        released({"x": "DOUBLE"}, [], asked)
    assert released({"x": "INTEGER"}, [(None,)] * 3, asked) == [(None,)] * 3


def test_what_cannot_be_grouped_is_refused_at_once() -> None:
    rows: list[Row] = [("N", 1.5, 7, 3), ("N", math.inf, 7, 4), ("N", math.nan, 7, 5), ("S", 2.0, 7, None)]
    asked: dict[str, dict[str, Any]] = {"a": {"within": ["region"]}, "b": {}, "c": {"k": 4}}
    with pytest.raises(sa.PolicyError) as refused:
        released(
            {"region": "VARCHAR", "a": "DOUBLE", "b": "INTEGER", "c": "BIGINT"},
            rows,
            {name: {"kind": "microaggregation", **each} for name, each in asked.items()},
        )
    assert [*refused.value.problems] == [
        '"a" has infinities, NaN or numbers beyond 1e100 in 2 rows',
        '"a" has 1 strata, of 1 values together, with fewer than k = 3 values: '
        "lower k, or name fewer columns in within",
        '"b" has one value in all rows, which would stay: do not perturb it',
        '"c" has 1 strata, of 3 values together, with fewer than k = 4 values: '
        "lower k, or name fewer columns in within",
    ]


@pytest.mark.parametrize("kind", ["VARCHAR", "DATE", "BOOLEAN"])
def test_only_numbers_have_means(kind: str) -> None:
    with pytest.raises(sa.PolicyError, match=f'"x" has type {kind}, and microaggregation is for numbers'):
        released({"x": kind}, [(None,)], {"x": {"kind": "microaggregation"}})


@pytest.mark.parametrize("k", [1, 1_001])
def test_k_has_bounds(k: int) -> None:
    with pytest.raises(sa.PolicyError, match="k"):
        sa.GroupedValues(k=k)


def test_the_report_counts_groups_that_show_their_value() -> None:
    with sa.connect(threads=1) as session:
        rows = [(each,) for each in [1, 1, 1, 50, 51, 52]]
        _, report = released_in(session, {"x": "DOUBLE"}, rows, {"x": {"kind": "microaggregation"}})
    [column] = report.perturbed
    assert column.changed == 2
    assert column.remarks == (
        '50.0 % of the 2 groups of "x" have one value, and show it: it is the true one of each of their rows',
    )


@pytest.mark.parametrize("count", [3, 4, 5])
def test_fewer_than_two_groups_are_one(count: int) -> None:
    rows = [(float(value**3),) for value in range(count)]
    shown = released({"x": "DOUBLE"}, rows, {"x": {"kind": "microaggregation", "k": 3}})
    assert {*shown} == {(sum(value for (value,) in rows) / count,)}


def test_groups_may_have_one_value_less_than_two_groups() -> None:
    rows = [(place // 5 * 100.0,) for place in range(8)]
    assert released({"x": "DOUBLE"}, rows, {"x": {"kind": "microaggregation", "k": 3}}) == rows


def test_weighted_means_keep_weighted_totals() -> None:
    rows = [(float(place * 7919 % 733), 1.0 + place * place % 7) for place in range(60)]
    columns, asked = {"income": "DOUBLE", "w": "DOUBLE"}, {"income": {"kind": "microaggregation", "k": 4}}
    totals = []
    for weight in (None, "w"):
        with sa.connect(threads=1) as session:
            shown, _ = released_in(session, columns, rows, asked, row_weight=weight, quality=sa.NCP())
        totals.append(sum(income * w for income, w in shown))
        assert min(Counter(income for income, _ in shown).values()) >= 4
    true = sum(income * w for income, w in rows)
    assert totals[1] == pytest.approx(true, rel=1e-12)
    assert abs(totals[0] - true) > 1


def test_values_without_a_weight_are_refused() -> None:
    rows = [(float(place), None if place == 3 else (2.0, 1.0, 1e-40)[place % 3]) for place in range(12)]
    with sa.connect(threads=1) as session, pytest.raises(sa.PolicyError, match="5 values in rows whose row_weight is"):
        asked = {"income": {"kind": "microaggregation"}}
        released_in(session, {"income": "DOUBLE", "w": "DOUBLE"}, rows, asked, row_weight="w", quality=sa.NCP())
