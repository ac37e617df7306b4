"""The kinds of privacy models, losses and methods that a policy can hold: those of this package, and others' own."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Annotated, Any

from pydantic import Field

from sqlanon.errors import PolicyError
from sqlanon.model.base import SHORT_TAGS, PolicyValue, name_of_kind
from sqlanon.model.fit import Fit
from sqlanon.model.policy.methods import METHODS
from sqlanon.model.policy.policy import Policy
from sqlanon.model.policy.settings import MethodSettings
from sqlanon.model.policy.spelling import METHOD_TAGS, PRIVACY_TAGS, QUALITY_TAGS, letters
from sqlanon.model.privacy import PRIVACY_MODELS, PrivacyModel
from sqlanon.model.quality import QUALITY_MODELS, QualityModel

BASES: dict[type[PolicyValue], tuple[str, tuple[type[PolicyValue], ...], dict[str, str]]] = {
    PrivacyModel: ("privacy", PRIVACY_MODELS, PRIVACY_TAGS),
    QualityModel: ("quality", QUALITY_MODELS, QUALITY_TAGS),
    MethodSettings: ("method", METHODS, METHOD_TAGS),
}
"""For each base class: the field of a policy that holds its kinds, the kinds of this package, and their names."""

_added: list[type[PolicyValue]] = []


def add_kind(kind: type[PolicyValue]) -> None:
    """Let policies hold values of a class: a privacy model, a quality model or the settings of a method.

    Policies can name it from then on as they name others, also in TOML and in what was stored. A class that was added
    before under the same name gives way, so that a notebook can define it again.

    Args:
        kind: a frozen pydantic model with a field ``model``, a literal with its name as the default.

    Raises:
        PolicyError: it is no such class, or has the name of one of this package.
    """
    base = next((base for base in BASES if issubclass(kind, base)), None)
    tag = kind.model_fields["model"].default if "model" in kind.model_fields else None
    if base is None or not isinstance(tag, str):
        raise PolicyError(
            f"{kind.__name__} is no kind of a policy: make it a PrivacyModel, a QualityModel or a MethodSettings with "
            "a field model, a Literal with its name as the default"
        )
    field, ours, tags = BASES[base]
    if tag in set(map(name_of_kind, ours)):
        raise PolicyError(f'{kind.__name__} has the name "{tag}", which is that of a kind of {field} of this package')
    _added[:] = [other for other in _added if not (issubclass(other, base) and name_of_kind(other) == tag)] + [kind]
    tags[letters(tag)] = tag
    SHORT_TAGS.add(tag)
    _rebuild(base)


def remove_kind(kind: type[PolicyValue]) -> None:
    """Have policies hold no values of a class that was added."""
    base = next(base for base in BASES if issubclass(kind, base))
    _, _, tags = BASES[base]
    _added[:] = [other for other in _added if other is not kind]
    tags.pop(letters(name_of_kind(kind)), None)
    SHORT_TAGS.discard(name_of_kind(kind))
    _rebuild(base)


def _rebuild(base: type[PolicyValue]) -> None:
    """Have the policy, and what holds one, know the kinds of a base that there are now."""
    field, ours, _ = BASES[base]
    union: Any = reduce(or_, (*ours, *(other for other in _added if issubclass(other, base))))
    tagged: Any = Annotated[union, Field(discriminator="model")]
    found = {"privacy": tuple[tagged, ...], "quality": union, "method": tagged}
    Policy.model_fields[field].annotation = found[field]
    for model in (Policy, Fit):
        model.model_rebuild(force=True)
