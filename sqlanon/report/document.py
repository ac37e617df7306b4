"""A document: what is shown of a result, in texts without markup, and the walk that renders it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

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


Cell: TypeAlias = str | Text | Bar


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


Part: TypeAlias = Paragraph | Table | Notes


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

    @abstractmethod
    def paragraph(self, part: Paragraph) -> Shown: ...

    @abstractmethod
    def table(self, part: Table) -> Shown: ...

    @abstractmethod
    def notes(self, part: Notes) -> Shown: ...


def paragraph(*texts: str | Text) -> Paragraph:
    return Paragraph(texts)


def facts(rows: Iterable[tuple[str, Any]], title: str = "") -> Table:
    """Facts in words, each with its value."""
    return Table((), [(what, in_words(value)) for what, value in rows], numbers=(1,), title=title)


def notes(heading: str, sentences: Iterable[str]) -> tuple[Notes, ...]:
    """A list under a heading; nothing without sentences."""
    listed = tuple(sentences)
    return (Notes(heading, listed),) if listed else ()


def strong(words: str) -> Text:
    return Text(words, "strong")


def count(number: int | None) -> str:
    """``12,345``; a dash for nothing."""
    return "–" if number is None else f"{number:,}"


def percent(share: float | None) -> str:
    """``12.3 %``; a dash for nothing."""
    return "–" if share is None else f"{100 * share:.1f} %"


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
