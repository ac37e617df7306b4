"""Documents as fragments of HTML, for notebooks and pages; every text of them is escaped."""

from __future__ import annotations

import html
from collections.abc import Sequence

from sqlanon.report import svg
from sqlanon.report.document import (
    Bar,
    Bars,
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
)

STYLES: dict[Tone, str] = {
    "plain": "",
    "strong": "font-weight:bold",
    "good": "color:#1a7f37",
    "bad": "color:#c1121f;font-weight:bold",
    "doubtful": "color:#9a6700",
}
BAR_COLOURS = ("#c9ccd1", "#e3b341", "#2da44e")
FRAME_HEIGHT = 900
"""Pixels: the page of a lattice of eight columns fits in."""
LEFT, RIGHT = "text-align:left", "text-align:right"


def fragment(document: Document) -> str:
    """The parts of a document, without its title."""
    return "".join(_AsHtml().render(document))


def framed(page: str, title: str) -> str:
    """A whole page in a frame of its own, whose script sees nothing of the notebook."""
    return (
        f'<iframe title="{html.escape(title)}" sandbox="allow-scripts" srcdoc="{html.escape(page)}" '
        f'style="width:100%;height:{FRAME_HEIGHT}px;border:0"></iframe>'
    )


class _AsHtml(Renderer[str]):
    def paragraph(self, part: Paragraph) -> str:
        return f"<p>{''.join(map(_words, part.texts))}</p>"

    def table(self, part: Table) -> str:
        title = f"<caption style='{LEFT};font-weight:bold'>{html.escape(part.title)}</caption>" if part.title else ""
        head = "".join(f"<th style='{LEFT}'>{_words(each)}</th>" for each in part.headings)
        lines = [head] if head else []
        rows = "".join(f"<tr>{line}</tr>" for line in (*lines, *(_row(part, row) for row in part.rows)))
        legend = f"<p>{html.escape(part.scale)}: {_legend(part)}</p>" if part.legend else ""
        return f"<table>{title}{rows}</table>{legend}"

    def notes(self, part: Notes) -> str:
        items = "".join(f"<li>{_words(sentence)}</li>" for sentence in part.sentences)
        return f"<p><strong>{html.escape(part.heading)}</strong></p><ul>{items}</ul>"

    def code(self, part: Code) -> str:
        lines = f"<pre>{html.escape(part.text)}</pre>"
        return f"<details><summary>{html.escape(part.title)}</summary>{lines}</details>" if part.title else lines

    def section(self, part: Section) -> str:
        parts = "".join(map(self._part, part.parts))
        return f"<h4>{html.escape(part.heading)}</h4><p>{html.escape(part.remark)}</p>{parts}"

    def bars(self, part: Bars) -> str:
        return svg.image(svg.bars(part), part.title)

    def side_by_side(self, part: SideBySide) -> str:
        return "".join(self._part(each) for _, parts in part.columns for each in parts)


def _row(table: Table, row: Sequence[Cell]) -> str:
    """The cells of a row; the first of a fact is its heading."""
    cells = []
    for position, cell in enumerate(row):
        kind = "td" if table.headings or position else "th"
        align = RIGHT if table.headings and position in table.numbers else LEFT
        cells.append(f'<{kind} style="{align}">{_cell(cell)}</{kind}>')
    return "".join(cells)


def _cell(cell: Cell) -> str:
    match cell:
        case Bar():
            return _bar(cell)
        case Strips():
            return html.escape(cell.words)
        case _:
            return _words(cell)


def _words(text: str | Text) -> str:
    text = Text(text) if isinstance(text, str) else text
    words = html.escape(text.words).replace("\n", "<br>")
    return f'<span style="{STYLES[text.tone]}">{words}</span>' if STYLES[text.tone] else words


def _bar(bar: Bar) -> str:
    parts = zip(bar.shares, BAR_COLOURS, strict=False)
    return "".join(_block(f"{12 * share:.2f}em", colour) for share, colour in parts)


def _block(width: str, colour: str) -> str:
    return f'<span style="display:inline-block;height:.8em;width:{width};background:{colour}"></span>'


def _legend(table: Table) -> str:
    parts = zip(table.legend, BAR_COLOURS, strict=False)
    return " ".join(f"{_block('1em', colour)} {html.escape(what)}" for what, colour in parts)
