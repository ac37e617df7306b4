"""Numbers and tables of a release beside those of its source: by naive sums, and as sdcMicro measures them."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sql.test_oracle import EXAMPLES, ask, connection, table_call

Numbers = Sequence[float | None]
COLUMNS = ['b "quoted', "a; drop table x --", "anon_name"]
KEYS = st.lists(st.integers(-9, 9), unique=True, min_size=1, max_size=9)
CELLS = st.sampled_from([None, -2.0, 0.0, 0.5, 0.51, 3.0, 1e4])
ROWS = st.dictionaries(st.integers(0, 9), st.tuples(CELLS, CELLS, CELLS), max_size=9)
WEIGHTED = st.lists(st.tuples(CELLS, CELLS, CELLS, st.sampled_from([0.5, 1.0, 7.0])), max_size=9)


def register(name: str, columns: dict[str, pa.Array]) -> None:
    connection().execute("SELECT 1").fetchall()  # so that no earlier test has left a result unread
    connection().register(name, pa.table(columns))


def columns_of(rows: Sequence[Sequence[float | None]], order: int) -> dict[str, pa.Array]:
    arrays = [pa.array([row[place] for row in rows], pa.float64()) for place in range(3)]
    return dict([*zip(COLUMNS, arrays, strict=True)][::order])


def near(found: float | None, expected: float | None) -> bool:
    return found == expected or (
        found is not None and expected is not None and math.isclose(found, expected, rel_tol=1e-7, abs_tol=1e-7)
    )


# Row by row


def deviation(values: Sequence[float]) -> float:
    if len(values) < 2:
        return 0.0
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))


def is_close(was: float | None, shown: float | None, scale: float) -> bool:
    if was is None or shown is None:
        return was is shown
    return was == shown or abs(was - shown) <= 0.05 * scale


@EXAMPLES
@given(ROWS, ROWS)
def test_losses_are_naive_sums(
    was: dict[int, tuple[float | None, ...]], shown: dict[int, tuple[float | None, ...]]
) -> None:
    both = sorted({*was} & {*shown})
    if was and shown and not both:
        return
    register("was", {"id": pa.array([*was], pa.int64()), **columns_of([*was.values()], 1)})
    register("shown", {**columns_of([*shown.values()], -1), "ID": pa.array([*map(str, shown)], pa.string())})
    found = {row["column_name"]: row for row in ask(table_call("numeric_loss", "was", "shown", "id", COLUMNS))}
    assert {*found} == {None, *(COLUMNS if both else [])}
    cells = [[(was[key][place], shown[key][place]) for key in both] for place in range(3)]
    known = [[(x, y) for x, y in column if x is not None and y is not None] for column in cells]
    scales = [deviation([x for x, _ in column]) for column in known]
    losses = [
        sum(abs(x - y) for x, y in column) / scale / math.sqrt(2)
        for column, scale in zip(known, scales, strict=True)
        if scale
    ]
    squares = [
        sum((x - y) ** 2 for x, y in column) / scale**2 for column, scale in zip(known, scales, strict=True) if scale
    ]
    freedom = [len(column) - 1 for column, scale in zip(known, scales, strict=True) if scale]
    close = [[is_close(x, y, scale) for x, y in column] for column, scale in zip(cells, scales, strict=True)]
    measured = iter(zip(losses, squares, freedom, strict=True))
    for name, scale, pairs, near_it in zip(COLUMNS, scales, known, close, strict=True) if both else ():
        loss, square, degrees = next(measured) if scale else (None, None, None)
        assert found[name]["cell_count"] == len(pairs)
        assert near(found[name]["il1s"], loss)
        assert near(found[name]["il1s_per_cell"], None if loss is None else loss / len(pairs))
        assert near(found[name]["sse_over_sst"], None if square is None or degrees is None else square / degrees)
        assert near(found[name]["close_share"], sum(near_it) / len(both))
    assert found[None]["cell_count"] == sum(map(len, known))
    assert near(found[None]["il1s"], sum(losses) if losses else None)
    assert near(found[None]["sse_over_sst"], sum(squares) / sum(freedom) if losses else None)
    assert near(found[None]["close_share"], sum(map(all, zip(*close, strict=True))) / len(both) if both else None)


def in_blocks(table: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.float64]:
    """Each column by itself: the means of k sorted values, and of those that are left with the last k."""
    shown = table.copy()
    for place, column in enumerate(table.T):
        order = np.argsort(column, kind="stable")
        for block in np.split(order, range(k, len(table) - k + 1, k)):
            shown[block, place] = column[block].mean()
    return shown


def by_mdav(table: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.float64]:
    scaled, shown = (table - table.mean(0)) / table.std(0), table.copy()
    left = np.arange(len(table))

    def take(point: npt.NDArray[np.float64], count: int) -> None:
        nonlocal left
        group = left[np.argsort(((scaled[left] - point) ** 2).sum(1), kind="stable")[:count]]
        shown[group], left = table[group].mean(0), np.setdiff1d(left, group)

    def farthest(point: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        found: npt.NDArray[np.float64] = scaled[left[np.argmax(((scaled[left] - point) ** 2).sum(1))]]
        return found

    while len(left) >= 3 * k:
        first = farthest(scaled[left].mean(0))
        second = farthest(first)
        take(first, k)
        take(second, k)
    if len(left) >= 2 * k:
        take(farthest(scaled[left].mean(0)), k)
    take(scaled[left[0]], len(left))
    return shown


@pytest.mark.parametrize(
    ("method", "k", "sse_over_sst", "il1s", "close"),
    [
        # dUtility and dRisk of sdcMicro 5.8.1.
        (in_blocks, 3, 4.36822050425e-06, 8.22684045794, 0.9995),
        (by_mdav, 5, 0.00207122811499, 195.931077048, 0.4145),
    ],
)
def test_losses_of_microaggregation_are_the_reference(
    method: object, k: int, sse_over_sst: float, il1s: float, close: float
) -> None:
    i = np.arange(1, 2001)
    a, b = 7919 * i % 10007, (31 * i * i + 17 * i) % 10007
    was = np.column_stack([a, b, a + b // 3, a * a // 1000 + b % 7]).astype(float)
    assert callable(method)
    for name, table in (("was", was), ("shown", method(was, k))):
        register(name, {"i": pa.array(i), **{letter: pa.array(table[:, place]) for place, letter in enumerate("abcd")}})
    *_, total = ask(table_call("numeric_loss", "was", "shown", "i", [*"abcd"]))
    assert total["cell_count"] == 8000
    assert total["sse_over_sst"] == pytest.approx(sse_over_sst, rel=1e-9)
    assert total["il1s"] == pytest.approx(il1s, rel=1e-9)
    assert total["close_share"] == pytest.approx(close, rel=1e-9)


# Sums


def moments(
    rows: Sequence[Sequence[float | None]], place: int, other: int
) -> dict[str, tuple[float | None, float | None]]:
    """Each statistic with its error, by the rows in which both are known."""
    known = [(x, y, w) for x, y, w in ((row[place], row[other], row[3]) for row in rows) if None not in (x, y)]
    if not known:
        return {}
    x, y, w = np.array(known, float).T
    size, n = w.sum() ** 2 / (w**2).sum(), len(known)
    dx, dy = x - (w * x).sum() / w.sum(), y - (w * y).sum() / w.sum()
    spread = (w * dx**2).sum() / w.sum()
    if place != other:
        scale = math.sqrt((w * dx**2).sum() * (w * dy**2).sum())
        if scale < 1e-12:
            return {"correlation": (None, None)}
        r = (w * dx * dy).sum() / scale
        return {"correlation": (r, (1 - r * r) / math.sqrt(size))}
    variance = spread * n / (n - 1) if n > 1 else None
    error = None if variance is None else math.sqrt(variance / size)
    fourth = max((w * dx**4).sum() / w.sum() - spread**2, 0)
    return {
        "mean": ((w * x).sum() / w.sum(), error),
        "total": ((w * x).sum(), None if error is None else error * w.sum()),
        "variance": (variance, None if variance is None else math.sqrt(fourth / size)),
    }


def pairs_of_places() -> list[tuple[int, int]]:
    """Columns with themselves and the later ones, in the order of their names."""
    places = sorted(range(3), key=lambda place: COLUMNS[place])
    return [(place, other) for at, place in enumerate(places) for other in places[at:]]


@EXAMPLES
@given(WEIGHTED, WEIGHTED)
def test_moments_are_naive_sums(was: Sequence[Numbers], shown: Sequence[Numbers]) -> None:
    for name, rows, order in (("was", was, 1), ("shown", shown, -1)):
        register(name, {"w": pa.array([row[3] for row in rows], pa.float64()), **columns_of(rows, order)})
    found = ask(table_call("moment_changes", "was", "shown", COLUMNS, "w"))
    measured = {(row["column_name"], row["other_column"] or row["column_name"], row["statistic"]): row for row in found}
    for place, other in pairs_of_places():
        before, after = moments(was, place, other), moments(shown, place, other)
        for statistic in {*before, *after}:
            row = measured.pop((COLUMNS[place], COLUMNS[other], statistic))
            (x, error), (y, _) = before.get(statistic, (None, None)), after.get(statistic, (None, None))
            assert near(row["source_value"], x)
            assert near(row["release_value"], y)
            difference = None if x is None or y is None else y - x
            assert near(row["difference"], difference)
            if difference is None or error is None:
                assert row["standard_errors"] is None
            elif error > 1e-6 * abs(x or 1):  # smaller ones are rounding
                assert row["standard_errors"] == pytest.approx(difference / error, rel=1e-5, abs=1e-6)
    assert not measured


@EXAMPLES
@given(WEIGHTED, WEIGHTED)
def test_tables_are_counted_by_cells(was: Sequence[Numbers], shown: Sequence[Numbers]) -> None:
    for name, rows, order in (("was", was, 1), ("shown", shown, -1)):
        register(name, {"w": pa.array([row[3] for row in rows], pa.float64()), **columns_of(rows, order)})
    for weight in (None, "w"):
        before, after = Counter[tuple[float | None, ...]](), Counter[tuple[float | None, ...]]()
        for cells, rows in ((before, was), (after, shown)):
            for *labels, w in rows:
                cells[tuple(labels)] += w if weight else 1  # type: ignore[operator, assignment]
        every = {*before, *after}
        gaps = [abs(before[cell] - after[cell]) for cell in every]
        [found] = ask(table_call("table_changes", "was", "shown", COLUMNS, weight))
        assert found["cell_count"] == len(every)
        assert near(found["mean_difference"], sum(gaps) / len(gaps) if gaps else None)
        assert near(found["greatest_difference"], max(gaps, default=None))
        assert (found["emptied_cells"], found["filled_cells"]) == (len({*before} - {*after}), len({*after} - {*before}))
        if was and shown:
            shares = [(before[cell] / before.total(), after[cell] / after.total()) for cell in every]
            assert near(found["total_variation"], sum(abs(p - q) for p, q in shares) / 2)
            apart = sum((math.sqrt(p) - math.sqrt(q)) ** 2 for p, q in shares)
            assert near(found["hellinger"], math.sqrt(apart / 2))
        else:
            assert found["total_variation"] is found["hellinger"] is None
