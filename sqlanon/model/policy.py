"""The policy: everything that the user asks for, as one frozen value."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Sequence
from decimal import ROUND_FLOOR, Decimal
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from sqlanon.errors import PolicyError
from sqlanon.model.base import PolicyValue, did_you_mean, failed_checks
from sqlanon.model.privacy import AnyPrivacyModel, DistinctLDiversity, EntropyLDiversity, KAnonymity, PrivacyModel
from sqlanon.model.quality import AECS, DM, LM, NCP, AnyQualityModel, DMStar, Entropy, Prec, QualityModel

SearchName = Literal["optimal", "exhaustive", "ola"]

RESERVED_PREFIX = "anon_"
"""Names of columns may not start with this: the macros use such names inside."""


class Policy(PolicyValue):
    """Roles of the columns, privacy models, quality model, search and suppression.

    Args:
        quasi_identifiers: columns that are generalized; each needs a taxonomy of the same name.
        sensitive: columns that are kept as they are and that diversity models may protect.
        identifiers: columns that are dropped.
        insensitive: columns that are kept as they are.
        privacy: one or more privacy models; a class must meet all of them.
        quality: the loss that is minimized.
        suppression_limit: share of rows that may be suppressed, in [0, 1], inclusive.
        suppression: ``"drop"`` leaves suppressed rows out; ``"mask"`` keeps them with ``*`` in every
            quasi-identifier if the masked rows meet the privacy models as a class, and drops them otherwise.
        search: ``"optimal"`` finds the best node with few checks, ``"exhaustive"`` checks every node, ``"ola"``
            is El Emam's algorithm (2009), which needs monotonic privacy and quality models or no suppression.

    Raises:
        PolicyError: listing every problem at once.
    """

    quasi_identifiers: tuple[str, ...] = Field(min_length=1)
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    privacy: tuple[AnyPrivacyModel, ...] = Field(min_length=1)
    quality: AnyQualityModel = Field(default_factory=Entropy)
    suppression_limit: float = Field(default=0.0, ge=0, le=1)
    suppression: Literal["drop", "mask"] = "drop"
    search: SearchName = "optimal"

    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] = (),
        sensitive: Sequence[str] = (),
        identifiers: Sequence[str] = (),
        insensitive: Sequence[str] = (),
        privacy: Sequence[PrivacyModel] = (),
        quality: QualityModel | None = None,
        suppression_limit: float = 0.0,
        suppression: Literal["drop", "mask"] = "drop",
        search: SearchName = "optimal",
        **unknown: Any,
    ) -> None:
        super().__init__(
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            identifiers=identifiers,
            insensitive=insensitive,
            privacy=privacy,
            quality=Entropy() if quality is None else quality,
            suppression_limit=suppression_limit,
            suppression=suppression,
            search=search,
            **unknown,
        )

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @field_validator("privacy", mode="before")
    @classmethod
    def _spell_privacy(cls, models: Any) -> Any:
        return [_spelled(model, PRIVACY_TAGS) for model in models] if isinstance(models, list | tuple) else models

    @field_validator("quality", mode="before")
    @classmethod
    def _spell_quality(cls, model: Any) -> Any:
        return _spelled({"model": model} if isinstance(model, str) else model, QUALITY_TAGS)

    @model_validator(mode="after")
    def _check_names(self) -> Policy:
        problems = [*self._repeated_columns(), *self._reserved_columns(), *self._unprotected_columns()]
        problems += [*_repeated_models(self.privacy), *self._unsound_search()]
        if problems:
            raise failed_checks(problems)
        return self

    @classmethod
    def from_toml(cls, path: str | Path) -> Policy:
        """Read a policy from a TOML file.

        Raises:
            PolicyError: the file cannot be read, is not TOML, or is not a policy; it names the file.
        """
        try:
            with Path(path).open("rb") as file:
                values = tomllib.load(file)
        except OSError as error:
            raise PolicyError(f"the policy file {path} cannot be read: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise PolicyError(f"the policy file {path} is not valid TOML: {error}") from None
        try:
            return cls(**values)
        except PolicyError as error:
            raise PolicyError(f"the policy file {path} is not valid:", error.problems) from None

    @property
    def released_columns(self) -> frozenset[str]:
        """The columns that a release has: all but the identifiers."""
        return frozenset((*self.quasi_identifiers, *self.sensitive, *self.insensitive))

    @property
    def k(self) -> int:
        """The largest k asked for, 1 without k-anonymity."""
        return max((model.k for model in self.privacy if isinstance(model, KAnonymity)), default=1)

    @property
    def protected_columns(self) -> tuple[str, ...]:
        """The sensitive columns that some privacy model looks at, each once."""
        return tuple(dict.fromkeys(model.sensitive for model in self.privacy if model.sensitive is not None))

    def allowed_rows(self, row_count: int) -> int:
        """How many of ``row_count`` rows may be suppressed: the limit as the decimal it is written as, rounded down."""
        exact = Decimal(repr(self.suppression_limit)) * row_count
        return int(exact.to_integral_value(rounding=ROUND_FLOOR))

    def sha256(self) -> str:
        """A hash of the policy that does not depend on how it was spelled."""
        canonical = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def check_columns(self, columns: Sequence[str], source: str) -> None:
        """Refuse a source whose columns and the policy's roles do not match one to one.

        Raises:
            PolicyError: lists columns without a role and roles without a column.
        """
        roles = (*self.quasi_identifiers, *self.sensitive, *self.identifiers, *self.insensitive)
        problems = [
            f'column "{name}" has a role but is not in the source{did_you_mean(name, set(columns) - set(roles))}'
            for name in roles
            if name not in columns
        ]
        problems += [
            f'column "{name}" has no role: make it a quasi_identifier, sensitive, identifier or insensitive'
            for name in columns
            if name not in roles
        ]
        if problems:
            raise PolicyError(f"the policy does not fit {source}:", problems)

    def _repeated_columns(self) -> Iterable[str]:
        seen: dict[str, str] = {}
        for role in ("quasi_identifiers", "sensitive", "identifiers", "insensitive"):
            for name in getattr(self, role):
                if name.casefold() in seen:
                    yield f'column "{name}" has two roles: {seen[name.casefold()]} and {role}'
                seen[name.casefold()] = role

    def _reserved_columns(self) -> Iterable[str]:
        for name in (*self.quasi_identifiers, *self.sensitive, *self.identifiers, *self.insensitive):
            if name.casefold().startswith(RESERVED_PREFIX):
                yield f'column "{name}" starts with the reserved "{RESERVED_PREFIX}"; rename it in a view'

    def _unsound_search(self) -> Iterable[str]:
        """OLA concludes from monotonicity alone; without suppression every model is monotonic."""
        if self.search != "ola" or self.suppression_limit == 0:
            return
        for model in (*self.privacy, self.quality):
            if not model.monotonic:
                name = getattr(model, "model", "")
                yield f'search "ola" with suppression needs monotonic models, which {name} is not; take "optimal"'

    def _unprotected_columns(self) -> Iterable[str]:
        for model in self.privacy:
            if model.sensitive is not None and model.sensitive not in self.sensitive:
                yield f'{model} needs "{model.sensitive}" among the sensitive columns'


def _tags(models: Iterable[type[PolicyValue]]) -> dict[str, str]:
    """The names of kinds as they are spelled in a policy, by their letters alone: ``dmstar`` → ``dm-star``."""
    return {_letters(tag): tag for model in models for tag in (model.model_fields["model"].default,)}


def _letters(name: str) -> str:
    return "".join(character for character in name.replace("*", "star").casefold() if character.isalnum())


PRIVACY_TAGS = _tags((KAnonymity, DistinctLDiversity, EntropyLDiversity))
QUALITY_TAGS = _tags((Prec, Entropy, LM, NCP, DMStar, DM, AECS))


def _spelled(model: Any, tags: dict[str, str]) -> Any:
    """A table from TOML with its kind as it is spelled here: ``KAnonymity`` and ``k_anonymity`` are ``k-anonymity``."""
    if isinstance(model, dict) and isinstance(model.get("model"), str):
        return {**model, "model": tags.get(_letters(model["model"]), model["model"])}
    return model


def _repeated_models(models: Iterable[PrivacyModel]) -> Iterable[str]:
    seen = set()
    for model in models:
        key = (model.measure, model.sensitive)
        if key in seen:
            yield f"{model} repeats another model of the same kind; keep the stricter one"
        seen.add(key)
