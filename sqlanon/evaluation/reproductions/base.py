"""What a reproduction is: an experiment with a name, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.api.session import Session

Row = Mapping[str, Any]
"""A text, a number or None by column."""

Told = Callable[[str], None]
"""Told of each step before it is taken, in words."""

DIGITS = 10
"""After the point, of all figures."""


@dataclass(frozen=True)
class Reproduced:
    """What came out of a reproduction.

    Attributes:
        title: what was compared, in a line.
        rows: a row per release, all with the same columns.
        shown: the columns of a summary, with their headings.
        findings: what the rows say, a sentence each.
        notes: how they are to be read, a sentence each.
        chart: the rows as a chart of altair.
        parts: the column that tells the tables of a summary apart, if there are several.
    """

    title: str
    rows: Sequence[Row]
    shown: Mapping[str, str]
    findings: Sequence[str]
    notes: Sequence[str]
    chart: Any
    parts: str | None = None

    @property
    def tables(self) -> Iterator[Table]:
        """The tables of a summary: all rows, or those of each part without the columns of which they have nothing."""
        if self.parts is None:
            yield Table(self.title, self.shown, self.rows)
            return
        for part in dict.fromkeys(row[self.parts] for row in self.rows):
            rows = [row for row in self.rows if row[self.parts] == part]
            known = {name for row in rows for name, value in row.items() if value is not None}
            yield Table(str(part), {name: self.shown[name] for name in self.shown if name in known}, rows)


@dataclass(frozen=True)
class Table:
    """Some rows as a summary shows them, under a title, with the headings of their columns."""

    title: str
    shown: Mapping[str, str]
    rows: Sequence[Row]


@dataclass(frozen=True)
class Reproduction:
    """An experiment of a paper.

    Attributes:
        name: what it is called.
        source: the paper.
        check: refuses a folder that lacks what the experiment reads, before anything is computed.
        run: runs it in a session, on the data of a folder, with draws that follow from seeds.
        seeds: those that are taken if none are given; of several, figures are means.
    """

    name: str
    source: str
    check: Callable[[Path], None]
    run: Callable[[Session, Path, Sequence[int], Told], Reproduced]
    seeds: range

    def seeds_from(self, first: int | None, count: int | None) -> range:
        """So many seeds from a first one on; its own where neither is given.

        Raises:
            PolicyError: several are wanted of an experiment that makes every release once.
        """
        start = self.seeds.start if first is None else first
        if len(self.seeds) == 1 and count not in (None, 1):
            raise PolicyError(f"{self.name} makes every release once, with one seed: leave out the number of seeds")
        return range(start, start + (len(self.seeds) if count is None else count))


def rounded(row: Row) -> Row:
    """The row with figures that equal runs make equal, though a database adds in any order."""
    return {name: round(value, DIGITS) if isinstance(value, float) else value for name, value in row.items()}
