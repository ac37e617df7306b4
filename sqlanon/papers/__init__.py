"""Papers: reproductions of their experiments on public data, and their methods as published, for comparison.

>>> from sqlanon import papers
>>> papers.NAMES[:3]
('h-ceiling', 'diffgen', 'diffgen-beside')
"""

from __future__ import annotations

import csv
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING

from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.papers.experiments import Reproduction
    from sqlanon.papers.methods import EpsilonSafeAsPublished, IPAAsPublished

__all__ = ["NAMES", "EpsilonSafeAsPublished", "IPAAsPublished", "reproduction"]


# By name, the module of the experiment, and the minutes that it takes with its seeds on two cores without other
# work, about.
_TABLE = files(__name__).joinpath("tables", "experiments.csv").read_text(encoding="utf-8")
LISTED = {row["name"]: row for row in csv.DictReader(_TABLE.splitlines())}
NAMES = tuple(LISTED)

OFFERS = {
    "commands": {"Research/reproduce": "sqlanon.papers.reproduce_command:reproduce"},
    "methods": {
        "ipa-as-published": "sqlanon.papers.methods:IPAAsPublished",
        "epsilon-safe-as-published": "sqlanon.papers.methods:EpsilonSafeAsPublished",
    },
}


def reproduction(name: str) -> Reproduction:
    from sqlanon.model.policy_value import did_you_mean
    from sqlanon.papers.experiments import of_module

    if name not in LISTED:
        raise PolicyError(f'"{name}" is not one of the reproductions {", ".join(NAMES)}{did_you_mean(name, NAMES)}')
    return of_module(**LISTED[name])


def __getattr__(name: str) -> object:
    """Import the methods on first use, which registers them for policies."""
    if name in __all__:
        return getattr(import_module("sqlanon.papers.methods"), name)
    raise AttributeError(f"module 'sqlanon.papers' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
