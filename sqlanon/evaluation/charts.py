"""Charts: of audits, what was claimed against what was found; of plans, which classes a release shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.errors import PolicyError
from sqlanon.evaluation.plans import LIKELY, EpsilonSafePlan
from sqlanon.model.budget import spelled
from sqlanon.model.extras import extra_module
from sqlanon.publish.files import staged_file

if TYPE_CHECKING:
    from sqlanon.evaluation.audit import Audit

FORMATS = ("html", "svg", "png", "json")
COLOURS = {True: "#d62728", False: "#4c78a8", None: "#7f7f7f"}
VERDICTS = {True: "found, above the claim", False: "found, not above the claim", None: "found, without a claim"}
"""The words for a bound, by whether it violates a claim."""

BLACK = "#222222"


def write_chart(audits: Mapping[str, Audit], path: str | Path, *, replace: bool = False) -> None:
    """Draw audits by name, one above the other, as a file.

    Raises:
        EngineError: altair is not installed, or the file exists or cannot be written.
        PolicyError: the file ends in none of .html, .svg, .png and .json.
    """
    save(lambda: chart(audits), Path(path), replace=replace)


def save(draw: Callable[[], Any], target: Path, *, replace: bool) -> None:
    """Write a chart as the file that its ending asks for.

    Raises:
        EngineError: altair is not installed, or the file exists or cannot be written.
        PolicyError: the file ends in none of .html, .svg, .png and .json.
    """
    kind = refuse_format(target)
    drawn = draw()
    with staged_file(target, replace=replace) as staged:
        # Inline, so that the page needs nothing from elsewhere.
        drawn.save(str(staged), format=kind, **({"inline": True} if kind == "html" else {}))


def refuse_format(path: Path) -> str:
    """The format that a file's ending asks for.

    Raises:
        PolicyError: there is none.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise PolicyError("the chart cannot be drawn:", [f"{path} ends in none of .{', .'.join(FORMATS)}"])
    return kind


def required_altair() -> Any:
    """The module that draws.

    Raises:
        EngineError: it is not installed.
    """
    return extra_module("altair", extra="report", purpose="A chart")


def svg(audits: Mapping[str, Audit]) -> str:
    """The chart as an SVG element.

    Raises:
        EngineError: altair is not installed.
    """
    converter = extra_module("vl_convert", extra="report", purpose="A chart")
    return str(converter.vegalite_to_svg(chart(audits).to_dict()))


def chart(audits: Mapping[str, Audit]) -> Any:
    """The chart as altair has it: a bar from 0 to each lower bound, and a mark at each claim.

    Raises:
        EngineError: altair is not installed.
    """
    altair = required_altair()
    end = _end(audits)
    rows = [_row(name, audit, end) for name, audit in audits.items()]
    shown = [verdict for verdict in VERDICTS if any(audit.violates is verdict for audit in audits.values())]
    names = altair.Y("name:N", title=None, sort=None)
    scale = altair.Scale(domain=[0, end])
    colours = altair.Scale(
        domain=[VERDICTS[verdict] for verdict in shown], range=[COLOURS[verdict] for verdict in shown]
    )
    legend = altair.Legend(orient="bottom")
    base = altair.Chart(altair.InlineData(rows))
    found = base.mark_bar(height=16).encode(
        y=names,
        x=altair.X("found:Q", title="ε", scale=scale),
        color=altair.Color("verdict:N", title=None, legend=legend, scale=colours),
    )
    words = base.mark_text(align="left", dx=6, color=BLACK).encode(y=names, x=altair.X("end:Q"), text="words:N")
    claims = (
        base.transform_filter("isValid(datum.claimed)")
        .mark_tick(color=BLACK, thickness=3, size=26)
        .encode(y=names, x=altair.X("claimed:Q"))
    )
    title = altair.TitleParams("Privacy loss: claimed against found", subtitle=_subtitle(audits), anchor="start")
    return (found + words + claims).properties(title=title, width=480, height=altair.Step(36))


def _row(name: str, audit: Audit, end: float) -> dict[str, Any]:
    bound = audit.lower_bound
    found = end if math.isinf(bound) else bound
    claimed = None if audit.claimed is None else float(audit.claimed.epsilon)
    figure = "∞" if math.isinf(bound) else f"{bound:.3g}"
    return {
        "name": name,
        "found": found,
        "claimed": claimed,
        "end": max(found, claimed or 0.0),
        "words": f"ε = {figure}" if audit.exact else f"ε ≥ {figure}",
        "verdict": VERDICTS[audit.violates],
    }


def _end(audits: Mapping[str, Audit]) -> float:
    """Where the axis ends, with room for words behind the longest bar."""
    marks = [audit.lower_bound for audit in audits.values() if math.isfinite(audit.lower_bound)]
    marks += [float(audit.claimed.epsilon) for audit in audits.values() if audit.claimed is not None]
    return 1.25 * (max(marks, default=0.0) or 1.0)


def _subtitle(audits: Mapping[str, Audit]) -> list[str]:
    """What the bars are, of all that is drawn: the black marks are the claims."""
    facts = dict.fromkeys(_facts(audit) for audit in audits.values())
    return ["bars: ε that was found; black marks: ε that was claimed", *facts]


def _facts(audit: Audit) -> str:
    at = f"at δ = {spelled(audit.delta)}"
    if audit.exact:
        return f"{at}, computed"
    return f"{at}, from {audit.runs:,} runs on each table, with confidence {audit.confidence:g}"


LINES = {
    "shown_from": (f"{100 * LIKELY:g} % likely to be shown, from here up", "#08306b", [1, 0]),
    "lost_to": (f"{100 * LIKELY:g} % likely to be lost, from here down", "#6baed6", [1, 0]),
    "k": ("least k", "#d95f02", [1, 0]),
    "tight_k": ("least k by the tight δ", "#d95f02", [4, 3]),
}
"""By field of a sample: the name of its line, its colour and its dashes."""

BETWEEN = "#c6dbef"
PLAN_WIDTH, PLAN_HEIGHT = 560, 320
MARGIN = 1.25
"""How far the axis of rows goes beyond what is drawn."""


def plan_chart(plan: EpsilonSafePlan) -> Any:
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
            "Which classes an ε-safe release shows", subtitle=_subtitle_of_plan(plan), anchor="start", offset=12
        ),
        width=PLAN_WIDTH,
        height=PLAN_HEIGHT,
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


def _subtitle_of_plan(plan: EpsilonSafePlan) -> list[str]:
    node = f"{spelled(plan.epsilon_node)} for the node" if plan.epsilon_node else "the node is public"
    return [
        f"ε = {spelled(plan.budget.epsilon)} ({node}, {spelled(plan.epsilon_sampling)} for the sampling), "
        f"δ = {float(plan.budget.delta):g}; a table of {plan.rows:,} rows; {'tight k' if plan.tight else 'least k'}",
    ]
