"""Tables, lists and numbers for people. Names go in as plain text, never as markup."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from sqlanon.cli.terminal.output import printable


def table(*headings: str, numbers: Iterable[int] = (), title: str | None = None) -> Table:
    """An empty table; the columns at the positions ``numbers`` are aligned to the right."""
    right = set(numbers)
    made = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
        title=None if title is None else plain(title),
        title_justify="left",
        title_style="bold",
    )
    for position, heading in enumerate(headings):
        made.add_column(plain(heading), justify="right" if position in right else "left", overflow="fold")
    return made


def plain(text: str, style: str = "") -> Text:
    """A text without markup and control characters."""
    return Text(printable(text), style=style)


def count(number: int | None) -> str:
    """``12,345``; a dash for nothing."""
    return "–" if number is None else f"{number:,}"


def percent(share: float | None) -> str:
    """``12.3 %``; a dash for nothing."""
    return "–" if share is None else f"{100 * share:.1f} %"


def figure(number: float | None) -> str:
    """A loss or an attained measure in six digits."""
    return "–" if number is None else f"{number:,.6g}"


def sentence_list(heading: str, sentences: Iterable[str]) -> Group:
    """Sentences in a list under a heading."""
    lines = Table.grid(padding=(0, 1))
    for sentence in sentences:
        lines.add_row(" •", plain(sentence))
    return Group(Text(heading, "bold"), lines)
