"""Edits of a TOML text that keep its comments, its order and the spelling of everything else.

A text is scanned into statements with their places; an edit replaces, removes or inserts a piece of the text, so that
the rest stays as it is by construction. (tomlkit takes comments above a table for a part of the table before.) The
result is read by :mod:`tomllib` and compared with the expected values.
"""

from __future__ import annotations

import datetime
import itertools
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sqlanon.errors import PolicyError
from sqlanon.report.document import printable

MAX_ALIGNED = 40  # longest line beside which comments are aligned

Path: TypeAlias = tuple[str | int, ...]  # names of tables and keys, and positions in arrays of tables

# Strings (of several lines first), comments, and the signs that end or nest something.
TOKEN = re.compile(
    r'"""(?:\\[\s\S]|[^\\])*?"{3,5}|\'\'\'[\s\S]*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|[][{}=,\n]'
)


_BLANKS = re.compile(r"[ \t]*")


@dataclass(frozen=True)
class Statement:
    kind: Literal["pair", "table", "remark"]  # a table is a header; remarks are comments and blank lines
    path: Path
    table: Path  # the table above it
    start: int
    value: int  # start and end of the value of a pair
    value_end: int
    end: int  # after the line break


@dataclass(frozen=True)
class Element:
    """A text in an array, and its line."""

    text: str
    start: int
    end: int
    comma: int  # after its comma; after the text if there is none
    line: int
    line_end: int  # after the line break; before the bracket in the last line
    comment: str  # of the line, with its #
    comment_at: int


def toml_value(value: Any) -> str:
    """Write a value of TOML, whose texts are as in JSON except for one control character."""
    match value:
        case Mapping():
            inner = ", ".join(f"{toml_key(str(name))} = {toml_value(item)}" for name, item in value.items())
            return f"{{ {inner} }}" if inner else "{}"
        case list() | tuple():
            return f"[{', '.join(map(toml_value, value))}]"
        case datetime.date() | datetime.time():
            return value.isoformat()
        case float():
            return repr(float(value))  # also inf and nan
        case _:
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_value(name)


def toml_comment(text: str) -> str:
    return f"# {printable(text)}".replace("\n", " ")


def scan(text: str) -> list[Statement]:
    """Split a valid TOML text into statements."""
    found: list[Statement] = []
    table: Path = ()
    arrays: dict[Path, int] = {}  # the position of the last item of each array of tables
    start = 0
    while start < len(text):
        first = _BLANKS.match(text, start).end()  # type: ignore[union-attr]
        tokens = _tokens_of_statement(text, first)
        end = tokens[-1].end() if tokens and tokens[-1][0] == "\n" else len(text)
        if text[first : first + 1] in ("#", "\r", "\n", ""):
            found.append(Statement("remark", table, table, start, end, end, end))
        elif text[first] == "[":
            opening = "[[" if text.startswith("[[", first) else "["
            closing = next(each.start() for each in tokens if each[0] == "]")
            table = _placed(_names(text[first + len(opening) : closing]), arrays)
            if opening == "[[":
                arrays[table] = arrays.get(table, -1) + 1
                table = (*table, arrays[table])
            found.append(Statement("table", table, table, start, end, end, end))
        else:
            equals = next(each for each in tokens if each[0] == "=")
            path = (*table, *_names(text[first : equals.start()]))
            last = next((each.start() for each in tokens if each[0][0] in "#\n"), end)
            value = text[equals.end() : last]
            begin = equals.end() + len(value) - len(value.lstrip())
            found.append(Statement("pair", path, table, start, begin, equals.end() + len(value.rstrip()), end))
        start = end
    return found


def _tokens_of_statement(text: str, start: int) -> list[re.Match[str]]:
    """Return the tokens outside of arrays and inline tables up to the line break, and all brackets."""
    found, depth = [], 0
    for token in TOKEN.finditer(text, start):
        sign = token[0]
        depth += (sign in ("[", "{")) - (sign in ("]", "}"))
        if depth == 0 or sign in ("[", "]"):
            found.append(token)
        if depth == 0 and sign == "\n":
            break
    return found


def _names(key: str) -> tuple[str, ...]:
    """Return the parts of a dotted key."""
    names: list[str] = []
    inner = tomllib.loads(f"{key} = 0")
    while isinstance(inner, dict):
        ((name, inner),) = inner.items()
        names.append(name)
    return tuple(names)


def _placed(names: Sequence[str], arrays: Mapping[Path, int]) -> Path:
    """Return the path of a table with its positions in arrays of tables."""
    path: Path = ()
    for name in names[:-1]:
        path = (*path, name)
        path = (*path, arrays[path]) if path in arrays else path
    return (*path, names[-1])


def value_at(values: Any, path: Path) -> Any:
    """Return the value at a path; None if there is none."""
    for name in path:
        try:
            values = values[name]
        except (KeyError, IndexError, TypeError):
            return None
    return values


class TomlText:
    """A valid TOML text and its values; each edit changes both.

    Raises:
        PolicyError: the text is not valid TOML; the message has the place.
    """

    def __init__(self, text: str) -> None:
        try:
            self.values = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise PolicyError(f"only valid TOML can be edited: {error}") from None
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.text = text + self.newline if text and not text.endswith("\n") else text

    def checked(self) -> str:
        """Return the text, or raise a PolicyError if it lacks an edit, which would be a defect."""
        try:
            is_as_expected = _filled(tomllib.loads(self.text)) == _filled(self.values)
        except tomllib.TOMLDecodeError:
            is_as_expected = False
        if not is_as_expected:
            raise PolicyError("the policy file has a form that cannot be edited here: change it in an editor")
        return self.text

    def set(self, path: Path, value: Any, comment: str | None = None) -> None:
        """Set a value where it stands, or insert it below its table; a comment replaces the one on its line."""
        old = value_at(self.values, path)
        if isinstance(old, dict) and isinstance(value, Mapping) and self._inline(path) is None:
            for name in [name for name in old if name not in value]:
                self.remove((*path, name))
            for name, each in value.items():
                self.set((*path, str(name)), each)
            return
        if old is None or toml_value(old) != toml_value(value):
            if old is not None and self._inline(path) is None:
                self.remove(path)
            _assign(self.values, path, value)
            if (inline := self._inline(path)) is not None:
                self._splice(inline.value, inline.value_end, toml_value(value_at(self.values, inline.path)))
            else:
                self._insert(path, toml_value(value))
        if comment is not None:
            self._comment(path, comment)

    def remove(self, path: Path) -> None:
        """Remove a value with its line, or a table with its lines; comments on lines of their own stay."""
        if value_at(self.values, path) is None:
            return
        inline = self._inline(path)
        del value_at(self.values, path[:-1])[path[-1]]
        if inline is not None and inline.path != path:
            self._splice(inline.value, inline.value_end, toml_value(value_at(self.values, inline.path)))
            return
        statements = scan(self.text)
        for place in reversed(range(len(statements))):
            each = statements[place]
            if each.kind != "remark" and each.path[: len(path)] == path:
                blank = statements[place - 1] if each.kind == "table" and place else None
                is_blank = blank is not None and not self.text[blank.start : blank.end].strip()
                self._splice(blank.start if blank is not None and is_blank else each.start, each.end, "")

    def insert_item(self, name: str, place: int, item: Mapping[str, Any]) -> None:
        """Insert a table into an array of tables, before the item at a place or after the last."""
        items = self.values.setdefault(name, [])
        lines = [f"[[{toml_key(name)}]]", *(f"{toml_key(key)} = {toml_value(each)}" for key, each in item.items())]
        block = "".join(line + self.newline for line in lines)
        statements = [each for each in scan(self.text) if each.kind != "remark"]
        below = [each for each in statements if each.path[:2] == (name, place)]
        before = [each for each in statements if each.path[:1] == (name,)]
        if below:
            self._splice(below[0].start, below[0].start, block + self.newline)
        elif before:
            self._splice(before[-1].end, before[-1].end, self.newline + block)
        else:
            self._append(block)
        items.insert(place, dict(item))

    def _pair(self, path: Path) -> Statement | None:
        return next((each for each in scan(self.text) if each.kind == "pair" and each.path == path), None)

    def _inline(self, path: Path) -> Statement | None:
        """Return the pair that has the value at a path, alone or in an inline table or array."""
        pairs = (each for each in scan(self.text) if each.kind == "pair")
        return next((each for each in pairs if path[: len(each.path)] == each.path), None)

    def _insert(self, path: Path, value: str) -> None:
        parent, key = path[:-1], toml_key(str(path[-1]))
        statements = scan(self.text)
        pairs = [each for each in statements if each.kind == "pair"]
        homes = [each for each in statements if each.kind == "table"]
        own = [each for each in pairs if each.table == parent] or [each for each in homes if each.path == parent]
        dotted = [each for each in pairs if each.path[: len(parent)] == parent and len(each.table) < len(parent)]
        if own:
            self._splice(own[-1].end, own[-1].end, f"{key} = {value}{self.newline}")
        elif parent and dotted:
            last = dotted[-1]
            name = ".".join(toml_key(str(each)) for each in path[len(last.table) :])
            self._splice(last.end, last.end, f"{name} = {value}{self.newline}")
        elif not parent and homes:
            # Above the first table, and above the comments on it.
            start = homes[0].start
            for each in reversed(statements[: statements.index(homes[0])]):
                if not self.text[each.start : each.end].strip():
                    break
                start = each.start
            self._splice(start, start, f"{key} = {value}{self.newline}{self.newline}")
        elif not parent:
            self._splice(len(self.text), len(self.text), f"{key} = {value}{self.newline}")
        else:
            header = ".".join(toml_key(str(each)) for each in parent)
            self._append(f"[{header}]{self.newline}{key} = {value}{self.newline}")

    def _append(self, block: str) -> None:
        is_apart = not self.text or self.text.endswith(2 * self.newline)
        self._splice(len(self.text), len(self.text), block if is_apart else self.newline + block)

    def _comment(self, path: Path, comment: str) -> None:
        if (pair := self._pair(path)) is not None:
            self._splice(pair.value_end, pair.end, (f"  {toml_comment(comment)}" if comment else "") + self.newline)

    def _splice(self, start: int, end: int, text: str) -> None:
        self.text = self.text[:start] + text + self.text[end:]

    def has_value(self, name: str) -> bool:
        """Return whether a key of the top level has its value on its line, not in tables."""
        return self._inline((name,)) is not None

    # Lists of texts, an element per line with its comment.

    def elements(self, name: str) -> list[Element]:
        """Return the texts in an array of the top level, with the comments of their lines."""
        texts = self.values.get(name)
        is_texts = isinstance(texts, list) and all(isinstance(each, str) for each in texts)
        if not is_texts or (pair := self._pair((name,))) is None:
            return []
        return [*_elements(self.text, pair.value, pair.value_end)]

    def take(self, name: str, element: str) -> str | None:
        """Remove a text from an array, with its line if it has one; return the comment there."""
        there = self.elements(name)
        place, found = next((place, each) for place, each in enumerate(there) if each.text == element)
        self.values[name].remove(element)
        if self._is_alone(found, there) and self.text[found.line_end - 1] == "\n":
            self._splice(found.line, found.line_end, "")
            comment: str | None = found.comment
        else:
            comment = None
            start, end = found.start, max(found.end, found.comma)
            before = there[place - 1] if place else None
            if found.comma == found.end and before is not None and "\n" not in self.text[before.end : start]:
                start = before.end
            while place + 1 < len(there) and self.text[end] in " \t":
                end += 1
            self._splice(start, end, "")
        if (pair := self._pair((name,))) is not None and not self.text[pair.value + 1 : pair.value_end - 1].strip():
            self._splice(pair.value, pair.value_end, "[]")
        return comment

    def add(self, name: str, element: str, comment: str) -> None:
        """Add a text to the end of an array, with a comment, on its own line if there is one or the others have."""
        pair = self._pair((name,))
        if pair is None or not isinstance(self.values.get(name), list):
            self.set((name,), [])
            pair = self._pair((name,))
        assert pair is not None
        self.values[name].append(element)
        there = [*_elements(self.text, pair.value, pair.value_end)]
        inner = self.text[pair.value + 1 : pair.value_end - 1]
        written = toml_value(element)
        if "\n" not in inner and not comment:
            start, apart = (there[-1].end, ", ") if there else (pair.value + 1, "")
            self._splice(start, pair.value_end - 1, apart + written)
            return
        last = there[-1] if there else None
        margin = "    "
        if last is not None and "\n" in self.text[pair.value : last.start]:
            margin = self.text[last.line : last.start] if not self.text[last.line : last.start].strip() else margin
        line = f"{margin}{written},"
        if comment:
            column = last.comment_at - last.line if last is not None and last.comment else 0
            line += " " * max(2, min(column, MAX_ALIGNED + 6) - len(line)) + comment
        closing = pair.value_end - 1
        stripped = len(self.text[:closing].rstrip(" \t"))
        opened = "" if self.text[stripped - 1] == "\n" else self.newline
        self._splice(stripped, closing, f"{opened}{line}{self.newline}")
        if last is not None and last.comma == last.end:
            self._splice(last.end, last.end, ",")

    def mark(self, name: str, element: str, comment: str) -> None:
        """Replace the comment on the line of a text in an array, or write one if the text has its own line."""
        there = self.elements(name)
        found = next(each for each in there if each.text == element)
        if not self._is_alone(found, there) or self.text[found.line_end - 1] != "\n":
            self.take(name, element)
            self.add(name, element, comment)
            return
        start = found.comment_at if found.comment else max(found.end, found.comma)
        end = found.comment_at + len(found.comment) if found.comment else start
        start = len(self.text[:start].rstrip(" \t")) if not comment else start
        self._splice(start, end, comment if found.comment or not comment else f"  {comment}")

    def _is_alone(self, found: Element, there: Sequence[Element]) -> bool:
        return [each.line for each in there].count(found.line) == 1


def _elements(text: str, start: int, end: int) -> Iterator[Element]:
    """Yield the texts of an array between its brackets."""
    tokens = [token for token in TOKEN.finditer(text, start + 1, end - 1) if token[0] not in ("[", "]", "{", "}", "=")]
    line = start + 1
    of_line: list[tuple[re.Match[str], int]] = []
    comment: re.Match[str] | None = None
    for token in [*tokens, None]:
        if token is None or token[0] == "\n":
            line_end = end - 1 if token is None else token.end()
            for each, comma in of_line:
                value = tomllib.loads(f"x = {each[0]}")["x"]
                said, place = ("", 0) if comment is None else (comment[0].rstrip("\r"), comment.start())
                yield Element(value, each.start(), each.end(), comma, line, line_end, said, place)
            line, of_line, comment = line_end, [], None
        elif token[0] == ",":
            if of_line:
                of_line[-1] = (of_line[-1][0], token.end())
        elif token[0][0] == "#":
            comment = token
        else:
            of_line.append((token, token.end()))


def _assign(values: Any, path: Path, value: Any) -> None:
    for name, below in itertools.pairwise(path):
        values = values.setdefault(name, {}) if isinstance(values, dict) else values[name]
        if not isinstance(values, list if isinstance(below, int) else dict):
            raise PolicyError(f"{name} must be a table")
    values[path[-1]] = value


def _filled(value: Any) -> Any:
    """Leave empty tables and lists out, which a text may have or lack, and make lists of tuples."""
    if isinstance(value, Mapping):
        return {name: inner for name, each in value.items() if (inner := _filled(each)) not in ({}, [])}
    return [_filled(each) for each in value] if isinstance(value, list | tuple) else value
