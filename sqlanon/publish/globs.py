"""Whether a file that is not there yet would be matched by a glob."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

PARTS = re.compile(r"\*\*|\*|\?|\[!?\]?[^\]]*\]|[^*?\[]+|\[")
"""What a component of a glob consists of."""


def is_matched(target: Path, pattern: str, *, folder: bool) -> bool:
    """Whether a target is among the files of a glob, or, if it is a folder, what is in it.

    A pattern that only looks like one, such as text in a query, matches no path.
    """
    try:
        matching = re.compile(_expression(pattern))
    except re.error:
        return False
    place = Path(os.path.realpath(target.parent), target.name)
    candidates = (place / "part-00000.parquet", place / "a=b" / "part-00000.parquet") if folder else (place,)
    return any(matching.fullmatch(str(candidate)) for candidate in candidates)


def _expression(pattern: str) -> str:
    """A glob as a regular expression over real absolute paths."""
    parts = Path(pattern).parts
    fixed = next((place for place, part in enumerate(parts) if set(part) & set("*?[")), len(parts))
    start = os.path.realpath(Path(*parts[:fixed]))
    return re.escape(start.rstrip(os.sep)) + "".join(_components(parts[fixed:]))


def _components(parts: tuple[str, ...]) -> Iterator[str]:
    for place, part in enumerate(parts):
        if part == "**":
            # At the end it stands for files at any depth, elsewhere for folders, none of them included.
            yield "(/[^/]+)+" if place == len(parts) - 1 else "(/[^/]+)*"
        else:
            yield "/" + "".join(_sign(found) for found in PARTS.findall(part))


def _sign(part: str) -> str:
    match part:
        case "*" | "**":
            return "[^/]*"
        case "?":
            return "[^/]"
        case _ if part.startswith("[") and len(part) > 1:
            inside = part[1:-1].replace("\\", r"\\").replace("[", r"\[")
            return f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
        case _:
            return re.escape(part)
