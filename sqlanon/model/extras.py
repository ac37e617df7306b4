"""Installed packages: this one, and packages that come with extras."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

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
