"""Chart parts that experiments share: lines, colours and dashes with legends, and printed numbers beside those here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from sqlanon.evaluation.results import BLACK, Row, required_altair

Size = tuple[int, Any]  # width and height; altair.Undefined for a height that fits


def unpivoted(
    rows: Iterable[Row], columns: Mapping[str, str], of: str, figure: str, kept: Callable[[Row], Row]
) -> list[Row]:
    """Make a point of each figure: what is ``kept`` of its row, the name ``of`` its column, and the figure."""
    return [
        {**kept(row), of: words, figure: row[name]}
        for row in rows
        for name, words in columns.items()
        if row[name] is not None
    ]


def lines_of(points: Sequence[Mapping[str, Any]], **encoding: Any) -> tuple[Any, Any]:
    altair = required_altair()
    base = altair.Chart(altair.InlineData(list(points))).encode(**encoding)
    return base.mark_line(), base.mark_point(filled=True, size=40, opacity=1)


def line_across(point: Mapping[str, Any], y: Any, width: int, dy: int) -> tuple[Any, Any]:
    altair = required_altair()
    line = altair.Chart(altair.InlineData([point])).encode(y=y)
    name = line.encode(text="of:N", x=altair.value(width))
    return line.mark_rule(strokeDash=[2, 3], color=BLACK), name.mark_text(align="right", dx=-4, dy=dy, color=BLACK)


# More than six parameters: all that a panel of lines has, and its limits.
def between_limits(
    points: Sequence[Mapping[str, Any]],
    limits: Mapping[str, float],
    axis: tuple[float, float],
    title: str,
    size: Size,
    **line: Any,
) -> Any:
    """Draw lines of ``accuracy``, with dotted limits across, the highest named above it and others below."""
    y, highest = figures("accuracy", domain=list(axis), clamp=True), max(limits.values())
    across = (
        layer
        for name, accuracy in limits.items()
        for layer in line_across({"of": name, "accuracy": accuracy}, y, size[0], -7 if accuracy == highest else 9)
    )
    layers = (*across, *lines_of(points, y=y, **line))
    return required_altair().layer(*layers).properties(title=title, width=size[0], height=size[1])


def colours(field: str, names: Iterable[str], shades: Sequence[str], title: str | None = None, **legend: Any) -> Any:
    """Assign shades to names, which may repeat, with a legend below the chart."""
    altair = required_altair()
    found = list(dict.fromkeys(names))
    return altair.Color(
        f"{field}:N",
        title=title,
        sort=found,
        scale=altair.Scale(domain=found, range=list(shades[: len(found)])),
        legend=altair.Legend(orient="bottom", **legend),
    )


def dashes(field: str, names: Sequence[str]) -> Any:
    """Dash the lines of the second of two names."""
    altair = required_altair()
    return altair.StrokeDash(
        f"{field}:N",
        title=None,
        sort=None,
        scale=altair.Scale(domain=list(names), range=[[1, 0], [4, 3]]),
        legend=altair.Legend(orient="bottom", symbolType="stroke", symbolStrokeColor=BLACK, symbolStrokeWidth=2),
    )


def steps(field: str, **more: Any) -> Any:
    """Place values from left to right in the order of the data."""
    altair = required_altair()
    return altair.X(f"{field}:O", sort=None, axis=altair.Axis(labelAngle=0), **more)


def figures(field: str, **scale: Any) -> Any:
    """Place figures upwards, without a title."""
    altair = required_altair()
    return altair.Y(f"{field}:Q", title=None, scale=altair.Scale(**scale) if scale else altair.Undefined)


def hues(field: str, title: str | None = None) -> Any:
    """Assign colours to names in the order of the data, with a legend below the chart."""
    altair = required_altair()
    return altair.Color(f"{field}:N", title=title, sort=None, legend=altair.Legend(orient="bottom"))


def panel(
    points: Sequence[Mapping[str, Any]],
    mark: str | Mapping[str, Any],
    title: str,
    size: Size,
    **encoding: Any,
) -> Any:
    """Draw a mark per point, in a panel of a width and a height."""
    altair = required_altair()
    chart = altair.Chart(altair.InlineData(list(points)), mark=mark, title=title, width=size[0], height=size[1])
    return chart.encode(**encoding)


LINES = {"type": "line", "point": True}


def below(lines: Iterable[Iterable[Any]], title: str, color: Literal["independent", "shared"] = "independent") -> Any:
    """Put lines of panels, whose colours differ or not, below each other and below a title."""
    altair = required_altair()
    charts = [altair.hconcat(*line).resolve_scale(color=color) for line in lines]
    named = altair.TitleParams(title, anchor="start", offset=12)
    return altair.vconcat(*charts).resolve_scale(color=color).properties(title=named)


SOURCES = {"paper": "in the paper", "here": "here"}
PANELS = 3  # of printed numbers in a line


def with_printed(chart: Any, printed: Sequence[Row]) -> Any:
    """Add a panel below the chart, if any, per table or figure of ``printed``: its numbers in the paper and here."""
    if not printed:
        return chart
    altair = required_altair()
    panels, names = [], list(SOURCES.values())
    for item in dict.fromkeys(row["item"] for row in printed):
        of_item = (row for row in printed if row["item"] == item)
        points = unpivoted(of_item, SOURCES, "source", "number", lambda row: {"what": row["what"]})
        base = altair.Chart(altair.InlineData(points)).encode(
            x=altair.X("number:Q", title=None),
            y=altair.Y("what:N", title=None, sort=None, axis=altair.Axis(grid=True, labelLimit=320)),
            color=colours("source", names, ("#d62728", "#08306b")),
            shape=altair.Shape(
                "source:N",
                title=None,
                sort=names,
                scale=altair.Scale(domain=names, range=["circle", "square"]),
                legend=altair.Legend(orient="bottom"),
            ),
        )
        panels.append(base.mark_point(filled=True, size=60, opacity=0.8).properties(title=item, width=200))
    below = altair.concat(*panels, columns=PANELS, title="Printed numbers, and those found here")
    if chart is None:
        return below
    return altair.vconcat(chart, below).resolve_scale(
        color="independent", shape="independent", strokeDash="independent"
    )
