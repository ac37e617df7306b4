"""Documents of results: texts, tables and charts without markup, and the base class of renderers."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

MAX_ALIKE = 10  # maximum number of sentences shown that differ only in a column's name and numbers

NAME_OR_NUMBER = re.compile(r'("(?:[^"]|"")+")|[0-9][0-9.,]*')

Tone: TypeAlias = Literal["plain", "strong", "good", "bad", "doubtful"]
Audience: TypeAlias = Literal["recipient", "custodian"]


@dataclass(frozen=True)
class Text:
    words: str
    tone: Tone = "plain"


@dataclass(frozen=True)
class Bar:
    """Shares of a bar, from left to right; they add up to 1."""

    shares: tuple[float, ...]


@dataclass(frozen=True)
class Strip:
    name: str
    pieces: tuple[tuple[float, str], ...]  # per label, its share of all values and its text, empty if not shown
    shown: float  # share of the release with labels of this level


@dataclass(frozen=True)
class Strips:
    """Levels of a taxonomy, from the top to the values."""

    strips: tuple[Strip, ...]

    @property
    def words(self) -> str:
        return ", ".join(f"{strip.name} {percent(strip.shown)}" for strip in self.strips if strip.shown)


Cell: TypeAlias = str | Text | Bar | Strips


@dataclass(frozen=True)
class Paragraph:
    texts: tuple[str | Text, ...]


@dataclass(frozen=True)
class Table:
    """Rows under headings, or facts if there are no headings."""

    headings: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    numbers: Collection[int] = ()  # positions of right-aligned columns
    title: str = ""
    scale: str = ""  # the quantity that bars show
    legend: tuple[str, ...] = ()  # names of the parts of a bar


@dataclass(frozen=True)
class Notes:
    heading: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    text: str
    title: str = ""


@dataclass(frozen=True)
class Figure:
    """A number before and after, in words; empty if there is none."""

    name: str
    before: str
    after: str
    remark: str = ""


@dataclass(frozen=True)
class Figures:
    figures: tuple[Figure, ...]

    @property
    def table(self) -> Table:
        width = 4 if any(each.remark for each in self.figures) else 3
        rows = [(each.name, each.before, each.after, each.remark)[:width] for each in self.figures]
        return Table(("", "before", "after", "")[:width], rows, numbers=(1, 2))


@dataclass(frozen=True)
class Bars:
    title: str  # the text alternative
    axis: str
    groups: tuple[str, ...]
    series: tuple[tuple[str, tuple[float, ...]], ...]  # names, with a share per group
    mark: tuple[int, str] | None = None  # the number of groups to the left of a line, and its name

    @property
    def table(self) -> Table:
        columns = [shares for _, shares in self.series]
        return _shares_table(self, zip(self.groups, *columns, strict=True))


@dataclass(frozen=True)
class Steps:
    """Shares that fall stepwise along a logarithmic axis."""

    title: str  # the text alternative
    axis: str
    ticks: tuple[tuple[float, str], ...]  # named positions, ascending, from end to end
    series: tuple[tuple[str, tuple[tuple[float, float], ...]], ...]  # names, with steps (end position, share)
    mark: tuple[float, str] | None = None  # a position, and its name

    @property
    def table(self) -> Table:
        """The shares at the named positions."""

        def at(place: float, steps: Sequence[tuple[float, float]]) -> float:
            return next((share for end, share in steps if place <= end), 0.0)

        return _shares_table(
            self, ((name, *(at(place, steps) for _, steps in self.series)) for place, name in self.ticks)
        )


@dataclass(frozen=True)
class Points:
    """Points of a number, on a logarithmic axis, and a share."""

    title: str  # the text alternative
    axis: str
    points: tuple[tuple[float, float, int, bool], ...]  # number, share, how many coincide, whether coloured
    front: tuple[tuple[float, float], ...]  # points of a line, ascending
    mark: tuple[float, float, str]  # a point, and its name

    @property
    def table(self) -> Table:
        rows = [(f"{number:g}", percent(share)) for number, share in self.front]
        return Table((self.axis, "share"), rows, numbers=(1,), title=self.title)


def _shares_table(chart: Bars | Steps, rows: Iterable[Sequence[Any]]) -> Table:
    names = [name for name, _ in chart.series]
    cells = [(name, *map(percent, shares)) for name, *shares in rows]
    return Table((chart.axis, *names), cells, numbers=range(1, len(names) + 1), title=chart.title)


@dataclass(frozen=True)
class SideBySide:
    columns: tuple[tuple[Tone, tuple[Part, ...]], ...]


@dataclass(frozen=True)
class Section:
    heading: str
    parts: tuple[Part, ...]
    remark: str = ""
    audience: Audience = "recipient"  # a section for the custodian is left out for others
    is_printed: bool = True  # False: on the screen only


Chart: TypeAlias = Bars | Steps | Points
Part: TypeAlias = Paragraph | Table | Notes | Code | SideBySide | Section | Figures | Chart


@dataclass(frozen=True)
class Document:
    title: str
    parts: tuple[Part, ...]


Shown = TypeVar("Shown")


class Renderer(ABC, Generic[Shown]):
    """A medium for documents. Figures and charts are shown as tables unless it draws them."""

    def render(self, document: Document) -> list[Shown]:
        return [*map(self.part, document.parts)]

    def part(self, part: Part) -> Shown:
        match part:
            case Paragraph():
                return self.paragraph(part)
            case Table():
                return self.table(part)
            case Notes():
                return self.notes(part)
            case Code():
                return self.code(part)
            case SideBySide():
                return self.side_by_side(part)
            case Section():
                return self.section(part)
            case Figures():
                return self.figures(part)
            case _:
                return self.chart(part)

    @abstractmethod
    def paragraph(self, part: Paragraph) -> Shown: ...

    @abstractmethod
    def table(self, part: Table) -> Shown: ...

    @abstractmethod
    def notes(self, part: Notes) -> Shown: ...

    @abstractmethod
    def code(self, part: Code) -> Shown: ...

    @abstractmethod
    def section(self, part: Section) -> Shown: ...

    @abstractmethod
    def side_by_side(self, part: SideBySide) -> Shown: ...

    def figures(self, part: Figures) -> Shown:
        return self.table(part.table)

    def chart(self, part: Chart) -> Shown:
        return self.table(part.table)


def paragraph(*texts: str | Text) -> Paragraph:
    return Paragraph(texts)


def side_by_side(*parts: Part) -> SideBySide:
    return SideBySide(tuple(("plain", (part,)) for part in parts))


def facts(rows: Iterable[tuple[str, Any]], title: str = "") -> Table:
    return Table((), [(what, in_words(value)) for what, value in rows], numbers=(1,), title=title)


def notes(heading: str, sentences: Iterable[str]) -> tuple[Notes, ...]:
    """Return a list of sentences under a heading; nothing without sentences.

    If many sentences differ only in a column's name and numbers, the first stands for all and names other columns.
    """
    listed = tuple(_gathered(dict.fromkeys(sentences)))
    return (Notes(heading, listed),) if listed else ()


def _gathered(sentences: Collection[str]) -> Iterator[str]:
    kinds: dict[str, list[str]] = {}
    for sentence in sentences:
        kinds.setdefault(_kind(sentence), []).append(sentence)
    for sentence in sentences:
        alike = kinds[_kind(sentence)]
        if len(alike) <= MAX_ALIKE:
            yield sentence
        elif sentence is alike[0]:
            name, *others = map(_first_name, alike[:MAX_ALIKE])
            more = f"likewise {', '.join(others)} and {len(alike) - MAX_ALIKE:,} more, all of them listed in JSON"
            yield sentence.replace(name, f"{name} ({more})", 1)


def _first_name(sentence: str) -> str:
    return next((found[0] for found in NAME_OR_NUMBER.finditer(sentence) if found[1]), "")


def _kind(sentence: str) -> str:
    """Blank the name and the numbers in a sentence about a column; leave any other unchanged."""
    name = _first_name(sentence)
    return NAME_OR_NUMBER.sub(lambda found: found[1] or "0", sentence.replace(name, "_")) if name else sentence


def strong(words: str) -> Text:
    return Text(words, "strong")


def count(number: int | None) -> str:
    """Format a number as ``12,345``, and None as a dash."""
    return "–" if number is None else f"{number:,}"


def at_least(rows: int, k: int | None) -> str:
    """Format a number of rows, but as ``under 5`` from 1 to k - 1."""
    return f"under {k}" if k is not None and 0 < rows < k else count(rows)


def percent(share: float | None) -> str:
    """Format a share as ``12.3 %``, and None as a dash."""
    return "–" if share is None else f"{100 * share:.1f} %"


def short_percent(share: float) -> str:
    """Format a share as ``20 %`` or ``1.33 %``."""
    return f"{100 * share:.3g} %"


def figure(number: float | None) -> str:
    """Format a loss or an attained measure in six digits."""
    return "–" if number is None else f"{number:,.6g}"


def estimate(number: float | None) -> str:
    """Format an estimated number of rows or people: four digits from a hundredth on, a whole number from 10,000 on."""
    if number is None:
        return "–"
    if 0 < number < 0.01:
        return "below 0.01"
    return f"{number:,.4g}" if number < 10_000 else f"{number:,.0f}"


def in_words(value: Any) -> str:
    """Format a JSON value, an item per line."""
    match value:
        case None:
            return "–"
        case dict():
            return "\n".join(f"{key}: {in_words(item)}" for key, item in value.items())
        case list() | tuple():
            return "\n".join(
                ", ".join(f"{key}={one}" for key, one in item.items()) if isinstance(item, dict) else in_words(item)
                for item in value
            )
        case float():
            return figure(value)
        case _:
            return str(value)


def printable(text: str) -> str:
    """Escape control characters: names come from other people's files."""
    return "".join(sign if sign.isprintable() or sign == "\n" else ascii(sign)[1:-1] for sign in text)
