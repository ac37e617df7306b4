"""Documents on a terminal, by rich. Names are printed as plain text, never as markup."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text as Words

from sqlanon.report.document import (
    Bar,
    Cell,
    Code,
    Document,
    Notes,
    Paragraph,
    Renderer,
    Section,
    SideBySide,
    Strips,
    Table,
    Text,
    Tone,
    printable,
)

STYLES: dict[Tone, str] = {"plain": "", "strong": "bold", "good": "green", "bad": "bold red", "doubtful": "yellow"}

BAR_WIDTH = 30  # in characters, where there is room

BAR_SIGNS = ("·", "▒", "█")
BAR_SIGNS_OF_ASCII = (".", "-", "#")
BAR_STYLES = ("dim", "yellow", "green")


def rendered(document: Document) -> list[RenderableType]:
    """Render a document for rich, without its title, which the user has just typed."""
    return _OnConsole().render(document)


class _OnConsole(Renderer[RenderableType]):
    def paragraph(self, part: Paragraph) -> RenderableType:
        return Words().join(map(_words, part.texts))

    def table(self, part: Table) -> RenderableType:
        made = Grid(
            box=box.SIMPLE_HEAD,
            pad_edge=False,
            collapse_padding=True,
            title=_words(part.title) if part.title else None,
            title_justify="left",
            title_style="bold",
            show_header=bool(part.headings),
        )
        width = len(part.headings) or max(map(len, part.rows), default=0)
        for position, heading in enumerate(part.headings or [""] * width):
            justify = "right" if position in part.numbers else "left"
            made.add_column(_words(heading), justify=justify, overflow="fold")  # type: ignore[arg-type]
        for row in part.rows:
            made.add_row(*map(_cell, row))
        return Group(made, _Legend(part)) if part.legend else made

    def notes(self, part: Notes) -> RenderableType:
        lines = Grid.grid(padding=(0, 1))
        for sentence in part.sentences:
            lines.add_row(" •", _words(sentence))
        return Group(Words(part.heading, "bold"), lines)

    def code(self, part: Code) -> RenderableType:
        lines = _words(part.text)
        return Group(Words(part.title, "bold"), lines) if part.title else lines

    def section(self, part: Section) -> RenderableType:
        remark = [_words(part.remark)] if part.remark else []
        return Group(Words(f"\n{printable(part.heading)}", "bold underline"), *remark, *map(self.part, part.parts))

    def side_by_side(self, part: SideBySide) -> RenderableType:
        return Group(*(self.part(each) for _, parts in part.columns for each in parts))


def _words(text: str | Text) -> Words:
    text = Text(text) if isinstance(text, str) else text
    return Words(printable(text.words), STYLES[text.tone])


def _cell(cell: Cell) -> RenderableType:
    match cell:
        case Bar():
            return _Bar(cell)
        case Strips():
            return Words(cell.words)
        case _:
            return _words(cell)


def _signs(options: ConsoleOptions) -> tuple[str, ...]:
    return BAR_SIGNS_OF_ASCII if options.ascii_only else BAR_SIGNS


@dataclass(frozen=True)
class _Bar:
    bar: Bar

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        width, shares = min(BAR_WIDTH, options.max_width), self.bar.shares
        ends = [round(width * sum(shares[: place + 1])) for place in range(len(shares))]
        lengths = [end - start for start, end in zip([0, *ends], ends, strict=False)]
        parts = zip(_signs(options), lengths, BAR_STYLES, strict=False)
        yield Words.assemble(*((sign * length, style) for sign, length, style in parts))


@dataclass(frozen=True)
class _Legend:
    table: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        signs = zip(_signs(options), self.table.legend, strict=False)
        yield Words(f"Bars: {self.table.scale}; {', '.join(f'{sign} {what}' for sign, what in signs)}.\n")
