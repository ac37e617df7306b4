"""Documents as HTML: a page without scripts or external requests, or pieces of one, or output of a notebook.

Every text is escaped.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Sequence
from functools import cache

from sqlanon.report import svg
from sqlanon.report.document import (
    Bar,
    Bars,
    Cell,
    Chart,
    Code,
    Document,
    Figures,
    Notes,
    Paragraph,
    Renderer,
    Section,
    SideBySide,
    Strips,
    Table,
    Text,
    printable,
)

# Inline styles for a notebook, by class of the page's style sheet; other classes have none.
LOOKS = {
    "": "text-align:left",
    "number": "text-align:right",
    "table": "overflow-x:auto",
    "strong": "font-weight:bold",
    "good": "color:#1a7f37",
    "bad": "color:#c1121f;font-weight:bold",
    "doubtful": "color:#9a6700",
}

BAR_COLOURS = ("#c9ccd1", "#e3b341", "#2da44e")
FRAME_HEIGHT = 900  # pixels: enough for the page of a lattice of eight columns


def page(document: Document) -> str:
    title, parts = escaped(document.title), fragment(document)
    policy = f"default-src 'none'; style-src {allowed(style())}"  # the page loads nothing
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{style()}</style></head><body><main><h1>{title}</h1>{parts}</main></body></html>\n"
    )


def fragment(document: Document) -> str:
    """Return the parts as HTML for a page with our style sheets; it has neither inline styles nor ids."""
    return "".join(_OnPage().render(document))


def sections(document: Document) -> list[tuple[str, str]]:
    """Return the sections of a document: the heading, as a text, and the HTML below it, as in :func:`fragment`.

    Parts between sections have an empty heading.
    """
    renderer = _OnPage()
    found: list[tuple[str, str]] = []
    for part in document.parts:
        heading, shown = (part.heading, renderer.body(part)) if isinstance(part, Section) else ("", renderer.part(part))
        if found and not heading and not found[-1][0]:
            shown = found.pop()[1] + shown
        found.append((heading, shown))
    return found


def in_notebook(document: Document) -> str:
    """Return the parts as HTML with inline styles."""
    return "".join(_InNotebook().render(document))


def allowed(text: str) -> str:
    """Return the source expression by which a content security policy allows an inline style or script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def framed(page: str, title: str) -> str:
    return (
        f'<iframe title="{html.escape(title)}" sandbox="allow-scripts" srcdoc="{html.escape(page)}" '
        f'style="width:100%;height:{FRAME_HEIGHT}px;border:0"></iframe>'
    )


@cache
def style() -> str:
    return "".join(map(svg.asset, ("picture.css", "page.css")))


class _OnPage(Renderer[str]):
    """Parts as elements with classes of the page's style sheet."""

    section_heading = "h2"
    notes_heading = "h3"
    caption = "<caption>"

    def look(self, name: str) -> str:
        return f' class="{name}"' if name else ""

    def paragraph(self, part: Paragraph) -> str:
        return f"<p>{''.join(map(self._words, part.texts))}</p>"

    def table(self, part: Table) -> str:
        title = f"{self.caption}{escaped(part.title)}</caption>" if part.title else ""
        head = "".join(
            f'<th scope="col"{self._aligned(part, place)}>{self._words(each)}</th>'
            for place, each in enumerate(part.headings)
        )
        rows = "".join(f"<tr>{self._row(part, row)}</tr>" for row in part.rows)
        body = f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>" if head else f"<tbody>{rows}</tbody>"
        key = " ".join(f"{self.block(place)}{escaped(name)}" for place, name in enumerate(part.legend))
        legend = f"<p{self.look('quiet key')}>{escaped(part.scale)}: {key}</p>" if key else ""
        return f"<div{self.look('table')}><table>{title}{body}</table></div>{legend}"

    def notes(self, part: Notes) -> str:
        items = "".join(f"<li>{self._words(sentence)}</li>" for sentence in part.sentences)
        return f"<{self.notes_heading}>{escaped(part.heading)}</{self.notes_heading}><ul>{items}</ul>"

    def code(self, part: Code) -> str:
        lines = f"<pre>{escaped(part.text)}</pre>"
        return f"<details><summary>{escaped(part.title)}</summary>{lines}</details>" if part.title else lines

    def section(self, part: Section) -> str:
        heading = f"<{self.section_heading}>{escaped(part.heading)}</{self.section_heading}>"
        start = "<section>" if part.is_printed else f"<section{self.look('screen')}>"
        return f"{start}{heading}{self.body(part)}</section>"

    def body(self, part: Section) -> str:
        remark = f"<p{self.look('quiet')}>{escaped(part.remark)}</p>" if part.remark else ""
        return remark + "".join(map(self.part, part.parts))

    def side_by_side(self, part: SideBySide) -> str:
        columns = "".join(f'<div class="{tone}">{"".join(map(self.part, parts))}</div>' for tone, parts in part.columns)
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

    def chart(self, part: Chart) -> str:
        return svg.drawn(part)

    def bar(self, shares: Sequence[float]) -> str:
        return svg.bar(shares)

    def block(self, place: int) -> str:
        """Render the colour of a part of a bar, in a legend."""
        return f'<i class="b{place}"></i>'

    def strips(self, cell: Strips, name: str) -> str:
        return svg.strips(cell, printable(name))

    def _row(self, table: Table, row: Sequence[Cell]) -> str:
        name = row[0].words if isinstance(row[0], Text) else str(row[0])
        cells = []
        for place, cell in enumerate(row):
            kind, scope = ("td", "") if place else ("th", ' scope="row"')
            cells.append(f"<{kind}{scope}{self._aligned(table, place)}>{self._cell(cell, name)}</{kind}>")
        return "".join(cells)

    def _aligned(self, table: Table, place: int) -> str:
        return self.look("number" if table.headings and place in table.numbers else "")

    def _cell(self, cell: Cell, name: str) -> str:
        match cell:
            case Bar():
                return self.bar(cell.shares)
            case Strips():
                return self.strips(cell, name)
            case _:
                return self._words(cell)

    def _words(self, text: str | Text) -> str:
        text = Text(text) if isinstance(text, str) else text
        words = escaped(text.words).replace("\n", "<br>")
        return words if text.tone == "plain" else f"<span{self.look(text.tone)}>{words}</span>"


class _InNotebook(_OnPage):
    """Parts with inline styles: a notebook lacks our style sheet."""

    section_heading = "h4"
    notes_heading = "h5"
    caption = '<caption style="text-align:left;font-weight:bold">'

    def look(self, name: str) -> str:
        return f' style="{LOOKS[name]}"' if name in LOOKS else ""

    def side_by_side(self, part: SideBySide) -> str:
        return "".join(self.part(each) for _, parts in part.columns for each in parts)

    def figures(self, part: Figures) -> str:
        return self.table(part.table)

    def chart(self, part: Chart) -> str:
        return svg.image(svg.drawn(part), part.title) if isinstance(part, Bars) else self.table(part.table)

    def bar(self, shares: Sequence[float]) -> str:
        blocks = "".join(_block(place, f"{12 * share:.2f}em") for place, share in enumerate(shares))
        return f"<span>{blocks}</span>"

    def block(self, place: int) -> str:
        return _block(place, "1em;margin-right:.3em")

    def strips(self, cell: Strips, name: str) -> str:
        return escaped(cell.words)


def _block(place: int, width: str) -> str:
    style = f"display:inline-block;height:.8em;width:{width};background:{BAR_COLOURS[place]}"
    return f'<span style="{style}"></span>'


def escaped(text: str) -> str:
    return html.escape(printable(text))
