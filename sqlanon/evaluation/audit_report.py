"""The result of an audit of privacy, in words and as a chart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ConfigDict

from sqlanon.errors import EngineError
from sqlanon.evaluation.results import BLACK, required_altair, save
from sqlanon.model.budget import Budget, ExactNumber, spelled
from sqlanon.model.extras import extra_module
from sqlanon.model.release import Result
from sqlanon.report.document import Document, count, facts, notes, paragraph

COLOURS = {True: "#d62728", False: "#4c78a8", None: "#7f7f7f"}
VERDICTS = {True: "found, above the claim", False: "found, not above the claim", None: "found, without a claim"}
"""The words for a bound, by whether it violates a claim."""


class Audit(Result):
    """The loss that a mechanism was shown to have on two neighbours.

    Attributes:
        lower_bound: ε is at least this at ``delta``, with ``confidence``; 0 if nothing was found, which proves nothing.
            If ``exact``, it is ε itself for these neighbours (inf if there is none), or below it if tails were cut off.
        delta: δ that it holds at.
        confidence: that all that is said is true; None if exact.
        runs: of the mechanism on each of the two tables; None if exact.
        direction: on which of them the event is likelier, such as ``table over neighbour``; None if nothing was found.
        event: what distinguished the tables, in words; None if exact, or nothing was found.
        bounded_runs: the runs on each of the tables that the bound is from; others chose the event.
        event_runs: in how many of them the event happened, on the likelier table first.
        claimed: what the mechanism was held to.
        violates: whether the bound is above what is claimed; None without a claim.
        exact: whether the distributions of outputs were compared, and not runs.
        divergence: the larger hockey-stick divergence of both directions at the claimed ε, if exact.
        notes: what the result does not say.
    """

    model_config = ConfigDict(ser_json_inf_nan="strings")

    lower_bound: float
    delta: ExactNumber
    confidence: float | None
    runs: int | None
    direction: str | None
    event: str | None
    bounded_runs: int | None = None
    event_runs: tuple[int, int] | None = None
    claimed: Budget | None
    violates: bool | None
    exact: bool
    divergence: float | None = None
    notes: tuple[str, ...]

    def chart(self, path: str | Path, *, replace: bool = False) -> None:
        """Draw what was claimed against what was found, as .html, .svg, .png or .json (Vega-Lite).

        Raises:
            EngineError: altair is not installed, or the file exists or cannot be written.
            PolicyError: the file has another ending.
        """
        write_chart({"audit": self}, path, replace=replace)

    def document(self) -> Document:
        event = () if self.event is None else (paragraph(f"Event: {self.event}."),)
        table = facts(self._facts(), "Privacy loss on the two tables")
        return Document("Audit of privacy", (table, *event, *notes("Notes", self.notes)))

    def _facts(self) -> Iterator[tuple[str, str]]:
        """The numbers in words."""
        yield "ε that was found" if self.exact else "ε is at least", f"{self.lower_bound:.4g}"
        yield "ε and δ that are claimed", "–" if self.claimed is None else str(self.claimed)
        yield "at δ", spelled(self.delta)
        if self.runs is not None and self.confidence is not None:
            yield "with confidence", f"{self.confidence:g}"
            yield "runs on each table", count(self.runs)
        if self.direction is not None and self.event_runs is not None:
            more, less = (count(runs) for runs in self.event_runs)
            yield "the event happened", f"{more} against {less} times in {count(self.bounded_runs)} runs"
            yield "and is likelier on", self.direction.partition(" over ")[0]

    def _repr_html_(self) -> str:
        table = super()._repr_html_()
        try:
            return table + svg({"audit": self})
        except EngineError:
            return table  # a notebook without the extra shows the numbers


def write_chart(audits: Mapping[str, Audit], path: str | Path, *, replace: bool = False) -> None:
    """Draw audits by name, one above the other, as a file.

    Raises:
        EngineError: altair is not installed, or the file exists or cannot be written.
        PolicyError: the file ends in none of .html, .svg, .png and .json.
    """
    save(lambda: chart(audits), Path(path), replace=replace)


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
