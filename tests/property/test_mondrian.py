"""Mondrian against the naive twin on random tables: the same classes, labels and losses."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.model.lattice import Lattice
from sqlanon.model.privacy import PrivacyModel
from tests.effort import examples
from tests.naive_peel import Case
from tests.property.test_peeling import cases, session

EXAMPLES = settings(max_examples=examples(64), deadline=None, suppress_health_check=[HealthCheck.too_slow])

Numbers = tuple[int | None, ...]
Indexes = Sequence[int]


class NaiveMondrian:
    """LeFevre et al. 2006 in plain Python, over rows: quasi-identifiers with trees, then those with numbers."""

    def __init__(self, case: Case, numbers: Sequence[Numbers]) -> None:
        self.case, self.numbers = case, numbers
        self.places = [*range(len(case.trees)), *range(len(case.trees), len(case.trees) + len(numbers[0]))]

    def meets(self, rows: Indexes) -> bool:
        return self.case.judge.meets([self.case.rows[row] for row in rows])

    def values(self, rows: Indexes, place: int) -> list[int | None]:
        return [self.numbers[row][place - len(self.case.trees)] for row in rows]

    def level(self, rows: Indexes, place: int) -> int:
        return self.case.trees[place].finest((self.case.rows[row].values[place] for row in rows), 0)

    def width(self, rows: Indexes, place: int) -> float:
        if place < len(self.case.trees):
            return float(self.case.trees[place].loss(self.level(rows, place), self.case.rows[rows[0]].values[place]))
        values, known = self.values(rows, place), [each for each in self.values(rows, place) if each is not None]
        if not known or len(known) < len(values):
            return float(bool(known))
        whole = [each for each in self.values(range(len(self.numbers)), place) if each is not None]
        return (max(known) - min(known)) / max(max(whole) - min(whole), 1)

    def label(self, rows: Indexes, place: int) -> str | None:
        if place < len(self.case.trees):
            return self.case.trees[place].text(self.level(rows, place), self.case.rows[rows[0]].values[place])
        values = {*self.values(rows, place)}
        known = sorted(each for each in values if each is not None)
        if len(values) == 1:
            return str(known[0]) if known else None
        return "*" if None in values else f"[{known[0]}, {known[-1]}]"

    def sides(self, rows: Indexes, place: int) -> list[list[int]]:
        found: dict[object, list[int]] = defaultdict(list)
        if place < len(self.case.trees):
            level, above = self.level(rows, place), self.case.trees[place].above
            for row in rows:
                found[above[level - 1][self.case.rows[row].values[place]] if level else 0].append(row)
            return [*found.values()]
        ranks = [-(10**9) if each is None else each for each in self.values(rows, place)]
        median = sorted(ranks)[(len(ranks) - 1) // 2]
        if median == max(ranks):
            median = max((each for each in ranks if each < median), default=median)
        for row, rank in zip(rows, ranks, strict=True):
            found[rank > median].append(row)
        return [*found.values()]

    def classes(self, rows: Indexes) -> Iterator[Indexes]:
        for place in sorted(self.places, key=lambda place: (-round(self.width(rows, place), 6), place)):
            sides = self.sides(rows, place)
            if len(sides) > 1 and all(map(self.meets, sides)):
                for side in sides:
                    yield from self.classes(side)
                return
        yield rows


@st.composite
def tables(draw: st.DrawFn) -> tuple[Case, tuple[PrivacyModel, ...], list[Numbers]]:
    """A table with taxonomies at all levels and up to two columns of numbers, some of them NULL."""
    case, models = draw(cases(max_attributes=2))
    heights = case.lattice.heights
    lattice = Lattice(case.lattice.quasi_identifiers, heights, (0,) * len(heights), heights)
    case = replace(case, lattice=lattice, shares=None, min_share=0.0, allowed_rows=0)
    value = st.one_of(st.integers(-3, 9), st.integers(-3, 9), st.none())
    numbers = st.tuples(*[value] * draw(st.integers(0, 2)))
    return case, models, draw(st.lists(numbers, min_size=len(case.rows), max_size=len(case.rows)))


@EXAMPLES
@given(tables())
def test_classes_are_those_of_the_twin(of: tuple[Case, tuple[PrivacyModel, ...], list[Numbers]]) -> None:
    case, models, numbers = of
    names = [*case.lattice.quasi_identifiers, *(f"n{place}" for place in range(len(numbers[0])))]
    connection = session().connection
    kinds = [f'"{name}" {"INTEGER" if name.startswith("n") else "VARCHAR"}' for name in names]
    connection.execute(f"CREATE OR REPLACE TABLE data (i INTEGER, p INTEGER, s VARCHAR, {', '.join(kinds)})")
    for place, (row, found) in enumerate(zip(case.rows, numbers, strict=True)):
        values = [place, row.individual, f"v{row.sensitive}", *(f"v{value}" for value in row.values), *found]
        connection.execute(f"INSERT INTO data VALUES ({', '.join('?' for _ in values)})", values)
    for name, tree in zip((*case.lattice.quasi_identifiers, "s"), (*case.trees, case.sensitive_tree), strict=True):
        rows = [[tree.text(level, value) for level in range(len(tree.above))] for value in range(len(tree.above[0]))]
        session().taxonomies.load(name, sa.Taxonomy.from_rows(rows))
    policy = sa.Policy(
        quasi_identifiers=names,
        sensitive=["s"],
        insensitive=["i", "p"],
        individual="p" if case.counts_individuals else None,
        privacy=[*models],
        method=sa.Mondrian(),
        taxonomies={name: {"kind": "flat"} for name in names if name.startswith("n")},
    )
    naive = NaiveMondrian(case, numbers)
    every = range(len(case.rows))
    try:
        report = session().anonymize("data", policy, "released", replace=True).report
    except sa.UnsatisfiableError:
        assert not naive.meets(every)
        assume(False)
    expected, lost = {}, 0.0
    for rows in naive.classes([*every]):
        expected |= {row: tuple(naive.label(rows, place) for place in naive.places) for row in rows}
        lost += sum(naive.width(rows, place) for place in naive.places) * len(rows)
    query = f"SELECT i, {', '.join(names)} FROM released"
    assert {row: tuple(labels) for row, *labels in connection.execute(query).fetchall()} == expected
    assert abs(report.loss - lost / len(expected) / len(names)) < 1e-6
    assert session().verify("released", policy).met
