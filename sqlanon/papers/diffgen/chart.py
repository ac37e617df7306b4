"""The charts of DiffGen: accuracy by specializations and ε, and beside what it competes with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlanon.evaluation.charts import BLACK, required_altair
from sqlanon.evaluation.results import Row

SHADES = ("#9ecae1", "#4292c6", "#2171b5", "#08306b")
"""By ε, ascending."""

COLOURS = ("#08306b", "#d62728", "#2ca02c", "#ff9f43")
"""By method."""

ACCURACY = "accuracy"
LEAST, MOST = 0.74, 0.87
"""The accuracies that are drawn, from below LA to above BA; what is beyond is drawn at the edge."""

WIDTH, HEIGHT = 300, 260


def drawn(by_count: Sequence[Row], compared: Sequence[Row], across: Mapping[str, float]) -> Any:
    """The chart as altair has it.

    Args:
        by_count: the rows of figure 4, by specializations.
        compared: the rows of figure 5A, by ε; one without ε is the same for all.
        across: accuracies that are lines across all panels, by what they are of.

    Raises:
        EngineError: altair is not installed.
    """
    altair = required_altair()
    panels = [
        _by_count(altair, method, by_count, across) for method in dict.fromkeys(row["method"] for row in by_count)
    ]
    panels.append(_by_epsilon(altair, compared, across))
    title = altair.TitleParams("Trees on UCI Adult, classification accuracy: the higher, the better", anchor="start")
    return altair.hconcat(*panels).resolve_scale(color="independent").properties(title=title)


def _by_count(altair: Any, method: str, rows: Sequence[Row], across: Mapping[str, float]) -> Any:
    """A line for each ε."""
    points = [
        {"h": row["specializations"], "epsilon": f"{row['epsilon']:g}", ACCURACY: row["tree"]}
        for row in rows
        if row["method"] == method
    ]
    x = altair.X("h:O", title="specializations (h)", axis=altair.Axis(labelAngle=0))
    return _panel(altair, points, x, "epsilon", SHADES, across).properties(title=method, width=WIDTH, height=HEIGHT)


def _by_epsilon(altair: Any, rows: Sequence[Row], across: Mapping[str, float]) -> Any:
    """A line for each method."""
    epsilons = sorted({row["epsilon"] for row in rows if row["epsilon"] is not None})
    points = [
        {"epsilon": f"{epsilon:g}", "method": _name(row), ACCURACY: row["tree"]}
        for row in rows
        for epsilon in (epsilons if row["epsilon"] is None else [row["epsilon"]])
    ]
    x = altair.X("epsilon:O", title="ε", sort=None, axis=altair.Axis(labelAngle=0))
    return _panel(altair, points, x, "method", COLOURS, across).properties(
        title="beside other methods", width=WIDTH, height=HEIGHT
    )


# More than six parameters: the points, the meaning of their places and colours, and what is drawn across them.
def _panel(
    altair: Any,
    points: Sequence[Mapping[str, Any]],
    x: Any,
    colour: str,
    shades: Sequence[str],
    across: Mapping[str, float],
) -> Any:
    """Lines of points, and dotted lines across."""
    names = list(dict.fromkeys(point[colour] for point in points))
    y = altair.Y(f"{ACCURACY}:Q", title=None, scale=altair.Scale(domain=[LEAST, MOST], clamp=True))
    lines = altair.Chart(altair.InlineData(list(points))).encode(
        x=x,
        y=y,
        color=altair.Color(
            f"{colour}:N",
            title="ε" if colour == "epsilon" else None,
            sort=names,
            scale=altair.Scale(domain=names, range=list(shades[: len(names)])),
            legend=altair.Legend(orient="bottom", columns=1 if colour == "method" else 4, labelLimit=300),
        ),
    )
    return altair.layer(
        *_across(altair, across, y),
        lines.mark_line(),
        lines.mark_point(filled=True, size=40, opacity=1),
    )


def _across(altair: Any, across: Mapping[str, float], y: Any) -> Iterator[Any]:
    """Dotted lines with their names: that of the highest above it, others below, where no points are."""
    highest = max(across.values())
    for name, accuracy in across.items():
        line = altair.Chart(altair.InlineData([{"of": name, ACCURACY: accuracy}])).encode(y=y)
        yield line.mark_rule(strokeDash=[2, 3], color=BLACK)
        named = line.encode(text="of:N", x=altair.value(WIDTH))
        yield named.mark_text(align="right", dx=-4, dy=-7 if accuracy == highest else 9, color=BLACK)


def _name(row: Row) -> str:
    """The method as a line across several ε is named."""
    return row["method"] if row["specializations"] is None else f"{row['method']}, h = {row['specializations']}"
