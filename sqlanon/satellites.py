"""Packages that come with extras, and satellites, which the core does without.

A satellite offers objects by name, which are imported on request.

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
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from sqlanon.errors import EngineError


@cache
def installed_version() -> str:
    """Return the version of this package, ``unknown`` if it isn't installed."""
    try:
        return version("sqlanon")
    except PackageNotFoundError:
        return "unknown"


def how_to_install(extra: str) -> str:
    """Explain how to install an extra: this package is installed from a clone, and isn't on any index."""
    return f"install it with: pip install '.[{extra}]' in the clone that sqlanon was installed from"


def extra_module(name: str, *, extra: str, purpose: str) -> ModuleType:
    """Import a module from an extra of this package, or raise an EngineError with the command that installs it.

    ``purpose`` needs the module; it begins the sentence.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise EngineError(
            f"{purpose} needs {name.partition('.')[0]}, which is not installed; {how_to_install(extra)}",
            step="import",
            original=error,
        ) from None


SATELLITES = ("app", "audits", "lakes", "papers", "spark")


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
