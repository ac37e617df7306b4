"""A document: what is shown of a result, in texts without markup, and the walk that renders it."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

MAX_ALIKE = 10  # the most sentences that are shown of those that differ in a column and in numbers alone

NAME_OR_NUMBER = re.compile(r'("(?:[^"]|"")+")|[0-9][0-9.,]*')

Tone: TypeAlias = Literal["plain", "strong", "good", "bad", "doubtful"]
Audience: TypeAlias = Literal["recipient", "custodian"]


@dataclass(frozen=True)
class Text:
    """Words, and how they are meant."""

    words: str
    tone: Tone = "plain"


@dataclass(frozen=True)
class Bar:
    """The shares of a bar, from left to right; they add up to 1."""

    shares: tuple[float, ...]


@dataclass(frozen=True)
class Strip:
    """A level of a taxonomy."""

    name: str
    pieces: tuple[tuple[float, str], ...]  # its labels: the share of all values, and the text, empty if not shown
    shown: float  # the share of the release that has labels of this level


@dataclass(frozen=True)
class Strips:
    """The levels of a taxonomy, from the top to the values."""

    strips: tuple[Strip, ...]

    @property
    def words(self) -> str:
        """The levels that are released, with their shares."""
        return ", ".join(f"{strip.name} {percent(strip.shown)}" for strip in self.strips if strip.shown)


Cell: TypeAlias = str | Text | Bar | Strips


@dataclass(frozen=True)
class Paragraph:
    """Texts in a line."""

    texts: tuple[str | Text, ...]


@dataclass(frozen=True)
class Table:
    """Rows under headings, or facts if there are no headings."""

    headings: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    numbers: Collection[int] = ()  # the positions of columns that are aligned to the right
    title: str = ""
    scale: str = ""  # what its bars stand for, if it has some
    legend: tuple[str, ...] = ()  # what the parts of a bar are


@dataclass(frozen=True)
class Notes:
    """Sentences in a list under a heading."""

    heading: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """Lines to copy."""

    text: str
    title: str = ""


@dataclass(frozen=True)
class Figure:
    """A number before and after, in words; empty where there is none."""

    name: str
    before: str
    after: str
    remark: str = ""


@dataclass(frozen=True)
class Figures:
    """The few numbers that one looks at first."""

    figures: tuple[Figure, ...]

    @property
    def table(self) -> Table:
        """The numbers in rows, with their remarks if there are some."""
        width = 4 if any(each.remark for each in self.figures) else 3
        rows = [(each.name, each.before, each.after, each.remark)[:width] for each in self.figures]
        return Table(("", "before", "after", "")[:width], rows, numbers=(1, 2))


@dataclass(frozen=True)
class Bars:
    """Groups of bars side by side."""

    title: str  # stands for the picture where nobody sees one
    axis: str
    groups: tuple[str, ...]
    series: tuple[tuple[str, tuple[float, ...]], ...]  # the name of each, and its share in each group
    mark: tuple[int, str] | None = None  # the number of groups to the left of a line, and what it stands for

    @property
    def table(self) -> Table:
        """The share of each series in each group."""
        columns = [shares for _, shares in self.series]
        return _shares_table(self, zip(self.groups, *columns, strict=True))


@dataclass(frozen=True)
class Steps:
    """Shares that fall in steps along a logarithmic axis."""

    title: str  # stands for the picture where nobody sees one
    axis: str
    ticks: tuple[tuple[float, str], ...]  # positions with names, ascending; the first and the last are its ends
    series: tuple[tuple[str, tuple[tuple[float, float], ...]], ...]  # names, with steps: up to a position, the share
    mark: tuple[float, str] | None = None  # a position, and what it stands for

    @property
    def table(self) -> Table:
        """The shares at the positions with names."""

        def at(place: float, steps: Sequence[tuple[float, float]]) -> float:
            return next((share for end, share in steps if place <= end), 0.0)

        return _shares_table(
            self, ((name, *(at(place, steps) for _, steps in self.series)) for place, name in self.ticks)
        )


@dataclass(frozen=True)
class Points:
    """Points by a number, on a logarithmic axis, and a share."""

    title: str  # stands for the picture where nobody sees one
    axis: str
    points: tuple[tuple[float, float, int, bool], ...]  # a number, a share, how many are there, and whether in colour
    front: tuple[tuple[float, float], ...]  # the points of a line, ascending
    mark: tuple[float, float, str]  # the point that is marked, and what it stands for

    @property
    def table(self) -> Table:
        """The points of the line."""
        rows = [(f"{number:g}", percent(share)) for number, share in self.front]
        return Table((self.axis, "share"), rows, numbers=(1,), title=self.title)


def _shares_table(chart: Bars | Steps, rows: Iterable[Sequence[Any]]) -> Table:
    names = [name for name, _ in chart.series]
    cells = [(name, *map(percent, shares)) for name, *shares in rows]
    return Table((chart.axis, *names), cells, numbers=range(1, len(names) + 1), title=chart.title)


@dataclass(frozen=True)
class SideBySide:
    """Columns of parts, each with the tone of what it says."""

    columns: tuple[tuple[Tone, tuple[Part, ...]], ...]


@dataclass(frozen=True)
class Section:
    """Parts under a heading."""

    heading: str
    parts: tuple[Part, ...]
    remark: str = ""
    audience: Audience = "recipient"  # what is for the custodian is left out for others
    is_printed: bool = True  # else it is for the screen alone


Chart: TypeAlias = Bars | Steps | Points
Part: TypeAlias = Paragraph | Table | Notes | Code | SideBySide | Section | Figures | Chart


@dataclass(frozen=True)
class Document:
    """A document: a title, and parts in their order."""

    title: str
    parts: tuple[Part, ...]


Shown = TypeVar("Shown")


class Renderer(ABC, Generic[Shown]):
    """A way to show documents: what is made of each kind of part. Figures and charts are tables, if need be."""

    def render(self, document: Document) -> list[Shown]:
        """Show all parts of a document, in their order."""
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
    """Place parts in columns of their own."""
    return SideBySide(tuple(("plain", (part,)) for part in parts))


def facts(rows: Iterable[tuple[str, Any]], title: str = "") -> Table:
    """List facts in words, each with its value."""
    return Table((), [(what, in_words(value)) for what, value in rows], numbers=(1,), title=title)


def notes(heading: str, sentences: Iterable[str]) -> tuple[Notes, ...]:
    """List sentences under a heading; nothing without sentences.

    Of many sentences that differ in a column and in numbers alone, the first names other columns and stands for all.
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
    """Return a sentence about a column without its name and its numbers, and any other as it is."""
    name = _first_name(sentence)
    return NAME_OR_NUMBER.sub(lambda found: found[1] or "0", sentence.replace(name, "_")) if name else sentence


def strong(words: str) -> Text:
    return Text(words, "strong")


def count(number: int | None) -> str:
    """Spell a number as ``12,345``; a dash for nothing."""
    return "–" if number is None else f"{number:,}"


def percent(share: float | None) -> str:
    """Spell a share as ``12.3 %``; a dash for nothing."""
    return "–" if share is None else f"{100 * share:.1f} %"


def short_percent(share: float) -> str:
    """Spell a share as ``20 %`` or ``1.33 %``."""
    return f"{100 * share:.3g} %"


def figure(number: float | None) -> str:
    """Spell a loss or an attained measure in six digits."""
    return "–" if number is None else f"{number:,.6g}"


def in_words(value: Any) -> str:
    """Spell a value of JSON in lines: a line per item."""
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
    """Spell out the control characters of a text: names come from files that others have made."""
    return "".join(sign if sign.isprintable() or sign == "\n" else ascii(sign)[1:-1] for sign in text)
