"""The policy: everything that the user asks for, as one frozen value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_serializer,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from sqlanon.errors import PolicyError
from sqlanon.model.base import Level, NotNegative, PolicyValue, Share, failed_checks, respelled
from sqlanon.model.criteria import Criteria
from sqlanon.model.policy.columns import NAMING_COLUMNS, ROLES, column_misfits, compared_by_taxonomy
from sqlanon.model.policy.contradictions import contradictions
from sqlanon.model.policy.full_domain import SETTINGS, FullDomain, Suppression
from sqlanon.model.policy.methods import AnyMethod
from sqlanon.model.policy.searches import INVERSE_OLA, AlgorithmName, Objective, SearchName
from sqlanon.model.policy.settings import MethodSettings
from sqlanon.model.policy.spelling import (
    METHOD_TAGS,
    QUALITY_TAGS,
    default_quality,
    hashed_form,
    in_present_words,
    settings_beside,
    spelled,
    spelled_models,
)
from sqlanon.model.policy.toml import read_toml
from sqlanon.model.policy.unknown import Action, Unknown, allowed_rows
from sqlanon.model.privacy import AnyPrivacyModel, MConcealing, PopulationModel, PrivacyModel
from sqlanon.model.quality import AnyQualityModel, QualityModel
from sqlanon.model.taxonomy.rules import TaxonomyRule


class Policy(PolicyValue):
    """Roles of the columns, privacy models, quality model and method.

    Args:
        quasi_identifiers: columns that are generalized; each needs a taxonomy of the same name.
        sensitive: columns that are kept as they are and that diversity models may protect.
        identifiers: columns that are dropped.
        pseudonyms: columns published as keyed hashes of their values, which must not repeat; a run is given the key.
        insensitive: columns that are kept as they are.
        rest: ``"identifier"`` drops every column of the source that has no role; without it they are refused.
        privacy: one or more privacy models; a class must meet all of them.
        quality: the loss that is minimized: :class:`LM` by default, which charges for suppressed rows, or
            :class:`Entropy` for a search that needs a monotonic loss, and for a private method, which minimizes none.
        method: how it is anonymized, by :class:`FullDomain` if nothing else is given; or a differentially private
            method, :class:`IPA` or :class:`Histogram`, in place of privacy models, a search and suppression.
        suppression_limit, suppression, search, objective, max_loss: as in :class:`FullDomain`; either place will do.
        minimum_levels, maximum_levels: by quasi-identifier, the least and the most general level that it may have.
        row_weight: a column of survey weights: losses that are means or sums over rows count it; all else counts rows.
        individual: a column with the owner of each row; privacy models then count distinct owners.
        taxonomies: for this policy alone, by column: a :class:`Taxonomy`, the file of an ARX hierarchy, or a rule whose
            kind is a method of that: ``{"zip": "zip", "age": {"kind": "intervals", "widths": [5]}, "city": "c.csv"}``.
            Values that are not declared are read off the source. Other columns have theirs in the warehouse.
        unknown: what becomes of rows with a value that its taxonomy lacks: ``"error"``, ``"suppress"`` or ``"top"``,
            for all columns or by column; see :mod:`sqlanon.model.policy.unknown`.

    Names of columns are the same in whatever case, as to DuckDB. A release has them as the roles spell them.

    Raises:
        PolicyError: listing every problem at once.
    """

    quasi_identifiers: tuple[str, ...] = Field(min_length=1)
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    pseudonyms: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    rest: Literal["identifier"] | None = None
    search: SearchName = "optimal"
    objective: Objective = "utility"
    max_loss: NotNegative | None = None
    suppression_limit: Share = 0.0
    suppression: Suppression = "drop"
    # Behind its settings, and before the privacy models, of which some methods need none.
    method: AnyMethod = Field(default_factory=FullDomain)
    privacy: tuple[AnyPrivacyModel, ...]
    quality: AnyQualityModel = Field(default_factory=default_quality)
    minimum_levels: dict[str, Level] = Field(default_factory=dict)
    maximum_levels: dict[str, Level] = Field(default_factory=dict)
    row_weight: str | None = None
    individual: str | None = None
    taxonomies: dict[str, TaxonomyRule] = Field(default_factory=dict)
    unknown: Unknown = Field(default_factory=dict)

    # As many parameters as fields, and by keyword alone: for editors to tell of, and to be checked like a call.
    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str] = (),
        sensitive: Sequence[str] = (),
        identifiers: Sequence[str] = (),
        pseudonyms: Sequence[str] = (),
        insensitive: Sequence[str] = (),
        rest: Literal["identifier"] | None = None,
        privacy: Sequence[PrivacyModel] = (),
        quality: QualityModel | None = None,
        suppression_limit: float | None = None,
        suppression: Suppression | None = None,
        search: SearchName | None = None,
        objective: Objective | None = None,
        max_loss: float | None = None,
        minimum_levels: Mapping[str, int] | None = None,
        maximum_levels: Mapping[str, int] | None = None,
        row_weight: str | None = None,
        individual: str | None = None,
        taxonomies: Mapping[str, Any] | None = None,
        unknown: Action | Mapping[str, Action] | None = None,
        method: MethodSettings | None = None,
        **strange: Any,
    ) -> None:
        given = {name: value for name, value in locals().items() if name in type(self).model_fields}
        super().__init__(**given, **strange)

    @model_validator(mode="before")
    @classmethod
    def _in_present_words(cls, given: Any) -> Any:
        # A copy with changes is checked by its fields, which its method only tells of.
        if isinstance(given, Policy):
            given = {name: getattr(given, name) for name in given.model_fields_set}
        return in_present_words(given) if isinstance(given, Mapping) else given

    @field_validator("privacy", mode="before")
    @classmethod
    def _spell_privacy(cls, models: Any) -> Any:
        return spelled_models(models)

    @field_validator("privacy")
    @classmethod
    def _not_none(cls, models: tuple[AnyPrivacyModel, ...], info: ValidationInfo) -> tuple[AnyPrivacyModel, ...]:
        # A method that is not valid is missing there, and is complaint enough.
        if models or (method := info.data.get("method")) is None or method.replaces_models:
            return models
        if not method.implied_models and info.data.get("objective") != "privacy":
            raise PydanticCustomError("too_short", "needs at least one")
        return tuple(method.implied_models)

    @field_validator("method", mode="before")
    @classmethod
    def _spell_method(cls, method: Any) -> Any:
        return spelled({"model": method} if isinstance(method, str) else method, METHOD_TAGS)

    @field_validator("method")
    @classmethod
    def _has_settings(cls, method: MethodSettings, info: ValidationInfo) -> MethodSettings:
        """That of full domains tells the settings of its policy, wherever they were given."""
        if not isinstance(method, FullDomain):
            return method
        return FullDomain.told(settings_beside(method, info.data))

    @field_serializer("method", mode="wrap")
    def _without_settings(self, method: MethodSettings, dump: SerializerFunctionWrapHandler) -> Any:
        """Those of full domains are fields of the policy, and stand there."""
        return {"model": method.name} if isinstance(method, FullDomain) else dump(method)

    @field_validator("quality", mode="before")
    @classmethod
    def _spell_quality(cls, model: Any) -> Any:
        return spelled({"model": model} if isinstance(model, str) else model, QUALITY_TAGS)

    @field_validator(*NAMING_COLUMNS)
    @classmethod
    def _spelled_like_roles(cls, value: Any, info: ValidationInfo) -> Any:
        return respelled(value, [name for role in ROLES for name in info.data.get(role, ())])

    @model_validator(mode="after")
    def _check_names(self) -> Policy:
        # The loss that was taken for none stays where a copy changes what it was taken by.
        self.__pydantic_fields_set__.add("quality")
        if problems := list(contradictions(self)):
            raise failed_checks(problems)
        return self

    @classmethod
    def from_toml(cls, path: str | Path) -> Policy:
        """Read a policy from a TOML file.

        Raises:
            PolicyError: the file cannot be read, is not TOML, or is not a policy; it names the file.
        """
        values = read_toml(path)
        try:
            return cls(**values)
        except PolicyError as error:
            raise PolicyError(f"the policy file {path} is not valid:", error.problems) from None

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Policy:
        """A copy with changes, which are checked where it is used; those of its method are changes of its own."""
        changes = dict(update or {})
        method = changes.get("method", self.method)
        if isinstance(method, FullDomain):
            changes = {**method.given, **changes}
            settings = {name: changes.get(name, getattr(self, name)) for name in SETTINGS}
            if method.given.items() <= settings.items():  # else it is refused where it is used
                changes["method"] = FullDomain.told(settings)
        return super().model_copy(update=changes, deep=deep)

    def changed(self, changes: Mapping[str, Any]) -> Policy:
        """The policy with other values of some fields, as a policy file has them.

        Raises:
            PolicyError: the values are none of a policy.
        """
        return Policy(**{**self.model_dump(mode="json"), **changes})

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that it names, by their roles, and those of weights and individuals."""
        named = [*(name for role in ROLES for name in getattr(self, role)), self.row_weight, self.individual]
        return tuple(dict.fromkeys(name for name in named if name is not None))

    @property
    def taxonomy_columns(self) -> tuple[str, ...]:
        """The quasi-identifiers that need a taxonomy: all, if the method makes no labels of its own."""
        return tuple(name for name in self.quasi_identifiers if name not in self.method.without_taxonomy)

    @property
    def released_columns(self) -> frozenset[str]:
        """The columns that a release has: all but the identifiers."""
        return frozenset((*self.quasi_identifiers, *self.pseudonyms, *self.sensitive, *self.insensitive))

    @property
    def criteria(self) -> Criteria:
        """What it judges the classes of a node by."""
        # A bound can be certain although its model is not: that on the size of classes in (α,k)-anonymity.
        certain = (
            bound for model in self.privacy for bound in model.bounds if bound.monotonic or self.is_monotonic(model)
        )
        return Criteria(self.privacy, tuple(certain), self.quality, self.individual is not None)

    @property
    def algorithm(self) -> AlgorithmName:
        """The search that looks for the objective."""
        return INVERSE_OLA if self.objective == "privacy" else self.search

    @property
    def has_private_method(self) -> bool:
        """Whether what a method promises takes the place of privacy models."""
        return self.method.replaces_models

    @property
    def protected_columns(self) -> tuple[str, ...]:
        """The columns that some privacy model looks at, or whose values the method counts; each once."""
        counted = self.method.counted_columns(self)
        return tuple(dict.fromkeys([*counted, *(column for model in self.privacy for column in model.columns)]))

    @property
    def population(self) -> str | None:
        """The table of the population, if a privacy model compares with one."""
        return next((model.population for model in self.privacy if isinstance(model, PopulationModel)), None)

    @property
    def has_concealing(self) -> bool:
        """Whether m-concealing is asked for."""
        return any(isinstance(model, MConcealing) for model in self.privacy)

    @property
    def sensitive_taxonomies(self) -> tuple[str, ...]:
        """The sensitive columns whose taxonomy a privacy model or a private method needs, each once."""
        return self.sensitive if self.method.needs_value_domain else compared_by_taxonomy(self)

    @property
    def columns_with_taxonomy(self) -> tuple[str, ...]:
        """The columns that need a taxonomy, quasi-identifiers first."""
        return (*self.taxonomy_columns, *self.sensitive_taxonomies)

    def is_monotonic(self, model: PrivacyModel) -> bool:
        """Whether every more general node meets a model within the suppression limit if a node does."""
        # The values of a merged class are those of its parts; but an individual who stands in both counts once.
        adds_up = self.method.outlier_limit(self) == 0 and self.individual is None
        return model.monotonic or (adds_up and model.monotonic_without_suppression)

    def allowed_rows(self, row_count: int, unknown_rows: int = 0) -> int:
        """How many of some rows may be suppressed, besides others that were left out for unknown values."""
        return allowed_rows(self, row_count, unknown_rows)

    def spelled_like(self, names: Sequence[str]) -> Policy:
        """The policy with its columns spelled as they are among some names, in whatever case."""
        return self.model_copy(
            update={each: respelled(getattr(self, each), names) for each in (*ROLES, *NAMING_COLUMNS)}
        )

    def sha256(self) -> str:
        """A hash of the policy that does not depend on how it was spelled."""
        return hashlib.sha256(json.dumps(hashed_form(self), sort_keys=True).encode()).hexdigest()

    def check_columns(self, columns: Sequence[str], source: str) -> None:
        """Refuse a source whose columns and the policy's roles do not match one to one.

        Raises:
            PolicyError: lists columns without a role and roles without a column.
        """
        if problems := column_misfits(self, columns):
            raise PolicyError(f"the policy does not fit {source}:", problems)
