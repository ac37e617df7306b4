"""A document as one page of HTML: no script, and no request to any other place. Every text is escaped."""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import cache

from sqlanon.report import svg
from sqlanon.report.document import (
    Bar,
    Bars,
    Cell,
    Code,
    Document,
    Figures,
    Notes,
    Paragraph,
    Points,
    Renderer,
    Section,
    SideBySide,
    Steps,
    Strips,
    Table,
    Text,
    printable,
)

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What a browser may load for the page: nothing."""


def page(document: Document) -> str:
    """The page, in UTF-8."""
    title, parts = escaped(document.title), "".join(_OnPage().render(document))
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{style()}</style></head><body><main><h1>{title}</h1>{parts}</main></body></html>\n"
    )


@cache
def style() -> str:
    """The colours and forms of all pages."""
    return "".join(map(svg.stylesheet, ("picture.css", "page.css")))


class _OnPage(Renderer[str]):
    def paragraph(self, part: Paragraph) -> str:
        return f"<p>{''.join(map(_words, part.texts))}</p>"

    def table(self, part: Table) -> str:
        title = f"<caption>{escaped(part.title)}</caption>" if part.title else ""
        head = "".join(
            f'<th scope="col"{_aligned(part, place)}>{_words(each)}</th>' for place, each in enumerate(part.headings)
        )
        rows = "".join(f"<tr>{_row(part, row)}</tr>" for row in part.rows)
        body = f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>" if head else f"<tbody>{rows}</tbody>"
        legend = f'<p class="quiet key">{escaped(part.scale)}: {_legend(part.legend)}</p>' if part.legend else ""
        return f'<div class="table"><table>{title}{body}</table></div>{legend}'

    def notes(self, part: Notes) -> str:
        items = "".join(f"<li>{_words(sentence)}</li>" for sentence in part.sentences)
        return f"<h3>{escaped(part.heading)}</h3><ul>{items}</ul>"

    def code(self, part: Code) -> str:
        lines = f"<pre>{escaped(part.text)}</pre>"
        return f"<details><summary>{escaped(part.title)}</summary>{lines}</details>" if part.title else lines

    def section(self, part: Section) -> str:
        remark = f'<p class="quiet">{escaped(part.remark)}</p>' if part.remark else ""
        start = "<section>" if part.is_printed else '<section class="screen">'
        return f"{start}<h2>{escaped(part.heading)}</h2>{remark}{''.join(map(self._part, part.parts))}</section>"

    def side_by_side(self, part: SideBySide) -> str:
        columns = "".join(
            f'<div class="{tone}">{"".join(map(self._part, parts))}</div>' for tone, parts in part.columns
        )
        return f'<div class="beside">{columns}</div>'

    def figures(self, part: Figures) -> str:
        shown = []
        for each in part.figures:
            before = f"<s>{escaped(each.before)}</s>" if each.before else ""
            number = f'<p class="value">{before}<b>{escaped(each.after)}</b></p>'
            shown.append(
                f'<div class="figure"><h3>{escaped(each.name)}</h3>{number}'
                f'<p class="quiet">{escaped(each.remark)}</p></div>'
            )
        return f'<div class="figures">{"".join(shown)}</div>'

    def bars(self, part: Bars) -> str:
        return svg.bars(part)

    def steps(self, part: Steps) -> str:
        return svg.steps(part)

    def points(self, part: Points) -> str:
        return svg.points(part)


def _row(table: Table, row: Sequence[Cell]) -> str:
    """The cells of a row; the first one is its heading."""
    name = row[0].words if isinstance(row[0], Text) else row[0]
    cells = []
    for place, cell in enumerate(row):
        kind, scope = ("td", "") if place else ("th", ' scope="row"')
        cells.append(f"<{kind}{scope}{_aligned(table, place)}>{_cell(cell, str(name))}</{kind}>")
    return "".join(cells)


def _aligned(table: Table, place: int) -> str:
    return ' class="number"' if table.headings and place in table.numbers else ""


def _cell(cell: Cell, name: str) -> str:
    match cell:
        case Bar():
            widths = enumerate(cell.shares)
            parts = "".join(f'<i class="b{place}" style="width:{100 * share:.2f}%"></i>' for place, share in widths)
            return f'<span class="bar">{parts}</span>'
        case Strips():
            return svg.strips(cell, printable(name))
        case _:
            return _words(cell)


def _words(text: str | Text) -> str:
    text = Text(text) if isinstance(text, str) else text
    words = escaped(text.words).replace("\n", "<br>")
    return words if text.tone == "plain" else f'<span class="{text.tone}">{words}</span>'


def _legend(names: Sequence[str]) -> str:
    return " ".join(f'<i class="b{place}"></i>{escaped(name)}' for place, name in enumerate(names))


def escaped(text: str) -> str:
    """A text as it stands in a page."""
    return html.escape(printable(text))
