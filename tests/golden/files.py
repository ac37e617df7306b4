"""The files: a whole run and single statements as text, and all other runs as hashes."""

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from duckdb import DuckDBPyConnection as Connection
from pydantic import BaseModel

import sqlanon as sa
from tests.golden import sent
from tests.golden.people import HELD, POLICIES, ROLES, RUNS, SERVED, TABLE, WHOLE
from tests.golden.plans import executed, recorded
from tests.golden.recording import digest, folded, in_lines, subject
from tests.golden.sent import SENT
from tests.golden.statements import STATEMENTS, Kept
from tests.golden.visits import VISITS

FOLDER = Path(__file__).parent
HASHES = FOLDER / "hashes.txt"
WHOLE_RUN = FOLDER / "run.sql"

WRITTEN = "written by `python -m tests.golden`: review it as a diff."
OF_RUN = f"""\
-- What a whole run of tests/golden/people.py sends to the database, {WRITTEN}
-- A title stands for a statement that is above it; statements of a line or two stand together.\
"""
OF_STATEMENTS = f"""\
-- Statements of runs of tests/golden/people.py, each with its policy and what it returns or makes there,
-- {WRITTEN}\
"""
OF_HASHES = f"""\
# Runs of tests/golden (people.py, visits.py, sent.py): what they publish, and how many statements they send, with a
# hash of these; {WRITTEN}
# `python -m tests.golden --show RUN` prints what changes in a run, and `--show "RUN: SUBJECT"` some of its statements.\
"""
NEAR = {**RUNS, **VISITS}
HASHED = [*NEAR, *SENT]
END = ";\n\n"
REFERENCE = "as above: "
MIN_LINES = 3
"""A shorter statement is as short as its title."""

LATER = re.compile(r" \d+$")
"""Ends the title of a statement that is not the first of its subject."""

WIDTH = 120
SERVED_RUN = "sent"
MOST_ROWS = 5
COMMON = {name: role if isinstance(role, str) else tuple(role) for name, role in ROLES.items()}


class Seen(NamedTuple):
    statements: list[str]
    results: dict[int, tuple[list[str], list[tuple[object, ...]]]]  # columns and rows of statements kept, by place
    published: str  # what identifies the rows that are published


@cache
def seen(name: str) -> Seen:
    """What a run sends, and what this makes without sqlanon."""
    recording = _in_folder(lambda folder: recorded(NEAR[name], folder))
    wanted = {place(recording.statements, kept) for kept in _kept_of(name)}
    results = {}
    steps = iter(range(len(recording.statements)))

    def look(statement: str, connection: Connection) -> None:
        if (step := next(steps)) in wanted:
            made = re.match(r"CREATE \w+ TABLE (\S+)|CREATE TABLE (\S+)", statement)
            if made or not statement.startswith(("PREPARE", "CREATE")):
                found = connection.execute(f"FROM {made[1] or made[2]}") if made else connection
                results[step] = [column[0] for column in found.description], found.fetchall()

    rows = _in_folder(lambda folder: executed(NEAR[name], recording.statements, folder, look))
    assert rows == recording.rows, f"the statements of the run {name!r} publish other rows without sqlanon"
    return Seen(recording.statements, results, recording.published)


@cache
def served() -> list[tuple[str, str]]:
    """What a server is sent by a run over the people."""
    return _in_folder(lambda folder: sent.recorded(SERVED, folder))


def place(statements: Iterable[str], kept: Kept) -> int:
    """The place of a statement in its run."""
    places = [number for number, statement in enumerate(statements) if subject(statement) == kept.subject]
    return places[kept.number - 1]


def whole_run() -> str:
    statements = Counter(map(_text, seen(WHOLE).statements))
    titles = _titles((subject(text), text) for text, count in statements.items() if count > 1 and _is_long(text))
    shown: set[str] = set()
    parts = [f"{_comment(f'Run {WHOLE}: {spelled(_policy(WHOLE))}')}\n-- It publishes {seen(WHOLE).published}\n\n"]
    for known, group in groupby(map(_text, seen(WHOLE).statements), lambda text: text in shown and text in titles):
        if known:
            parts.append(f"{_comment(REFERENCE + '; '.join(titles[text] for text in group))}\n\n")
            continue
        for text in group:
            end = END if _is_long(text) else ";\n"
            before = "\n" if _is_long(text) and parts[-1][-2:] != "\n\n" else ""
            parts.append(f"{before}-- {titles[text]}\n{text}{end}" if text in titles else f"{before}{text}{end}")
            shown.add(text)
        parts.append("\n" if parts[-1][-2:] != "\n\n" else "")
    return f"{OF_RUN}\n\n{TABLE}{END}{''.join(parts)}"


def statements_of(room: str) -> str:
    parts = []
    runs: set[str] = set()
    for title, kept in STATEMENTS[room].items():
        asked = "" if kept.run in runs else f": {spelled(_policy(kept.run))}"
        parts.append(f"-- {title[0].upper()}{title[1:]}\n{_comment(f'Run {kept.run}{asked}')}\n{_fixture(kept)}")
        runs.add(kept.run)
    return f"{OF_STATEMENTS}\n\n{''.join(parts)}"


def _fixture(kept: Kept) -> str:
    if kept.run == SERVED_RUN:
        purposes = [text for purpose, text in served() if subject_of(purpose) == kept.subject]
        return f"{folded(purposes[kept.number - 1])}{END}"
    run = seen(kept.run)
    step = place(run.statements, kept)
    text = _text(run.statements[step])
    rows = _rows(*run.results[step]) if step in run.results else ""
    return f"{text};\n{rows}\n"


def _rows(names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> str:
    """The rows that a statement returns or makes, as comments; the last line counts those that are left out.

    They are sorted: an order has ties, which a line of DuckDB may put the other way round.
    """
    texts = sorted(", ".join(map(_value, row)) for row in rows)
    left = texts[MOST_ROWS:]
    more = [f"and {len(left)} more: {digest(chr(10).join(left))}"] if left else []
    return "".join(f"{_comment(line, '--   ')}\n" for line in [f"-> {', '.join(names)}", *texts[:MOST_ROWS], *more])


def _value(value: object) -> str:
    return f"{value:.12g}" if isinstance(value, float) else "NULL" if value is None else str(value)


def spelled(value: object) -> str:
    """A part of a policy as Python has it, without defaults and the roles that all of them have."""
    if isinstance(value, BaseModel):
        fields = {name: getattr(value, name) for name in type(value).model_fields if name in value.model_fields_set}
        said = {name: field for name, field in fields.items() if field not in ((), {}, COMMON.get(name))}
        defaults = {name: field.default for name, field in type(value).model_fields.items()}
        given = [f"{name}={spelled(field)}" for name, field in said.items() if field != defaults[name]]
        return f"{type(value).__name__}({', '.join(given)})"
    if isinstance(value, tuple):
        return f"[{', '.join(map(spelled, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{spelled(key)}: {spelled(field)}" for key, field in value.items()) + "}"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _policy(name: str) -> sa.Policy:
    return SERVED.policy if name == SERVED_RUN else HELD.get(name) or POLICIES[name]


@cache
def _text(statement: str) -> str:
    return folded(in_lines(statement))


def _comment(text: str, mark: str = "-- ") -> str:
    return textwrap.fill(text, WIDTH, initial_indent=mark, subsequent_indent=mark, break_on_hyphens=False)


def _indented(text: str) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


@cache
def run_of(name: str) -> list[tuple[str, str]]:
    if name in NEAR:
        return [(subject(text), text) for text in seen(name).statements]
    found = _in_folder(lambda folder: sent.recorded(SENT[name], folder))
    return [(subject_of(purpose), text) for purpose, text in found]


def subject_of(purpose: str) -> str:
    """What a purpose is about, without the numbers of a model."""
    return purpose.partition(" (")[0]


def heading(name: str, statements: Sequence[str]) -> str:
    """What identifies the rows of a run, if they are here, and all of its statements."""
    rows = f"{seen(name).published}, " if name in NEAR else ""
    return f"{name}: {rows}{len(statements)} statements {digest(END.join(statements))}"


def hashes() -> str:
    lines = (heading(name, [text for _, text in run_of(name)]) for name in HASHED)
    return "\n".join([OF_HASHES, "", *lines, ""])


def texts() -> dict[Path, str]:
    return {
        WHOLE_RUN: whole_run(),
        **{FOLDER / "statements" / f"{room}.sql": statements_of(room) for room in STATEMENTS},
        HASHES: hashes(),
    }


def _kept_of(name: str) -> Iterator[Kept]:
    return (kept for room in STATEMENTS.values() for kept in room.values() if kept.run == name)


def _titles(statements: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Titles of texts: a subject, and its number among the texts of this subject from the second one."""
    numbers: Counter[str] = Counter()
    titles: dict[str, str] = {}
    for about, text in statements:
        if text not in titles:
            numbers[about] += 1
            titles[text] = f"{about} {numbers[about]}" if numbers[about] > 1 else about
    return titles


def _is_long(text: str) -> bool:
    return text.count("\n") + 1 >= MIN_LINES


def _in_folder(do: Callable[[Path], Any]) -> Any:
    with TemporaryDirectory() as folder:
        return do(Path(folder))
