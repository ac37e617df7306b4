"""The policy of linked tables: persons and the rows that belong to them, released together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from sqlanon.errors import PolicyError
from sqlanon.model.criteria import CLASS_SIZE
from sqlanon.model.known_rows import KnownRows
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.names import listed
from sqlanon.model.policy.fields import UTC
from sqlanon.model.policy.linked_checks import (
    NOT_YET,
    REFUSED_MODELS,
    REFUSED_SETTINGS,
    ROLES,
    linked_contradictions,
)
from sqlanon.model.policy.policy import GivenPolicy, Policy, list_of_models, policy_of
from sqlanon.model.policy.policy_files import WholePolicy, checked, fields_of, read_policy_text, sha256_of_fields
from sqlanon.model.policy.policy_parts import Csv, Terms
from sqlanon.model.policy.table_roles import CAP, COLUMN_FIELDS
from sqlanon.model.policy.table_roles import TableRoles as TableRoles
from sqlanon.model.policy.table_roles import qualified as qualified
from sqlanon.model.policy_value import (
    KINDS,
    Kept,
    Level,
    PolicyValue,
    Share,
    failed_checks,
    name_of_kind,
    respelled,
)
from sqlanon.model.privacy import AlphaKAnonymity, BetaLikeness, DeltaDisclosure, KAnonymity
from sqlanon.model.quality import LM

TAKEN = {"method": ("full-domain", "local-recoding"), "quality": ("lm",)}  # so far
DEEPEST_OF_PAIRS = 2  # the table of persons, and those that hang from it

LinkedModel = KnownRows | KAnonymity | AlphaKAnonymity | BetaLikeness | DeltaDisclosure
"""Bounds on persons: of known rows, or of whole trees; shares are of persons who have a value in some row."""
OneLinkedModel = Annotated[LinkedModel, Field(discriminator="model")]
LinkedModels = Annotated[tuple[OneLinkedModel, ...], Field(min_length=1), BeforeValidator(list_of_models)]


class LinkedPolicy(WholePolicy):
    """Roles of the columns of linked tables, and what is promised to persons.

    Columns of tables are named ``"visits.day"``.

    Args:
        tables: the tables by name; one has no parent: its rows are persons.
        privacy: :class:`KnownRows`, or :class:`KAnonymity` of whole trees: a person with all rows. Beside trees also
            :class:`AlphaKAnonymity`, :class:`BetaLikeness` and :class:`DeltaDisclosure`, which bound the share of
            persons who have a value: ``AlphaKAnonymity("visits.diagnosis", alpha=1/3, k=5)``.
        suppression_limit: the share of persons who may be left out, with all of their rows.
        quality: the loss to minimize, :class:`LM`: a mean over all quasi-identifiers of the means over the rows of
            their tables.
        method: ``"full-domain"`` publishes one node; ``"local-recoding"`` rows at several levels.
        minimum_levels, maximum_levels: bounds on levels, as in :class:`Policy`.
        stored_taxonomies, csv, timezone, release: as in :class:`Policy`.

    Raises:
        PolicyError: lists every problem at once.
    """

    refused: ClassVar[Mapping[str, str]] = REFUSED_SETTINGS | REFUSED_MODELS
    has_private_method: ClassVar[bool] = False  # these take one table

    tables: dict[Annotated[str, Field(min_length=1)], TableRoles] = Field(min_length=2)
    privacy: Annotated[Sequence[LinkedModel], Kept(LinkedModels)]
    suppression_limit: Share = 0.0
    quality: LM = Field(default_factory=LM)
    method: Literal["full-domain", "local-recoding"] = "full-domain"
    minimum_levels: dict[str, Level] = Field(default_factory=dict)
    maximum_levels: dict[str, Level] = Field(default_factory=dict)
    stored_taxonomies: Literal["ignore"] | None = None
    csv: Csv | None = None
    timezone: str = Field(default=UTC, min_length=1)
    release: Terms | None = None

    @field_validator("tables")
    @classmethod
    def _parents_spelled_like_tables(cls, tables: dict[str, TableRoles]) -> dict[str, TableRoles]:
        return {
            name: roles.model_copy(update={"parent": respelled(roles.parent, [*tables])})
            for name, roles in tables.items()
        }

    @field_validator("method", "quality", mode="before")
    @classmethod
    def _taken_so_far(cls, given: Any, info: ValidationInfo) -> Any:
        """Take a kind by name, or as a value: a method without settings, which linked tables have elsewhere."""
        field = str(info.field_name)
        if isinstance(given, PolicyValue):
            given = {**given.model_dump(exclude_unset=True), "model": name_of_kind(type(given))}
        settings = given if isinstance(given, Mapping) else {"model": given}
        name = settings.get("model")
        if isinstance(name, str) and name in KINDS[field] and name not in TAKEN[field]:
            found = {"name": name, "taken": " or ".join(f'"{each}"' for each in TAKEN[field])}
            raise PydanticCustomError("not_yet", NOT_YET + ': "{name}"; take {taken}', found)
        if field == "quality":
            return settings
        if others := {*settings} - {"model"}:
            found = {"names": ", ".join(sorted(map(str, others)))}
            raise PydanticCustomError("settings", "takes no {names} for several tables yet", found)
        return name

    @field_validator("privacy", "quality", "minimum_levels", "maximum_levels")
    @classmethod
    def _spelled_like_columns(cls, value: Any, info: ValidationInfo) -> Any:
        tables = info.data.get("tables", {})
        return respelled(value, [qualified(table, name) for table, roles in tables.items() for name in roles.columns])

    @model_validator(mode="after")
    def _without_contradictions(self) -> LinkedPolicy:
        if problems := [*dict.fromkeys(linked_contradictions(self))]:
            raise failed_checks(problems)
        return self

    @property
    def root(self) -> str:
        """The table of persons."""
        return next(name for name, roles in self.tables.items() if roles.parent is None)

    def path(self, table: str) -> tuple[str, ...]:
        """Return the tables from that of persons to this one; a circle ends where it would begin anew."""
        path: tuple[str, ...] = (table,)
        while (parent := self.tables[path[0]].parent) is not None and parent in {*self.tables} - {*path}:
            path = (parent, *path)
        return path

    def children(self, table: str) -> tuple[str, ...]:
        """Return the tables that hang from a table."""
        return tuple(name for name, roles in self.tables.items() if roles.parent == table)

    @property
    def ordered(self) -> tuple[str, ...]:
        """The tables, parents before those that hang from them."""
        return tuple(sorted(self.tables, key=lambda name: len(self.path(name))))

    @property
    def known_rows(self) -> KnownRows | None:
        """The model of known rows; None for whole trees."""
        return next((model for model in self.privacy if isinstance(model, KnownRows)), None)

    @property
    def k(self) -> int:
        """The least number of persons who look alike."""
        bounds = (bound for model in self.privacy for bound in model.bounds if bound.measure == CLASS_SIZE)
        return max(int(bound.required) for bound in bounds)

    def roles(self, table: str) -> TableRoles:
        """Return the roles of a table's columns, with its name in all of them."""
        return self.tables[table].of_table(table)

    def row_key(self, table: str) -> str | None:
        """Return the column that joins a table's rows with those of others; None if no table hangs from it."""
        roles = self.tables[table]
        return roles.row_key if roles.parent is None or self.children(table) else None

    def limit(self, table: str) -> float:
        """Return the share of a table's rows that may be left out."""
        own = self.tables[table].suppression_limit
        return self.suppression_limit if own is None else own

    def path_policy(self, table: str) -> Policy:
        """Return the policy of a table's rows beside the rows above them, with the names of tables in all columns.

        Its classes are persons, or rows of at least k persons, by all labels from the person down.
        """
        own = self.roles(table)
        person = str(self.roles(self.root).row_key)
        fields = self._fields(self.path(table)) | {"sensitive": own.sensitive, "insensitive": own.insensitive}
        published = {*fields["quasi_identifiers"], *own.sensitive, *own.insensitive}
        for field in (*COLUMN_FIELDS, "minimum_levels", "maximum_levels"):
            fields[field] = {name: value for name, value in fields[field].items() if name in published}
        weights = dict.fromkeys(fields["quasi_identifiers"], 0.0)
        weights |= {name: self.quality.weights.get(name, 1.0) for name in own.quasi_identifiers}
        return Policy(
            **{**fields, "identifiers": (person,)},
            individual=None if table == self.root else person,
            privacy=[KAnonymity(self.k)],
            quality=LM(weights=weights if any(weights.values()) else {}),
            suppression_limit=self.limit(table),
            stored_taxonomies=self.stored_taxonomies,
            csv=self.csv,
            timezone=self.timezone,
        )

    @property
    def all_roles(self) -> Policy:
        """The columns of all tables as those of one, with the names of tables, to check names alone."""
        fields = self._fields(self.tables)
        known = (model for model in self.privacy if not isinstance(model, KnownRows))
        models = tuple(model for model in known if {*model.columns} <= {*fields["sensitive"]})
        return Policy.model_construct(**fields, privacy=models, quality=self.quality, method=FullDomain())

    def _fields(self, tables: Iterable[str]) -> dict[str, Any]:
        named = [*map(self.roles, tables)]
        return {
            **{role: tuple(name for roles in named for name in getattr(roles, role)) for role in ROLES},
            **{
                field: dict(item for roles in named for item in getattr(roles, field).items())
                for field in COLUMN_FIELDS
            },
            "minimum_levels": self.minimum_levels,
            "maximum_levels": self.maximum_levels,
        }

    def check_run(self) -> None:
        """Refuse what can be measured, yet not released so far."""
        deeper = [name for name in self.tables if len(self.path(name)) > DEEPEST_OF_PAIRS]
        if deeper and self.known_rows is not None and self.known_rows.m > 1:
            problem = f"two known rows (m = 2) are not for tables below others yet, such as {listed(deeper)}"
            raise PolicyError("the policy cannot run:", [f"{problem}: take m = 1, or k-anonymity of whole trees"])

    def as_recorded(self) -> dict[str, Any]:
        """Return its given fields as JSON, without caps, which would say that nobody has more rows than that."""
        fields = _given(self.model_dump(mode="json", exclude={"tables": {"__all__": CAP}}))
        return fields | {"tables": {table: _given(roles) for table, roles in fields["tables"].items()}}

    def sha256(self) -> str:
        """Return a hash of the recorded policy, independent of CSV settings, on which no guarantee depends."""
        return sha256_of_fields({**self.as_recorded(), "csv": None})


def given_policy(given: GivenPolicy | LinkedPolicy) -> Policy | LinkedPolicy:
    """Return a checked policy of one table or, where it has ``tables``, of several."""
    if isinstance(given, str | Path):
        fields = fields_of(read_policy_text(Path(given)), given)
        return (LinkedPolicy if "tables" in fields else Policy).of_file(fields, given)
    if isinstance(given, Mapping) and "tables" in given and all(isinstance(name, str) for name in given):
        return LinkedPolicy(**given)
    return checked(given) if isinstance(given, LinkedPolicy) else policy_of(given)


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, {}, [])}
