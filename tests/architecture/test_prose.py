"""The prose of the house: a few turns of phrase that nobody writes, in names, comments, messages, SQL and guides.

``prose_exceptions.txt`` counts what is left in each file. A count that went up fails, and so does one that went down or
whose file is gone, until ``python -m tests.architecture.test_prose`` has rewritten the list. It refuses a larger sum.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT

EXCEPTIONS = Path(__file__).with_name("prose_exceptions.txt")

RULES = {
    r"(?i)(?<![a-z])(told|tells?)(?![a-z]|\(\))": "name who reports, shows, records or computes what",
    r"(?i)(?<![a-z])(?<!there\s)is\s+no\s+(?!(?:longer|more|less)\b)\w+": "write 'is not a ...', or 'there is no ...'",
    r"(?i)\bof\s+(which|whom)\b": "write two sentences, or 'whose'",
    r"(?i)\bso\s+many\b": "give the number or the name of the count",
    r"\b(MOST|LEAST|FEWEST)_\w+": "MAX_ or MIN_ with a noun and a unit",
}

PLACES = (
    ("sqlanon", "*.py"),
    ("sqlanon", "*.pyi"),
    ("sqlanon", "*.md"),
    ("sql", "*.sql"),
    ("sql", "*.md"),
    (".github", "*.md"),
)

LINE_END = re.compile(r"""["']?\n[ \t]*(?:#|--|>|-|f?["'])?[ \t]*""")


class Finding(NamedTuple):
    """One turn of phrase: the file and line where it stands, its words, and what to write."""

    file: str
    line: int
    words: str
    advice: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.words!r}: {self.advice}"


def files() -> Iterator[Path]:
    yield ROOT / "README.md"
    for folder, pattern in PLACES:
        yield from sorted((ROOT / folder).rglob(pattern))


def findings(file: str, text: str) -> list[Finding]:
    """What the rules find in a text, whose sentences may continue on the next line of a comment or a literal."""
    flat = LINE_END.sub(lambda end: " " * len(end.group()), text)
    return [
        Finding(file, text.count("\n", 0, match.start()) + 1, " ".join(match.group().split()), advice)
        for pattern, advice in RULES.items()
        for match in re.finditer(pattern, flat)
    ]


@cache
def by_file() -> dict[str, list[Finding]]:
    found = {}
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        if here := findings(name, path.read_text(encoding="utf-8")):
            found[name] = here
    return found


def exceptions() -> dict[str, int]:
    lines = EXCEPTIONS.read_text(encoding="utf-8").split("\n")
    return {name: int(count) for count, _, name in (line.partition(" ") for line in lines if line)}


def shrink() -> None:
    """Rewrite the list as the files are now.

    Raises:
        SystemExit: if there is more in all files than the list has.
    """
    found = by_file()
    now, before = sum(map(len, found.values())), sum(exceptions().values())
    if now > before:
        allowed = exceptions()
        more = [finding for name, here in found.items() if len(here) > allowed.get(name, 0) for finding in here]
        sys.exit("\n".join([*map(str, more), f"{now} where the list has {before}: the list only shrinks"]))
    EXCEPTIONS.write_text("".join(f"{len(here)} {name}\n" for name, here in sorted(found.items())), encoding="utf-8")
    sys.stdout.write(f"{before} -> {now}\n")


def test_the_prose_is_plain() -> None:
    allowed = exceptions()
    new = [finding for name, here in by_file().items() if len(here) > allowed.get(name, 0) for finding in here]
    assert not new, "\n".join(["", *map(str, new), "only moved? run python -m tests.architecture.test_prose"])


def test_the_list_of_exceptions_only_shrinks() -> None:
    found = by_file()
    stale = [name for name, count in exceptions().items() if len(found.get(name, ())) < count]
    assert not stale, "fewer than listed, so run python -m tests.architecture.test_prose"


@pytest.mark.parametrize(
    "text",
    [
        "# what a class tells",
        "def told_of(x): ...",
        "# age is\n    # no quasi-identifier",
        'raise ValueError("age is "\n    "no number")',
        "-- rows of\n-- which one is lost",
        "so many rows",
        "MOST_ROWS = 3",
    ],
)
def test_the_rules_see(text: str) -> None:
    assert [finding.line for finding in findings("example", text)] == [1]


@pytest.mark.parametrize(
    "text", ["# a storyteller", "it is no longer there", "there is no row", "ALMOST_ALL = 1", "the most rows"]
)
def test_the_rules_leave_alone(text: str) -> None:
    assert findings("example", text) == []


if __name__ == "__main__":
    shrink()
