"""Small pictures of counts, as SVG without a style attribute; each has its words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from sqlanon.report.document import at_least, count, printable

if TYPE_CHECKING:
    from sqlanon.model.release.profiles import ColumnProfile, PreviewedLevel

WIDTH, HEIGHT = 150, 32  # of a distribution
LETTER = 1.5  # width of a letter in a strip, about, in percent
GAP = 0.2  # percent between two labels

BAR = Markup('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>')
PIECE = Markup('<rect x="{:.2f}%" width="{:.2f}%" height="24" class="{}"><title>{}</title></rect>')
NAME = Markup('<text x="{:.2f}%" y="16" class="label">{}</text>')
SPARK = Markup('<svg class="{}" viewBox="0 0 150 32" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>')
STRIP = Markup('<svg class="strip" role="img" aria-label="{}">{}</svg>')


def distribution(profile: ColumnProfile) -> Markup:
    """Draw the rows by bin of numbers and dates, or else those of the most frequent values."""
    histogram = profile.histogram
    rows = profile.frequencies if histogram is None else histogram.rows
    if not rows or not max(rows):
        return Markup('<span class="quiet">no values</span>')
    if histogram is None:
        words = f"the rows of the {len(rows)} most frequent values"
    elif histogram.edges is None:
        words = f"rows in {len(rows)} ranges of equal width"
    else:
        words = f"rows from {histogram.edges[0]} to {histogram.edges[-1]}"
    width = WIDTH / max(len(rows), 5)
    bars = Markup("").join(
        BAR.format(place * width, HEIGHT * (1 - each / max(rows)), width - 1, max(HEIGHT * each / max(rows), 0.5))
        for place, each in enumerate(rows)
    )
    kind = "spark" if histogram is None else "spark of-numbers"
    return SPARK.format(kind, escape(words), bars)


def strip(level: PreviewedLevel, least: int) -> Markup:
    """Draw the labels of a level as wide as their rows; those of too few rows have the colour of a warning."""
    words = f"{count(level.label_count)} labels, the smallest with {at_least(level.smallest_rows, least)} rows"
    labels: Sequence[tuple[str | None, int]] = [(each.label, each.rows) for each in level.labels or ()]
    rows = sum(each for _, each in labels)
    if not rows:
        return STRIP.format(escape(words), PIECE.format(0, 100, "on", escape(words)))
    pieces, start = [], 0.0
    for label, each in labels:
        width = 100 * each / rows
        shown = "" if label is None else printable(label)
        title = f"{shown or 'a hidden label'}: {at_least(each, least)} rows"
        kind = "few" if each < least else "on"
        pieces.append(PIECE.format(start, max(width - GAP, GAP), kind, escape(title)))
        if shown and width > LETTER * len(shown):
            pieces.append(NAME.format(start + width / 2, escape(shown)))
        start += width
    return STRIP.format(escape(words), Markup("").join(pieces))
