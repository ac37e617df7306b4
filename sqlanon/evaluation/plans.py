"""What k and β cost and lose, for a size of tables and an (ε, δ): plans of ε-safe releases, made without any data.

Such a release publishes the classes that have k rows or more in a sample that has each row with probability β. With a
larger β more of a class is in the sample, but k must be larger, too. So some β in between shows the smallest classes,
and which one that is can be computed beforehand.

Source: spec/epsafe.md (b).
"""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

from pydantic_core import PydanticCustomError

from sqlanon.errors import PolicyError
from sqlanon.model.budget import Budget, Exact, ExactNumber, as_float, exact, spelled
from sqlanon.model.release import Result
from sqlanon.model.sampled_classes import MAX_K, SHARES, least_rows, minimum_k
from sqlanon.report.document import Document

INVALID = "the plan is not valid:"

LIKELY = 0.95
"""With which probability a class is called shown, or lost."""

STEPS = (1, 2, 5, 10, 20, 50, 100)
"""By how many parts of :data:`SHARES` the β of a plan may differ."""

MAX_SAMPLES = 20
"""How many β a plan has at most, besides the largest."""


class PlannedSample(Result):
    """What a β comes to.

    Attributes:
        beta: the probability with which each row is in the sample.
        k: the least published count that δ allows for.
        tight_k: the same by the δ that is exact for one class; at most as large.
        sampled_rows: how many rows the sample has on average.
        shown_from: with this number of rows or more a class is shown with a probability of 95 %.
        share: that as a share of the table; above 1 if the table is too small.
        lost_to: with this number of rows or fewer a class is lost with a probability of 95 %.
    """

    beta: ExactNumber
    k: int
    tight_k: int
    sampled_rows: int
    shown_from: int
    share: float
    lost_to: int


class EpsilonSafePlan(Result):
    """What ε-safe releases of tables of a size can show, by β.

    Attributes:
        rows: how many the table has.
        budget: ε and δ of the release in all.
        epsilon_node: the part of ε for the choice of the node, on the whole table; 0 if it is public.
        epsilon_sampling: the part of ε for the sampling.
        tight: whether classes are shown and lost with ``tight_k``, not with ``k``.
        samples: by β, the largest that the ε of the sampling admits last.
    """

    rows: int
    budget: Budget
    epsilon_node: ExactNumber
    epsilon_sampling: ExactNumber
    tight: bool
    samples: tuple[PlannedSample, ...]

    @property
    def best(self) -> PlannedSample:
        """The sample that shows the smallest classes; of several the largest, which has more of their rows."""
        return min(self.samples, key=lambda sample: (sample.shown_from, -sample.beta))

    def document(self) -> Document:
        from sqlanon.evaluation.plan_report import plan_document

        return plan_document(self)

    def chart(self, path: str | Path, *, replace: bool = False) -> None:
        """Draw which classes are shown, by β, as .html, .svg, .png or .json (Vega-Lite).

        Raises:
            EngineError: altair is not installed, or the file exists or cannot be written.
            PolicyError: the file has another ending.
        """
        from sqlanon.evaluation.charts import plan_chart, save

        save(lambda: plan_chart(self), Path(path), replace=replace)


def plan_epsilon_safe(
    rows: int, epsilon: Exact, delta: Exact, *, epsilon_node: Exact = "0.1", tight: bool = False
) -> EpsilonSafePlan:
    """What ε-safe releases can show of tables of a size, by the share of the rows that are sampled. No data is read.

    Args:
        rows: how many the table has.
        epsilon: ε in all, exact, for the choice of the node and the sampling.
        delta: δ of the sampling, likewise, above 0; the choice of the node has none.
        epsilon_node: the part of ε for the choice of the node, below it; 0 if the node is public.
        tight: whether k is the least by the exact δ of one class, and not by that of Li et al. 2012.

    Raises:
        PolicyError: an argument is out of its range; or ε of the sampling admits no β of 1/1000.
        EngineError: scipy is not installed.
    """
    budget = Budget(epsilon, delta)
    node = _node(epsilon_node)
    _refuse(rows, budget, node)
    sampling = budget.epsilon - node
    samples = tuple(_planned(beta, rows, sampling, budget.delta, tight=tight) for beta in shares(sampling))
    return EpsilonSafePlan(
        rows=rows, budget=budget, epsilon_node=node, epsilon_sampling=sampling, tight=tight, samples=samples
    )


def shares(sampling: Fraction) -> list[Fraction]:
    """The β of a plan: multiples of a round number, and the largest multiple of 1/1000 with ε >= -ln(1 - β).

    Raises:
        PolicyError: there is none.
    """
    largest = min(SHARES - 1, math.floor(-SHARES * math.expm1(-as_float(sampling)) + 1e-9))
    if largest < 1:
        raise PolicyError(
            f"ε of the sampling is {spelled(sampling)}, which admits no beta of 1/{SHARES}: take a larger ε in all, "
            "or a smaller one for the node"
        )
    step = next(step for step in STEPS if largest <= MAX_SAMPLES * step)
    return [Fraction(parts, SHARES) for parts in (*range(step, largest, step), largest)]


def _planned(beta: Fraction, rows: int, sampling: Fraction, delta: Fraction, *, tight: bool) -> PlannedSample:
    spent, limit = as_float(sampling), as_float(delta)
    least, tight_least = (minimum_k(float(beta), spent, limit, tight=way) for way in (False, True))
    k = tight_least if tight else least
    shown, kept = (_rows(k, beta, probability) for probability in (LIKELY, 1 - LIKELY))
    return PlannedSample(
        beta=beta,
        k=least,
        tight_k=tight_least,
        sampled_rows=round(beta * rows),
        shown_from=shown,
        share=shown / rows,
        lost_to=kept - 1,
    )


def _rows(k: int, beta: Fraction, probability: float) -> int:
    found = least_rows(k, float(beta), probability)
    if found is None:
        raise PolicyError(f"a class would need more than {MAX_K:,} rows to be shown: take a larger δ, or ε")
    return found


def _node(epsilon: Exact) -> Fraction:
    try:
        return exact(epsilon)
    except PydanticCustomError as error:
        raise PolicyError(INVALID, [f"epsilon_node: {error.message()}"]) from None


def _refuse(rows: int, budget: Budget, node: Fraction) -> None:
    problems = []
    if not isinstance(rows, int) or rows < 1:
        problems.append("rows: must be a whole number of at least 1")
    if budget.delta == 0:
        problems.append("delta: must be above 0, for no sample has none")
    if node >= budget.epsilon:
        problems.append("epsilon_node: must be below epsilon, which is what the node and the sampling cost in all")
    if problems:
        raise PolicyError(INVALID, problems)
