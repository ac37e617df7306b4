"""The chart of a plan: how many rows a class must have to be shown, by the share of the rows that are sampled."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sqlanon.evaluation.audit_chart import BLACK, required_altair
from sqlanon.evaluation.plans import LIKELY, EpsilonSafePlan
from sqlanon.model.budget import spelled

LINES = {
    "shown_from": (f"{100 * LIKELY:g} % likely to be shown, from here up", "#08306b", [1, 0]),
    "lost_to": (f"{100 * LIKELY:g} % likely to be lost, from here down", "#6baed6", [1, 0]),
    "k": ("least k", "#d95f02", [1, 0]),
    "tight_k": ("least k by the tight δ", "#d95f02", [4, 3]),
}
"""By field of a sample: the name of its line, its colour and its dashes."""

BETWEEN = "#c6dbef"
WIDTH, HEIGHT = 560, 320
MARGIN = 1.25
"""How far the axis of rows goes beyond what is drawn."""


def drawn(plan: EpsilonSafePlan) -> Any:
    """The chart as altair has it.

    Raises:
        EngineError: altair is not installed.
    """
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
            "Which classes an ε-safe release shows", subtitle=_subtitle(plan), anchor="start", offset=12
        ),
        width=WIDTH,
        height=HEIGHT,
    )


def _best(altair: Any, plan: EpsilonSafePlan, scale: Any) -> list[Any]:
    """A mark at the sample that shows the smallest classes, with words above it."""
    best = plan.best
    k = best.tight_k if plan.tight else best.k
    words = f"smallest: {best.shown_from:,} rows, with β = {spelled(best.beta)} and k = {k:,}"
    mark = altair.Chart(
        altair.InlineData([{"beta": float(best.beta), "rows": best.shown_from, "words": words}])
    ).encode(x="beta:Q", y=altair.Y("rows:Q", scale=scale))
    return [
        mark.mark_point(filled=True, size=90, color=LINES["shown_from"][1], opacity=1),
        mark.mark_text(dy=-32, align=_align(best.beta / plan.samples[-1].beta), color=BLACK).encode(text="words:N"),
    ]


def _align(place: Fraction) -> str:
    """To which side words are of a place from 0 to 1, so that they stay within the chart."""
    return "left" if place < Fraction(1, 4) else "right" if place > Fraction(3, 4) else "center"


def _round(least: int, most: int) -> list[int]:
    """1, 2, 5, 10 and so on, from below the least to above the most."""
    return [
        figure
        for power in range(len(str(least)) - 1, len(str(most)) + 1)
        for figure in (10**power, 2 * 10**power, 5 * 10**power)
        if least / MARGIN <= figure <= most * MARGIN
    ]


def _subtitle(plan: EpsilonSafePlan) -> list[str]:
    node = f"{spelled(plan.epsilon_node)} for the node" if plan.epsilon_node else "the node is public"
    return [
        f"ε = {spelled(plan.budget.epsilon)} ({node}, {spelled(plan.epsilon_sampling)} for the sampling), "
        f"δ = {float(plan.budget.delta):g}; a table of {plan.rows:,} rows; {'tight k' if plan.tight else 'least k'}",
    ]
