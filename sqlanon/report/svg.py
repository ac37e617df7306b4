"""SVG pictures: shares as bars and steps, and taxonomies as strips. Every text is escaped."""

from __future__ import annotations

import base64
import html
import itertools
import math
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

from sqlanon.report.document import Bars, Chart, Points, Steps, Strip, Strips, percent

WIDTH, HEIGHT = 620, 190  # pixels of the plot with its left axis; the axis below adds to the height

LEFT, RIGHT, BELOW = 44, 14, 38
LEGEND, SERIES = 16, 2  # height of a legend line, and the number of lines
GRID = 4  # lines of the grid above the axis

STRIP_WIDTH, STRIP_HEIGHT, STRIP_GAP = 250, 11, 2
LETTER = 5.2  # mean pixels of a label's letter
MAX_PIECES = 150  # a level of more labels is drawn as one piece


def image(picture: str, words: str) -> str:
    """Return an image of a picture with its style embedded, and ``words`` as the text alternative."""
    start = f'<svg xmlns="http://www.w3.org/2000/svg" style="background:var(--back)" {picture.removeprefix("<svg ")}'
    alone = start.replace(">", f"><style>{asset('picture.css')}</style>", 1)
    data = f"data:image/svg+xml;base64,{base64.b64encode(alone.encode()).decode()}"
    return f'<img alt="{html.escape(words)}" style="width:100%;max-width:{WIDTH}px" src="{data}">'


@cache
def asset(name: str) -> str:
    return files("sqlanon.report").joinpath(name).read_text(encoding="utf-8")


def drawn(chart: Chart) -> str:
    match chart:
        case Bars():
            return _bars(chart)
        case Steps():
            return _steps(chart)
        case Points():
            return _points(chart)


def _bars(chart: Bars) -> str:
    top = max((share for _, shares in chart.series for share in shares), default=0) or 1
    group = (WIDTH - LEFT - RIGHT) / len(chart.groups)
    width = 0.84 * group / len(chart.series)
    parts = [*_grid(top), *_legend([name for name, _ in chart.series])]
    for place, name in enumerate(chart.groups):
        start = LEFT + place * group + 0.08 * group
        for number, (series, shares) in enumerate(chart.series):
            colour = _first_colour(chart.series) + number
            height = (HEIGHT - 10) * shares[place] / top
            if height > 0:
                tip = html.escape(f"{series}, {name}: {percent(shares[place])}")
                x, drawn = start + number * width, max(height, 0.8)
                parts.append(
                    f'<rect x="{x:.1f}" y="{HEIGHT - drawn:.1f}" width="{width - 1:.1f}" height="{drawn:.1f}" '
                    f'class="s{colour}"><title>{tip}</title></rect>'
                )
        parts.append(_text(start + 0.42 * group, HEIGHT + 15, name, "middle"))
    if chart.mark is not None:
        parts += _line_at(LEFT + chart.mark[0] * group, chart.mark[1])
    return _picture(chart.title, chart.axis, parts)


def _steps(chart: Steps) -> str:
    first, last = math.log(chart.ticks[0][0]), math.log(chart.ticks[-1][0])

    def place(position: float) -> float:
        reached = (math.log(max(position, chart.ticks[0][0])) - first) / (last - first)
        return LEFT + (WIDTH - LEFT - RIGHT) * min(reached, 1.0)

    parts = [*_grid(1.0), *_legend([name for name, _ in chart.series])]
    *others, (end, last_name) = chart.ticks
    parts += [_text(place(position), HEIGHT + 15, name, "middle") for position, name in others]
    parts.append(_text(place(end) + RIGHT, HEIGHT + 15, last_name, "end"))
    for colour, (series, found) in enumerate(chart.series, start=_first_colour(chart.series)):
        start, points = float(LEFT), []
        for end, share in found:
            points += [(start, share), (place(end), share)]
            start = place(end)
        points.append((start, 0.0))
        path = " L".join(f"{x:.1f} {HEIGHT - (HEIGHT - 10) * share:.1f}" for x, share in points)
        parts.append(f'<path d="M{path}" class="line s{colour}"><title>{html.escape(series)}</title></path>')
    if chart.mark is not None:
        parts += _line_at(place(chart.mark[0]), chart.mark[1])
    return _picture(chart.title, chart.axis, parts)


def _points(chart: Points) -> str:
    """Draw a dot per point, larger where more coincide, over a logarithmic axis, and the front as a line."""
    most = math.log(max((number for number, *_ in chart.points), default=1)) or 1.0

    def at(number: float, share: float) -> tuple[float, float]:
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(max(number, 1)) / most, HEIGHT - (HEIGHT - 10) * share

    parts = [*_grid(1.0)]
    for tick in (factor * 10**power for power in range(8) for factor in (1, 2, 5)):
        if math.log(tick) <= most:
            parts.append(_text(at(tick, 0)[0], HEIGHT + 15, f"{tick:,}", "middle"))
    for number, share, count, is_coloured in sorted(chart.points, key=lambda point: point[3]):
        x, y = at(number, share)
        radius = 1 + 0.8 * math.log10(count + 1)
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" class="{"dot" if is_coloured else "other"}"/>'
        )
    line = " L".join("{:.1f} {:.1f}".format(*at(number, share)) for number, share in chart.front)
    x, y = at(*chart.mark[:2])
    parts += [
        f'<path d="M{line}" class="front"/>' if line else "",
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" class="chosen"/>',
        f'<text x="{x + 10:.1f}" y="{y + 14:.1f}" class="name">{html.escape(chart.mark[2])}</text>',
    ]
    return _picture(chart.title, chart.axis, parts)


def bar(shares: Sequence[float]) -> str:
    starts = itertools.accumulate(shares, initial=0.0)
    pieces = "".join(
        f'<rect x="{100 * start:.2f}" width="{100 * share:.2f}" height="1" class="b{place}"/>'
        for place, (start, share) in enumerate(zip(starts, shares, strict=False))
    )
    words = ", ".join(map(percent, shares))
    start = f'<svg viewBox="0 0 100 1" preserveAspectRatio="none" class="bar" role="img" aria-label="{words}">'
    return f"{start}{pieces}</svg>"


def strips(taxonomy: Strips, name: str) -> str:
    height = len(taxonomy.strips) * (STRIP_HEIGHT + STRIP_GAP)
    rows = "".join(
        "".join(_pieces(strip, place * (STRIP_HEIGHT + STRIP_GAP))) for place, strip in enumerate(taxonomy.strips)
    )
    title = html.escape(f"taxonomy of {name}; released: {taxonomy.words or 'nothing'}")
    return (
        f'<svg viewBox="0 0 {STRIP_WIDTH} {height}" width="{STRIP_WIDTH}" height="{height}" role="img" '
        f'aria-label="{title}">{rows}</svg>'
    )


def _pieces(strip: Strip, y: int) -> Iterator[str]:
    """Draw the labels of a level; pieces without text are one path, which takes a fifth of the bytes."""
    pieces = strip.pieces if len(strip.pieces) <= MAX_PIECES else ((1.0, ""),)
    kind, start, unlabelled, labelled = ("on" if strip.shown else "off"), 0.0, "", ""
    opacity = f' opacity="{0.35 + 0.65 * strip.shown:.2f}"' if 0 < strip.shown < 1 else ""
    for share, label in pieces:
        width = share * STRIP_WIDTH
        drawn = max(width - (0.8 if width > 3 else 0.25 if width > 1 else 0), 0.3)
        if label:
            labelled += (
                f'<rect x="{start:.2f}" y="{y}" width="{drawn:.2f}" height="{STRIP_HEIGHT}" class="{kind}"{opacity}>'
                f"<title>{html.escape(f'{strip.name}: {label}')}</title></rect>"
            )
            if strip.shown and width > LETTER * len(label) + 4:
                middle = start + width / 2
                labelled += f'<text x="{middle:.1f}" y="{y + 8.4:.1f}" class="label">{html.escape(label)}</text>'
        else:
            unlabelled += f"M{start:.2f} {y}h{drawn:.2f}v{STRIP_HEIGHT}h-{drawn:.2f}z"
        start += width
    if unlabelled:
        tip = html.escape(f"{strip.name}, {len(strip.pieces):,} labels")
        yield f'<path d="{unlabelled}" class="{kind}"{opacity}><title>{tip}</title></path>'
    yield labelled


def _picture(title: str, axis: str, parts: Sequence[str]) -> str:
    caption = _text((WIDTH + LEFT) / 2, HEIGHT + 33, axis, "middle")
    height = HEIGHT + BELOW + LEGEND * SERIES
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" class="wide" role="img" aria-label="{html.escape(title)}">'
        f"{''.join(parts)}{caption}</svg>"
    )


def _grid(top: float) -> Iterator[str]:
    for line in range(GRID + 1):
        y = HEIGHT - (HEIGHT - 10) * line / GRID
        yield f'<line x1="{LEFT}" x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>'
        yield _text(LEFT - 6, y + 3.5, f"{100 * top * line / GRID:.0f} %", "end")


def _first_colour(series: Sequence[object]) -> int:
    """Return the first series' colour such that the last series always has the colour of "after"."""
    return SERIES - len(series)


def _legend(series: Sequence[str]) -> Iterator[str]:
    for number, name in enumerate(series):
        y = HEIGHT + BELOW + 2 + LEGEND * number
        yield f'<rect x="{LEFT}" y="{y}" width="11" height="11" class="s{_first_colour(series) + number}"/>'
        yield _text(LEFT + 17, y + 9.5, name, "start")


def _line_at(x: float, name: str) -> Iterator[str]:
    yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="4" y2="{HEIGHT}" class="mark"/>'
    yield _text(x + 5, 12, name, "start")


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(words)}</text>'
