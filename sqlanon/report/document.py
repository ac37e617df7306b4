"""A document: what is shown of a result, in texts without markup, and the walk that renders it."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

MAX_ALIKE = 10
"""The most sentences that are shown of those that differ in a column and in numbers alone."""

NAME_OR_NUMBER = re.compile(r'("(?:[^"]|"")+")|[0-9][0-9.,]*')

Tone: TypeAlias = Literal["plain", "strong", "good", "bad", "doubtful"]


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
    """A level of a taxonomy.

    Attributes:
        name: the level, in words.
        pieces: its labels from left to right: the share of all values that each stands for, and its text, which is
            empty where it is not to be shown.
        shown: the share of what is released that has labels of this level.
    """

    name: str
    pieces: tuple[tuple[float, str], ...]
    shown: float


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
    """Rows under headings, or facts if there are no headings.

    Attributes:
        headings: of the columns; empty for facts.
        rows: a cell per column.
        numbers: the positions of columns that are aligned to the right.
        title: above the table, if it has one.
        scale: what its bars stand for, and ``legend`` what their parts are, if it has bars.
    """

    headings: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    numbers: Collection[int] = ()
    title: str = ""
    scale: str = ""
    legend: tuple[str, ...] = ()


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


@dataclass(frozen=True)
class Bars:
    """Groups of bars side by side.

    Attributes:
        title: what is shown, also for those who see no picture.
        axis: what the groups are.
        groups: their names.
        series: the name of each series, and its share in each group.
        mark: the number of groups to the left of a line, and what it stands for.
    """

    title: str
    axis: str
    groups: tuple[str, ...]
    series: tuple[tuple[str, tuple[float, ...]], ...]
    mark: tuple[int, str] | None = None


@dataclass(frozen=True)
class Steps:
    """Shares that fall in steps along a logarithmic axis.

    Attributes:
        title: what is shown, also for those who see no picture.
        axis: what the axis is.
        ticks: positions on it that are named, ascending; the first and the last are its ends.
        series: the name of each series, and its steps: up to a position, the share; ascending.
        mark: a position, and what it stands for.
    """

    title: str
    axis: str
    ticks: tuple[tuple[float, str], ...]
    series: tuple[tuple[str, tuple[tuple[float, float], ...]], ...]
    mark: tuple[float, str] | None = None


@dataclass(frozen=True)
class Points:
    """Points by a number, on a logarithmic axis, and a share.

    Attributes:
        title: what is shown, also for those who see no picture.
        axis: what the number is.
        points: a number, a share, how many points are there, and whether they are in colour.
        front: the points of a line, ascending.
        mark: the point that is marked, and what it stands for.
    """

    title: str
    axis: str
    points: tuple[tuple[float, float, int, bool], ...]
    front: tuple[tuple[float, float], ...]
    mark: tuple[float, float, str]


@dataclass(frozen=True)
class SideBySide:
    """Columns of parts, each with the tone of what it says."""

    columns: tuple[tuple[Tone, tuple[Part, ...]], ...]


@dataclass(frozen=True)
class Section:
    """Parts under a heading; one that is not printed is for the screen alone."""

    heading: str
    parts: tuple[Part, ...]
    remark: str = ""
    is_printed: bool = True


Picture: TypeAlias = Figures | Bars | Steps | Points
Part: TypeAlias = Paragraph | Table | Notes | Code | SideBySide | Section | Picture


@dataclass(frozen=True)
class Document:
    """What is shown of a result: a title, and parts in their order."""

    title: str
    parts: tuple[Part, ...]


Shown = TypeVar("Shown")


class Renderer(ABC, Generic[Shown]):
    """A way to show documents: what is made of each kind of part."""

    def render(self, document: Document) -> list[Shown]:
        """All parts of a document, in their order."""
        return [self._part(part) for part in document.parts]

    def _part(self, part: Part) -> Shown:
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
            case _:
                return self._picture(part)

    def _picture(self, part: Picture) -> Shown:
        match part:
            case Figures():
                return self.figures(part)
            case Bars():
                return self.bars(part)
            case Steps():
                return self.steps(part)
            case Points():
                return self.points(part)

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
        """A table, unless there is something better."""
        width = 4 if any(each.remark for each in part.figures) else 3
        rows = [(each.name, each.before, each.after, each.remark)[:width] for each in part.figures]
        return self.table(Table(("", "before", "after", "")[:width], rows, numbers=(1, 2)))

    def bars(self, part: Bars) -> Shown:
        """A table of the shares, unless there is something better."""
        names, columns = [name for name, _ in part.series], [shares for _, shares in part.series]
        rows = [(group, *map(percent, shares)) for group, *shares in zip(part.groups, *columns, strict=True)]
        return self.table(Table((part.axis, *names), rows, numbers=range(1, len(names) + 1), title=part.title))

    def steps(self, part: Steps) -> Shown:
        """A table of the shares at the named positions, unless there is something better."""
        rows = [(name, *(percent(_at(steps, place)) for _, steps in part.series)) for place, name in part.ticks]
        names = [name for name, _ in part.series]
        return self.table(Table((part.axis, *names), rows, numbers=range(1, len(names) + 1), title=part.title))

    def points(self, part: Points) -> Shown:
        """A table of the line, unless there is something better."""
        rows = [(f"{number:g}", percent(share)) for number, share in part.front]
        return self.table(Table((part.axis, "share"), rows, numbers=(1,), title=part.title))


def _at(steps: Sequence[tuple[float, float]], place: float) -> float:
    return next((share for end, share in steps if place <= end), 0.0)


def paragraph(*texts: str | Text) -> Paragraph:
    return Paragraph(texts)


def side_by_side(*parts: Part) -> SideBySide:
    """Parts in columns of their own."""
    return SideBySide(tuple(("plain", (part,)) for part in parts))


def facts(rows: Iterable[tuple[str, Any]], title: str = "") -> Table:
    """Facts in words, each with its value."""
    return Table((), [(what, in_words(value)) for what, value in rows], numbers=(1,), title=title)


def notes(heading: str, sentences: Iterable[str]) -> tuple[Notes, ...]:
    """A list under a heading; nothing without sentences.

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
    """A sentence about a column without its name and its numbers; any other as it is."""
    name = _first_name(sentence)
    return NAME_OR_NUMBER.sub(lambda found: found[1] or "0", sentence.replace(name, "_")) if name else sentence


def strong(words: str) -> Text:
    return Text(words, "strong")


def count(number: int | None) -> str:
    """``12,345``; a dash for nothing."""
    return "–" if number is None else f"{number:,}"


def percent(share: float | None) -> str:
    """``12.3 %``; a dash for nothing."""
    return "–" if share is None else f"{100 * share:.1f} %"


def short_percent(share: float) -> str:
    """``20 %``, ``1.33 %``."""
    return f"{100 * share:.3g} %"


def figure(number: float | None) -> str:
    """A loss or an attained measure in six digits."""
    return "–" if number is None else f"{number:,.6g}"


def in_words(value: Any) -> str:
    """A value of JSON in lines: a line per item."""
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
    """The text with control characters spelled out: names come from files that others have made."""
    return "".join(sign if sign.isprintable() or sign == "\n" else ascii(sign)[1:-1] for sign in text)
