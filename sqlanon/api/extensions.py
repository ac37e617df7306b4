"""How others add to what policies can hold: a loss, a privacy model, a method, and the macros that these need."""

from __future__ import annotations

from pathlib import Path

from sqlanon.methods.registry import add_method, remove_method
from sqlanon.model.base import name_of_kind
from sqlanon.model.policy.kinds import add_kind, remove_kind
from sqlanon.model.policy.settings import MethodSettings
from sqlanon.model.privacy import PrivacyModel
from sqlanon.model.quality import QualityModel
from sqlanon.queries.kit.macros import add_macros, remove_macros


def register(
    kind: type[PrivacyModel | QualityModel | MethodSettings],
    *,
    macros: str | Path | None = None,
    method: str | None = None,
) -> None:
    """Let policies hold a privacy model, a loss or a method of your own, as they hold those of this package.

    Args:
        kind: its values, as a class with a field ``model``, a literal with its name.
        macros: a file with the macros that its measures are made of.
        method: for the settings of a method, the subclass of :class:`sqlanon.methods.base.Run` that carries them out,
            as ``"package.module:Class"``.

    Raises:
        PolicyError: the class is none of these, or its name is taken.
        SqlanonError: the file has no macro, or one whose name is taken.

    See tests/exercises for a worked example of each.
    """
    if macros is not None:
        add_macros(Path(macros))
    add_kind(kind)
    if method is not None:
        add_method(name_of_kind(kind), method)


def unregister(
    kind: type[PrivacyModel | QualityModel | MethodSettings],
    *,
    macros: str | Path | None = None,
    method: str | None = None,
) -> None:
    """Take back what :func:`register` did with the same arguments."""
    remove_kind(kind)
    if macros is not None:
        remove_macros(Path(macros))
    if method is not None:
        remove_method(name_of_kind(kind))
