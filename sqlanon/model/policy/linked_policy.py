"""The policy of linked tables: persons and the rows that belong to them, released together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from sqlanon.model.known_rows import KnownRows
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.policy.fields import UTC, NumberAsWritten, Unknown
from sqlanon.model.policy.policy import Policy
from sqlanon.model.policy.policy_parts import Csv, Terms
from sqlanon.model.policy_value import Level, PolicyValue, Share, respelled
from sqlanon.model.privacy import AlphaKAnonymity, BetaLikeness, DeltaDisclosure, KAnonymity
from sqlanon.model.quality import LM
from sqlanon.model.taxonomy.rules import TaxonomyRule

LinkedModel = KnownRows | KAnonymity | AlphaKAnonymity | BetaLikeness | DeltaDisclosure
"""Bounds on persons: of known rows, or of whole trees; shares are of persons who have a value in some row."""

COLUMNS = (
    *("key", "row_key", "quasi_identifiers", "sensitive", "identifiers", "insensitive", "order"),
    *("taxonomies", "unknown", "bottom_coding", "top_coding"),
)
"""The fields that name columns."""


CAP = ("at_most", "above", "order")  # the fields of the maximum number of rows of a person


class TableRoles(PolicyValue):
    """The roles of the columns of one of several linked tables, and its place among them.

    Args:
        parent: the table whose rows this table's rows belong to; None for the table of persons.
        key: the column with the key of the parent's row.
        row_key: the column with the key of a row; a table needs one if others hang from it, as the table of persons.
        quasi_identifiers, sensitive, identifiers, insensitive: columns by role, as in :class:`Policy`.
        taxonomies, unknown, bottom_coding, top_coding: as in :class:`Policy`; ``"suppress"`` is not supported.
        suppression_limit: the share of the table's rows that may be left out, for whatever reason; in the table of
            persons that of the policy.
        at_most: how many rows a person may have in this table; more are refused, or with ``above="first"`` left out,
            except the first by ``order``.
        orphans: ``"drop"`` leaves out rows that belong to no row of the parent; by default they are refused.
    """

    parent: str | None = None
    key: str | None = None
    row_key: str | None = None
    quasi_identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    taxonomies: dict[str, TaxonomyRule] = Field(default_factory=dict)
    unknown: Unknown = Field(default_factory=dict)
    bottom_coding: dict[str, NumberAsWritten] = Field(default_factory=dict)
    top_coding: dict[str, NumberAsWritten] = Field(default_factory=dict)
    suppression_limit: Share | None = None
    at_most: Annotated[int, Field(ge=1, strict=True)] | None = None
    above: Literal["refuse", "first"] = "refuse"
    order: tuple[str, ...] = ()
    orphans: Literal["refuse", "drop"] = "refuse"

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that join rows: they are never released as they are."""
        return tuple(name for name in (self.row_key, self.key) if name is not None)

    def spelled_like(self, names: Sequence[str]) -> TableRoles:
        """Return the roles with columns in their spelling among some names."""
        return self.model_copy(update={each: respelled(getattr(self, each), names) for each in COLUMNS})

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns with a role."""
        named = (*self.keys, *self.identifiers, *self.quasi_identifiers, *self.sensitive, *self.insensitive)
        return tuple(dict.fromkeys(named))


class LinkedPolicy(PolicyValue):
    """Roles of the columns of linked tables, and what is promised to persons.

    Columns of tables are named ``"visits.day"``.

    Args:
        tables: the tables by name; one has no parent: its rows are persons.
        privacy: :class:`KnownRows`, or :class:`KAnonymity` of whole trees: a person with all rows. With trees also
            models of shares, such as ``AlphaKAnonymity("visits.diagnosis", alpha=1/3, k=5)``.
        suppression_limit: the share of persons who may be left out, with all of their rows.
        quality: the loss to minimize, a mean over all quasi-identifiers of the means over the rows of their tables.
        method: ``"full-domain"`` publishes one node; ``"local-recoding"`` rows at several levels.
        minimum_levels, maximum_levels: bounds on levels, as in :class:`Policy`.
        stored_taxonomies, csv, timezone, release: as in :class:`Policy`.

    Raises:
        PolicyError: lists every problem at once.
    """

    privacy: tuple[Annotated[LinkedModel, Field(discriminator="model")], ...] = Field(min_length=1)
    suppression_limit: Share = 0.0
    quality: LM = Field(default_factory=LM)
    method: Literal["full-domain", "local-recoding"] = "full-domain"
    minimum_levels: dict[str, Level] = Field(default_factory=dict)
    maximum_levels: dict[str, Level] = Field(default_factory=dict)
    tables: dict[str, TableRoles] = Field(min_length=2)
    stored_taxonomies: Literal["ignore"] | None = None
    csv: Csv | None = None
    timezone: str = Field(default=UTC, min_length=1)
    release: Terms | None = None

    @property
    def root(self) -> str:
        """The table of persons."""
        return next(name for name, roles in self.tables.items() if roles.parent is None)

    def path(self, table: str) -> tuple[str, ...]:
        """Return the tables from that of persons to this one."""
        parent = self.tables[table].parent
        return (table,) if parent is None else (*self.path(parent), table)

    def children(self, table: str) -> tuple[str, ...]:
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
        return max(model.k for model in self.privacy if isinstance(model, KnownRows | KAnonymity | AlphaKAnonymity))

    def limit(self, table: str) -> float:
        """Return the share of a table's rows that may be left out."""
        own = self.tables[table].suppression_limit
        return self.suppression_limit if own is None else own

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The quasi-identifiers of all tables, with the names of their tables, in the order of levels."""
        return tuple(qualified(table, name) for table in self.ordered for name in self.tables[table].quasi_identifiers)

    def path_policy(self, table: str) -> Policy:
        """Return the policy of a table's rows beside the rows above them, with the names of tables in all columns.

        Its classes are persons, or rows of at least k persons, by all labels from the person down.
        """
        path, own = self.path(table), self.tables[table]
        places = {each: self.tables[each] for each in path}
        person = qualified(self.root, str(self.tables[self.root].row_key))
        labelled = [qualified(each, name) for each, roles in places.items() for name in roles.quasi_identifiers]

        def of_path(field: str) -> dict[str, Any]:
            of_tables = ((each, getattr(roles, field)) for each, roles in places.items())
            return {qualified(each, name): value for each, found in of_tables for name, value in found.items()}

        own_columns = {qualified(table, name) for name in own.quasi_identifiers}
        weights = {name: self.quality.weights.get(name, 1.0) if name in own_columns else 0.0 for name in labelled}
        return Policy(
            quasi_identifiers=labelled,
            sensitive=[qualified(table, name) for name in own.sensitive],
            insensitive=[qualified(table, name) for name in own.insensitive],
            identifiers=[person],
            individual=None if own.parent is None else person,
            privacy=[KAnonymity(self.k)],
            quality=LM(weights=weights if any(weights.values()) else {}),
            suppression_limit=self.limit(table),
            minimum_levels={name: level for name, level in self.minimum_levels.items() if name in labelled},
            maximum_levels={name: level for name, level in self.maximum_levels.items() if name in labelled},
            taxonomies=of_path("taxonomies"),
            unknown=of_path("unknown"),
            bottom_coding=of_path("bottom_coding"),
            top_coding=of_path("top_coding"),
            stored_taxonomies=self.stored_taxonomies,
            csv=self.csv,
            timezone=self.timezone,
            method=FullDomain(),
        )

    def as_recorded(self) -> dict[str, Any]:
        """Return its fields as JSON, without caps, which would say that nobody has more rows than that."""
        fields: dict[str, Any] = self.model_dump(mode="json")
        for roles in fields["tables"].values():
            for name in CAP:
                del roles[name]
        return fields

    def sha256(self) -> str:
        """Return a hash of the recorded policy, independent of unset fields of later versions, and of CSV settings."""
        unsaid = {"csv"} | ({"timezone"} if self.timezone == UTC else set())
        fields = {name: value for name, value in self.as_recorded().items() if name not in unsaid}
        fields["tables"] = {table: _said(roles) for table, roles in fields["tables"].items()}
        return hashlib.sha256(json.dumps(_said(fields), sort_keys=True).encode()).hexdigest()


def _said(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, {}, [])}


def qualified(table: str, column: str) -> str:
    """Name a column of one of several tables."""
    return f"{table}.{column}"
