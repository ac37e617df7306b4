"""The chart of accuracies by loss: a panel for each k and choice of columns, with the thesis beside its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlanon.evaluation.charts import BLACK, required_altair
from sqlanon.evaluation.results import Row

COLOURS = ("#d62728", "#ff9f43", "#08306b")
"""By loss."""

SOURCES = {"logistic": "here", "thesis": "in the thesis"}
LEAST, MOST = 0.75, 0.86
"""The accuracies that are drawn, from below LA to above BA; what is beyond is drawn at the edge."""

WIDTH = 260


def drawn(
    rows: Sequence[Row], sources: Mapping[str, Sequence[str]], losses: Sequence[str], across: Sequence[str]
) -> Any:
    """The chart of logistic regression as altair has it.

    Args:
        rows: those of all releases, and those of the bounds.
        sources: which figures are drawn of a choice of columns, ``logistic`` and ``thesis``; one below the other.
        losses: what a line is for.
        across: what stands in place of a loss in the rows that are lines across.

    Raises:
        EngineError: altair is not installed.
    """
    altair = required_altair()
    lines = []
    for design, figures in sources.items():
        of_design = [row for row in rows if row["columns"] == design]
        released = [row for row in of_design if row["loss"] in losses]
        limits = [row for row in of_design if row["loss"] in across]
        panels = [
            _panel(altair, [row for row in released if row["k"] == k], figures, losses, limits).properties(
                title=f'columns "{design}", k = {k}', width=WIDTH, height=200
            )
            for k in dict.fromkeys(row["k"] for row in released)
        ]
        lines.append(altair.hconcat(*panels))
    title = altair.TitleParams(
        "Logistic regression on UCI Adult, classification accuracy: the higher, the better", anchor="start", offset=12
    )
    return altair.vconcat(*lines).properties(title=title)


def _panel(
    altair: Any, rows: Sequence[Row], figures: Sequence[str], losses: Sequence[str], limits: Sequence[Row]
) -> Any:
    """Lines by suppression, dashed for the thesis; dotted across for the limits."""
    points = [
        {
            "loss": row["loss"],
            "source": SOURCES[name],
            "suppressed": f"{100 * row['suppression_limit']:g} %",
            "accuracy": row[name],
        }
        for row in rows
        for name in figures
    ]
    y = altair.Y("accuracy:Q", title=None, scale=altair.Scale(domain=[LEAST, MOST], clamp=True))
    lines = altair.Chart(altair.InlineData(points)).encode(
        x=altair.X("suppressed:O", title="suppressed, at most", sort=None, axis=altair.Axis(labelAngle=0)),
        y=y,
        color=altair.Color(
            "loss:N",
            title=None,
            sort=list(losses),
            scale=altair.Scale(domain=list(losses), range=list(COLOURS)),
            legend=altair.Legend(orient="bottom"),
        ),
        strokeDash=altair.StrokeDash(
            "source:N",
            title=None,
            sort=None,
            scale=altair.Scale(domain=list(SOURCES.values()), range=[[1, 0], [4, 3]]),
            legend=altair.Legend(orient="bottom", symbolType="stroke", symbolStrokeColor=BLACK),
        ),
    )
    highest = max(row["logistic"] for row in limits)
    return altair.layer(
        *(layer for row in limits for layer in _across(altair, row, y, above=row["logistic"] == highest)),
        lines.mark_line(),
        lines.mark_point(filled=True, size=40, opacity=1),
    )


def _across(altair: Any, row: Row, y: Any, *, above: bool) -> Iterator[Any]:
    """A dotted line and its name."""
    line = altair.Chart(altair.InlineData([{"of": row["loss"], "accuracy": row["logistic"]}])).encode(y=y)
    yield line.mark_rule(strokeDash=[2, 3], color=BLACK)
    named = line.encode(text="of:N", x=altair.value(WIDTH))
    yield named.mark_text(align="right", dx=-4, dy=-7 if above else 9, color=BLACK)
