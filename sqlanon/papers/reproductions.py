"""Reproductions: experiments with names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.api.session import Session
    from sqlanon.evaluation.results import Reproduced

Announce = Callable[[str], None]  # takes each step before it is done, in words


@dataclass(frozen=True)
class Reproduction:
    """An experiment of a paper.

    Attributes:
        name: what it is called.
        source: the paper.
        check: refuses a folder that lacks what the experiment reads, before anything is computed; None if it reads
            nothing.
        run: runs it in a session, on the data of a folder, with draws that follow from seeds.
        seeds: those that are taken if none are given; of several, figures are means.
    """

    name: str
    source: str
    check: Callable[[Path], None] | None
    run: Callable[[Session, Path, Sequence[int], Announce], Reproduced]
    seeds: range

    def folder(self, data: Path | None) -> Path:
        """The folder with its data, checked; the present one for an experiment that reads nothing.

        Raises:
            PolicyError: data is missing, or given to an experiment that reads nothing.
        """
        if data is None or self.check is None:
            if self.check is not None:
                raise PolicyError(f"{self.name} reads data: give its folder, --data")
            if data is not None:
                raise PolicyError(f"{self.name} invents its table: leave out --data")
            return Path()
        self.check(data)
        return data

    def seeds_from(self, first: int | None, count: int | None) -> range:
        """``count`` seeds from a first one on; its own where neither is given.

        Raises:
            PolicyError: several are wanted of an experiment that makes every release once.
        """
        start = self.seeds.start if first is None else first
        if len(self.seeds) == 1 and count not in (None, 1):
            raise PolicyError(f"{self.name} makes every release once, with one seed: leave out the number of seeds")
        return range(start, start + (len(self.seeds) if count is None else count))
