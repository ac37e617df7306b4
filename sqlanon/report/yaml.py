"""Plain values as YAML 1.2: mappings and lists in blocks, texts of a line in double quotes, as in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


def text(value: Mapping[str, Any]) -> str:
    """A document of a mapping, whose keys are words of letters."""
    return "".join(f"{line}\n" for line in _lines(value))


def _lines(value: Any) -> Iterator[str]:
    """A mapping or a list that is not empty, without indentation."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if _is_block(item):
                yield f"{key}:"
                yield from (f"  {line}" for line in _lines(item))
            elif isinstance(item, str) and _is_literal(item):
                yield f"{key}: |-"
                yield from (f"  {line}" for line in item.split("\n"))
            else:
                yield f"{key}: {_scalar(item)}"
    else:
        for item in value:
            inner = [*_lines(item)] if _is_block(item) else [_scalar(item)]
            yield f"- {inner[0]}"
            yield from (f"  {line}" for line in inner[1:])


def _is_block(value: Any) -> bool:
    return isinstance(value, (Mapping, list)) and bool(value)


def _is_literal(words: str) -> bool:
    """Whether a text of several lines can stand as it is."""
    lines = words.split("\n")
    return len(lines) > 1 and all(line and line.isprintable() and not line[0].isspace() for line in lines)


def _scalar(value: Any) -> str:
    """As JSON, which YAML reads, with an escape of YAML for signs that it does not take as they are."""
    written = json.dumps(value, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in written)
