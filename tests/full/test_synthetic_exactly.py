"""The privacy loss of all draws for synthetic rows, exactly: on all small tables and their neighbours, draw by draw.

The proof of :class:`sqlanon.chance.accountant.RhoPortions` asks two things of a run: given what was drawn before,
neighbours draw the next output by distributions whose Rényi divergence is at most α times the portion, at every order
α; and the portions add up to no more than ρ. Here both are computed. What was drawn before is scripted, so that it is
the same on both tables, and nearly all of ρ is put on each kind of draw in turn: no draw hides behind another.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Self

import numpy as np
import pytest
from numpy.typing import NDArray

import sqlanon as sa
from sqlanon.chance.accountant import Accountant, RhoCharge
from sqlanon.chance.scales import scale_in_rho
from sqlanon.methods.synthetic import choosing
from sqlanon.methods.synthetic.beliefs import Columns
from sqlanon.methods.synthetic.choosing import GRID, Problem, candidates_of
from sqlanon.methods.synthetic.fitting import Measurement, Model, fitted
from sqlanon.methods.synthetic.measuring import Counted, measured

Counts = NDArray[np.int64]
Table = tuple[int, ...]

SIZES = (2, 2)
ORDERS = (1.1, 1.5, 2.0, 8.0, 64.0)
PROBE = 1_000_000_007
"""Noise that nothing else can be taken for."""

WORKLOADS: Mapping[str, Mapping[Columns, int]] = {"a pair": {(0, 1): 1}, "two columns": {(0,): 1, (1,): 1}}
BUDGET = sa.Budget(2, "1e-6")


@dataclass(frozen=True)
class Step:
    """A draw: what it costs, the scale of its noise, and what that is added to: counts, or scores of a choice."""

    kind: str
    rho: Fraction
    scale: float
    values: tuple[int, ...]

    def divergence(self, other: Self, order: float) -> float:
        """The Rényi divergence of what is drawn here from what is drawn there."""
        assert (self.kind, self.rho, self.scale) == (other.kind, other.rho, other.scale), "what is public differs"
        if self.kind == "choice":
            return divergence_of_choices(self.values, other.values, self.scale, order)
        differences = [abs(here - there) for here, there in zip(self.values, other.values, strict=True)]
        return sum(divergence_of_noise(difference, self.scale, order) for difference in differences)


@cache
def divergence_of_noise(difference: int, sigma: float, order: float) -> float:
    """Of discrete Gaussian noise from itself, moved by a whole number: summed over all that has any probability."""
    if not difference:
        return 0.0
    reach = math.ceil(order * difference + 40 * sigma)
    places = np.arange(-reach, reach + 1, dtype=np.float64)
    here, there = -(places**2) / (2 * sigma**2), -((places - difference) ** 2) / (2 * sigma**2)
    total = np.logaddexp.reduce(here)
    return float(np.logaddexp.reduce(order * here + (1 - order) * there) - total) / (order - 1)


def divergence_of_choices(here: Sequence[int], there: Sequence[int], scale: float, order: float) -> float:
    """Of choices by Gumbel noise, which choose by the exponentials of scores in units of the scale."""
    first, second = (np.array(scores, dtype=np.float64) / scale for scores in (here, there))
    first, second = first - np.logaddexp.reduce(first), second - np.logaddexp.reduce(second)
    return float(np.logaddexp.reduce(order * first + (1 - order) * second)) / (order - 1)


class Scripted(sa.SeededSource):
    """Gives all tables the same outputs, and writes down what they were drawn of."""

    def __init__(self, script: int) -> None:
        super().__init__(script)
        self.script = np.random.default_rng(script)
        self.steps: list[Step] = []
        self.asked: list[tuple[Fraction, float]] = []

    def discrete_gaussian(self, size: int, charge: RhoCharge, *, sensitivity: int = 1) -> Counts:
        self.asked.append((charge.rho, scale_in_rho(charge.rho, sensitivity)))
        return PROBE * np.arange(1, size + 1)

    def gumbel_choice(self, scores: Counts, charge: RhoCharge, *, sensitivity: int, runs: int = 1) -> Counts:
        scale = scale_in_rho(charge.rho, sensitivity)
        self.steps.append(Step("choice", charge.rho, scale, tuple(map(int, scores))))
        return self.script.integers(0, len(scores), runs)

    def noisy(self, counts: Counts, drawn: Counts) -> Counts:
        """What stands in place of noisy counts, once it is clear what these were."""
        ((rho, scale),) = self.asked
        self.asked.clear()
        assert np.array_equal(drawn.ravel(), counts.ravel() + PROBE * np.arange(1, counts.size + 1)), "noise is added"
        self.steps.append(Step("noise", rho, scale, tuple(map(int, counts.ravel()))))
        return self.script.integers(-20, 60, counts.shape)

    def error(self, rows: float, sets: int) -> None:
        """The same for the error, which is in units of the grid."""
        ((rho, scale),) = self.asked
        wrong = rows * GRID * sets - PROBE
        assert wrong == pytest.approx(round(wrong), abs=1e-3)
        self.steps.append(Step("error", rho, scale, (round(wrong),)))


def tables(largest: int) -> Iterator[Table]:
    """All tables with up to ``largest`` rows in a cell."""
    return itertools.product(range(largest + 1), repeat=math.prod(SIZES))


def with_more(table: Table, rows: int) -> Iterator[Table]:
    """With some rows more, wherever they are: those of one individual."""
    for cells in itertools.combinations_with_replacement(range(len(table)), rows):
        yield tuple(count + cells.count(cell) for cell, count in enumerate(table))


def steps_of(table: Table, workload: str, rows: int, script: int, method: sa.Synthetic) -> list[Step]:
    """All draws of a run on a table."""
    cells = np.array(table, dtype=np.int64).reshape(SIZES)
    counts = {(0,): cells.sum(1), (1,): cells.sum(0), (0, 1): cells}
    weights = candidates_of(SIZES, WORKLOADS[workload], 100)
    problem = Problem(SIZES, {each: counts[each] for each in weights}, weights, rows, 100, 3, {}, {0: cells.sum(1)})
    source = Scripted(script)
    portions = Accountant(None, dataset="", method="", policy_sha256="").charge_in_rho("marginals", method.budget)
    sets = list(WORKLOADS[workload])
    _, error = measured(Counted((), problem, sets), method, portions, source)
    if error is not None:
        source.error(error.rows, len(sets))
    assert sum(step.rho for step in source.steps) == portions.rho - portions.left
    assert sum(step.rho for step in source.steps) <= portions.rho
    return source.steps


@pytest.fixture(autouse=True)
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outputs that are the same for all tables; models are not fitted to the end, which changes no promise."""
    noisy = choosing.Run.noisy

    def replaced(run: choosing.Run, counts: Counts) -> Counts:
        assert isinstance(run.source, Scripted)
        return run.source.noisy(counts, noisy(run, counts))

    monkeypatch.setattr(choosing.Run, "noisy", replaced)
    monkeypatch.setattr(choosing, "STEPS", 8)
    monkeypatch.setattr(choosing, "LAST_STEPS", 8)


@cache
def even(rows: int) -> Model:
    """A model of some rows in each half, beside which scores of small tables rise and fall by all they can."""
    return fitted(SIZES, {(column,): Measurement(np.full(2, float(rows)), 1.0) for column in range(2)}, steps=100)


SHARES = {
    "as released": (Fraction(9, 10), "0.01"),
    "the choices alone": (Fraction(1, 1000), "0"),
    "the counts alone": (Fraction(999, 1000), "0"),
    "the report alone": (Fraction(9, 10), "0.999"),
}
"""The share of the counts, and that of the report."""


def shares_of_portions(of: Callable[[Table], list[Step]], rows: int, largest: int) -> Iterator[tuple[str, float]]:
    """What each draw loses between neighbours, as a share of what its portion allows, by its kind."""
    for table in tables(largest):
        for other in with_more(table, rows):
            for one, two in zip(of(table), of(other), strict=True):
                for order in ORDERS:
                    allowed = order * float(one.rho) * (1 + 1e-8) + 1e-11
                    yield one.kind, max(one.divergence(two, order), two.divergence(one, order)) / allowed


@pytest.mark.parametrize(
    ("share", "workload", "rows"),
    [*((share, workload, 1) for share in SHARES for workload in WORKLOADS),
     *((share, "two columns", 2) for share in SHARES if share != "as released")],
)  # fmt: skip
def test_no_draw_loses_more_than_its_portion(
    share: str, workload: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_losses(share, workload, rows, 1, monkeypatch)


def refuse_losses(share: str, workload: str, rows: int, largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No draw loses more than its portion on tables with up to ``largest`` rows in a cell.

    And each kind loses nearly all of it on some tables: what is charged is neither too little nor wasted.
    """
    counts, report = SHARES[share]
    monkeypatch.setattr(choosing, "MEASURED", counts)
    if share != "as released":
        monkeypatch.setattr(choosing, "fitted", lambda *_, **__: even(rows))
    method = sa.Synthetic(budget=BUDGET, report_share=report, rows_per_individual=rows)
    most: dict[str, float] = {}
    for kind, found in shares_of_portions(
        cache(lambda table: steps_of(table, workload, rows, 1, method)), rows, largest
    ):
        assert found <= 1, (share, kind)
        most[kind] = max(most.get(kind, 0), found)
    assert most["noise"] > 0.99
    if share != "as released" and workload == "two columns":
        assert most["choice"] > 0.9
    assert ("error" in most) == (report != "0")
    assert most.get("error", 1) > 0.99


def test_divergences_of_noise_are_those_of_the_theorem() -> None:
    """Canonne, Kamath & Steinke 2020: at most α d² / (2σ²), and just that where σ is large."""
    for sigma, difference, order in itertools.product((0.4, 1.0, 20.0), (1, 3), ORDERS):
        found = divergence_of_noise(difference, sigma, order)
        bound = order * difference**2 / (2 * sigma**2)
        assert found <= bound * (1 + 1e-9)
        assert found == pytest.approx(bound, rel=1e-6) or sigma < 1


def test_divergences_of_choices_are_those_of_the_theorem() -> None:
    """A bounded range of η: at most α η² / 8 (Cesar & Rogers 2021), and nearly that where η is small."""
    for scale in (1.0, 10.0):
        worst = divergence_of_choices([0, 1], [1, 0], scale, 2.0)
        assert 0.9 * 2 * (2 / scale) ** 2 / 8 < worst * (1 + (2 / scale) ** 2) and worst <= 2 * (2 / scale) ** 2 / 8
