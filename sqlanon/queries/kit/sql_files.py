"""The files ``sql/<room>.sql`` as text: queries by name, with their titles and examples of their roles.

Comment lines such as ``-- :cells (anon_key_0 BIGINT)`` and ``-- :keys anon_key_0`` are examples of roles: they declare
the columns of relations, and tests execute all queries with them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
EXAMPLE = re.compile(r"^-- (:\w+|\$\d+) +(.*(?:\n--  .*)*)\n", re.MULTILINE)
COMMENT = re.compile(r"(?:--.*\n)*")


@cache
def sql_folder() -> Path:
    """Return the folder ``sql``: inside the package in a wheel, beside it in a working copy."""
    packaged = Path(__file__).parents[2] / "sql"
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "sql"


@dataclass(frozen=True)
class NamedQuery:
    """A query of a file."""

    title: str  # the first line of its comment
    text: str  # the SQL, with roles
    examples: Mapping[str, str]  # by role: the columns of a relation in parentheses, or an expression
    parameters: Sequence[str]  # examples of $1 and so on


SCRIPT = "sqlanon.sql"
"""The file beside them with all macros, for clients of DuckDB; ``sqlanon sql`` writes it."""


def sql_files() -> list[str]:
    return sorted(path.stem for path in sql_folder().glob("*.sql") if path.name != SCRIPT)


@cache
def named_queries(file: str) -> dict[str, NamedQuery]:
    head, *rest = NAME.split((sql_folder() / f"{file}.sql").read_text(encoding="utf-8"))
    examples, found = _examples(head), {}
    for name, body in zip(rest[::2], rest[1::2], strict=True):
        comment = cast(re.Match[str], COMMENT.match(body))[0]
        title = EXAMPLE.sub("", comment).partition("\n")[0].removeprefix("-- ")
        own = _examples(comment)
        numbered = sorted((key for key in own if key.startswith("$")), key=lambda key: int(key[1:]))
        parameters = [own.pop(key) for key in numbered]
        text = body[len(comment) :].strip().removesuffix(";")
        found[name] = NamedQuery(title, text, {**examples, **own}, parameters)
    return found


def _examples(comment: str) -> dict[str, str]:
    found = EXAMPLE.findall(comment)
    return {role.removeprefix(":"): re.sub(r"\s*\n--\s*", " ", example) for role, example in found}


def query_text(file: str, name: str) -> str:
    """Return the text of a query without roles and macros."""
    return named_queries(file)[name].text
