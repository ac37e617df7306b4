"""What a form sends, what a screen answers, and how it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode

MAX_FIELDS = 5_000


class Refused(Exception):
    """A request that cannot be met, with the status and the sentence of its answer."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


@dataclass(frozen=True)
class Shown:
    """A page that is made for one answer and is gone afterwards: ``values`` are added to those of its template."""

    page: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Fields:
    """The fields of a form or of an address."""

    given: Mapping[str, list[str]]

    @classmethod
    def of(cls, text: bytes) -> Fields:
        try:
            return cls(parse_qs(text.decode(), keep_blank_values=True, max_num_fields=MAX_FIELDS))
        except ValueError:  # of decoding as well
            raise Refused(400, "the form cannot be read, or has too many fields") from None

    def of_desk(self, number: int) -> Fields:
        """Return the fields of a form that a page of this desk had, with the version without the desk.

        Raises:
            Refused: another table has been chosen since.
        """
        if not self.has("version"):
            return self
        desk, _, version = self.one("version").rpartition("-")
        if desk != str(number):
            raise Refused(409, "this page was of another table, and nothing was changed: here is the present one")
        return Fields({**self.given, "version": [version]})

    def has(self, name: str) -> bool:
        return name in self.given

    def many(self, name: str) -> list[str]:
        return self.given.get(name, [])

    def one(self, name: str, default: str | None = None) -> str:
        if name not in self.given and default is None:
            raise Refused(400, f'the form lacks the field "{name}"')
        return self.given.get(name, [default or ""])[0]

    def query(self, *names: str) -> str:
        """Return fields as the query of an address."""
        return urlencode([(name, text) for name in names for text in self.many(name)])

    def whole(self, name: str, default: int | None = None) -> int:
        """Return a whole number; an empty field has the default."""
        text = self.one(name, None if default is None else "")
        try:
            return default if text == "" and default is not None else int(text)
        except ValueError:
            raise Refused(422, f'the field "{name}" is a whole number') from None

    def number(self, name: str, default: float | None = None) -> float:
        """Return a number, with a decimal point or comma; an empty field has the default."""
        text = self.one(name, None if default is None else "").replace(",", ".")
        try:
            found = default if text == "" and default is not None else float(text)
        except ValueError:
            found = None
        if found is None or found != found or abs(found) == float("inf"):
            raise Refused(422, f'the field "{name}" is a number')
        return found
