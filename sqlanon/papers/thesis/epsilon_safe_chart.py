"""The chart of ε-safe anonymization: how likely good nodes are, by p and by ε', and what releases keep."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from sqlanon.evaluation.charts import BLACK, required_altair
from sqlanon.evaluation.results import Row
from sqlanon.papers.thesis.epsilon_safe_choice import (
    AS_PUBLISHED,
    CHOICE,
    ON_SAMPLE,
    ON_TABLE,
    SAMPLE_WEIGHT,
    TOLERATED,
    UNIFORM,
)
from sqlanon.papers.thesis.epsilon_safe_releases import NINE, named

SHADES = ("#c6dbef", "#9ecae1", "#6baed6", "#3182bd", "#08306b")
"""By ε', ascending."""

COLOURS = ("#9ecae1", "#2ca02c", "#3182bd", "#08306b", "#d62728")
"""By method: the private ones, by weight, and the one that draws on the sample."""

KEPT = {"shown": "rows shown", "precision": "Prec of their labels", "lm": "LM of their labels"}
LETTERS = 0.08
"""How high letters are, as a probability."""

WIDTH, HEIGHT = 260, 220


def drawn(rows: Sequence[Row]) -> Any:
    """The chart as altair has it.

    Raises:
        EngineError: altair is not installed.
    """
    altair = required_altair()
    choices = [row for row in rows if row["part"] == CHOICE]
    ((baseline,), thesis) = ([row for row in choices if row["method"] == method] for method in (UNIFORM, AS_PUBLISHED))
    penalties = list(dict.fromkeys(row["penalty"] for row in thesis))
    lines = [
        altair.hconcat(
            *(
                _by_factor(altair, thesis, penalty, tolerated, baseline)
                for penalty, tolerated in itertools.product(penalties[line : line + 1], TOLERATED)
            ),
            *([_by_epsilon(altair, choices, baseline)] if line == 0 else [_kept(altair, rows)]),
        ).resolve_scale(color="independent")
        for line in range(len(penalties))
    ]
    title = altair.TitleParams(
        "UCI Adult: the probability of a good node, as published (not private) and private, and what releases keep",
        anchor="start",
        offset=12,
    )
    return altair.vconcat(*lines).resolve_scale(color="independent").properties(title=title)


def _by_factor(altair: Any, rows: Sequence[Row], penalty: str, tolerated: float, baseline: Row) -> Any:
    """A line for each ε', as in figures 6.3 and 6.4."""
    points = [
        {"at": f"{row['penalty_factor']:g}", "line": f"{row['epsilon_node']:g}", "good": row["good"]}
        for row in rows
        if row["penalty"] == penalty and row["tolerated"] == tolerated
    ]
    x = altair.X("at:O", title="p", sort=None, axis=altair.Axis(labelAngle=0))
    from_when = "from the first row on" if tolerated == 0 else f"above {tolerated:g} %"
    return _lines(altair, points, x, "ε'", SHADES, baseline).properties(
        title=f"as published: penalty for {penalty} {from_when}", width=WIDTH, height=HEIGHT
    )


def _by_epsilon(altair: Any, rows: Sequence[Row], baseline: Row) -> Any:
    """A line for each private way to choose."""
    points = [
        {
            "at": f"{row['epsilon_node']:g}",
            "line": f"weight {SAMPLE_WEIGHT}, on the sample"
            if row["method"] == ON_SAMPLE
            else f"weight {row['weight']}",
            "good": row["good"],
        }
        for row in rows
        if row["method"] in (ON_TABLE, ON_SAMPLE)
    ]
    x = altair.X("at:O", title="ε'", sort=None, axis=altair.Axis(labelAngle=0))
    return _lines(altair, points, x, None, COLOURS, baseline).properties(
        title="private: EpsilonSafe", width=WIDTH, height=HEIGHT
    )


def _lines(altair: Any, points: Sequence[Any], x: Any, legend: str | None, shades: Sequence[str], baseline: Row) -> Any:
    """Lines of points, and the baseline."""
    names = list(dict.fromkeys(point["line"] for point in points))
    last = [point["good"] for point in points if point["at"] == points[-1]["at"]]
    below = any(baseline["good"] < good < baseline["good"] + LETTERS for good in last)
    y = altair.Y("good:Q", title=None, scale=altair.Scale(domain=[0, 1]))
    lines = altair.Chart(altair.InlineData(list(points))).encode(
        x=x,
        y=y,
        color=altair.Color(
            "line:N",
            title=legend,
            sort=names,
            scale=altair.Scale(domain=names, range=list(shades[: len(names)])),
            legend=altair.Legend(orient="bottom", columns=len(names) if legend else 2),
        ),
    )
    across = altair.Chart(altair.InlineData([{"good": baseline["good"], "of": baseline["method"]}])).encode(y=y)
    text = across.mark_text(align="right", dx=-4, dy=9 if below else -7, color=BLACK)
    name = text.encode(text="of:N", x=altair.value(WIDTH))
    return altair.layer(
        across.mark_rule(strokeDash=[2, 3], color=BLACK),
        lines.mark_line(),
        lines.mark_point(filled=True, size=40, opacity=1),
        name,
    )


def _kept(altair: Any, rows: Sequence[Row]) -> Any:
    """Bars of what releases of nine quasi-identifiers show."""
    shown = [
        {"method": named(row), "what": words, "share": row[name]}
        for row in rows
        if row["part"] == NINE
        for name, words in KEPT.items()
    ]
    methods = list(dict.fromkeys(each["method"] for each in shown))
    whats = list(KEPT.values())
    return (
        altair.Chart(altair.InlineData(shown))
        .mark_bar()
        .encode(
            y=altair.Y("method:N", title=None, sort=methods, axis=altair.Axis(labelLimit=300)),
            yOffset=altair.YOffset("what:N", sort=whats),
            x=altair.X("share:Q", title=None, scale=altair.Scale(domain=[0, 1])),
            color=altair.Color(
                "what:N",
                title=None,
                sort=whats,
                scale=altair.Scale(domain=whats, range=["#08306b", "#d62728", "#ff9f43"]),
                legend=altair.Legend(orient="bottom"),
            ),
        )
        .properties(title=NINE, width=WIDTH, height=HEIGHT)
    )
