"""Parsed docstrings: the text, and the description of each argument, for schemas and reference pages."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from textwrap import dedent

HEADING = re.compile(r"^(Args|Attributes|Returns|Raises|Yields):\n((?: {4}.*(?:\n|$)|\n(?= {4}))+)", re.MULTILINE)
ENTRY = re.compile(r"^([\w*]+(?:, [\w*]+)*): ((?:.*)(?:\n +.*|\n(?=\n))*)", re.MULTILINE)
ROLE = re.compile(r":(?:class|meth|func|attr|mod|data):`~?(?:sqlanon\.)?([^`]+)`")


@dataclass(frozen=True)
class Docstring:
    """A docstring in Markdown."""

    text: str = ""  # without the sections below
    members: dict[str, str] = field(default_factory=dict)  # descriptions of arguments, attributes or fields
    returns: str = ""
    errors: dict[str, str] = field(default_factory=dict)  # conditions by error

    @property
    def summary(self) -> str:
        """The first paragraph on one line."""
        return " ".join(self.text.partition("\n\n")[0].split())


def docstring_of(described: object) -> Docstring:
    """Parse the docstring of a class, function or property; it is empty under ``python -OO``, too."""
    written = inspect.cleandoc(getattr(described, "__doc__", None) or "")
    sections = {heading: dedent(body) for heading, body in HEADING.findall(f"{written}\n")}
    return Docstring(
        text=_markdown(HEADING.sub("", f"{written}\n")),
        members=_entries(sections.get("Args", "")) | _entries(sections.get("Attributes", "")),
        returns=_markdown(sections.get("Returns", "")),
        errors=_entries(sections.get("Raises", "")),
    )


def _entries(section: str) -> dict[str, str]:
    """Return the texts of a section by name; several names can share a text."""
    found: dict[str, str] = {}
    for names, text in ENTRY.findall(section):
        found |= dict.fromkeys(names.split(", "), " ".join(_markdown(text).split()))
    return found


def _markdown(text: str) -> str:
    """Convert markup to Markdown: code in single backticks, and references as names."""
    coded = re.sub(r"``(.+?)``", r"`\1`", ROLE.sub(r"`\1`", text), flags=re.DOTALL)
    return re.sub(r"\n{3,}", "\n\n", coded).strip()
