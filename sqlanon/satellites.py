"""Satellites: packages that the core does without. Each offers things by name, imported when one is asked for.

``OFFERS`` of a satellite says where they are, by kind and name, as ``module:name``:

- ``commands``: functions of the command line, by the panel of the help and the name (``Research/reproduce``);
- ``methods``: settings of methods, which register themselves when their module is imported;
- ``rows``: homes of rows beside the database (:class:`sqlanon.engines.cutting.Rows`), by the extra that brings them;
- ``sources``: readers of names that are neither of a table nor of files, by the kind of place (:class:`Destination`);
- ``targets``: targets of releases, by the kind of place.

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
    """Return the places of everything of a kind that installed satellites offer, by name."""
    there = [name for name in (f"sqlanon.{each}" for each in SATELLITES) if find_spec(name) is not None]
    return {name: place for each in there for name, place in import_module(each).OFFERS.get(kind, {}).items()}


def offered(kind: str, name: str) -> Any:
    """Import a thing that a satellite offers.

    Raises:
        EngineError: no installed satellite offers it.
    """
    place = offers(kind).get(name)
    if place is None:
        raise EngineError(f'this installation of sqlanon lacks its part for {kind} "{name}"', step="import")
    return imported(place)


def all_offered(kind: str) -> dict[str, Any]:
    """Import everything of a kind, by name."""
    return {name: imported(place) for name, place in offers(kind).items()}


def imported(place: str) -> Any:
    """Import a thing by its place, ``module:name``."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
