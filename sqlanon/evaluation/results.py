"""Results of experiments and plans, and their files: a table for programs, one for people, and a chart."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlanon.errors import EngineError, PolicyError
from sqlanon.publish.files import cannot_be_written, refuse_file, refuse_place, staged_file
from sqlanon.report.document import Table
from sqlanon.satellites import extra_module

Row = Mapping[str, Any]  # a text, a number or None by column
DIGITS = 10  # after the decimal point

ENDINGS = (".csv", ".md", ".svg")
FORMATS = ("html", "svg", "png", "json")  # of charts, by suffix

BLACK = "#222222"

BESIDE = {"item": "item", "what": "what", "paper": "in the paper", "here": "here"}


@dataclass(frozen=True)
class Reproduced:
    """The results of a reproduction."""

    title: str
    rows: Sequence[Row]  # a row per release, all with equal columns
    shown: Mapping[str, str]  # columns of the summary, with headings
    findings: Sequence[str]  # sentences
    notes: Sequence[str]  # sentences on how to read the rows
    chart: Any  # of altair; None if the printed numbers are all that is drawn
    parts: str | None = None  # the column that separates several tables of the summary
    printed: Sequence[Row] = ()  # numbers of a paper and here, a row each: item, what, paper, here

    @property
    def tables(self) -> Iterator[Table]:
        """Tables of the summary: all rows, or those of each part without its empty columns; and printed numbers."""
        yield from self._summary
        if self.printed:
            yield _table("Beside the paper", BESIDE, self.printed)

    @property
    def _summary(self) -> Iterator[Table]:
        if self.parts is None:
            yield _table(self.title, self.shown, self.rows)
            return
        for part in dict.fromkeys(row[self.parts] for row in self.rows):
            rows = [row for row in self.rows if row[self.parts] == part]
            known = {name for row in rows for name, value in row.items() if value is not None}
            yield _table(str(part), {name: self.shown[name] for name in self.shown if name in known}, rows)


def _table(title: str, shown: Mapping[str, str], rows: Sequence[Row]) -> Table:
    cells = [[spelled(row[name]) for name in shown] for row in rows]
    return Table(tuple(shown.values()), cells, range(1, len(shown)), title)


def rounded(row: Row) -> Row:
    """Round figures, so that equal runs give equal rows though a database adds in any order."""
    return {name: round(value, DIGITS) if isinstance(value, float) else value for name, value in row.items()}


def refuse_targets(folder: Path, name: str, *, replace: bool) -> None:
    """Refuse files that cannot be written, before the work is done."""
    required_altair()
    if folder.exists() and not folder.is_dir():
        raise EngineError(f"{folder} is not a folder; give the name of one", step="target")
    if not folder.exists():
        refuse_place(folder)
        return
    for ending in ENDINGS:
        refuse_file(folder / f"{name}{ending}", replace=replace)


def write_files(folder: Path, name: str, found: Reproduced, *, replace: bool) -> dict[str, Path]:
    writers: Mapping[str, Callable[[Path], object]] = {
        ".csv": lambda path: _write_csv(path, found),
        ".md": lambda path: path.write_text(markdown(found, f"{name}.svg"), encoding="utf-8"),
        ".svg": lambda path: found.chart.save(str(path), format="svg"),
    }
    paths = {ending: folder / f"{name}{ending}" for ending in ENDINGS}
    with _made(folder), ExitStack() as stack:
        for ending, path in paths.items():
            staged = stack.enter_context(staged_file(path, replace=replace))
            with cannot_be_written(path, "target"):
                writers[ending](staged)
    return paths


def markdown(found: Reproduced, chart: str) -> str:
    """Write the report: findings, rows, chart and notes."""
    lines = [f"# {found.title}", "", *(f"- {finding}" for finding in found.findings), ""]
    for table in found.tables:
        lines += [] if table.title == found.title else [f"## {table.title}", ""]
        cells = [table.headings, ["---"] * len(table.headings), *table.rows]
        lines += [*(f"| {' | '.join(map(str, row))} |" for row in cells), ""]
    lines += [f"![{found.title}]({chart})", "", *(f"- {note}" for note in found.notes)]
    return "\n".join(lines) + "\n"


def spelled(value: str | int | float | None) -> str:
    """Format a number as ``12,345`` or ``0.1234``, and None as a dash."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def _write_csv(path: Path, found: Reproduced) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(found.rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found.rows)


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a folder to write to, and remove it if nothing was written."""
    with cannot_be_written(folder, "target"):
        folder.mkdir(exist_ok=True)
    try:
        yield
    except BaseException:
        with suppress(OSError):  # not empty
            folder.rmdir()
        raise


def save(draw: Callable[[], Any], target: Path, *, replace: bool) -> None:
    """Write a chart in the format of the file's suffix."""
    kind = refuse_format(target)
    drawn = draw()
    with staged_file(target, replace=replace) as staged:
        # Inline scripts make the page self-contained.
        drawn.save(str(staged), format=kind, **({"inline": True} if kind == "html" else {}))


def refuse_format(path: Path) -> str:
    """Return the format of a file's suffix; refuse any other suffix."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise PolicyError("the chart cannot be drawn:", [f"{path} must end in one of .{', .'.join(FORMATS)}"])
    return kind


def required_altair() -> Any:
    return extra_module("altair", extra="report", purpose="A chart")
