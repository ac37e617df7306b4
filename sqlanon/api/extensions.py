"""Registration of losses, privacy models and methods of other packages, and of their macros."""

from __future__ import annotations

from pathlib import Path

from sqlanon.errors import PolicyError
from sqlanon.methods.base import add_method, remove_method
from sqlanon.model.fitted import Fit
from sqlanon.model.methods.settings import MethodSettings
from sqlanon.model.policy.policy import Policy
from sqlanon.model.policy_value import KINDS, kind_of, name_of_kind
from sqlanon.model.privacy import PrivacyModel
from sqlanon.model.quality import QualityModel
from sqlanon.queries.kit.macros import add_macros, remove_macros

AnyKind = type[PrivacyModel | QualityModel | MethodSettings]

FIELDS: dict[type, str] = {PrivacyModel: "privacy", QualityModel: "quality", MethodSettings: "method"}


def register(kind: AnyKind, *, macros: str | Path | None = None, method: str | None = None) -> None:
    """Register a privacy model, a loss or a method of your own for policies.

    Policies can then name it like those of this package, also in TOML and in stored records. It replaces a class that
    was registered under the same name, so that a notebook can define it again.

    Args:
        kind: the class of its values, with a field ``model``, a literal with its name.
        macros: a file with the macros that its measures use.
        method: for the settings of a method, the subclass of :class:`sqlanon.methods.base.Run` that carries them out,
            as ``"package.module:Class"``.

    Raises:
        PolicyError: the class is none of these, or its name is taken.
        SqlanonError: the file has no macro, or one whose name is taken.

    See tests/exercises for a worked example of each.
    """
    field = _field_of(kind)
    if macros is not None:
        add_macros(Path(macros))
    kind_of(field)(kind)
    _rebuild()
    if method is not None:
        add_method(name_of_kind(kind), method)


def unregister(kind: AnyKind, *, macros: str | Path | None = None, method: str | None = None) -> None:
    """Undo :func:`register` with the same arguments."""
    KINDS[_field_of(kind)].pop(name_of_kind(kind), None)
    _rebuild()
    if macros is not None:
        remove_macros(Path(macros))
    if method is not None:
        remove_method(name_of_kind(kind))


def _field_of(kind: AnyKind) -> str:
    """Return the field of a policy for values of a class; refuse any other class, and a name of this package."""
    field = next((field for base, field in FIELDS.items() if issubclass(kind, base)), None)
    tag = kind.model_fields["model"].default if "model" in kind.model_fields else None
    if field is None or not isinstance(tag, str):
        raise PolicyError(
            f"a policy cannot hold a {kind.__name__}: make it a PrivacyModel, a QualityModel or a MethodSettings with "
            "a field model, a Literal with its name as the default"
        )
    if (known := KINDS[field].get(tag, kind)).__module__.startswith("sqlanon.model.") and known is not kind:
        raise PolicyError(f'{kind.__name__} has the name "{tag}", which is that of a kind of {field} of this package')
    return field


def _rebuild() -> None:
    """Rebuild the schemas that hold kinds.

    Models that have not validated a value yet are built on first use.
    """
    for model in (Policy, Fit):
        if model.__pydantic_complete__:
            model.model_rebuild(force=True)
