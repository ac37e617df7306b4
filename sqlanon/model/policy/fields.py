"""The fields of a policy, and the values derived from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, SerializerFunctionWrapHandler, model_serializer

from sqlanon.model.criteria import Criteria
from sqlanon.model.methods.full_domain import (
    DEFAULTS,
    INVERSE_OLA,
    AlgorithmName,
    FullDomain,
    Objective,
    SearchName,
    Suppression,
)
from sqlanon.model.methods.settings import MethodSettings
from sqlanon.model.perturbation import AnyPerturbation, Perturbation
from sqlanon.model.policy.policy_files import WholePolicy
from sqlanon.model.policy.policy_parts import Csv, Earlier, EarlierReleases, Terms
from sqlanon.model.policy_value import Level, NotBoolean, OneOf
from sqlanon.model.privacy import Distance, MConcealing, PopulationModel, PrivacyModel, TCloseness
from sqlanon.model.quality import QualityModel
from sqlanon.model.taxonomy.rules import TaxonomyRule

ROLES = ("quasi_identifiers", "sensitive", "identifiers", "pseudonyms", "insensitive")
NAMING_COLUMNS = (
    *("method", "privacy", "quality", "minimum_levels", "maximum_levels", "row_weight", "individual"),
    *("taxonomies", "unknown", "bottom_coding", "top_coding", "perturbation"),
)
"""The fields that name columns with a role, directly or in their parts."""
Action = Literal["error", "suppress", "top"]
"""Refuse the source, suppress the row, or publish the label of the top level in place of the value."""
UTC = "UTC"  # the default zone for days and hours of times with a zone
OTHERS = "*"  # all columns without their own action


def _for_every_column(given: Any) -> Any:
    return {OTHERS: given} if isinstance(given, str) else given


Unknown = Annotated[
    dict[str, Action], BeforeValidator(_for_every_column, json_schema_input_type=Action | dict[str, Action])
]
"""The action for rows with a value that the taxonomy of its column lacks.

``"error"`` refuses the source. ``"suppress"`` leaves the rows out, which counts against the suppression limit.
``"top"`` publishes the label of the top level in that column, at any node. There is one action for all columns, or one
by column, where ``"*"`` stands for the others: ``{"city": "top", "*": "suppress"}``.
"""


def action_for(unknown: Mapping[str, Action], column: str) -> Action:
    return unknown.get(column, unknown.get(OTHERS, "error"))


def _default_quality(fields: dict[str, Any]) -> QualityModel:
    """Use the quality model of the method, which is validated before."""
    method: MethodSettings = fields["method"]
    return method.default_quality


NumberAsWritten = Annotated[int | float, NotBoolean]  # whole numbers stay whole, for columns of whole numbers


class PolicyFields(WholePolicy):
    """The fields of a :class:`Policy`, which documents them, and values derived from them."""

    naming_columns: ClassVar[Sequence[str]] = (*ROLES, *NAMING_COLUMNS)

    quasi_identifiers: tuple[str, ...] = Field(min_length=1)
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    pseudonyms: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    rest: Literal["identifier"] | None = None
    # Validated before the privacy models, which some methods don't need.
    method: Annotated[MethodSettings, OneOf("method")] = Field(default_factory=FullDomain)
    privacy: tuple[Annotated[PrivacyModel, OneOf("privacy")], ...]
    quality: Annotated[QualityModel, OneOf("quality")] = Field(default_factory=_default_quality)
    minimum_levels: dict[str, Level] = Field(default_factory=dict)
    maximum_levels: dict[str, Level] = Field(default_factory=dict)
    row_weight: str | None = Field(default=None, validate_default=True)
    individual: str | None = None
    taxonomies: dict[str, TaxonomyRule] = Field(default_factory=dict)
    stored_taxonomies: Literal["ignore"] | None = None
    unknown: Unknown = Field(default_factory=dict)
    bottom_coding: dict[str, NumberAsWritten] = Field(default_factory=dict)
    top_coding: dict[str, NumberAsWritten] = Field(default_factory=dict)
    perturbation: dict[str, AnyPerturbation] = Field(default_factory=dict)
    earlier: EarlierReleases = ()
    csv: Csv | None = None
    timezone: str = Field(default=UTC, min_length=1)
    release: Terms | None = None

    @model_serializer(mode="wrap")
    def _without_later_fields(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out an unset field of a later version, so that records and hashes of earlier ones are the same."""
        fields: dict[str, Any] = handler(self)
        for name in ("stored_taxonomies", "perturbation"):
            if not fields.get(name):
                fields.pop(name, None)
        return fields

    @property
    def search(self) -> SearchName:
        """The search of the method; settings that it lacks have the defaults of full domains."""
        return getattr(self.method, "search", DEFAULTS.search)

    @property
    def objective(self) -> Objective:
        """The objective of the search."""
        return getattr(self.method, "objective", DEFAULTS.objective)

    @property
    def max_loss(self) -> float | None:
        """The maximum loss of a release, for the objective ``"privacy"``."""
        return getattr(self.method, "max_loss", DEFAULTS.max_loss)

    @property
    def suppression_limit(self) -> float:
        """The share of rows that may be suppressed."""
        return getattr(self.method, "suppression_limit", DEFAULTS.suppression_limit)

    @property
    def suppression(self) -> Suppression:
        """The treatment of suppressed rows."""
        return getattr(self.method, "suppression", DEFAULTS.suppression)

    @property
    def held_with(self) -> tuple[Earlier, ...]:
        """The earlier releases to hold together with the release."""
        return () if self.earlier == "none" else self.earlier

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that it names, by role, and those of weights and individuals."""
        named = [*(name for role in ROLES for name in getattr(self, role)), self.row_weight, self.individual]
        return tuple(dict.fromkeys(name for name in named if name is not None))

    @property
    def coded_columns(self) -> tuple[str, ...]:
        """The columns with a public bound, which replaces values beyond it."""
        return tuple(dict.fromkeys([*self.bottom_coding, *self.top_coding]))

    @property
    def changes(self) -> tuple[tuple[str, Perturbation], ...]:
        """The columns whose values are changed at random or by groups, as often as they are named, and how."""
        return tuple((name, each) for own, each in self.perturbation.items() for name in (own, *each.columns))

    @property
    def perturbed_columns(self) -> tuple[str, ...]:
        """The columns whose values are changed, as often as they are named."""
        return tuple(name for name, _ in self.changes)

    @property
    def perturbation_tables(self) -> tuple[str, ...]:
        """The tables that perturbations have published beside the rows."""
        return tuple(table for name, each in self.perturbation.items() for table in each.tables(name))

    @property
    def is_fixed(self) -> bool:
        """Whether equal rows give equal releases: its columns need no secret key and no random draws."""
        return not self.pseudonyms and not self.perturbation

    @property
    def taxonomy_columns(self) -> tuple[str, ...]:
        """The quasi-identifiers that need a taxonomy: all, unless the method makes its own labels."""
        without = {*self.method.without_taxonomy}
        needed = self.quasi_identifiers if self.method.needs_taxonomies else ()
        return tuple(name for name in needed if name not in without)

    @property
    def released_columns(self) -> frozenset[str]:
        """The columns of a release: all but the identifiers."""
        return frozenset((*self.quasi_identifiers, *self.pseudonyms, *self.sensitive, *self.insensitive))

    @property
    def criteria(self) -> Criteria:
        # A bound can be certain although its model isn't: the bound on the size of classes in (α,k)-anonymity.
        """The criteria for the classes of a node."""
        certain = (
            bound
            for model in self.privacy
            for bound in model.bounds
            if not bound.measure.is_mean and (bound.monotonic or self.is_monotonic(model))
        )
        return Criteria(self.privacy, tuple(certain), self.quality, self.individual is not None)

    @property
    def algorithm(self) -> AlgorithmName:
        """The search for the objective."""
        return INVERSE_OLA if self.objective == "privacy" else self.search

    @property
    def has_private_method(self) -> bool:
        """Whether the guarantee of the method replaces privacy models."""
        return self.method.replaces_models

    @property
    def protected_columns(self) -> tuple[str, ...]:
        """The columns of privacy models, and the columns whose values the method counts."""
        counted = self.method.counted_columns(self)
        return tuple(dict.fromkeys([*counted, *(column for model in self.privacy for column in model.columns)]))

    @property
    def counted_columns(self) -> tuple[str, ...]:
        """The columns whose values are counted in classes: protected ones, and those of the loss."""
        counted = self.quality.counted_column
        return tuple(dict.fromkeys((*self.protected_columns, *([] if counted is None else [counted]))))

    @property
    def population(self) -> str | None:
        """The table of the population, if a privacy model has one."""
        return next((model.population for model in self.privacy if isinstance(model, PopulationModel)), None)

    @property
    def weighs_risks(self) -> bool:
        """Whether a privacy model bounds risks by the weights of rows."""
        return any(bound.measure.view == "sample" for bound in self.criteria.bounds)

    @property
    def has_concealing(self) -> bool:
        """Whether a privacy model is m-concealing."""
        return any(isinstance(model, MConcealing) for model in self.privacy)

    @property
    def sensitive_taxonomies(self) -> tuple[str, ...]:
        """The sensitive columns whose taxonomy a privacy model or a private method needs."""
        if not self.method.needs_value_domain:
            return self.compared_by("hierarchical")
        return tuple(name for name in self.sensitive if name not in self.method.without_taxonomy)

    @property
    def columns_with_taxonomy(self) -> tuple[str, ...]:
        """The columns that need a taxonomy, quasi-identifiers first."""
        return (*self.taxonomy_columns, *self.sensitive_taxonomies)

    def is_monotonic(self, model: PrivacyModel) -> bool:
        """Return whether, within the suppression limit, all nodes above a satisfying one meet a model."""
        # A merged class has all values of its parts; but an individual in both counts once.
        adds_up = self.method.outlier_limit == 0 and self.individual is None
        # Persons left out beside earlier releases join the ones that only these show, and can be too few then.
        is_monotonic = model.monotonic and (not self.held_with or self.method.outlier_limit == 0)
        return is_monotonic or (adds_up and model.monotonic_without_suppression)

    def compared_by(self, distance: Distance) -> tuple[str, ...]:
        """Return the sensitive columns whose values privacy models compare by a distance."""
        models = (model for model in self.privacy if isinstance(model, TCloseness))
        return tuple(dict.fromkeys(model.column for model in models if model.distance == distance))

    def columns_with(self, *actions: Action) -> tuple[str, ...]:
        """Return the columns whose unknown values have one of these actions."""
        return tuple(name for name in self.columns_with_taxonomy if action_for(self.unknown, name) in actions)

    # guarded: tests/unit/test_guarded_releases.py
    def allowed_rows(self, row_count: int, unknown_rows: int = 0) -> int:
        """Return the maximum number of rows to suppress: the limit as an exact decimal, rounded down.

        Args:
            row_count: the rows, without ``unknown_rows``.
            unknown_rows: rows left out for unknown values. They count against a limit on suppression, so the result
                can be negative.
        """
        left_out = unknown_rows if hasattr(self.method, "suppression_limit") else 0
        exact = Decimal(repr(self.method.outlier_limit)) * (row_count + left_out)
        return int(exact.to_integral_value(rounding=ROUND_FLOOR)) - left_out
