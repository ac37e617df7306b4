"""The page of macros: the comment of each in its file."""

from __future__ import annotations

import re
from pathlib import Path

from sqlanon.queries.kit.macros import SCHEMA, Macro, documented, macro_files, macros_of

HEAD = """# Macros

Every macro of schema `anon`: what it takes, what it returns, and an example.
`sqlanon install` puts them in a DuckDB file, and `FROM anon.help()` lists them there. A macro that returns a table
stands in FROM, and the others stand wherever a value does. The examples read the tables of `fixtures/clinic.sql` in the
repository. Begin with [k_anonymity](#k_anonymity) and [sample_uniqueness](#sample_uniqueness) to measure a table,
[generalize](#generalize) and [suppress](#suppress) to change one, and [lm](#lm) for what that loses.
"""
LABELS = re.compile(r"\n(?=(?:Returns|Source|Example): )")


def page() -> str:
    """The page as Markdown."""
    return "\n".join([HEAD, *(_file(path) for path in macro_files() if macros_of(path))])


def _file(path: Path) -> str:
    heading = re.sub(r"^\d+_", "", path.stem).replace("_", " ").capitalize()
    about = _text(documented(path))
    return "\n".join([f"## {heading}\n\n{about}\n", *map(_macro, macros_of(path))])


def _macro(macro: Macro) -> str:
    text, _, _ = macro.comment.partition("Example:\n")
    call = f"{SCHEMA}.{macro.name}({', '.join(macro.parameters)})"
    kind = "FROM " if macro.is_table else ""
    example = re.sub(r"^  ", "", macro.example, flags=re.MULTILINE)
    return f"### {macro.name}\n\n```sql\n{kind}{call}\n```\n\n{_text(text)}\n\n```sql\n{example}\n```\n"


def _text(comment: str) -> str:
    """A comment as Markdown, in which a star is a star."""
    paragraphs = re.sub(r"\n{3,}", "\n\n", LABELS.sub("\n\n", comment.strip()))
    return re.sub(r"`[^`]*`|\*", lambda found: r"\*" if found[0] == "*" else found[0], paragraphs)
