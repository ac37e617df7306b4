"""Satellites: packages that the core does without. They offer objects by name, which are imported on request.

``OFFERS`` of a satellite lists them by kind and name, as ``module:name``:

- ``commands``: functions of the command line, by the panel of the help and the name (``Research/reproduce``);
- ``methods``: settings of methods, which register themselves when their module is imported;
- ``rows``: homes of rows beside the database (:class:`sqlanon.engines.cutting.Rows`), by extra;
- ``sources``: readers of names that are neither tables nor files, by kind of place (:class:`Destination`);
- ``targets``: targets of releases, by kind of place.

The core imports no satellite; ``pyproject.toml`` holds that as a contract.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sqlanon.errors import EngineError

SATELLITES = ("audits", "lakes", "papers", "spark")


@cache
def offers(kind: str) -> dict[str, str]:
    """Return the offers of one kind, by name, of all installed satellites."""
    there = [name for name in (f"sqlanon.{each}" for each in SATELLITES) if find_spec(name) is not None]
    return {name: place for each in there for name, place in import_module(each).OFFERS.get(kind, {}).items()}


def offered(kind: str, name: str) -> Any:
    """Import the object that a satellite offers, or raise an EngineError if none does."""
    place = offers(kind).get(name)
    if place is None:
        raise EngineError(f'this installation of sqlanon lacks the part for {kind} "{name}"', step="import")
    return imported(place)


def all_offered(kind: str) -> dict[str, Any]:
    return {name: imported(place) for name, place in offers(kind).items()}


def imported(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
