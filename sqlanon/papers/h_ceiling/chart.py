"""The chart of h-ceiling and what it competes with: losses by k, and the errors of queries by attribute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlanon.evaluation.charts import required_altair
from sqlanon.evaluation.results import Row

COLOURS = {
    "h-ceiling": ("#9ecae1", "#4292c6", "#084594"),
    "k-anonymity": ("#d62728", "#ff9f43"),
    "relocation": ("#7f7f7f",),
}
"""Shades of one colour for one method; in the order of its releases."""

CATALOGS = {False: "without a catalog", True: "with the paper's catalog"}
LOSSES = {"lm": "LM", "rce": "RCE", "query_error": "query error (mean relative)"}
BY_ATTRIBUTE = "query_error_"
SHOWN_K = 5
"""The k of the paper's chart by attribute, figure 9."""


def drawn(rows: Sequence[Row], attributes: Sequence[str]) -> Any:
    """The chart as altair has it.

    Raises:
        EngineError: altair is not installed.
    """
    altair = required_altair()
    methods = list(dict.fromkeys(str(row["method"]) for row in rows))
    scale = altair.Scale(domain=methods, range=_colours(methods))
    colour = altair.Color(
        "method:N",
        title=None,
        sort=methods,
        scale=scale,
        legend=altair.Legend(orient="bottom", columns=3, labelLimit=300),
    )
    panels = altair.hconcat(*(_losses(altair, rows, measure, heading, colour) for measure, heading in LOSSES.items()))
    below = _by_attribute(altair, rows, attributes, methods, colour)
    return altair.vconcat(panels, below).properties(
        title=altair.TitleParams("h-ceiling on UCI Adult: the lower, the better", anchor="start", offset=12)
    )


def _losses(altair: Any, rows: Sequence[Row], measure: str, heading: str, colour: Any) -> Any:
    """Lines by k, dashed with a catalog; that of suppression is wide, since relocation loses the same rows."""
    shown = [
        {
            "method": row["method"],
            "catalog": CATALOGS[row["catalog"] is not None],
            "k": row["k"],
            "loss": row[measure],
            "width": 6 if str(row["method"]).endswith("suppressed") else 2,
        }
        for row in rows
    ]
    kinds = list(CATALOGS.values())
    dash = altair.StrokeDash(
        "catalog:N",
        title=None,
        sort=kinds,
        scale=altair.Scale(domain=kinds, range=[[1, 0], [4, 3]]),
        legend=altair.Legend(orient="bottom"),
    )
    base = altair.Chart(altair.InlineData(shown)).encode(
        x=altair.X("k:O", axis=altair.Axis(labelAngle=0)),
        y=altair.Y("loss:Q", title=None, scale=altair.Scale(zero=True)),
        color=colour,
    )
    width = altair.StrokeWidth("width:Q", scale=None, legend=None)
    lines = base.mark_line().encode(strokeDash=dash, strokeWidth=width, detail=["method:N", "catalog:N"])
    points = base.mark_point(filled=True, size=40, opacity=1)
    return (lines + points).properties(title=heading, width=200, height=200)


def _by_attribute(altair: Any, rows: Sequence[Row], attributes: Sequence[str], methods: list[str], colour: Any) -> Any:
    shown = [
        {"method": row["method"], "attribute": name.replace("_", " "), "error": row[BY_ATTRIBUTE + name]}
        for row in rows
        if row["k"] == SHOWN_K and row["catalog"] is None
        for name in attributes
    ]
    names = [name.replace("_", " ") for name in attributes]
    return (
        altair.Chart(altair.InlineData(shown))
        .mark_bar()
        .encode(
            x=altair.X("attribute:N", title=None, sort=names, axis=altair.Axis(labelAngle=0)),
            xOffset=altair.XOffset("method:N", sort=methods),
            y=altair.Y("error:Q", title=None),
            color=colour,
        )
        .properties(
            title=f"query error (mean relative) by attribute, k = {SHOWN_K}, without catalogs", width=720, height=200
        )
    )


def _colours(methods: Sequence[str]) -> list[str]:
    left = {name: list(shades) for name, shades in COLOURS.items()}
    return [left[method.partition(",")[0]].pop(0) for method in methods]
