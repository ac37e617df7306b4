"""What private methods draw for, against what the rows of one individual can change in any small table.

What a method says is seen as its source of chance sees it, and as its guarantee and the ledger do; what is true is
enumerated in :mod:`tests.neighbours`, which shares nothing with the package.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

import sqlanon as sa
from sqlanon.chance.accountant import Charge
from sqlanon.chance.exact import Integers
from sqlanon.chance.scales import difference_sensitivity
from sqlanon.model.methods.noisy import PrivateMethod
from sqlanon.model.policy_value import KINDS
from sqlanon.model.release import PrivateReport
from tests.fixed_noise import FixedNoise
from tests.neighbours import (
    Change,
    Children,
    Lost,
    Table,
    change,
    information,
    item_sets,
    largest_class,
    minimum_delta,
    node_score,
    specializations,
    splits,
    summed_change,
    tables,
)

SEXES, EYES, ILLNESSES, ITEMS = ("f", "m"), ("blue", "brown"), ("cold", "flu"), ("cheese", "milk")


@dataclass(frozen=True)
class People:
    """Tables of one kind of predictors.

    Attributes:
        columns: the predictors, and their types.
        cells: the values that a row can have of them, and of the illness.
        options: what DiffGen has to be given.
    """

    columns: Mapping[str, str]
    cells: Sequence[tuple[Any, ...]]
    options: Mapping[str, Any] = field(default_factory=dict)


CATEGORIES = People({"sex": "VARCHAR", "eyes": "VARCHAR"}, tuple(product(SEXES, EYES, ILLNESSES)))
NUMBERS = People({"age": "INTEGER"}, tuple(product(range(3), ILLNESSES)), {"numeric": {"age": (0, 3)}})
SETS = People(
    {"basket": "VARCHAR[]"},
    tuple(product(([], ["cheese"], ["milk"], ["cheese", "milk"]), ILLNESSES)),
    {"sets": ("basket",)},
)

BIT = 1 << 20
"""The parts of a bit that information is counted in."""


class Choice(NamedTuple):
    """What a source was asked to choose by: the score of every candidate, and what these are said to change by."""

    scores: tuple[int, ...]
    sensitivity: int
    is_monotonic: bool

    @property
    def difference(self) -> int:
        """What it is drawn for: what the difference between two scores changes by."""
        return difference_sensitivity(self.sensitivity, monotonic=self.is_monotonic)


class Asked(FixedNoise):
    """A source that keeps what it is asked for; half of each count is sampled."""

    def __init__(self) -> None:
        super().__init__(0)
        self.choices: list[Choice] = []
        self.noise_for: list[int] = []
        self.sampled: list[int] = []

    def discrete_laplace(self, size: int, charge: Charge, *, sensitivity: int = 1) -> Integers:
        self.noise_for.append(sensitivity)
        return super().discrete_laplace(size, charge, sensitivity=sensitivity)

    def discrete_laplace_tail(self, size: int, charge: Charge, *, sensitivity: int = 1) -> Integers:
        self.noise_for.append(sensitivity)
        return super().discrete_laplace_tail(size, charge, sensitivity=sensitivity)

    def choice(self, scores: Integers, charge: Charge, **options: Any) -> Integers:
        self.choices.append(Choice(tuple(scores.tolist()), options["sensitivity"], options.get("monotonic", False)))
        return super().choice(scores, charge, **options)

    def grouped_exponential_mechanism(
        self, scores: Integers, counts: Integers, charge: Charge, **options: Any
    ) -> tuple[Integers, Integers]:
        of_each = tuple(np.repeat(scores, counts).tolist())
        self.choices.append(Choice(of_each, options["sensitivity"], options.get("monotonic", False)))
        return super().grouped_exponential_mechanism(scores, counts, charge, **options)

    def thinned(self, counts: Integers, probability: Fraction) -> Integers:
        self.sampled += counts.tolist()
        return counts // 2


METHODS: Mapping[str, Callable[..., Any]] = {
    "diffgen": lambda **options: sa.DiffGen(specializations=1, **options),
    "diffgen, information": lambda **options: sa.DiffGen(specializations=1, utility="infogain", **options),
    "ipa": lambda **options: sa.IPA(budget=sa.Budget(20, "0.1"), minimum_count=3, **options),
    "ipa, pure": lambda **options: sa.IPA(budget=sa.Budget(20), minimum_count=3, **options),
    "histogram": lambda **options: sa.Histogram(**options),
    "histogram, with δ": lambda **options: sa.Histogram(budget=sa.Budget(1, "1e-6"), **options),
    "epsilon-safe": lambda **options: sa.EpsilonSafe(k=3, beta="1/2", **options),
    "epsilon-safe, of a sample": lambda **options: sa.EpsilonSafe(
        k=30, beta="1/10", delta="0.1", select_on="sample", **options
    ),
    "synthetic": lambda **options: sa.Synthetic(**options),
}
BY_LABELS = tuple(METHODS)[:2]
BY_COUNTS = tuple(name for name in METHODS if not name.startswith(("epsilon-safe", "synthetic")))
BY_NODES = ("ipa", "ipa, pure")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sa.Session]:
    with sa.connect(tmp_path_factory.mktemp("declared") / "w.duckdb") as found:
        for name, values in {"sex": SEXES, "eyes": EYES, "illness": ILLNESSES, "basket": ITEMS}.items():
            found.taxonomies.load(name, sa.Taxonomy.flat(values))
        yield found


def fill(session: sa.Session, people: People, table: Table) -> None:
    """Make the table ``people``, in which every row belongs to an individual of its own."""
    declared = ", ".join(f"{name} {kind}" for name, kind in people.columns.items())
    session.connection.execute(f"CREATE OR REPLACE TABLE people (person INTEGER, {declared}, illness VARCHAR)")
    rows = [cell for cell, count in zip(people.cells, table, strict=True) for _ in range(count)]
    marks = ", ".join("?" for _ in (*people.columns, "person", "illness"))
    session.connection.executemany(
        f"INSERT INTO people VALUES ({marks})", [[person, *row] for person, row in enumerate(rows)]
    )


class Runs:
    """Releases of small tables, each made once, and what their sources were asked for."""

    def __init__(self, session: sa.Session) -> None:
        self._session = session
        self._made: dict[str, tuple[Asked, Any]] = {}

    def __call__(
        self, name: str, people: People, table: Table, rows: int = 1, **options: Any
    ) -> tuple[Asked, PrivateReport]:
        """What a release that counts ``rows`` rows of each individual asks its source for; and its report."""
        key = repr((name, people, table, rows, options))
        if key not in self._made:
            fill(self._session, people, table)
            source, wanted = Asked(), policy(name, people, rows, **options)
            release = self._session.anonymize("people", wanted, "released", random_source=source, replace=True)
            self._made[key] = source, release.report
        return self._made[key]


@pytest.fixture(scope="module")
def asked(session: sa.Session) -> Runs:
    return Runs(session)


def policy(name: str, people: People = CATEGORIES, rows: int | None = None, **options: Any) -> sa.Policy:
    """A policy that counts ``rows`` rows of each individual; without them its unit is a row."""
    with_values = not name.startswith("epsilon-safe")
    if with_values and rows is not None:
        options["rows_per_individual"] = rows
    return sa.Policy(
        quasi_identifiers=list(people.columns),
        sensitive=["illness"] if with_values else [],
        identifiers=["person"] if with_values else ["person", "illness"],
        individual=None if rows is None else "person",
        method=METHODS[name](**people.options, **options),
    )


def nodes(whole: int, *, with_values: bool) -> list[Lost]:
    """The nodes of sex and eyes, in lexicographic order: each loses half of its labels if all of a column are one."""
    found = []
    for levels in product(range(2), repeat=2):
        together: dict[tuple[str, ...], list[int]] = {}
        for at, (sex, eyes, illness) in enumerate(CATEGORIES.cells):
            labels = ("*" if levels[0] else sex, "*" if levels[1] else eyes, illness if with_values else "*")
            together.setdefault(labels, []).append(at)
        found.append(Lost(sum(levels) * whole // 2, list(together.values())))
    return found


TABLES: Sequence[Table] = ((3, 1, 0, 2, 0, 0, 1, 4), (1, 0, 0, 0, 0, 0, 0, 1))


class TestScores:
    """Those that are chosen by are those of the oracle, so that what these change by is what theirs do."""

    @pytest.mark.parametrize("table", TABLES)
    @pytest.mark.parametrize("name", BY_LABELS)
    def test_of_labels(self, asked: Runs, name: str, table: Table) -> None:
        source, _ = asked(name, CATEGORIES, table)
        (choice,) = source.choices
        assert_scores(choice.scores, name, specializations([2, 2], 2), table)

    @pytest.mark.parametrize("name", BY_LABELS)
    def test_of_splits(self, asked: Runs, name: str) -> None:
        table = (2, 0, 1, 3, 0, 1)
        source, _ = asked(name, NUMBERS, table)
        split, _ = source.choices
        assert_scores(split.scores, name, splits(3, 2)[1:-1], table)

    @pytest.mark.parametrize("name", BY_LABELS)
    def test_of_item_sets(self, asked: Runs, name: str) -> None:
        table = (2, 0, 1, 3, 0, 1, 1, 1)
        source, _ = asked(name, SETS, table)
        (choice,) = source.choices
        assert_scores(choice.scores, name, item_sets(2, 2), table)

    @pytest.mark.parametrize("table", TABLES)
    @pytest.mark.parametrize("name", BY_NODES)
    def test_of_nodes(self, asked: Runs, name: str, table: Table) -> None:
        source, report = asked(name, CATEGORIES, table)
        (choice,) = source.choices
        whole = choice.sensitivity
        threshold = report.thresholds["cells"]
        assert threshold >= 3
        expected = [
            node_score(each, table, whole=whole, threshold=threshold) for each in nodes(whole, with_values=True)
        ]
        assert choice.scores == tuple(expected)

    @pytest.mark.parametrize("table", TABLES)
    def test_of_nodes_with_sampled_classes(self, asked: Runs, table: Table) -> None:
        source, _ = asked("epsilon-safe", CATEGORIES, table)
        assert_sampling_scores(source.choices[0], table, threshold=6)

    def test_of_nodes_that_are_chosen_on_the_sample(self, asked: Runs) -> None:
        """Scores depend on the sampled rows, and on no others."""
        table = (9, 0, 4, 0, 3, 0, 70, 0)
        source, _ = asked("epsilon-safe, of a sample", CATEGORIES, table)
        assert sorted(source.sampled) == [3, 4, 9, 70]
        assert_sampling_scores(source.choices[0], tuple(count // 2 for count in table), threshold=30)


def assert_scores(found: Sequence[int], name: str, candidates: Sequence[Children], table: Table) -> None:
    """Up to what rounding takes away from parts of a bit."""
    if name == "diffgen":
        assert list(found) == [largest_class(each, table) for each in candidates]
    else:
        for score, each in zip(found, candidates, strict=True):
            assert 0 <= BIT * information(each, table) - score < 1 + Decimal("1e-9")


def assert_sampling_scores(choice: Choice, table: Table, *, threshold: int) -> None:
    """A row that is not shown weighs five times as much as one whose labels say nothing."""
    whole, left = divmod(choice.sensitivity, 5)
    assert left == 0
    expected = [
        node_score(each, table, whole=5 * whole, threshold=threshold) for each in nodes(whole, with_values=False)
    ]
    assert choice.scores == tuple(expected)


class TestChoices:
    """They are drawn for what the rows of an individual can change, and for no more."""

    @pytest.mark.parametrize("rows", [1, 2])
    @pytest.mark.parametrize(
        ("people", "candidates", "table"),
        [
            (CATEGORIES, specializations([2, 2], 2), TABLES[0]),
            (NUMBERS, splits(3, 2), (2, 0, 1, 3, 0, 1)),
            (SETS, item_sets(2, 2), (2, 0, 1, 3, 0, 1, 1, 1)),
        ],
        ids=["labels", "splits", "item sets"],
    )
    @pytest.mark.parametrize("name", BY_LABELS)
    def test_of_labels(
        self,
        asked: Runs,
        name: str,
        people: People,
        candidates: Sequence[Children],
        table: Table,
        rows: int,
    ) -> None:
        source, _ = asked(name, people, table, rows)
        score, whole = (largest_class, 1) if name == "diffgen" else (information, BIT)
        true = change(lambda each: [score(found, each) for found in candidates], len(people.cells), 4, rows)
        assert true.score > 0
        for choice in source.choices:
            assert choice.sensitivity >= whole * true.score
            assert choice.difference >= whole * true.difference
            assert true.never_falls or not choice.is_monotonic
            if name == "diffgen":
                assert choice.sensitivity == choice.difference == true.score == rows

    @pytest.mark.parametrize("rows", [1, 2])
    @pytest.mark.parametrize("name", BY_LABELS)
    def test_of_labels_that_hold_different_rows(self, asked: Runs, name: str, rows: int) -> None:
        """A row can raise the information of one by a bit, and lower that of another: half the scale is too small."""
        source, _ = asked(name, CATEGORIES, TABLES[0], rows)
        (choice,) = source.choices
        candidates = specializations([2, 2], 2, of_all=False)
        score, whole = (largest_class, 1) if name == "diffgen" else (information, BIT)
        true = change(lambda table: [score(each, table) for each in candidates], 18, 2, rows)
        assert choice.sensitivity >= whole * true.score
        assert choice.difference >= whole * true.difference
        if name == "diffgen":
            assert choice.difference == true.difference == rows
        elif rows == 1:
            assert whole * true.difference > choice.sensitivity

    @pytest.mark.parametrize("rows", [1, 2])
    @pytest.mark.parametrize("name", BY_NODES)
    def test_of_nodes(self, asked: Runs, name: str, rows: int) -> None:
        source, _ = asked(name, CATEGORIES, TABLES[0], rows)
        (choice,) = source.choices
        # The labels of the last node say nothing: every row is lost in whole.
        whole = -choice.scores[-1] // sum(TABLES[0])
        for threshold in (1, 2, 3):
            true = change_of_nodes(whole, whole, threshold, rows, with_values=True)
            assert choice.sensitivity == true.score
            assert choice.difference >= true.difference
            assert true.never_falls is choice.is_monotonic is False

    def test_of_nodes_with_sampled_classes(self, asked: Runs) -> None:
        source, _ = asked("epsilon-safe", CATEGORIES, TABLES[0])
        (choice,) = source.choices
        for threshold in (2, 3):
            true = change_of_nodes(choice.sensitivity // 5, choice.sensitivity, threshold, 1, with_values=False)
            assert choice.sensitivity == true.score
            assert choice.difference >= true.difference > choice.sensitivity
            assert true.never_falls is choice.is_monotonic is False

    def test_information_is_rounded(self, session: sa.Session, asked: Runs) -> None:
        """Scores that differ by a bit may differ by more once they are floats, and rounded down to parts of a bit."""
        source, _ = asked("diffgen, information", CATEGORIES, TABLES[0])
        (candidate,) = specializations([2], 2)
        true = change(lambda table: [information(candidate, table)], 4, 4, 1)
        assert true.score == 1
        error = error_of_information(session, candidate, max_rows=6)
        assert 0 < BIT * error < Decimal("1e-6")
        for choice in source.choices:
            assert choice.sensitivity >= math.ceil(BIT * (true.score + 2 * error))
            assert choice.sensitivity <= BIT + 2


@cache
def change_of_nodes(labels: int, whole: int, threshold: int, rows: int, *, with_values: bool) -> Change:
    """What scores of nodes change by, whose labels lose a part of the whole that a row at risk loses."""
    found = nodes(labels, with_values=with_values)
    return change(
        lambda table: [node_score(each, table, whole=whole, threshold=threshold) for each in found],
        len(CATEGORIES.cells),
        4,
        rows,
    )


def error_of_information(session: sa.Session, candidate: Children, max_rows: int) -> Decimal:
    """The largest error of the macro on any table of ``max_rows`` rows or fewer, in bits."""
    found = [table for table in tables(4, max_rows) if any(table)]
    cells = {cell: place for place, child in enumerate(candidate) for (cell,) in child}
    counts = [
        (number, cells[cell], cell % 2, count)
        for number, table in enumerate(found)
        for cell, count in enumerate(table)
        if count
    ]
    names = ("candidate", "child", "class", "row_count")
    session.install()
    session.connection.register("counts", pa.table(dict(zip(names, zip(*counts, strict=True), strict=True))))
    query = "SELECT candidate, information_gain FROM anon_helpers.specialization_scores('counts')"
    gains = session.connection.execute(query).fetchall()
    assert len(gains) == len(found)
    return max(abs(Decimal(gain) - information(candidate, found[number])) for number, gain in gains)


class TestCounts:
    """Noise is for what the rows of an individual change of all counts together."""

    @pytest.mark.parametrize("rows", [1, 2])
    @pytest.mark.parametrize("name", BY_COUNTS)
    def test_of_combinations(self, asked: Runs, name: str, rows: int) -> None:
        source, _ = asked(name, CATEGORIES, TABLES[0], rows)
        assert set(source.noise_for) == {summed_change(lambda table: table, 8, 2, rows)}

    @pytest.mark.parametrize("rows", [1, 2])
    def test_of_what_is_not_shown(self, asked: Runs, rows: int) -> None:
        """Whatever is shown, by value."""
        source, report = asked("ipa", CATEGORIES, TABLES[0], rows)
        assert {"cells", "rolled-up"} <= {each.step for each in report.spent}
        for shown in ({0, 3}, {1}, set[int]()):
            left = [[cell for cell in range(place, 8, 2) if cell not in shown] for place in range(2)]
            true = summed_change(
                lambda table, left=left: tuple(sum(table[at] for at in each) for each in left), 8, 2, rows
            )
            assert set(source.noise_for) == {true}

    @pytest.mark.parametrize("rows", [1, 2])
    def test_of_item_sets(self, asked: Runs, rows: int) -> None:
        source, report = asked("diffgen", SETS, (2, 0, 1, 3, 0, 1, 1, 1), rows)
        assert "item sets" in {each.step for each in report.spent}
        true = summed_change(lambda table: tuple(table[at] + table[at + 1] for at in range(0, 8, 2)), 8, 2, rows)
        assert set(source.noise_for) == {true}


class TestSampledClasses:
    K, BETA, EPSILON = 5, "1/2", "3/4"

    @pytest.mark.parametrize("is_tight", [False, True])
    def test_they_cost_no_more_than_is_claimed(self, is_tight: bool) -> None:
        """All of δ, if it is tight; less if it is that of Li et al. 2012."""
        wanted = sa.EpsilonSafe(
            k=self.K, beta=self.BETA, epsilon_sampling=self.EPSILON, node={"sex": 0}, tight=is_tight
        )
        claimed = float(wanted.budget.delta)
        true = minimum_delta(0.75, self.K, 0.5, max_rows=40)
        assert true <= claimed
        if is_tight:
            assert claimed == pytest.approx(true, rel=1e-3)
            # What others show who have one row more would give away who makes a class of k.
            assert minimum_delta(0.75, self.K, 0.5, max_rows=40, from_rows=self.K + 1) > 2 * claimed

    def test_classes_of_k_rows_are_sampled(self, asked: Runs) -> None:
        """And none of fewer, that could show nothing."""
        options = {"node": {"sex": 0, "eyes": 0}}
        source, _ = asked("epsilon-safe", CATEGORIES, (3, 0, 2, 0, 4, 0, 5, 4), **options)
        assert sorted(source.sampled) == [3, 4, 9]


UNITS = [*((name, 3) for name in ("diffgen", "ipa", "histogram", "synthetic")), ("epsilon-safe", 1)]
"""Methods, and how many rows of each individual they count."""


class TestUnits:
    """What a guarantee and the ledger say that neighbours differ by is what the method draws for."""

    def test_all_private_methods_are_here(self) -> None:
        ours = (each for each in KINDS["method"].values() if each.__module__.startswith("sqlanon.model."))
        private = {each for each in ours if issubclass(each, PrivateMethod)}
        assert {type(make()) for make in METHODS.values()} == private

    @pytest.mark.parametrize(("name", "rows"), UNITS)
    def test_of_individuals(self, session: sa.Session, name: str, rows: int) -> None:
        table, release = self.released(session, name, rows)
        assert charged_units(session, table) == {("individual", "person", rows)}
        assert release.guarantee.neighbours == f'the rows of one value of "person"; at most {rows} of them are counted'
        assert f"differ by {release.guarantee.neighbours}" in release.guarantee.claims[0]
        assert not any("makes each of its rows from one row" in each for each in release.guarantee.conditions)

    @pytest.mark.parametrize("name", [name for name, _ in UNITS])
    def test_of_rows_of_a_query(self, session: sa.Session, name: str) -> None:
        """Nobody knows what these stand for."""
        table, release = self.released(session, name, None)
        assert charged_units(session, table) == {("row", None, None)}
        assert release.guarantee.neighbours == "the presence of one row"
        assert f"differ by {release.guarantee.neighbours}" in release.guarantee.claims[0]
        (condition,) = (each for each in release.guarantee.conditions if "makes each of its rows" in each)
        read = f'the data set "{table}" (table "{table}")'
        assert f"from one row of {read}, and no two from the same row, whatever other rows there are" in condition

    def released(self, session: sa.Session, name: str, rows: int | None) -> tuple[str, sa.Release]:
        """A table of its own, and a release of it for individuals, or by a query for rows."""
        fill(session, CATEGORIES, TABLES[0])
        table = f"{name} of {rows or 'rows'}"
        session.connection.execute(f'CREATE TABLE "{table}" AS FROM people')
        source, dataset = (f'FROM "{table}" WHERE person >= 0', table) if rows is None else (table, None)
        return table, session.anonymize(source, policy(name, rows=rows), "released", dataset=dataset, replace=True)


def charged_units(session: sa.Session, table: str) -> set[tuple[Any, ...]]:
    """What the neighbours differ by of all that was charged for a table."""
    return {
        (row["unit"], row["individual"], row["rows_per_individual"])
        for row in session.ledger.entries().to_pylist()
        if row["dataset"] == table
    }
