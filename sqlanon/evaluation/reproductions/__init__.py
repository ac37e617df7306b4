"""Reproductions: experiments of papers, run again on data that anybody can get.

>>> from sqlanon.evaluation import reproductions
>>> reproductions.NAMES
('h-ceiling', 'diffgen', 'thesis-accuracy', 'epsilon-safe')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from sqlanon.evaluation.reproductions.base import Reproduction

_HOMES = {
    "h-ceiling": "h_ceiling",
    "diffgen": "diffgen",
    "thesis-accuracy": "thesis_accuracy",
    "epsilon-safe": "epsilon_safe",
}
"""The module of each, which has it as ``REPRODUCTION``."""

NAMES = tuple(_HOMES)


def reproduction(name: str) -> Reproduction:
    """The reproduction of a name.

    Raises:
        PolicyError: there is none.
    """
    from sqlanon.errors import PolicyError
    from sqlanon.model.base import did_you_mean

    if name not in _HOMES:
        raise PolicyError(f'there is no reproduction "{name}", only {", ".join(NAMES)}{did_you_mean(name, NAMES)}')
    home = import_module(f"sqlanon.evaluation.reproductions.{_HOMES[name]}")
    return cast("Reproduction", home.REPRODUCTION)
