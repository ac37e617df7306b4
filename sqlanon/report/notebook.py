"""Documents as fragments of HTML, for notebooks, which have no style sheet of ours."""

from __future__ import annotations

import html

from sqlanon.report import svg
from sqlanon.report.document import Bars, Chart, Document, Figures, SideBySide, Strips
from sqlanon.report.html import AsHtml, escaped

LOOKS = {
    "": "text-align:left",
    "number": "text-align:right",
    "table": "overflow-x:auto",
    "strong": "font-weight:bold",
    "good": "color:#1a7f37",
    "bad": "color:#c1121f;font-weight:bold",
    "doubtful": "color:#9a6700",
}
"""The styles in place of the classes of a page; other classes have none."""

BAR_COLOURS = ("#c9ccd1", "#e3b341", "#2da44e")
FRAME_HEIGHT = 900
"""Pixels: the page of a lattice of eight columns fits in."""


def fragment(document: Document) -> str:
    """Render the parts of a document, without its title."""
    return "".join(_InNotebook().render(document))


def framed(page: str, title: str) -> str:
    """Put a whole page in a frame of its own, whose script sees nothing of the notebook."""
    return (
        f'<iframe title="{html.escape(title)}" sandbox="allow-scripts" srcdoc="{html.escape(page)}" '
        f'style="width:100%;height:{FRAME_HEIGHT}px;border:0"></iframe>'
    )


class _InNotebook(AsHtml):
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

    def block(self, place: int, share: float | None = None) -> str:
        width = "1em;margin-right:.3em" if share is None else f"{12 * share:.2f}em"
        style = f"display:inline-block;height:.8em;width:{width};background:{BAR_COLOURS[place]}"
        return f'<span style="{style}"></span>'

    def strips(self, cell: Strips, name: str) -> str:
        return escaped(cell.words)
