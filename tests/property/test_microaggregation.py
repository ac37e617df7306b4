"""Microaggregation against naive MDAV and halving on random tables, and what holds of its groups on any table."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from statistics import fmean, median, multimode, pvariance
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.methods.microaggregation import grouping
from tests.effort import examples

EXAMPLES = settings(max_examples=examples(96), deadline=None, suppress_health_check=[HealthCheck.too_slow])

Row = tuple[Any, ...]  # numbers, texts or None
Point = tuple[Sequence[Any], Row, int]  # numbers in standard deviations or ranges, or texts; values; rows

VALUES: dict[str, Callable[[list[float]], float]] = {
    "mean": fmean,
    "median": median,
    "mode": lambda values: min(multimode(values)),
}


@cache
def session() -> sa.Session:
    return sa.connect(duckdb.connect(config={"threads": 2}))


def released(rows: Sequence[Row], method: sa.Microaggregation, **options: Any) -> tuple[dict[int, Row], sa.Report]:
    """The published numbers of each row, by its number, and the report."""
    names = [f"c{place}" for place in range(len(rows[0]))]
    kinds = [pa.string() if is_category(rows, place) else pa.float64() for place in range(len(names))]
    columns = {name: pa.array([row[place] for row in rows], kinds[place]) for place, name in enumerate(names)}
    table = pa.table({"n": range(len(rows)), **columns, "w": [1.0 + number % 3 for number in range(len(rows))]})
    policy = sa.Policy(quasi_identifiers=names, insensitive=["n", "w"], method=method, **options)
    report = session().anonymize(table, policy, "released", replace=True).report
    found = session().connection.execute(f"SELECT n, {', '.join(names)} FROM released").fetchall()
    return {number: row for number, *row in map(tuple, found)}, report  # type: ignore[misc]


def is_category(rows: Iterable[Row], place: int) -> bool:
    return any(isinstance(row[place], str) for row in rows)


def pattern(row: Row) -> tuple[bool, ...]:
    return tuple(value is None for value in row)


def scaled(rows: Sequence[Row]) -> dict[Row, list[Any]]:
    """Each row in standard deviations of its columns, or beside texts in their ranges; NULL at 0."""
    found: dict[Row, list[Any]] = {row: [] for row in rows}
    is_mixed = any(is_category(rows, place) for place in range(len(rows[0])))
    for place in range(len(rows[0])):
        known = [value for row in rows if (value := row[place]) is not None]
        if is_category(rows, place):
            for row, places in found.items():
                places.append(row[place] or "")
            continue
        mean = fmean(known) if known else 0.0
        spread = fmean([(value - mean) ** 2 for value in known]) ** 0.5 if known else 0.0
        if is_mixed and known:
            spread = max(known) - min(known)
        for row, places in found.items():
            value = row[place]
            places.append(0.0 if value is None or not spread else (value - mean) / spread)
    return found


def distance(one: Sequence[Any], other: Sequence[Any]) -> float:
    pairs = [*zip(one, other, strict=True)]
    if any(isinstance(x, str) for x, _ in pairs):
        return sum(x != y if isinstance(x, str) else abs(x - y) for x, y in pairs)
    return sum((x - y) ** 2 for x, y in pairs)


def farthest(free: list[Point], start: Sequence[Any]) -> Sequence[Any]:
    """The place of the last of the points that are farthest from a place."""
    return max(enumerate(free), key=lambda each: (distance(each[1][0], start), each[0]))[1][0]


def taken(free: list[Point], start: Sequence[Any], k: int) -> list[Point]:
    """Take the points nearest to a place from the free ones, until they have k rows."""
    found: list[Point] = []
    for point in sorted(free, key=lambda point: distance(point[0], start)):
        if sum(rows for *_, rows in found) < k:
            found.append(point)
            free.remove(point)
    return found


def naive_groups(rows: Sequence[Row], k: int) -> list[list[Row]]:
    """The better groups of MDAV and halving over points with counts, in each pattern of NULLs."""
    places, groups = scaled(rows), list[list[Row]]()
    for kind in {pattern(row) for row in rows}:
        counts = Counter(row for row in rows if pattern(row) == kind)
        few = sum(count for count in counts.values() if count < k)
        whole = [row for row, count in counts.items() if count >= k] if few == 0 or few >= k else []
        groups += [[row] for row in whole]
        ordered = sorted(counts.items(), key=lambda each: [0 if value is None else value for value in each[0]])
        free: list[Point] = [(places[row], row, count) for row, count in ordered if row not in whole]
        better = mdav([*free], k)
        if not any(is_category(rows, place) for place in range(len(rows[0]))):
            halved = halves(free, k)
            better = halved if squares(halved) < squares(better) * (1 - 1e-9) else better
        groups += [[row for _, row, _ in group] for group in better]
    return groups


def halves(points: list[Point], k: int) -> list[list[Point]]:
    """Halve points at a multiple of k along the column that varies most, down to groups."""
    if len(points) < 2 * k:
        return [points] if points else []
    spreads = [round(pvariance(places), 6) for places in zip(*[point[0] for point in points], strict=True)]
    widest = spreads.index(max(spreads))
    ordered = sorted(points, key=lambda point: (point[0][widest], [value or 0 for value in point[1]]))
    middle = (len(points) + k) // (2 * k) * k
    return halves(ordered[:middle], k) + halves(ordered[middle:], k)


def squares(groups: list[list[Point]]) -> float:
    """The sum of squared distances to the means of groups."""
    lost = 0.0
    for group in groups:
        rows = [places for places, _, count in group for _ in range(count)]
        centre = [fmean(of_column) for of_column in zip(*rows, strict=True)]
        lost += sum(distance(places, centre) for places in rows)
    return lost


def mdav(free: list[Point], k: int) -> list[list[Point]]:
    groups: list[list[Point]] = []
    while (rows := sum(count for *_, count in free)) >= 2 * k:
        centre = [
            min(multimode(of_column))
            if isinstance(of_column[0], str)
            else sum(place * count for place, count in zip(of_column, [point[2] for point in free], strict=True)) / rows
            for of_column in zip(*[point[0] for point in free], strict=True)
        ]
        first = farthest(free, centre)
        second = farthest(free, first)
        groups.append(taken(free, first, k))
        other = taken(free, second, k if rows >= 3 * k else rows)
        is_enough = sum(count for *_, count in other) >= k
        groups[-1 if not is_enough else len(groups) :] = [other if is_enough else groups[-1] + other]
    if rows >= k:
        groups.append(free)
    elif free:
        groups[-1] = groups[-1] + free
    return groups


@st.composite
def tables(draw: st.DrawFn) -> list[Row]:
    """Rows of few points without ties of distances, some of them with NULL, of any number from one pattern's k."""
    chance, width = np.random.default_rng(draw(st.integers(0, 10**9))), draw(st.integers(1, 3))
    points = chance.lognormal(size=(draw(st.integers(2, 30)), width)).tolist()
    nulls = draw(st.sampled_from([0, 0, 0.1]))
    kept = [tuple(None if chance.random() < nulls else value for value in point) for point in points]
    copies = draw(st.sampled_from([1, 2, 4]))
    return [row for row in kept for _ in range(chance.integers(1, copies + 1))]


@st.composite
def mixed_tables(draw: st.DrawFn) -> list[Row]:
    """Rows of numbers without ties of distances, or none, and of texts of few values, some of them with NULL."""
    chance, width = np.random.default_rng(draw(st.integers(0, 10**9))), draw(st.integers(0, 2))
    texts = draw(st.lists(st.sampled_from(["ab", "abcd"]), min_size=1, max_size=2))
    nulls, places = draw(st.sampled_from([0, 0, 0.1])), draw(st.permutations(range(width + len(texts))))
    rows: list[Row] = []
    for _ in range(draw(st.integers(2, 30))):
        values = [*chance.lognormal(size=width).tolist(), *(each[chance.integers(len(each))] for each in texts)]
        row = tuple(None if chance.random() < nulls else values[place] for place in places)
        rows += [row] * int(chance.integers(1, 3))
    return rows


@EXAMPLES
@given(tables() | mixed_tables(), st.integers(2, 4), st.sampled_from(sorted(VALUES)))
def test_groups_are_the_better_of_naive_mdav_and_halving(rows: list[Row], k: int, value: Any) -> None:
    of_patterns = Counter(map(pattern, rows))
    kept = [row for row in rows if of_patterns[pattern(row)] >= k]
    if not kept or all(len({row[place] for row in rows} - {None}) < 2 for place in range(len(rows[0]))):
        return
    if any(is_category(rows, place) != is_category(kept, place) for place in range(len(rows[0]))):
        return
    found, report = released(rows, sa.Microaggregation(k, value=value, suppression_limit=1))
    assert report.rows is not None
    assert (report.rows.released, report.rows.dropped) == (len(kept), len(rows) - len(kept))
    group_of = {row: place for place, group in enumerate(naive_groups(kept, k)) for row in group}
    members: dict[int, list[Row]] = defaultdict(list)
    for row in kept:
        members[group_of[row]].append(row)
    for number, shown in found.items():
        of_group = members[group_of[rows[number]]]
        for place, value_shown in enumerate(shown):
            known = [row[place] for row in of_group if row[place] is not None]
            assert len(known) in (0, len(of_group))
            if not known:
                assert value_shown is None
            else:
                is_text = isinstance(known[0], str)
                wanted = min(multimode(known)) if is_text else pytest.approx(VALUES[value](known), rel=1e-12)
                assert value_shown == wanted
    classes = Counter(map(tuple, found.values()))
    assert report.class_count == len(classes)
    assert report.min_class_size == min(classes.values()) >= k


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "WHOLE", 20)
    monkeypatch.setattr(grouping, "WIDEST", 4)
    monkeypatch.setattr(grouping, "AT_ONCE", 15)


@pytest.mark.usefixtures("small_blocks")
@settings(EXAMPLES, suppress_health_check=[*HealthCheck])
@given(
    st.lists(st.tuples(*[st.none() | st.integers(0, 6).map(float)] * 2), min_size=30, max_size=120),
    st.integers(2, 5),
    st.randoms(use_true_random=False),
)
def test_groups_in_blocks_hold_whatever_the_order_of_rows(rows: list[Row], k: int, chance: random.Random) -> None:
    if all(len({row[place] for row in rows} - {None}) < 2 for place in range(2)):
        return
    if max(Counter(map(pattern, rows)).values()) < k:
        return
    method = sa.Microaggregation(k, block=10, suppression_limit=1)
    found, report = released(rows, method)
    groups: dict[Row, list[Row]] = defaultdict(list)
    for number, shown in found.items():
        groups[tuple(shown)].append(rows[number])
    assert report.min_class_size == min(map(len, groups.values()))
    assert min(map(len, groups.values())) >= k
    for shown, members in groups.items():
        for place, value in enumerate(shown):
            known = [row[place] for row in members]
            assert (value is None) == (None in known) and len({each is None for each in known}) == 1
            assert value == pytest.approx(None if value is None else fmean(known))  # type: ignore[arg-type]
    order = list(range(len(rows)))
    chance.shuffle(order)
    again, _ = released([rows[number] for number in order], method)
    assert {order[number]: row for number, row in again.items()} == found
    released_rows = [found[number] for number in sorted(found)]
    lost = loss([rows[number] for number in sorted(found)], released_rows)
    assert report.loss == pytest.approx(lost, abs=1e-12)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("more", [1, 4, 20, 21])
def test_points_beyond_a_whole_block_are_no_group_of_few(more: int) -> None:
    """One point more than a whole block holds was a block, and a group, of its own."""
    points, method = grouping.WHOLE + more, sa.Microaggregation(5, block=10)
    _, report = released([(float(place), float(place * 7 % points)) for place in range(points)], method)
    assert (report.min_class_size or 0) >= 5


def loss(rows: Sequence[Row], shown: Sequence[Row]) -> float:
    """SSE/SST over the columns that vary."""
    lost, count = 0.0, 0
    for was, now in zip(zip(*rows, strict=True), zip(*shown, strict=True), strict=True):
        pairs = [(x, y) for x, y in zip(was, now, strict=True) if x is not None and y is not None]
        if len({x for x, _ in pairs}) > 1:
            mean = fmean([x for x, _ in pairs])
            variance = sum((x - mean) ** 2 for x, _ in pairs) / (len(pairs) - 1)
            lost += sum((x - y) ** 2 for x, y in pairs) / variance
            count += len(pairs) - 1
    return lost / max(count, 1)


def formula_table() -> list[Row]:
    pairs = [(7919 * i % 10007, (31 * i * i + 17 * i) % 10007) for i in range(1, 2001)]
    return [(float(a), float(b), float(a + b // 3), float(a * a // 1000 + b % 7)) for a, b in pairs]


def lattice() -> list[Row]:
    return [*map(tuple, np.random.default_rng(1).integers(0, 12, (2000, 3)).astype(float).tolist())]


@pytest.mark.parametrize(
    ("k", "sse_over_sst", "il1s", "groups"),
    [
        # sdcMicro 5.8.1.
        (3, 0.00100219240896, 134.952790705, 666),
        (5, 0.00207122811499, 195.931077048, 400),
        (10, 0.00455617153808, 296.349624033, 200),
    ],
)
def test_losses_are_the_reference(k: int, sse_over_sst: float, il1s: float, groups: int) -> None:
    _, report = released(formula_table(), sa.Microaggregation(k))
    assert report.loss == pytest.approx(sse_over_sst, rel=1e-9)
    assert report.losses["il1s"] == pytest.approx(il1s / 8000, rel=1e-9)
    assert report.class_count == groups


@pytest.mark.parametrize("k", [3, 10])
@pytest.mark.parametrize("rows", [formula_table(), lattice()], ids=["formula", "lattice"])
def test_halves_never_lose_more_than_mdav_alone(rows: list[Row], k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "WHOLE", 200)
    method = sa.Microaggregation(k, block=100)
    both = released(rows, method)[1].loss or 0
    monkeypatch.setattr(grouping.Grouping, "take_better_halves", lambda _: None)
    alone = released(rows, method)[1].loss or 0
    assert 0 < both <= alone
    assert rows == formula_table() or both < 0.99 * alone


def test_means_are_weighted_so_that_weighted_totals_stay() -> None:
    rows: list[Row] = [*map(tuple, np.random.default_rng(5).normal(size=(60, 2)).tolist())]
    found, _ = released(rows, sa.Microaggregation(4), row_weight="w")
    for place in range(2):
        totals = [
            sum((1.0 + number % 3) * (row[place] or 0) for number, row in each)
            for each in (list(enumerate(rows)), list(found.items()))
        ]
        assert totals[0] == pytest.approx(totals[1])
