"""Papers: reproductions of their experiments on public data, and their methods as published, for comparison.

>>> from sqlanon import papers
>>> papers.NAMES
('h-ceiling', 'diffgen', 'thesis-accuracy', 'epsilon-safe', 'ola', 'ipa')
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.api.session import Session
    from sqlanon.evaluation.results import Reproduced
    from sqlanon.papers.methods import EpsilonSafeAsPublished, IPAAsPublished

__all__ = ["NAMES", "EpsilonSafeAsPublished", "IPAAsPublished", "reproduction"]

_HOMES = {  # modules with a ``REPRODUCTION``
    "h-ceiling": "ceiling_experiment",
    "diffgen": "diffgen_experiment",
    "thesis-accuracy": "income_accuracy",
    "epsilon-safe": "epsilon_safe_runs",
    "ola": "ola_runs",
    "ipa": "ipa_experiment",
}

NAMES = tuple(_HOMES)

# About as long as each takes with its default seeds, on two cores without other work.
MINUTES = {"h-ceiling": 10, "diffgen": 20, "thesis-accuracy": 1, "epsilon-safe": 2, "ola": 2, "ipa": 3}

OFFERS = {
    "commands": {"Research/reproduce": "sqlanon.papers.reproduce_command:reproduce"},
    "methods": {
        "ipa-as-published": "sqlanon.papers.methods:IPAAsPublished",
        "epsilon-safe-as-published": "sqlanon.papers.methods:EpsilonSafeAsPublished",
    },
}


Announce = Callable[[str], None]  # takes the description of each step before the step


@dataclass(frozen=True)
class Reproduction:
    """An experiment of a paper."""

    name: str
    source: str  # the paper
    check: Callable[[Path], None] | None  # refuses a folder without the data; None if it needs none
    run: Callable[[Session, Path, Sequence[int], Announce], Reproduced]  # on the data of a folder, by seeds
    seeds: range  # by default; figures are means over seeds

    def folder(self, data: Path | None) -> Path:
        """Return the checked folder of its data, or the working folder if it needs none."""
        if data is None or self.check is None:
            if self.check is not None:
                raise PolicyError(f"{self.name} reads data: give its folder, --data")
            if data is not None:
                raise PolicyError(f"{self.name} invents its table: leave out --data")
            return Path()
        self.check(data)
        return data

    def seeds_from(self, first: int | None, count: int | None) -> range:
        """Return ``count`` seeds from ``first`` on, each by default its own."""
        start = self.seeds.start if first is None else first
        if len(self.seeds) == 1 and count not in (None, 1):
            raise PolicyError(f"{self.name} makes every release once, with one seed: leave out the number of seeds")
        return range(start, start + (len(self.seeds) if count is None else count))


def reproduction(name: str) -> Reproduction:
    from sqlanon.model.policy_value import did_you_mean

    if name not in _HOMES:
        raise PolicyError(f'"{name}" is not one of the reproductions {", ".join(NAMES)}{did_you_mean(name, NAMES)}')
    home = import_module(f"sqlanon.papers.{_HOMES[name]}")
    return cast("Reproduction", home.REPRODUCTION)


def __getattr__(name: str) -> object:
    """Import the methods on first use, which registers them for policies."""
    if name in __all__:
        return getattr(import_module("sqlanon.papers.methods"), name)
    raise AttributeError(f"module 'sqlanon.papers' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
