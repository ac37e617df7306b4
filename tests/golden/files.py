"""The files of recorded runs. A statement that is sent more than once stands in ``shared.sql``, under a title."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from tests.golden.recording import Script

FOLDER = Path(__file__).parent
SHARED = "shared.sql"
MIN_SHARED_LINES = 3
"""A shorter statement is as short as its title."""

HEADING = """\
-- The statements that runs of tests/golden send more than once, each under the title that their files have.
-- Written by `python -m tests.golden`: review it as a diff.\
"""
REFERENCE = "-- shared: "
END = ";\n\n"
TABLE = r'(?:"?\w+"?\.)*"?'
SUBJECT = re.compile(
    r"-- (?P<purpose>[^\n(]*[^\n( ])|"
    rf"(?:CREATE(?: TEMPORARY)? \w+|PREPARE) {TABLE}(?P<made>\w+)|.*?(?<!DISTINCT )FROM {TABLE}(?P<read>\w+)",
    re.DOTALL,
)
"""What a statement is sent for, what it makes, or the first table that it reads."""


def golden_file(name: str) -> Path:
    """Where the statements of a plan are kept."""
    return FOLDER / f"{name}.sql"


def texts(scripts: Mapping[str, Script]) -> dict[Path, str]:
    """The files of all plans, and the one that those of a folder share."""
    folders = dict.fromkeys(golden_file(name).parent for name in scripts)
    files: dict[Path, str] = {}
    for folder in folders:
        files |= _texts(
            folder, {name: script for name, script in scripts.items() if golden_file(name).parent == folder}
        )
    return files


def _texts(folder: Path, scripts: Mapping[str, Script]) -> dict[Path, str]:
    titles = _titles(_repeated(script.statements for script in scripts.values()))
    files = {folder / SHARED: _joined(HEADING, [f"-- {title}\n{statement}" for statement, title in titles.items()])}
    for name, script in scripts.items():
        parts = [f"{REFERENCE}{titles[text]}" if text in titles else text for text in script.statements]
        files[golden_file(name)] = _joined(script.heading, parts)
    return files


def kept(name: str) -> Script:
    """What the file of a plan has, with the statements of ``shared.sql`` in place of their titles."""
    heading, parts = _parts(golden_file(name))
    shared = _shared(golden_file(name).with_name(SHARED))
    statements = [shared[part.removeprefix(REFERENCE)] if part.startswith(REFERENCE) else part for part in parts]
    return Script(heading, statements)


@cache
def _shared(file: Path) -> dict[str, str]:
    titled = (part.removeprefix("-- ").partition("\n") for part in _parts(file)[1])
    return {title: statement for title, _, statement in titled}


def _repeated(runs: Iterable[Sequence[str]]) -> list[str]:
    """The statements of several lines that are sent more than once, in the order of their first time."""
    counts = Counter(statement for statements in runs for statement in statements)
    return [text for text, count in counts.items() if count > 1 and text.count("\n") + 1 >= MIN_SHARED_LINES]


def _titles(statements: Iterable[str]) -> dict[str, str]:
    """Titles of statements: a subject, and its number among the statements of this subject."""
    numbers: Counter[str] = Counter()
    titles = {}
    for statement in statements:
        subject = _subject(statement)
        numbers[subject] += 1
        titles[statement] = f"{subject} {numbers[subject]}"
    return titles


def _subject(statement: str) -> str:
    match = SUBJECT.match(statement)
    assert match is not None, statement
    if match["purpose"]:
        return match["purpose"]
    return f"create {match['made']}" if match["made"] else f"read {match['read']}"


def _joined(heading: str, parts: Iterable[str]) -> str:
    return f"{heading}\n\n" + "".join(f"{part}{END}" for part in parts)


def _parts(file: Path) -> tuple[str, list[str]]:
    heading, body = file.read_text().split("\n\n", 1)
    return heading, [part for part in body.split(END) if part]
