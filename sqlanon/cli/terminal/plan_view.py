"""A plan for people: a table with a bar for each β, and what it says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType
from rich.text import Text

from sqlanon.cli.terminal.tables import plain, table
from sqlanon.cli.terminal.views import notes_view
from sqlanon.evaluation.plan_report import reported
from sqlanon.evaluation.plans import EpsilonSafePlan
from sqlanon.evaluation.results import cells

WIDTH = 30
"""Of a bar, in characters, where there is room."""

SIGNS = ("·", "▒", "█")
SIGNS_OF_ASCII = (".", "-", "#")
"""For classes that are lost, that are neither, and that are shown."""


@dataclass(frozen=True)
class Bar:
    """Which classes are lost, and which are shown, from 0 rows at the left to the most at the right."""

    lost_to: int
    shown_from: int
    most: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        width = min(WIDTH, options.max_width)
        lost, shown = (round(width * rows / self.most) for rows in (self.lost_to, self.shown_from))
        signs = signs_of(options)
        parts = zip(signs, (lost, shown - lost, width - shown), ("dim", "yellow", "green"), strict=True)
        yield Text.assemble(*((sign * length, style) for sign, length, style in parts))


@dataclass(frozen=True)
class Legend:
    """What the signs of bars are."""

    most: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        lost, between, shown = signs_of(options)
        yield Text(f"Bars: classes of 0 to {self.most:,} rows; {lost} lost, {between} in between, {shown} shown.\n")


def signs_of(options: ConsoleOptions) -> tuple[str, str, str]:
    """The signs that the terminal can show."""
    return SIGNS_OF_ASCII if options.ascii_only else SIGNS


def plan_view(plan: EpsilonSafePlan) -> list[RenderableType]:
    """The table of a plan, what it says, and how it is to be read."""
    found = reported(plan)
    most = round(1.1 * max(sample.shown_from for sample in plan.samples)) + 1
    made = table(*found.shown.values(), "classes", numbers=range(len(found.shown)), title=found.title)
    for row, sample in zip(found.rows, plan.samples, strict=True):
        made.add_row(*cells(found, row), Bar(sample.lost_to, sample.shown_from, most))
    return [made, Legend(most), *map(plain, found.findings), Text(), *notes_view(found.notes)]
