"""What a reproduction is: an experiment with a name, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlanon.api.session import Session

Row = Mapping[str, Any]
"""A text, a number or None by column."""

Told = Callable[[str], None]
"""Told of each step before it is taken, in words."""


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
    """

    title: str
    rows: Sequence[Row]
    shown: Mapping[str, str]
    findings: Sequence[str]
    notes: Sequence[str]
    chart: Any


@dataclass(frozen=True)
class Reproduction:
    """An experiment of a paper.

    Attributes:
        name: what it is called.
        source: the paper.
        check: refuses a folder that lacks what the experiment reads, before anything is computed.
        run: runs it in a session, on the data of a folder, with draws that follow from a seed.
    """

    name: str
    source: str
    check: Callable[[Path], None]
    run: Callable[[Session, Path, int, Told], Reproduced]
