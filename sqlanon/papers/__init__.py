"""Papers: their experiments, run again on public data, and their methods as published, to compare with.

>>> from sqlanon import papers
>>> papers.NAMES
('h-ceiling', 'diffgen', 'thesis-accuracy', 'epsilon-safe', 'ola', 'ipa')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from sqlanon.papers.methods import EpsilonSafeAsPublished, IPAAsPublished
    from sqlanon.papers.reproductions import Reproduction

__all__ = ["NAMES", "EpsilonSafeAsPublished", "IPAAsPublished", "reproduction"]

_HOMES = {
    "h-ceiling": "ceiling_experiment",
    "diffgen": "diffgen.diffgen_experiment",
    "thesis-accuracy": "thesis.income_accuracy",
    "epsilon-safe": "thesis.epsilon_safe_runs",
    "ola": "thesis.ola_runs",
    "ipa": "ipa.ipa_experiment",
}
"""The module of each, which has it as ``REPRODUCTION``."""

NAMES = tuple(_HOMES)

OFFERS = {
    "commands": {"Research/reproduce": "sqlanon.papers.reproduce_command:reproduce"},
    "methods": {
        "ipa-as-published": "sqlanon.papers.methods:IPAAsPublished",
        "epsilon-safe-as-published": "sqlanon.papers.methods:EpsilonSafeAsPublished",
    },
}


def reproduction(name: str) -> Reproduction:
    """The reproduction of a name.

    Raises:
        PolicyError: no reproduction has that name.
    """
    from sqlanon.errors import PolicyError
    from sqlanon.model.policy_value import did_you_mean

    if name not in _HOMES:
        raise PolicyError(f'"{name}" is not one of the reproductions {", ".join(NAMES)}{did_you_mean(name, NAMES)}')
    home = import_module(f"sqlanon.papers.{_HOMES[name]}")
    return cast("Reproduction", home.REPRODUCTION)


def __getattr__(name: str) -> object:
    """Import the methods when one of them is first used, which lets policies ask for them."""
    if name in __all__:
        return getattr(import_module("sqlanon.papers.methods"), name)
    raise AttributeError(f"module 'sqlanon.papers' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
