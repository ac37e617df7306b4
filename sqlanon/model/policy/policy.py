"""The policy: all requirements of the user, as one frozen value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from sqlanon.errors import PolicyError
from sqlanon.model import cost_benefit as cost_benefit  # for its kinds of models
from sqlanon.model import risk_models as risk_models
from sqlanon.model.methods.full_domain import DEFAULTS, FullDomain, Objective, SearchName, Suppression
from sqlanon.model.methods.settings import MethodSettings
from sqlanon.model.names import folded
from sqlanon.model.perturbation import Perturbation
from sqlanon.model.policy.checks import column_misfits, contradictions
from sqlanon.model.policy.fields import NAMING_COLUMNS, ROLES, UTC, Action, PolicyFields
from sqlanon.model.policy.policy_files import checked, sha256_of_fields
from sqlanon.model.policy.policy_parts import Csv, Earlier, ReleaseTerms
from sqlanon.model.policy_value import (
    KINDS,
    KNOWN_ROWS,
    SETTINGS,
    PolicyValue,
    failed_checks,
    respelled,
)
from sqlanon.model.privacy import KAnonymity, PrivacyModel
from sqlanon.model.quality import QualityModel

SEVERAL_TABLES = "tables are of sa.LinkedPolicy, the policy of several linked tables; a policy of one table names none"
TOO_FEW = PydanticCustomError("too_short", "needs at least one")


def _settings_in_schema(schema: dict[str, Any]) -> None:
    settings = FullDomain.model_json_schema()["properties"]
    schema["properties"] |= {name: settings[name] for name in SETTINGS}


class Policy(PolicyFields):
    """Roles of the columns, privacy models, quality model and method.

    Args:
        quasi_identifiers: columns that are generalized; each needs a taxonomy of the same name.
        sensitive: columns that are published unchanged and that privacy models may protect.
        identifiers: columns that are dropped.
        pseudonyms: columns published as keyed hashes of their values, which must not repeat; a run needs the key.
        insensitive: columns that are published unchanged.
        rest: ``"identifier"`` drops every column of the source without a role; otherwise they are refused.
        privacy: one or more privacy models; a class must meet all of them.
        quality: the loss to minimize: by default :class:`LM`, which charges for suppressed rows, or :class:`Entropy`
            for a search that needs a monotonic loss, and for a private method, which minimizes none.
        method: the method, by default :class:`FullDomain`. A differentially private method, such as :class:`IPA`,
            replaces privacy models, a search and suppression.
        suppression_limit, suppression, search, objective, max_loss, node: as in :class:`FullDomain`, in either place.
        minimum_levels, maximum_levels: the least and the most general allowed level by quasi-identifier.
        row_weight: a column of survey weights for losses that are means or sums over rows, and for models of a sample,
            such as :class:`IndividualRisk`, which may name it instead; everything else counts rows.
        individual: a column with the owner of each row; privacy models then count distinct owners.
        taxonomies: taxonomies of this policy by column: a :class:`Taxonomy`, the file of an ARX hierarchy, or a rule
            whose kind is a method of :class:`Taxonomy`: ``{"zip": "zip", "age": {"kind": "intervals", "widths": [5]},
            "city": "c.csv"}``. Undeclared values are read from the source. Other columns use taxonomies of the
            warehouse.
        stored_taxonomies: ``"ignore"`` makes ``taxonomies`` hold where the warehouse stores others of the same columns,
            which stay as they are; by default such a policy is refused.
        unknown: the action for rows with a value that its taxonomy lacks: ``"error"``, the default, refuses the source;
            ``"suppress"`` leaves them out, within the suppression limit; ``"top"`` gives them the label of the top
            level in that column. One for all columns, or one by column, where ``"*"`` stands for others.
        bottom_coding: public bounds by column of numbers, such as ``{"income": 0}``: lower values are replaced by the
            bound first of all, in taxonomies, counts and published columns. Bounds are published with the policy:
            choose them from general knowledge, not from the rows.
        top_coding: public bounds for higher values.
        perturbation: a :class:`Pram`, :class:`RankSwapping`, :class:`Noise` or :class:`GroupedValues` by sensitive or
            insensitive column, which changes its values: ``{"income": {"kind": "swap", "share": 0.05}}``.
        earlier: earlier releases of the same persons, as :class:`Earlier`, oldest first: all of them together must meet
            the privacy models. ``"none"`` declares that nobody has one of them and this release.
        csv: settings for reading CSV files, as :class:`Csv`, in place of detected ones: ``{"nullstr": ["NA"]}``.
        timezone: the zone for days and hours of times with a zone, such as ``"Europe/Berlin"``; ``"UTC"`` by default,
            independent of the machine.
        release: recipient, purpose and approval of the release, as :class:`ReleaseTerms`, for its report and record.

    Names of columns are case-insensitive, as in DuckDB. A release spells them like the roles.

    Raises:
        PolicyError: lists every problem at once.
    """

    model_config = ConfigDict(json_schema_extra=_settings_in_schema)
    refused: ClassVar[Mapping[str, str]] = {
        "by": 'the columns of strata are within = ["region"] of a perturbation',
        KNOWN_ROWS: "counts the persons who have some known rows, in a policy of several tables (sa.LinkedPolicy); a "
        "policy of one table counts rows, or with individual persons, of each class: take k-anonymity",
    }

    if TYPE_CHECKING:

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
            node: Mapping[str, int] | None = None,
            minimum_levels: Mapping[str, int] | None = None,
            maximum_levels: Mapping[str, int] | None = None,
            row_weight: str | None = None,
            individual: str | None = None,
            taxonomies: Mapping[str, Any] | None = None,
            stored_taxonomies: Literal["ignore"] | None = None,
            unknown: Action | Mapping[str, Action] | None = None,
            bottom_coding: Mapping[str, float] | None = None,
            top_coding: Mapping[str, float] | None = None,
            perturbation: Mapping[str, Perturbation | Mapping[str, Any]] | None = None,
            earlier: Sequence[Earlier | str] | Literal["none"] | None = None,
            csv: Csv | Mapping[str, Any] | None = None,
            timezone: str | None = None,
            release: ReleaseTerms | None = None,
            method: MethodSettings | None = None,
        ) -> None: ...

    @classmethod
    def arguments(cls) -> dict[str, FieldInfo]:
        """Return its fields, and the settings that it accepts for its method."""
        return {**super().arguments(), **{name: FullDomain.model_fields[name] for name in SETTINGS}}

    @model_validator(mode="wrap")
    @classmethod
    def _checked(cls, given: Any, handler: ModelWrapValidatorHandler[Policy]) -> Policy:
        settings: dict[str, Any] = {}
        if isinstance(given, Mapping):
            fields = {name: value for name, value in given.items() if value is not None}
            settings = {name: fields.pop(name) for name in SETTINGS if name in fields}
            method = _with_settings(fields.get("method", FullDomain()), settings)
            if "tables" in fields:
                raise failed_checks([SEVERAL_TABLES])
            given = {"quasi_identifiers": (), "privacy": (), **fields, "method": method}
            if given["privacy"] in ((), []) and _needs_models(method):
                given["privacy"] = TOO_FEW
        policy = handler(given)
        if problems := [*_settings_not_taken(policy.method, settings), *contradictions(policy)]:
            raise failed_checks(problems)
        return policy

    @field_validator("method", "privacy", mode="before")
    @classmethod
    def _found_out(cls, given: Any) -> Any:
        """Leave errors to the check that gathers all problems."""
        if isinstance(given, PydanticCustomError):
            raise given
        return given

    @field_validator("method", "quality", mode="before")
    @classmethod
    def _table(cls, kind: Any) -> Any:
        return {"model": kind} if isinstance(kind, str) else kind

    @field_validator("privacy", mode="before")
    @classmethod
    def _list(cls, models: Any) -> Any:
        return list_of_models(models)

    @field_validator("privacy")
    @classmethod
    def _not_none(cls, models: tuple[PrivacyModel, ...], info: ValidationInfo) -> tuple[PrivacyModel, ...]:
        # An invalid method is missing in info.data, and has its own error.
        method: MethodSettings | None = info.data.get("method")
        if models or method is None or method.replaces_models:
            return models
        if not method.implied_models and getattr(method, "objective", "") != "privacy":
            raise TOO_FEW
        return method.implied_models

    @field_validator("row_weight")
    @classmethod
    def _of_models(cls, name: str | None, info: ValidationInfo) -> str | None:
        """Take the weight that a model of a sample names."""
        named = (getattr(model, "weight", None) for model in info.data.get("privacy", ()))
        return name or next(filter(None, named), None)

    @field_validator(*NAMING_COLUMNS)
    @classmethod
    def _spelled_like_roles(cls, value: Any, info: ValidationInfo) -> Any:
        return respelled(value, [name for role in ROLES for name in info.data.get(role, ())])

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Policy:
        """Return a copy with changes, perhaps in settings of its method; they are checked when it is used."""
        changes = dict(update or {})
        settings = {name: changes.pop(name) for name in SETTINGS if name in changes}
        if settings:
            changes["method"] = changes.get("method", self.method).model_copy(update=settings)
        return super().model_copy(update=changes, deep=deep)

    def with_k(self, k: int) -> Policy:
        """Return the policy with k-anonymity of this k.

        Raises:
            PolicyError: its method takes no k-anonymity.
        """
        others = (model for model in self.privacy if not isinstance(model, KAnonymity))
        return self.changed({"privacy": (KAnonymity(k), *others)})

    def without_missing_identifiers(self, columns: Sequence[str]) -> Policy:
        """Return the policy for a source that lacks some identifiers, which would be dropped anyway."""
        there = {*map(folded, columns)}
        return self.model_copy(
            update={"identifiers": tuple(name for name in self.identifiers if folded(name) in there)}
        )

    def as_recorded(self) -> dict[str, Any]:
        """Return its fields as JSON, with only names of earlier releases: queries for sources may contain values."""
        fields: dict[str, Any] = self.model_dump(mode="json")
        if self.held_with:
            fields["earlier"] = [{"release": each.release} for each in self.held_with]
        return fields

    def sha256(self) -> str:
        """Return a hash of the policy that is independent of spelling, and of unset fields of later versions.

        It is also independent of CSV settings, on which no guarantee depends.
        """
        unsaid = {name for name in ("bottom_coding", "top_coding", "earlier", "release") if not getattr(self, name)} | {
            "csv"
        }
        unsaid |= {"timezone"} if self.timezone == UTC else set()
        fields = {name: value for name, value in self.as_recorded().items() if name not in unsaid}
        return sha256_of_fields(fields)

    def check_columns(self, columns: Sequence[str], source: str) -> None:
        """Refuse a source with columns without a role, or without a column for a role, listing all of them."""
        if problems := column_misfits(self, columns):
            raise PolicyError(f"the policy does not fit {source}:", problems)


def _with_settings(method: Any, settings: Mapping[str, Any]) -> Any:
    """Return a method with the settings given beside it, as far as it has them.

    If it has a different value of one, return an error, which is raised where its settings are checked.
    """
    table = {"model": method} if isinstance(method, str) else method
    if not settings or not isinstance(table, Mapping | MethodSettings):
        return table
    if isinstance(table, MethodSettings):
        kind: type[PolicyValue] = type(table)
        inside = {name: getattr(table, name) for name in table.model_fields_set}
    else:
        kind = KINDS["method"].get(str(table.get("model")), FullDomain)
        inside = {name: value for name, value in table.items() if value is not None}
    taken = {name: value for name, value in settings.items() if name in kind.model_fields}
    for name, value in taken.items():
        if name in inside and inside[name] != value:
            found = {"name": name, "here": json.dumps(inside[name]), "beside": json.dumps(value)}
            return PydanticCustomError("two_settings", "{name} is {here} in it, and {beside} beside it", found)
    return table.model_copy(update=taken) if isinstance(table, MethodSettings) else {**inside, **taken}


def _needs_models(method: Any) -> bool:
    """Return whether a method, valid or not, is full domains for utility, which implies no privacy models."""
    table = method.model_dump(warnings=False) if isinstance(method, FullDomain) else method
    return isinstance(table, Mapping) and table.get("model") == "full-domain" and table.get("objective") != "privacy"


def _settings_not_taken(method: MethodSettings, settings: Mapping[str, Any]) -> Iterable[str]:
    """Refuse settings of full domains that the method lacks, unless they have default values."""
    missing = [name for name in SETTINGS if name not in type(method).model_fields]
    searching = [name for name in missing if name != "node"]
    if any(settings.get(name, getattr(DEFAULTS, name)) != getattr(DEFAULTS, name) for name in searching):
        *others, last = (name for name in searching if name != "max_loss")
        yield f"{method} takes no {', '.join(others)} or {last}: {method.why_no_search}"
    if "node" in missing and settings.get("node") is not None:
        yield f"{method} takes no node: {method.why_no_search}"


def list_of_models(models: Any) -> Any:
    """Refuse a single model, which can be iterated over, too: by the names of its fields."""
    if isinstance(models, str | Mapping | BaseModel):
        raise PydanticCustomError(
            "no_list", "must be a list, also of one: privacy=[KAnonymity(5)], and in TOML [[privacy]] for each model"
        )
    return models


GivenPolicy = Policy | Mapping[str, Any] | str | Path
"""A policy, a mapping of its fields, or the path of a TOML file."""


def policy_of(given: GivenPolicy) -> Policy:
    """Return a checked policy."""
    if isinstance(given, Policy):
        return checked(given)
    if isinstance(given, Mapping):
        if not all(isinstance(key, str) for key in given):
            raise PolicyError("the keys of a policy must be texts, the names of its fields")
        return Policy(**given)
    if isinstance(given, str | Path):
        return Policy.from_toml(given)
    if hasattr(given, "tables"):
        raise PolicyError(f"this takes a policy of one table: {SEVERAL_TABLES}")
    kind = type(given).__name__
    article = "an" if kind[0] in "aeiou" else "a"
    raise PolicyError(f"a policy must be a Policy, a dict or the path of a TOML file, not {article} {kind}")
