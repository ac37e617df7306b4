"""Papers: reproductions of their experiments on public data, and their methods as published, for comparison.

>>> from sqlanon import papers
>>> papers.NAMES[:3]
('h-ceiling', 'diffgen', 'diffgen-beside')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.papers.experiments import Reproduction
    from sqlanon.papers.methods import EpsilonSafeAsPublished, IPAAsPublished

__all__ = ["NAMES", "EpsilonSafeAsPublished", "IPAAsPublished", "reproduction"]

_HOMES = {  # modules with a ``REPRODUCTION``
    "h-ceiling": "ceiling_experiment",
    "diffgen": "diffgen_experiment",
    "diffgen-beside": "classifier_comparison",
    "diffgen-sets": "stays_experiment",
    "diffgen-rows": "row_variations",
    "thesis-accuracy": "income_accuracy",
    "epsilon-safe": "epsilon_safe_runs",
    "ola": "ola_runs",
    "ipa": "ipa_experiment",
    "uniqueness": "uniqueness",
    "run-times": "run_times",
}

NAMES = tuple(_HOMES)

# About as long as each takes with its default seeds, on two cores without other work.
MINUTES = {
    "h-ceiling": 4,
    "diffgen": 6,
    "diffgen-beside": 5,
    "diffgen-sets": 5,
    "diffgen-rows": 1,
    "thesis-accuracy": 1,
    "epsilon-safe": 2,
    "ola": 2,
    "ipa": 5,
    "uniqueness": 1,
    "run-times": 2,
}

OFFERS = {
    "commands": {"Research/reproduce": "sqlanon.papers.reproduce_command:reproduce"},
    "methods": {
        "ipa-as-published": "sqlanon.papers.methods:IPAAsPublished",
        "epsilon-safe-as-published": "sqlanon.papers.methods:EpsilonSafeAsPublished",
    },
}


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
