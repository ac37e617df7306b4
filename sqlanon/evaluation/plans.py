"""Plans of ε-safe releases, made without data: cost and loss of k and β, by size of the table and (ε, δ).

Such a release publishes the classes of k rows or more in a sample that has each row with probability β. A larger β has
more of a class in the sample, but requires a larger k. Some β in between therefore shows the smallest classes; it can
be computed beforehand.

Source: spec/epsafe.md (b).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic_core import PydanticCustomError

from sqlanon.errors import PolicyError
from sqlanon.evaluation.results import BLACK, Reproduced, required_altair, save
from sqlanon.model.budget import Budget, Exact, ExactNumber, as_float, exact, spelled
from sqlanon.model.release import Result
from sqlanon.model.sampled_classes import MAX_K, SHARES, least_rows, minimum_k
from sqlanon.report.document import Bar, Cell, Part, Table, notes, paragraph

INVALID = "the plan is not valid:"

LIKELY = 0.95  # probability from which a class counts as shown, or lost
STEPS = (1, 2, 5, 10, 20, 50, 100)  # possible distances of the β of a plan, in parts of ``SHARES``
MAX_SAMPLES = 20  # maximum number of β in a plan, besides the largest


class PlannedSample(Result):
    """The consequences of a β.

    Attributes:
        beta: the probability of each row to be in the sample.
        k: the least published count that δ allows.
        tight_k: the least count by the δ that is exact for one class; at most as large.
        sampled_rows: the mean rows of the sample.
        shown_from: rows from which a class is shown with a probability of 95 %.
        share: ``shown_from`` as a share of the table; above 1 if the table is too small.
        lost_to: rows up to which a class is lost with a probability of 95 %.
    """

    beta: ExactNumber
    k: int
    tight_k: int
    sampled_rows: int
    shown_from: int
    share: float
    lost_to: int


class EpsilonSafePlan(Result):
    """A plan: what ε-safe releases of tables of a size can show, by β.

    Attributes:
        rows: the rows of the table.
        budget: ε and δ of the whole release.
        epsilon_node: the part of ε for the choice of the node, on the whole table; 0 if it is public.
        epsilon_sampling: the part of ε for the sampling.
        tight: whether classes are shown and lost by ``tight_k``, not ``k``.
        samples: by β, ascending; the last is the largest that the ε of the sampling admits.
    """

    rows: int
    budget: Budget
    epsilon_node: ExactNumber
    epsilon_sampling: ExactNumber
    tight: bool
    samples: tuple[PlannedSample, ...]

    @property
    def best(self) -> PlannedSample:
        """The sample that shows the smallest classes; among equals the largest, which shows more of their rows."""
        return min(self.samples, key=lambda sample: (sample.shown_from, -sample.beta))

    @property
    def heading(self) -> str:
        return reported(self).title

    def parts(self) -> Iterator[Part]:
        found = reported(self)
        [shown] = found.tables
        most = round(1.1 * max(sample.shown_from for sample in self.samples)) + 1
        rows: list[list[Cell]] = [
            [*row, Bar((each.lost_to / most, (each.shown_from - each.lost_to) / most, 1 - each.shown_from / most))]
            for row, each in zip(shown.rows, self.samples, strict=True)
        ]
        yield Table(
            (*shown.headings, "classes"),
            rows,
            numbers=range(len(shown.headings)),
            title=shown.title,
            scale=f"classes of 0 to {most:,} rows",
            legend=("lost", "in between", "shown"),
        )
        yield from map(paragraph, found.findings)
        yield from notes("Notes", found.notes)

    def chart(self, path: str | Path, *, replace: bool = False) -> None:
        """Draw the classes that are shown, by β, as .html, .svg, .png or .json (Vega-Lite).

        Raises:
            EngineError: altair is not installed, or the file exists or cannot be written.
            PolicyError: the file has another suffix.
        """
        save(lambda: plan_chart(self), Path(path), replace=replace)


def plan_epsilon_safe(
    rows: int, epsilon: Exact, delta: Exact, *, epsilon_node: Exact = "0.1", tight: bool = False
) -> EpsilonSafePlan:
    """Plan what ε-safe releases can show of tables of a size, by the share of sampled rows. No data is read.

    Args:
        rows: the rows of the table.
        epsilon: the exact total ε, for the choice of the node and the sampling.
        delta: the exact δ of the sampling, above 0; the choice of the node has none.
        epsilon_node: the part of ε for the choice of the node, below it; 0 if the node is public.
        tight: whether k is the least by the exact δ of one class, not by that of Li et al. 2012.

    Raises:
        PolicyError: an argument is out of range; or ε of the sampling admits no β of 1/1000.
        EngineError: scipy is not installed.
    """
    budget, problems = Budget(epsilon, delta), []
    try:
        node = exact(epsilon_node)
    except PydanticCustomError as error:
        raise PolicyError(INVALID, [f"epsilon_node: {error.message()}"]) from None
    if not isinstance(rows, int) or rows < 1:
        problems.append("rows: must be a whole number of at least 1")
    if budget.delta == 0:
        problems.append("delta: must be above 0, as every sample costs some")
    if node >= budget.epsilon:
        problems.append("epsilon_node: must be below epsilon, the total of the node and the sampling")
    if problems:
        raise PolicyError(INVALID, problems)
    sampling = budget.epsilon - node
    samples = tuple(_planned(beta, rows, sampling, budget.delta, tight=tight) for beta in shares(sampling))
    return EpsilonSafePlan(
        rows=rows, budget=budget, epsilon_node=node, epsilon_sampling=sampling, tight=tight, samples=samples
    )


def shares(sampling: Fraction) -> list[Fraction]:
    """List the β of a plan: multiples of a round number, and the largest multiple of 1/1000 with ε >= -ln(1 - β)."""
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


NAME = "plan-epsilon-safe"  # of files

SHOWN = {
    "beta": "β",
    "k": "least k",
    "tight_k": "tight k",
    "sampled_rows": "sampled rows",
    "shown_from": "shown from",
    "share_per_mille": "‰ of table",
    "lost_to": "lost to",
}


def reported(plan: EpsilonSafePlan, chart: Any = None) -> Reproduced:
    """Make the table of a plan, with its findings and notes."""
    rows = [
        {
            **sample.model_dump(exclude={"share"}),
            "beta": spelled(sample.beta),
            "share_per_mille": _figure(1000 * sample.share),
        }
        for sample in plan.samples
    ]
    return Reproduced(
        title=f"ε-safe releases of {plan.rows:,} rows with {plan.budget}",
        rows=[{name: row[name] for name in SHOWN} for row in rows],
        shown=SHOWN,
        findings=list(_findings(plan)),
        notes=list(_notes(plan)),
        chart=chart,
    )


def _figure(number: float) -> str:
    """Format a number in three digits, or as many as it has before the point."""
    return f"{number:.3g}" if number < 1000 else f"{number:.0f}"


def _findings(plan: EpsilonSafePlan) -> Iterator[str]:
    best = plan.best
    k = best.tight_k if plan.tight else best.k
    if best.shown_from > plan.rows:
        yield (
            f"No class of the table is likely to be shown: that takes {best.shown_from:,} rows with β = "
            f"{spelled(best.beta)} and k = {k:,}, and more with any other β of these."
        )
    else:
        yield (
            f"The smallest classes are shown with β = {spelled(best.beta)} and k = {k:,}, of these: those of "
            f"{best.shown_from:,} rows or more. The table has at most {plan.rows // best.shown_from:,} such classes."
        )


def _notes(plan: EpsilonSafePlan) -> Iterator[str]:
    sampling = spelled(plan.epsilon_sampling)
    if plan.epsilon_node:
        yield (
            f"ε = {spelled(plan.budget.epsilon)} is {spelled(plan.epsilon_node)} for the choice of the node, on the "
            f"whole table, and {sampling} for the sampling, which has all of δ."
        )
    else:
        yield f"The node is public and costs nothing: all of ε = {sampling} is for the sampling."
    likely = f"{100 * LIKELY:g} %"
    yield (
        f"Shown from, lost to: a class of at least, or at most, this number of rows is shown, or lost, with a "
        f"probability of {likely}; by {'tight k' if plan.tight else 'least k'}. ‰ of table: the former, of all rows."
    )
    yield "Least k is by the δ of Li et al. 2012; tight k by the smaller one that is exact for one class."
    yield "Of a class that is shown, the sampled rows are: β of them on average."
    yield "No data was read: how many classes are that large depends on the table, and on the node."


# By field of a sample, the name, colour and dashes of its line.
LINES = {
    "shown_from": (f"{100 * LIKELY:g} % likely to be shown, from here up", "#08306b", [1, 0]),
    "lost_to": (f"{100 * LIKELY:g} % likely to be lost, from here down", "#6baed6", [1, 0]),
    "k": ("least k", "#d95f02", [1, 0]),
    "tight_k": ("least k by the tight δ", "#d95f02", [4, 3]),
}

BETWEEN = "#c6dbef"
PLAN_WIDTH, PLAN_HEIGHT = 560, 320
MARGIN = 1.25  # factor by which the axis of rows exceeds the data


def plan_chart(plan: EpsilonSafePlan) -> Any:
    altair = required_altair()
    shown = [{**sample.model_dump(), "beta": float(sample.beta)} for sample in plan.samples]
    names = [name for name, _, _ in LINES.values()]
    points = [
        {"beta": row["beta"], "rows": row[field], "line": name}
        for field, (name, _, _) in LINES.items()
        for row in shown
    ]
    x = altair.X(
        "beta:Q",
        title="β: the probability of a row to be in the sample",
        scale=altair.Scale(domain=[0, max(row["beta"] for row in shown)], nice=False),
        axis=altair.Axis(tickCount=10, gridOpacity=0.5),
    )
    figures = [point["rows"] for point in points]
    scale = altair.Scale(type="log", domain=[min(figures) / MARGIN, max(figures) * MARGIN], nice=False)
    lines = (
        altair.Chart(altair.InlineData(points))
        .mark_line(point=altair.OverlayMarkDef(size=18))
        .encode(
            x=x,
            y=altair.Y(
                "rows:Q",
                title="rows of a class (logarithmic)",
                scale=scale,
                axis=altair.Axis(values=_round(min(figures), max(figures)), format=",d", gridOpacity=0.5),
            ),
            color=altair.Color(
                "line:N",
                title=None,
                sort=None,
                scale=altair.Scale(domain=names, range=[colour for _, colour, _ in LINES.values()]),
                legend=altair.Legend(orient="bottom", columns=2, labelLimit=300, symbolType="stroke"),
            ),
            strokeDash=altair.StrokeDash(
                "line:N",
                title=None,
                sort=None,
                scale=altair.Scale(domain=names, range=[dashes for _, _, dashes in LINES.values()]),
            ),
        )
    )
    between = (
        altair.Chart(altair.InlineData(shown))
        .mark_area(color=BETWEEN, opacity=0.6)
        .encode(x=x, y=altair.Y("lost_to:Q", scale=scale), y2="shown_from:Q")
    )
    return altair.layer(between, lines, *_best(altair, plan, scale)).properties(
        title=altair.TitleParams(
            "Which classes an ε-safe release shows", subtitle=_subtitle_of_plan(plan), anchor="start", offset=12
        ),
        width=PLAN_WIDTH,
        height=PLAN_HEIGHT,
    )


def _best(altair: Any, plan: EpsilonSafePlan, scale: Any) -> list[Any]:
    best = plan.best
    k = best.tight_k if plan.tight else best.k
    # Align the words so that they stay within the chart.
    place = best.beta / plan.samples[-1].beta
    align = "left" if place < Fraction(1, 4) else "right" if place > Fraction(3, 4) else "center"
    words = f"smallest: {best.shown_from:,} rows, with β = {spelled(best.beta)} and k = {k:,}"
    mark = altair.Chart(
        altair.InlineData([{"beta": float(best.beta), "rows": best.shown_from, "words": words}])
    ).encode(x="beta:Q", y=altair.Y("rows:Q", scale=scale))
    return [
        mark.mark_point(filled=True, size=90, color=LINES["shown_from"][1], opacity=1),
        mark.mark_text(dy=-32, align=align, color=BLACK).encode(text="words:N"),
    ]


def _round(least: int, most: int) -> list[int]:
    return [
        figure
        for power in range(len(str(least)) - 1, len(str(most)) + 1)
        for figure in (10**power, 2 * 10**power, 5 * 10**power)
        if least / MARGIN <= figure <= most * MARGIN
    ]


def _subtitle_of_plan(plan: EpsilonSafePlan) -> list[str]:
    node = f"{spelled(plan.epsilon_node)} for the node" if plan.epsilon_node else "the node is public"
    return [
        f"ε = {spelled(plan.budget.epsilon)} ({node}, {spelled(plan.epsilon_sampling)} for the sampling), "
        f"δ = {float(plan.budget.delta):g}; a table of {plan.rows:,} rows; {'tight k' if plan.tight else 'least k'}"
    ]
