"""Installed packages: this one, and those that only some of the work needs, which come with an extra."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

from sqlanon.errors import EngineError


@cache
def installed_version() -> str:
    """Return the version of this package, ``unknown`` if it is run without being installed."""
    try:
        return version("sqlanon")
    except PackageNotFoundError:
        return "unknown"


def how_to_install(extra: str) -> str:
    """Say how to install an extra that is missing: this package is installed from a clone, and on no index."""
    return f"install it with: pip install '.[{extra}]' in the clone that sqlanon was installed from"


def extra_module(name: str, *, extra: str, purpose: str) -> ModuleType:
    """Import a module that an extra of this package brings; an EngineError has the line that installs it.

    ``purpose`` is what it is needed for, as the beginning of a sentence.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise EngineError(
            f"{purpose} needs {name.partition('.')[0]}, which is not installed; {how_to_install(extra)}",
            step="import",
            original=error,
        ) from None
